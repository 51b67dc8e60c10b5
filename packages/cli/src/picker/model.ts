import type { SessionId, SessionRecord } from "@bough/session-core";
import type { Glyphs } from "../terminal/glyphs.js";
import type { Field } from "../tui/field.js";
import type { KeyTable } from "../tui/key-table.js";
import type { Size } from "../tui/screen.js";
import type { PickerAction } from "./keys.js";
import type { ListedSession, SessionRow, Sort, TextHit } from "./session-rows.js";

/** What the picker ends with. */
export type PickerResult =
  | { readonly kind: "open"; readonly sessionId: SessionId }
  | { readonly kind: "new" }
  | { readonly kind: "cancelled" };

/** Whose sessions are listed: those recorded in this directory, or all. */
export type Scope = "here" | "all";

/** Who takes the keys. Letters act in `list`, and type in `search` and `rename`. */
export type PickerMode =
  | { readonly kind: "list" }
  | { readonly kind: "search" }
  | { readonly kind: "rename"; readonly id: SessionId; readonly field: Field }
  | { readonly kind: "delete"; readonly record: SessionRecord; readonly subagents: number }
  | { readonly kind: "help"; readonly top: number };

/** The sessions of one scope, newest first. `incoming`: those of a reading that is not complete yet. */
export interface SessionList {
  readonly sessions: readonly ListedSession[];
  readonly incoming: readonly ListedSession[];
  readonly round: number;
  readonly state: "unread" | "reading" | "complete" | "failed";
}

/** What is searched for. An answer to another number is stale. */
export interface Search {
  readonly field: Field;
  readonly number: number;
  readonly hits: ReadonlyMap<SessionId, TextHit>;
  readonly state: "idle" | "running" | "done" | "invalid" | "failed";
  /** Why texts were not searched. */
  readonly reason: string;
  /** Whether there are more hits than were read. */
  readonly more: boolean;
}

/** One message of the preview. */
export interface PreviewMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
}

/** Which messages the preview shows. */
export type PreviewEnd = "last" | "first";

/** What is known of the messages of a session; `messages` undefined: they are being read. */
export interface Preview {
  readonly isOpen: boolean;
  readonly end: PreviewEnd;
  readonly number: number;
  readonly id: SessionId | undefined;
  readonly messages: readonly PreviewMessage[] | undefined;
}

/** What does not change while the picker is open. */
export interface PickerSettings {
  readonly glyphs: Glyphs;
  readonly keys: KeyTable<PickerAction>;
  /** The session that is open behind the picker. */
  readonly currentId: SessionId | undefined;
  /** The directory as it is shown. */
  readonly directory: string;
  readonly home: string | undefined;
}

/** One line about what happened, until the next key. */
export interface Notice {
  readonly kind: "info" | "error";
  readonly text: string;
}

/** Everything that the picker shows is decided by this. */
export interface PickerModel {
  readonly settings: PickerSettings;
  readonly size: Size;
  /** Milliseconds since 1970 when sessions were last read; ages are counted from it. */
  readonly nowMs: number;
  readonly scope: Scope;
  readonly sort: Sort;
  readonly withArchived: boolean;
  readonly mode: PickerMode;
  readonly lists: Readonly<Record<Scope, SessionList>>;
  /** The sessions of this scope that may be shown, and their rows without a search. */
  readonly pool: readonly ListedSession[];
  readonly sortedRows: readonly SessionRow[];
  /** The rows of the list: `arranged`, or what fits the search. */
  readonly rows: readonly SessionRow[];
  /** How many of `rows` fit the search by name. */
  readonly nameMatchCount: number;
  readonly search: Search;
  readonly selected: number;
  /** Whether a person chose the selected row; until then the first one stays selected. */
  readonly isChosen: boolean;
  /** The first row that is drawn. */
  readonly top: number;
  /** Models of sessions as far as they were asked for; null: it has none. */
  readonly models: ReadonlyMap<SessionId, string | null>;
  /** The sessions whose model was asked for last. */
  readonly requestedModels: readonly SessionId[];
  readonly preview: Preview;
  readonly notice: Notice | undefined;
  readonly result: PickerResult | undefined;
}

/** What the picker wants done. Delays are milliseconds; what a later effect of its kind replaces is not done. */
export type PickerEffect =
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

/** What came of it. */
export type PickerEvent =
  | {
      readonly kind: "sessions";
      readonly scope: Scope;
      readonly round: number;
      readonly records: readonly SessionRecord[];
      readonly isLast: boolean;
      readonly nowMs: number;
    }
  | { readonly kind: "listFailed"; readonly scope: Scope; readonly round: number; readonly reason: string }
  | { readonly kind: "models"; readonly models: ReadonlyMap<SessionId, string | null> }
  | { readonly kind: "preview"; readonly number: number; readonly messages: readonly PreviewMessage[] }
  | { readonly kind: "hits"; readonly number: number; readonly hits: ReadonlyMap<SessionId, TextHit>; readonly more: boolean }
  | { readonly kind: "searchFailed"; readonly number: number; readonly isInvalid: boolean; readonly reason: string }
  | { readonly kind: "found"; readonly id: SessionId }
  | { readonly kind: "missing"; readonly id: SessionId }
  | { readonly kind: "changed"; readonly record: SessionRecord; readonly what: "renamed" | "archived" | "unarchived" }
  | { readonly kind: "subagents"; readonly id: SessionId; readonly count: number }
  | { readonly kind: "deleted"; readonly id: SessionId; readonly subagents: number }
  | { readonly kind: "failed"; readonly what: string; readonly reason: string };

/** What an update comes to. */
export interface PickerStep {
  readonly model: PickerModel;
  readonly effects: readonly PickerEffect[];
}

/** The selected row; undefined: the list is empty. */
export function selectedRow(model: PickerModel): SessionRow | undefined {
  return model.rows[model.selected];
}

/** Whether something is searched for. */
export function isSearching(model: PickerModel): boolean {
  return model.search.field.text.trim() !== "";
}
