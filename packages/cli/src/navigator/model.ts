import type { Compactor } from "@bough/compaction";
import type { EntryId, Label, LeafRecord, OutlineRow, Session, SessionId, Store } from "@bough/session-core";
import type { Glyphs } from "../terminal/glyphs.js";
import type { Io } from "../terminal/io.js";
import type { Line } from "../terminal/line.js";
import type { TreeFilter } from "../tree/filter.js";
import type { Folds } from "../tree/folds.js";
import type { Layout } from "../tree/layout.js";
import type { TreeIndex } from "../tree/tree-index.js";
import type { Field } from "../tui/field.js";
import type { KeyTable } from "../tui/key-table.js";
import type { ScreenHost, Size } from "../tui/screen.js";
import type { NavigatorAction } from "./keys.js";

/** What the navigator knows of a session. The index grows; everything else is replaced. */
export interface NavigatorTree {
  readonly index: TreeIndex;
  readonly labels: ReadonlyMap<EntryId, string>;
  readonly leaves: readonly LeafRecord[];
  readonly leafName: string;
  readonly leafId: EntryId | null;
}

/** A search. The hits come in pages; `total` is how many there are. */
export interface Search {
  readonly field: Field;
  /** Letters go into the field; false: they act on the list again. */
  readonly isTyping: boolean;
  /** Which of the questions asked so far the hits are waited for; answers to earlier ones are dropped. */
  readonly queryId: number;
  /** Places in the index; null: not known yet. */
  readonly hits: readonly number[] | null;
  readonly total: number;
  /** What is wrong with the query; null: nothing. */
  readonly problem: string | null;
}

/** The pane that shows an entry in full. */
export interface Preview {
  readonly isShown: boolean;
  readonly scroll: number;
  /** For which entry and width the lines are; they are asked for again where these differ. */
  readonly entryId: EntryId | null;
  readonly width: number;
  readonly lines: readonly Line[] | null;
}

/** What is asked or shown above the tree. Of work, `sinceMs` null: it has not said yet that it began. */
export type Dialog =
  | { readonly kind: "none" }
  | { readonly kind: "help"; readonly scroll: number }
  | { readonly kind: "label"; readonly entryId: EntryId; readonly field: Field }
  | { readonly kind: "leaving"; readonly entryId: EntryId; readonly left: number; readonly choice: number }
  | { readonly kind: "focus"; readonly entryId: EntryId; readonly left: number; readonly field: Field }
  | { readonly kind: "compacting"; readonly entryId: EntryId; readonly count: number }
  | { readonly kind: "working"; readonly says: string; readonly sinceMs: number | null; readonly isCancelled: boolean }
  | { readonly kind: "comparison"; readonly lines: readonly Line[]; readonly scroll: number };

/** What the navigator was closed with. */
export type NavigatorResult =
  | { readonly kind: "closed" }
  /** The leaf stands elsewhere now; `text` is the user's message that was chosen, to be edited. */
  | { readonly kind: "moved"; readonly leafId: EntryId | null; readonly text: string | null; readonly summaryEntryId: EntryId | null }
  | { readonly kind: "forked"; readonly sessionId: SessionId }
  /** Another process deleted the session. */
  | { readonly kind: "gone" };

/** How leaving a branch is handled: asked each time, or as chosen in the settings. */
export type Leaving = "ask" | "no-summary" | "summary";

/** Everything that the navigator's screen depends on. */
export interface NavigatorModel {
  readonly size: Size;
  readonly title: string;
  readonly sessionId: SessionId;
  readonly glyphs: Glyphs;
  readonly keys: KeyTable<NavigatorAction>;
  readonly nowMs: number;
  /** undefined: still being read. */
  readonly tree: NavigatorTree | undefined;
  readonly filter: TreeFilter;
  /** Layouts that were made for `tree` as it is, by filter; and the one of the search. */
  readonly layouts: ReadonlyMap<TreeFilter, Layout>;
  readonly layout: Layout | undefined;
  readonly folds: Folds;
  /** Place of the selected row in the index; -1: there is none. */
  readonly selected: number;
  /** Position of the first row that is seen. */
  readonly top: number;
  readonly search: Search | null;
  /** Questions asked so far, of all searches: an answer to an earlier search must not be taken for one to this. */
  readonly lastQueryId: number;
  readonly preview: Preview;
  readonly showsTimes: boolean;
  readonly marks: readonly EntryId[];
  readonly dialog: Dialog;
  readonly leaving: Leaving;
  /** The choice that the question about leaving starts with: the last one made. */
  readonly lastChoice: number;
  /** One line about what just happened. */
  readonly notice: { readonly text: string; readonly isError: boolean } | null;
  readonly result: NavigatorResult | undefined;
}

/** What the navigator asks of the world. */
export type NavigatorEffect =
  | { readonly kind: "load" }
  | {
      readonly kind: "preview";
      readonly entryId: EntryId;
      readonly width: number;
      readonly isBranchPoint: boolean;
      readonly label?: string | undefined;
    }
  | { readonly kind: "search"; readonly query: string; readonly question: number }
  | { readonly kind: "label"; readonly entryId: EntryId; readonly label: string }
  | { readonly kind: "move"; readonly entryId: EntryId; readonly summarize: boolean; readonly focus: string | null }
  | { readonly kind: "compact"; readonly entryId: EntryId }
  | { readonly kind: "cancel" }
  | { readonly kind: "undo"; readonly redo: boolean }
  | { readonly kind: "fork"; readonly entryId: EntryId }
  | { readonly kind: "export"; readonly entryId: EntryId }
  | { readonly kind: "copy"; readonly entryId: EntryId }
  | { readonly kind: "compare"; readonly entryIds: readonly [EntryId, EntryId]; readonly width: number }
  | { readonly kind: "remember"; readonly choice: number };

/** What the world tells the navigator. */
export type NavigatorEvent =
  | { readonly kind: "loaded"; readonly tree: NavigatorTree }
  /** Rows that arrived since, and where things stand now. */
  | {
      readonly kind: "changed";
      readonly rows: readonly OutlineRow[];
      readonly labels: readonly Label[];
      readonly leaves: readonly LeafRecord[];
      readonly leafId: EntryId | null;
    }
  | { readonly kind: "previewed"; readonly entryId: EntryId; readonly width: number; readonly lines: readonly Line[] }
  | { readonly kind: "hits"; readonly question: number; readonly ids: readonly EntryId[]; readonly total: number; readonly isMore: boolean }
  | { readonly kind: "badQuery"; readonly question: number; readonly problem: string }
  | { readonly kind: "moved"; readonly result: NavigatorResult }
  | { readonly kind: "notice"; readonly text: string; readonly isError: boolean }
  /** The work in the dialog came to an end without closing the navigator. */
  | { readonly kind: "worked"; readonly text: string; readonly isError: boolean }
  | { readonly kind: "compared"; readonly lines: readonly Line[] }
  | { readonly kind: "tick"; readonly nowMs: number }
  | { readonly kind: "gone" };

/** What the navigator works with. */
export interface NavigatorWorld {
  readonly store: Store;
  readonly session: Session;
  readonly compactor: Compactor;
  readonly io: Io;
  /** Keeps the answer to the question about leaving for the next time. */
  readonly rememberChoice: (choice: number) => Promise<void>;
}

/** Tells the navigator's screen something. */
export type NavigatorDispatch = ScreenHost<NavigatorEvent>["dispatch"];
