import type { ContextMessage, EntryId, EntryType } from "@bough/session-core";

/**
 * One entry of the part of a path that a context is built from, with what the model reads of it as the edits on the
 * path leave it.
 */
export interface PathItem {
  readonly id: EntryId;
  readonly type: EntryType;
  /** Its message, then the synthetic results of calls that have none; empty: settings, data, edits, omitted entries, and compactions. */
  readonly messages: readonly ContextMessage[];
  /** Tokens of `messages`. */
  readonly tokens: number;
}
