import type { EntryId } from "@bough/session-core";
import type { PathItem } from "../path/path-item.js";

/** Why there is nothing to compact. */
export type NothingBecause =
  /** The last entry that matters is a compaction. */
  | "just-compacted"
  /** Fewer messages than the minimum. */
  | "too-few-messages"
  /** What would be summarised is so short that no summary is smaller. */
  | "too-little-text"
  /** Everything fits into what is to be kept. */
  | "all-is-kept"
  /** No entry can be the first kept one: a single turn that must stay. */
  | "no-cut-point";

/** How a path is to be shortened. Every message of the path is in exactly one of `summarize`, `prefix` and `keep`. */
export type CompactionPlan =
  | { readonly kind: "nothing-to-compact"; readonly reason: NothingBecause }
  | {
      /** The cut is between two turns (or nothing is kept). */
      readonly kind: "whole-turns";
      readonly summarize: readonly PathItem[];
      readonly prefix: readonly [];
      readonly keep: readonly PathItem[];
      /** null: nothing is kept. */
      readonly firstKeptEntryId: EntryId | null;
    }
  | {
      /** The cut is inside a turn: `prefix` is its summarised start. `summarize` may be empty. */
      readonly kind: "split-turn";
      readonly summarize: readonly PathItem[];
      readonly prefix: readonly PathItem[];
      readonly keep: readonly PathItem[];
      readonly firstKeptEntryId: EntryId;
    };

/** What there is to do, when there is something. */
export type Compactable = Exclude<CompactionPlan, { kind: "nothing-to-compact" }>;
