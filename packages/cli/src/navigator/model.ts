import type { Compactor } from "@bough/compaction";
import type {
  EntryId,
  Label,
  LeafRecord,
  OutlineRow,
  SearchHit,
  SearchMatch,
  Session,
  SessionId,
  SessionParent,
  SessionRecord,
  Store,
} from "@bough/session-core";
import type { ComparedMark } from "../preview/comparison.js";
import type { MarkedPlace } from "../preview/marks.js";
import type { GoesTo, Pane } from "../preview/pane.js";
import type { Glyphs } from "../terminal/glyphs.js";
import type { Io } from "../terminal/io.js";
import type { Line } from "../terminal/line.js";
import type { TreeFilter } from "../tree/filter-names.js";
import type { Folds } from "../tree/folds.js";
import type { Layout } from "../tree/layout.js";
import type { TreeIndex } from "../tree/tree-index.js";
import type { Field } from "../tui/field.js";
import type { KeyTable } from "../tui/key-table.js";
import type { ScreenHost, Size, Step, TerminalEvent } from "../tui/screen.js";
import type { NavigatorAction } from "./keys.js";

/** The state of the navigator. */
export interface NavigatorModel {
  readonly size: Size;
  readonly title: string;
  readonly sessionId: SessionId;
  readonly glyphs: Glyphs;
  readonly keys: KeyTable<NavigatorAction>;
  readonly nowMs: number;
  /** undefined: not yet read. */
  readonly tree: NavigatorTree | undefined;
  /** While `tree` has only the end of the leaf's path; null: it has all rows. */
  readonly reading: Reading | null;
  readonly filter: TreeFilter;
  /** The layouts of the current `tree` that were made so far, by filter. */
  readonly layouts: ReadonlyMap<TreeFilter, Layout>;
  /** The layout on screen: one of `layouts`, or that of the search. */
  readonly layout: Layout | undefined;
  readonly folds: Folds;
  /** Row number of the selected row; -1: none. */
  readonly selected: number;
  /** Position of the first row on screen. */
  readonly top: number;
  readonly search: Search | null;
  /** The entry to select once the tree is read; null: the leaf, or the selected one. */
  readonly opensAt: EntryId | null;
  /** True if closing returns to the navigator of another session. */
  readonly isVisit: boolean;
  /** The session from which this one was forked, or whose call started it. */
  readonly parent: SessionParent | null;
  /** The sessions of subagents, by the entry with the call that started them. */
  readonly subagents: ReadonlyMap<EntryId, readonly Subagent[]>;
  /** Id of the last query, over all searches: results of an earlier search must not match this one. */
  readonly lastQueryId: number;
  readonly preview: Preview;
  /** Dates instead of ages. */
  readonly showsTimes: boolean;
  /** Entries marked for comparison, at most two. */
  readonly marks: readonly EntryId[];
  readonly dialog: Dialog;
  readonly leaving: Leaving;
  /** The choice that is preselected in the dialog about the branch that is left: the last one made. */
  readonly lastChoice: number;
  /** One line about the last event. */
  readonly notice: { readonly text: string; readonly isError: boolean } | null;
  readonly result: NavigatorResult | undefined;
}

/** The session of a subagent. */
export type Subagent = Pick<SessionRecord, "id" | "title" | "firstText" | "entryCount">;

/** The tree of the session. The index grows in place; all other fields are replaced. */
export interface NavigatorTree {
  readonly index: TreeIndex;
  readonly labels: ReadonlyMap<EntryId, string>;
  readonly leaves: readonly LeafRecord[];
  readonly leafName: string;
  readonly leafId: EntryId | null;
  /** The last reply is being written by its program, and not in the store yet. */
  readonly isHeld: boolean;
}

/** The progress of reading a tree. */
export interface Reading {
  readonly done: number;
  readonly total: number;
  /** Input that needs all rows; it is applied when they are there. */
  readonly held: readonly TerminalEvent[];
}

