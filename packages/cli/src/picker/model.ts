import type { EntryId, SessionId, SessionRecord } from "@bough/session-core";
import type { ListedSession, SessionRow, Sort, TextHit } from "../session/session-rows.js";
import { parseTypedQuery, type TypedQuery } from "../session/typed-filters.js";
import type { Glyphs } from "../terminal/glyphs.js";
import type { Field } from "../tui/field.js";
import type { KeyTable } from "../tui/key-table.js";
import type { Size, Step } from "../tui/screen.js";
import type { PickerAction } from "./keys.js";

/** The result that closes the picker. */
export type PickerResult =
  /** `hit`: the session was found by its entries, and this is the best hit; without `query` it was found by filters alone. */
  | { readonly kind: "open"; readonly sessionId: SessionId; readonly hit?: { readonly entryId: EntryId; readonly query?: string } }
  | { readonly kind: "new" }
  | { readonly kind: "cancelled" };

/** Sessions recorded in the current directory, or all sessions. */
export type Scope = "here" | "all";

/** The receiver of keys. In `list` letters trigger actions; in `search` and `rename` they are typed. */
export type PickerMode =
  | { readonly kind: "list" }
  | { readonly kind: "search" }
  | { readonly kind: "rename"; readonly id: SessionId; readonly field: Field }
  | { readonly kind: "delete"; readonly record: SessionRecord; readonly subagents: number }
  | { readonly kind: "help"; readonly top: number };

/** The sessions of one scope, newest first. `incoming` collects the pages of a read in progress; `round` counts the reads. */
export interface SessionList {
  readonly sessions: readonly ListedSession[];
  readonly incoming: readonly ListedSession[];
  readonly round: number;
  readonly state: "unread" | "reading" | "complete" | "failed";
}

/** The search. Results of another `number` are stale. */
interface Search {
  readonly field: Field;
  readonly number: number;
  readonly hits: ReadonlyMap<SessionId, TextHit>;
  readonly state: "idle" | "running" | "done" | "invalid" | "failed";
  /** The reason why messages were not searched. */
  readonly reason: string;
  /** True if the index has more hits than were read. */
  readonly more: boolean;
  /** The sessions of the filters by model and cost; null: not known yet, or there is no such filter. */
  readonly chosen: ReadonlySet<SessionId> | null;
}

/** One message of the preview. */
export interface PreviewMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
}

/** The messages that the preview shows: the last or the first ones. */
type PreviewEnd = "last" | "first";

/** The preview of the session `id`. `messages` is undefined while they are read; results of another `number` are stale. */
interface Preview {
  readonly isOpen: boolean;
  readonly end: PreviewEnd;
  readonly number: number;
  readonly id: SessionId | undefined;
  /** True if the session changed after its messages were requested. */
  readonly isStale: boolean;
  readonly messages: readonly PreviewMessage[] | undefined;
}

/** Constant while the picker is open. */
export interface PickerSettings {
  readonly glyphs: Glyphs;
  readonly keys: KeyTable<PickerAction>;
  /** The session that is open in the shell. */
  readonly currentId: SessionId | undefined;
  /** The directory to display. */
  readonly directory: string;
  readonly home: string | undefined;
}

/** A message shown until the next key. */
export interface Notice {
  readonly kind: "info" | "error";
  readonly text: string;
}

