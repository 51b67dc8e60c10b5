import type { ContextMessage, EntryId } from "@bough/session-core";
import type { NavigationResult } from "../branch/navigation.js";
import type { Compactable } from "../plan/plan.js";
import type { Trigger } from "../rules/trigger.js";
import type { CompactionDone, CompactionFailure } from "./result.js";

/** What is about to be compacted. */
export interface BeforeCompact {
  readonly sessionId: string;
  readonly trigger: Trigger;
  readonly instructions: string | null;
  readonly plan: Compactable;
  readonly previousSummary: string | null;
  readonly tokensBefore: number;
  readonly signal: AbortSignal;
}

/** A summary that a hook brings along, in place of a model's. */
export interface SuppliedCompaction {
  readonly summary: string;
  /** Default: the plan's. null: nothing is kept. It must lie on the path. */
  readonly firstKeptEntryId?: EntryId | null | undefined;
  readonly details?: unknown;
  readonly title?: string | undefined;
  readonly shortSummary?: string | undefined;
}

/** A summary of a branch that a hook brings along. */
export interface SuppliedBranchSummary {
  readonly summary: string;
  readonly details?: unknown;
}

/** What is about to be asked of the model. */
export interface Compacting {
  readonly trigger: Trigger;
  readonly messages: readonly ContextMessage[];
  readonly signal: AbortSignal;
}

/** A move of the leaf that was asked for. `abandoned`: the messages of the branch that is left. */
export interface BeforeTree {
  readonly sessionId: string;
  readonly from: EntryId | null;
  readonly to: EntryId | null;
  readonly summarize: boolean;
  readonly abandoned: readonly ContextMessage[];
  readonly signal: AbortSignal;
}

type MaybePromise<T> = T | Promise<T>;

/**
 * What a host may hook into: one handler for each, or several in their order. All are asked, until one cancels; of what they
 * supply the first counts. Hooks are awaited; one that throws is reported by the event `hook_failed` and counts as not
 * there. Their names are the ones of pi and oh-my-pi.
 */
export type CompactorHooks = {
  readonly [N in keyof CompactorHandlers]: CompactorHandlers[N] | readonly NonNullable<CompactorHandlers[N]>[];
};

/** One handler of each hook. */
export interface CompactorHandlers {
  /** `{ cancel: true }` stops it; `{ compaction }` is taken in place of a model's summary. */
  readonly before_compact?:
    | ((
        about: BeforeCompact,
      ) => MaybePromise<{ readonly cancel?: boolean | undefined; readonly compaction?: SuppliedCompaction | undefined } | undefined>)
    | undefined;
  /** `prompt` replaces the base prompt, `context` are lines the model reads besides, `preserveData` is stored with the compaction. */
  readonly compacting?:
    | ((
        about: Compacting,
      ) => MaybePromise<
        | { readonly prompt?: string | undefined; readonly context?: readonly string[] | undefined; readonly preserveData?: unknown }
        | undefined
      >)
    | undefined;
  readonly compacted?: ((done: CompactionDone) => MaybePromise<void>) | undefined;
  readonly compact_failed?:
    | ((failure: CompactionFailure & { readonly trigger: Trigger; readonly willRetry: boolean }) => MaybePromise<void>)
    | undefined;
  /** `{ cancel: true }` stops the move; `{ summary }` is taken where one was asked for. */
  readonly before_tree?:
    | ((
        about: BeforeTree,
      ) => MaybePromise<{ readonly cancel?: boolean | undefined; readonly summary?: SuppliedBranchSummary | undefined } | undefined>)
    | undefined;
  readonly tree_navigated?: ((result: NavigationResult) => MaybePromise<void>) | undefined;
}