/** An incremental search. Hits arrive in pages; `total` is the number of all hits. */
export interface Search {
  readonly field: Field;
  /** True if the navigator was opened with this search: closing the navigator then does not end the search first. */
  readonly isGiven: boolean;
  /** True if keys edit the field; otherwise they act on the list. */
  readonly isTyping: boolean;
  /** The current query; hits of other queries are dropped. */
  readonly queryId: number;
  /** Row numbers; null: no result yet. */
  readonly hits: readonly number[] | null;
  readonly total: number;
  /** By row number: the text around the first match. Hits by their label have none. */
  readonly snippets: ReadonlyMap<number, HitSnippet>;
  /** The words that `hits` match; null: no result yet. */
  readonly words: SearchWords | null;
  /** True if the ancestors of hits are shown too. */
  readonly showsAncestors: boolean;
  /** The reason why the query is invalid; null: it is valid. */
  readonly problem: string | null;
  /** The folds before the first hits arrived, which come back when the search ends; null: there are no hits yet. */
  readonly foldsBefore: Folds | null;
}

/** The query of a result, and how its hits match it: the arguments of `createQueryFinder`. */
interface SearchWords {
  readonly query: string;
  readonly matched: SearchMatch;
}

/** The text around the first match of a hit. */
export type HitSnippet = Pick<SearchHit, "snippet" | "matches">;

/** The pane with the selected entry in full. */
interface Preview extends Pane {
  readonly isShown: boolean;
  /** The entry and width that `lines` were requested for. A change of either requests them again. */
  readonly entryId: EntryId | null;
  readonly width: number;
  /** The words that are marked in the lines; null: none. A change requests the lines again. */
  readonly words: SearchWords | null;
  /** The place to go to when the requested lines arrive. */
  readonly goesTo: GoesTo;
}

/** A dialog over the lower part of the screen. `sinceMs` null: the work has not started. */
export type Dialog =
  | { readonly kind: "none" }
  | { readonly kind: "help"; readonly scroll: number }
  | { readonly kind: "label"; readonly entryId: EntryId; readonly field: Field }
  | { readonly kind: "leaving"; readonly entryId: EntryId; readonly left: number; readonly choice: number }
  | { readonly kind: "focus"; readonly entryId: EntryId; readonly left: number; readonly field: Field }
  | { readonly kind: "compacting"; readonly entryId: EntryId; readonly count: number }
  /** `count`: the entries that the fork gets. */
  | { readonly kind: "forking"; readonly entryId: EntryId; readonly count: number }
  /** The field has the path of the file. */
  | { readonly kind: "exporting"; readonly entryId: EntryId; readonly field: Field }
  /** Several subagents were started by one entry. */
  | { readonly kind: "subagents"; readonly list: readonly Subagent[]; readonly choice: number }
  | { readonly kind: "working"; readonly text: string; readonly sinceMs: number | null; readonly isCancelled: boolean }
  | { readonly kind: "comparison"; readonly lines: readonly Line[]; readonly scroll: number };

/** The action when a move leaves a branch: ask each time, or as set in the config file. */
export type Leaving = "ask" | "no-summary" | "summary";

/** The result that closes the navigator. */
export type NavigatorResult =
  | { readonly kind: "closed" }
  /** The leaf has moved; `text` is the selected user message, to be edited and sent again. */
  | { readonly kind: "moved"; readonly leafId: EntryId | null; readonly text: string | null; readonly summaryEntryId: EntryId | null }
  | { readonly kind: "forked"; readonly sessionId: SessionId }
  /** Another session is shown, at an entry, and closing it returns here. */
  | { readonly kind: "visit"; readonly sessionId: SessionId; readonly entryId: EntryId | null }
  /** Another process deleted the session. */
  | { readonly kind: "deleted" };

