import { type CompactionPayload, type ContextMessage, type FileLists, fileLists } from "@bough/session-core";
import { HookResultError } from "../errors/compaction-errors.js";
import { SummaryRejectedError } from "../errors/summarizer-errors.js";
import type { Span } from "../path/read-span.js";
import type { Compactable, NothingBecause } from "../plan/plan.js";
import { keepRuleOf, planCompaction } from "../plan/plan-compaction.js";
import { composeSummary, stripComposed } from "../summary/compose.js";
import { summarise } from "../summary/summarise.js";
import { messageTokens } from "../tokens/message-tokens.js";
import { asksModel } from "./breaker.js";
import type { Draft } from "./draft.js";
import type { Engine } from "./engine.js";
import { callHook } from "./hook-call.js";
import type { SuppliedCompaction } from "./hooks.js";
import type { Look } from "./look.js";
import type { Trigger } from "./trigger.js";

/** What is to be written. */
export interface DraftOrder {
  readonly attemptId: string;
  readonly trigger: Trigger;
  readonly instructions: string | null;
  readonly signal: AbortSignal;
  readonly look: Look;
  readonly span: Span;
}

/** A draft, or why there is none. Failures are thrown. */
export type DraftResult =
  | { readonly kind: "draft"; readonly draft: Draft }
  | { readonly kind: "nothing-to-compact"; readonly reason: NothingBecause }
  | { readonly kind: "cancelled"; readonly by: "hook" };
