import type { EntryId, EntryType, MessageRole, SearchHit, SearchMatch, SessionId } from "@bough/session-core";
import type { MarkedPlace } from "../preview/marks.js";
import { type GoesTo, type Pane, type SplitAreas, splitBelow, splitBeside } from "../preview/pane.js";
import { parseTypedQuery, type TypedQuery } from "../session/typed-filters.js";
import type { Glyphs } from "../terminal/glyphs.js";
import type { Line } from "../terminal/line.js";
import type { Field } from "../tui/field.js";
import type { KeyTable } from "../tui/key-table.js";
import type { Size, Step } from "../tui/screen.js";
import type { FinderAction } from "./keys.js";

/** The order in which a key cycles through the role filters. */
export const ROLE_FILTERS = ["all", "user", "assistant", "tools", "summaries"] as const;

/** The roles of the entries that are searched. */
type RoleFilter = (typeof ROLE_FILTERS)[number];

/** The conditions of each role filter. */
export const ROLE_CONDITIONS: Readonly<
  Record<RoleFilter, { readonly roles?: readonly MessageRole[]; readonly types?: readonly EntryType[] }>
> = {
  all: {},
  user: { roles: ["user"] },
  assistant: { roles: ["assistant"] },
  tools: { roles: ["toolResult", "bashExecution"] },
  summaries: { types: ["compaction", "branch_summary"] },
};

/** A session as its heading shows it. */
export interface FoundSession {
  readonly id: SessionId;
  readonly title: string;
  readonly cwd: string | null;
  readonly activeAtMs: number;
}

/** The hits of a query, best first, and their sessions. */
export interface Found {
  readonly hits: readonly SearchHit[];
  readonly sessions: ReadonlyMap<SessionId, FoundSession>;
  readonly total: number;
  /** The arguments of `createQueryFinder`. */
  readonly words: { readonly query: string; readonly matched: SearchMatch };
}

/** A line of the list: the heading of a session, or a hit, by its index. */
export type FinderRow =
  | { readonly kind: "session"; readonly session: FoundSession; readonly count: number }
  | { readonly kind: "hit"; readonly hit: SearchHit };

/** The preview of the selected hit. */
interface FinderPreview extends Pane {
  /** The hit and width that `lines` were requested for; null: none. */
  readonly hit: SearchHit | null;
  readonly width: number;
  readonly goesTo: GoesTo;
}

/** The state of the finder. */
export interface FinderModel {
  readonly size: Size;
  readonly glyphs: Glyphs;
  readonly keys: KeyTable<FinderAction>;
  /** The start of relative times in filters of the query. */
  readonly nowMs: number;
  readonly field: Field;
  /** The conditions of the command line, as it names them: `--agent claude`; empty: none. */
  readonly conditions: string;
  readonly role: RoleFilter;
  /** The session that is searched; null: all sessions. */
  readonly within: FoundSession | null;
  /** Id of the last query; results of earlier ones are dropped. */
  readonly queryId: number;
  /** True while results of the last query are outstanding. */
  readonly isSearching: boolean;
  /** The result of the last query that has one; null: there is no query. */
  readonly found: Found | null;
  /** The reason why the query is invalid or the search failed; null: neither. */
  readonly problem: string | null;
  /** The list: hits grouped by session, the session with the best hit first. */
  readonly rows: readonly FinderRow[];
  /** The index of the selected row, which is a hit; -1: none. */
  readonly selected: number;
  /** The index of the first row on screen. */
  readonly top: number;
  readonly preview: FinderPreview;
  /** The offset of the help; null: it is closed. */
  readonly help: number | null;
  readonly result: FinderResult | undefined;
}

/** The result that closes the finder. `entryId` null: the title of the session is the hit. */
export type FinderResult =
  | { readonly kind: "open"; readonly sessionId: SessionId; readonly entryId: EntryId | null; readonly query: string }
  | { readonly kind: "closed" };

/** An effect that `update` requests. */
export type FinderEffect =
  | {
      readonly kind: "search";
      readonly query: string;
      readonly queryId: number;
      readonly role: RoleFilter;
      readonly sessionId: SessionId | null;
    }
  | { readonly kind: "preview"; readonly hit: SearchHit; readonly width: number; readonly words: Found["words"] };

/** An event that an effect dispatches. */
export type FinderEvent =
  | { readonly kind: "found"; readonly queryId: number; readonly found: Found; readonly isLast: boolean; readonly nowMs: number }
  | { readonly kind: "failed"; readonly queryId: number; readonly problem: string }
  | {
      readonly kind: "previewed";
      readonly hit: SearchHit;
      readonly width: number;
      readonly lines: readonly Line[];
      readonly places: readonly MarkedPlace[];
    };

/** The next model, and the effects to perform. */
export type FinderStep = Step<FinderModel, FinderEffect>;

/** The query of the field: its words, and the filters that were typed. */
export function queryOf({ field, nowMs }: Pick<FinderModel, "field" | "nowMs">): TypedQuery {
  // A space at the end says that the last word is complete.
  return parseTypedQuery(field.text.trimStart(), { nowMs, home: "" });
}

/** From this width on the preview is beside the list. */
const WIDE = 100;
/** From this height of the body on the preview fits below the list. */
const HIGH = 9;

/** Divides the screen between its first two lines, heading and query, and its last one, the key hints. */
export function panesOf({ size: { columns, rows } }: Pick<FinderModel, "size">): SplitAreas {
  const body = { columns, rows: Math.max(rows - 3, 1) };
  if (columns >= WIDE) return splitBeside(body);
  return body.rows < HIGH ? { list: body, preview: undefined } : splitBelow(body);
}
