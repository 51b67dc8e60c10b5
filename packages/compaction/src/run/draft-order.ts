import type { EntryId } from "@bough/session-core";
import type { Span } from "../path/read-span.js";
import type { Trigger } from "../rules/trigger.js";
import type { Look } from "./look.js";

/** What is to be written. */
export interface DraftOrder {
  readonly attemptId: string;
  readonly trigger: Trigger;
  readonly instructions: string | null;
  /** Keep this entry and all behind it; undefined: as the settings say. */
  readonly keepFrom?: EntryId | undefined;
  /** Plan also where nothing came after the compaction in force. */
  readonly again?: boolean | undefined;
  readonly signal: AbortSignal;
  readonly look: Look;
  readonly span: Span;
}
