import type { Entry } from "../../entry/entry.js";
import type { EntryId, SessionId } from "../../ids/ids.js";

/** One branch of a session, as it is to be read by a person. */
export interface MarkdownDocument {
  readonly session: {
    readonly id: SessionId;
    readonly title: string | null;
    readonly cwd: string | null;
    /** Milliseconds since 1970. */
    readonly createdAtMs: number;
  };
  /** The model that answers at the end of the branch. */
  readonly model: string | null;
  /** The branch's path, oldest first; read once, and no further than the range goes. */
  readonly entries: AsyncIterable<Entry> | Iterable<Entry>;
  readonly labels: ReadonlyMap<EntryId, string>;
}

/**
 * How much of what tools gave is shown: nothing, the first 20 lines (at most 1,500 characters), or all. With `none`
 * and `short`, what tools were asked is cut too, at 60 lines (6,000 characters).
 */
export type ToolOutput = "none" | "short" | "full";

/** What to show of a branch. */
export interface MarkdownOptions {
  /** Default: `short`. */
  readonly toolOutput?: ToolOutput | undefined;
  /** Whether to show what the model thought. Default: false. */
  readonly thinking?: boolean | undefined;
  /** The first entry to show. Default: the first of the branch. */
  readonly from?: EntryId | undefined;
  /** The last entry to show. Default: the last of the branch. */
  readonly to?: EntryId | undefined;
}