/** The state of the picker; the view is a function of it. */
export interface PickerModel {
  readonly settings: PickerSettings;
  readonly size: Size;
  /** The time at which sessions were last read (Unix time); ages are relative to it. */
  readonly nowMs: number;
  readonly scope: Scope;
  readonly sort: Sort;
  readonly withArchived: boolean;
  readonly mode: PickerMode;
  readonly lists: Readonly<Record<Scope, SessionList>>;
  /** The sessions of this scope, without archived ones unless `withArchived`. */
  readonly pool: readonly ListedSession[];
  /** `pool` as rows, in the order of `sort`. */
  readonly sortedRows: readonly SessionRow[];
  /** The rows of the list: `sortedRows`, or the matches of the search. */
  readonly rows: readonly SessionRow[];
  /** Number of `rows` that match by name; these come first. The others match by text. */
  readonly nameMatchCount: number;
  readonly search: Search;
  readonly selected: number;
  /** True if the user chose the selected row; until then the first row is selected. */
  readonly isChosen: boolean;
  /** The first visible row. */
  readonly top: number;
  /** Models of sessions, as far as read; null: the session has none. */
  readonly models: ReadonlyMap<SessionId, string | null>;
  /** The sessions whose last reply is being written, and not in the store yet. */
  readonly held: ReadonlySet<SessionId>;
  /** The sessions whose models were requested last. */
  readonly requestedModels: readonly SessionId[];
  readonly preview: Preview;
  readonly notice: Notice | undefined;
  readonly result: PickerResult | undefined;
}

/** Effects. A later `list`, `models`, `preview` or `search` replaces an earlier one; it starts after `delayMs` milliseconds. */
export type PickerEffect =
  /** From now on changes by other processes are dispatched. */
  | { readonly kind: "watch" }
  | { readonly kind: "list"; readonly scope: Scope; readonly round: number }
  | { readonly kind: "models"; readonly ids: readonly SessionId[]; readonly delayMs: number }
  | {
      readonly kind: "preview";
      readonly id: SessionId;
      readonly end: PreviewEnd;
      readonly number: number;
      readonly delayMs: number;
    }
  | { readonly kind: "search"; readonly query: string; readonly scope: Scope; readonly number: number; readonly delayMs: number }
  | { readonly kind: "check"; readonly record: SessionRecord }
  | { readonly kind: "rename"; readonly id: SessionId; readonly title: string | null }
  | { readonly kind: "archive"; readonly id: SessionId; readonly archived: boolean }
  | { readonly kind: "countSubagents"; readonly id: SessionId }
  | { readonly kind: "delete"; readonly id: SessionId };

/** Results of effects. */
export type PickerEvent =
  /** Another process has written to the store. */
  | { readonly kind: "storeChanged" }
  | {
      readonly kind: "sessions";
      readonly scope: Scope;
      readonly round: number;
      readonly records: readonly SessionRecord[];
      readonly held: ReadonlySet<SessionId>;
      readonly isLast: boolean;
      readonly nowMs: number;
    }
  | { readonly kind: "listFailed"; readonly scope: Scope; readonly round: number; readonly reason: string }
  | { readonly kind: "models"; readonly models: ReadonlyMap<SessionId, string | null> }
  | { readonly kind: "preview"; readonly number: number; readonly messages: readonly PreviewMessage[] }
  | {
      readonly kind: "hits";
      readonly number: number;
      readonly hits: ReadonlyMap<SessionId, TextHit>;
      readonly more: boolean;
      readonly chosen: Search["chosen"];
    }
  | { readonly kind: "searchFailed"; readonly number: number; readonly isInvalid: boolean; readonly reason: string }
  | { readonly kind: "found"; readonly id: SessionId }
  | { readonly kind: "missing"; readonly id: SessionId }
  | { readonly kind: "changed"; readonly record: SessionRecord; readonly what: "renamed" | "archived" | "unarchived" }
  | { readonly kind: "subagents"; readonly id: SessionId; readonly count: number }
  | { readonly kind: "deleted"; readonly id: SessionId; readonly subagents: number }
  | { readonly kind: "failed"; readonly what: string; readonly reason: string };

/** The next model, and the effects to perform. */
export type PickerStep = Step<PickerModel, PickerEffect>;

/** The selected row; undefined if the list is empty. */
export function selectedRow(model: PickerModel): SessionRow | undefined {
  return model.rows[model.selected];
}

/** The query of the search field: its words, and the filters that were typed. */
export function queryOf({ search, nowMs, settings }: Pick<PickerModel, "search" | "nowMs" | "settings">): TypedQuery {
  return parseTypedQuery(search.field.text.trimStart(), { nowMs, home: settings.home ?? "" });
}

/** True if the search field has a query. */
export function isSearching(model: PickerModel): boolean {
  return model.search.field.text.trim() !== "";
}
