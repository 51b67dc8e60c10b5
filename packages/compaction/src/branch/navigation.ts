import type { ContentBlock, EntryId, Usage } from "@bough/session-core";
import type { SummaryMethod } from "../summary/written-summary.js";

/** What to do when the leaf is moved. */
export interface NavigateOptions {
  /** Leave a summary of the branch that is left, on the one that is entered. Default: setting `branch.summarize`. */
  readonly summarize?: boolean | undefined;
  /** What the summary should look at. */
  readonly instructions?: string | undefined;
  /** The instructions are the whole prompt, in place of ours. */
  readonly replaceInstructions?: boolean | undefined;
  /** A label for the summary, or where there is none, for the chosen entry. */
  readonly label?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The leaf was moved. */
export interface NavigationDone {
  readonly kind: "moved";
  readonly from: EntryId | null;
  /** Where the leaf stands now: the summary, where there is one. */
  readonly leafId: EntryId | null;
  /** The text of the chosen message, for editing; null: nothing to edit. */
  readonly text: string | null;
  readonly images: readonly ContentBlock[];
  readonly summaryEntryId: EntryId | null;
  readonly summary: string | null;
  readonly method: SummaryMethod | "hook" | null;
  readonly usage: Usage | null;
  /** The context ends with something that waits for a reply, so that an agent can go on at once (regression R80). */
  readonly expectsReply: boolean;
}

/** What became of a navigation. The leaf has moved only for `moved`. */
export type NavigationResult =
  | NavigationDone
  /** The leaf stands there already. */
  | {
      readonly kind: "already-there";
      readonly leafId: EntryId | null;
      readonly text: string | null;
      readonly images: readonly ContentBlock[];
    }
  | { readonly kind: "cancelled"; readonly by: "signal" | "hook" }
  /** The summary could not be written. Navigate again without one, or with another summariser. */
  | { readonly kind: "failed"; readonly error: Error };