/** An effect that `update` requests; `NavigatorPerformer` performs it. */
export type NavigatorEffect =
  /** `entries`: the number of entries in the session; `rows`: the number of rows on the screen. */
  | { readonly kind: "load"; readonly entries: number; readonly rows: number }
  /** Reads rows in full, by their sequence numbers. */
  | { readonly kind: "rows"; readonly seqs: readonly number[] }
  | {
      readonly kind: "preview";
      readonly entryId: EntryId;
      readonly width: number;
      readonly isBranchPoint: boolean;
      /** The replies that are drawn as this row, if it is a group of calls. */
      readonly calls?: readonly EntryId[] | undefined;
      readonly label?: string | undefined;
      readonly words: SearchWords | null;
    }
  | { readonly kind: "search"; readonly query: string; readonly queryId: number }
  | { readonly kind: "label"; readonly entryId: EntryId; readonly label: string }
  | { readonly kind: "move"; readonly entryId: EntryId; readonly summarize: boolean; readonly focus: string | null }
  | { readonly kind: "compact"; readonly entryId: EntryId }
  | { readonly kind: "cancel" }
  | { readonly kind: "undo"; readonly redo: boolean }
  /** `opens`: the navigator ends with the fork, else it stays. */
  | { readonly kind: "fork"; readonly entryId: EntryId; readonly opens: boolean }
  | { readonly kind: "export"; readonly entryId: EntryId; readonly path: string }
  | { readonly kind: "copy"; readonly entryId: EntryId }
  /** The path to the entry, as a prompt for another agent. */
  | { readonly kind: "copyBranch"; readonly entryId: EntryId }
  | { readonly kind: "compare"; readonly marks: readonly [ComparedMark, ComparedMark]; readonly width: number }
  | { readonly kind: "remember"; readonly choice: number };

/** An event that an effect dispatches. */
export type NavigatorEvent =
  /** The end of the leaf's path was read; `loaded` follows. */
  | { readonly kind: "begun"; readonly tree: NavigatorTree; readonly total: number }
  | { readonly kind: "progress"; readonly done: number }
  | { readonly kind: "loaded"; readonly tree: NavigatorTree }
  | { readonly kind: "rows"; readonly rows: readonly OutlineRow[] }
  | { readonly kind: "subagents"; readonly subagents: ReadonlyMap<EntryId, readonly Subagent[]> }
  /** The session changed: new rows, and all labels and leaves. */
  | {
      readonly kind: "changed";
      readonly rows: readonly OutlineRow[];
      readonly labels: readonly Label[];
      readonly leaves: readonly LeafRecord[];
      readonly leafId: EntryId | null;
      readonly isHeld: boolean;
    }
  | {
      readonly kind: "previewed";
      readonly entryId: EntryId;
      readonly width: number;
      readonly lines: readonly Line[];
      readonly words: SearchWords | null;
      readonly places: readonly MarkedPlace[];
    }
  | {
      readonly kind: "hits";
      readonly queryId: number;
      readonly hits: readonly (HitSnippet & { readonly entryId: EntryId })[];
      readonly total: number;
      readonly isMore: boolean;
      readonly words: SearchWords;
    }
  | { readonly kind: "badQuery"; readonly queryId: number; readonly problem: string }
  | { readonly kind: "finished"; readonly result: NavigatorResult }
  | { readonly kind: "notice"; readonly text: string; readonly isError: boolean }
  /** The work in the dialog ended, and the navigator stays open. */
  | { readonly kind: "workEnded"; readonly text: string; readonly isError: boolean }
  | { readonly kind: "compared"; readonly lines: readonly Line[] }
  | { readonly kind: "tick"; readonly nowMs: number }
  | { readonly kind: "deleted" };

/** The next model of the navigator, with effects. */
export type NavigatorStep = Step<NavigatorModel, NavigatorEffect>;

/** The objects that effects operate on. */
export interface NavigatorWorld {
  readonly store: Store;
  readonly session: Session;
  /** The compactor of the session. It is loaded for the first move or compaction: its code takes as long to load as the navigator. */
  readonly compactor: () => Promise<Compactor>;
  readonly io: Io;
  /** Stores the last choice about a branch that is left. */
  readonly rememberChoice: (choice: number) => Promise<void>;
}

/** Updates the navigator with an event. */
export type NavigatorDispatch = ScreenHost<NavigatorEvent>["dispatch"];
