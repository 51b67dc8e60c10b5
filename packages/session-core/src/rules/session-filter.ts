import type { Page, SessionFilter, SessionRecord } from "../port/records.js";
import { type SessionRecordRow, toSessionRecord } from "./session-columns.js";

// The conditions of a filter of sessions, without the statements of an engine.

/** The default number of sessions on a page. */
export const DEFAULT_SESSIONS = 1000;

/** With this many sessions of the rarest member of a metadata filter, the query walks the list and checks the members of each session. */
export const MANY_OF_A_MEMBER = 1000;

/** Returns the numbers in the column `listing` of the sessions that a filter selects; see migrations/0005-reads-by-index.ts. */
export function listingsOf({ kind = "conversation", archived = false, empty = false }: SessionFilter): readonly number[] {
  const kinds = kind === "all" ? [0, 1] : [kind === "subagent" ? 1 : 0];
  const archives = archived === "all" ? [0, 2] : [archived ? 2 : 0];
  return kinds.flatMap((one) => archives.flatMap((two) => (empty ? [0, 4] : [0]).map((four) => one + two + four)));
}

/** The sessions of a directory: those in it, and, by a range of their directories, those below it. */
export interface DirectoryRange {
  readonly itself: string;
  readonly from: string;
  /** The character after the separator ends the range, so that an index is used. */
  readonly before: string;
}

/** The most directories of one statement: SQLite unites at most 500 lists, and a directory has up to 16. */
const DIRECTORIES_AT_ONCE = 30;

/** The ranges of the directories of a filter, without those that are below another one, in parts for a statement each; undefined: all directories. */
export function directoryParts({ under }: SessionFilter): readonly (readonly DirectoryRange[] | undefined)[] {
  const ranges = under?.map(rangeOf).filter(isOutermost);
  if (ranges === undefined || ranges.length <= DIRECTORIES_AT_ONCE) return [ranges];
  return ranges.flatMap((_, at) => (at % DIRECTORIES_AT_ONCE === 0 ? [ranges.slice(at, at + DIRECTORIES_AT_ONCE)] : []));
}

function rangeOf(directory: string): DirectoryRange {
  const isWindows = !directory.includes("/") && directory.includes("\\");
  const [separator, next] = isWindows ? ["\\", "]"] : ["/", "0"];
  const base = directory.endsWith(separator) ? directory.slice(0, -1) : directory;
  return { itself: base === "" ? directory : base, from: `${base}${separator}`, before: `${base}${next}` };
}

/** One that is below another one of the list adds no session, and would add its sessions twice. */
function isOutermost({ itself }: DirectoryRange, at: number, all: readonly DirectoryRange[]): boolean {
  return !all.some((other, place) => place !== at && (itself === other.itself ? place < at : itself.startsWith(other.from)));
}

/** The agent of a session that was not imported. */
export const OWN_AGENT = "bough";

/** The members of the metadata that a session must have; undefined: one is too long for the index, so no session is found. */
export function membersOf({ metadata = {} }: SessionFilter): readonly MetadataRow[] | undefined {
  const members = metadataRows(metadata);
  return members.length < Object.values(metadata).filter((value) => value !== undefined).length ? undefined : members;
}

/** A row of a list: newest activity first, and of the same millisecond the newest session. */
export interface ListedRow extends SessionRecordRow {
  readonly seq: number;
}

/** The page of one list, or of several without a session in common. Each is ordered, and has one more row than the page if there are more. */
export function sessionPage(lists: readonly (readonly ListedRow[])[], limit: number): Page<SessionRecord> {
  const rows = lists.length === 1 ? (lists[0] ?? []) : lists.flat().sort((a, b) => b.active_at_ms - a.active_at_ms || b.seq - a.seq);
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return { items: rows.slice(0, limit).map(toSessionRecord), next: last === undefined ? null : `${last.active_at_ms}.${last.seq}` };
}

/** The place of a cursor; undefined: there is none. */
export function parseCursor(cursor: string | undefined): { readonly activeAt: number; readonly seq: number } | undefined {
  const [activeAt, seq] = (cursor ?? "").split(".").map(Number);
  return activeAt === undefined || seq === undefined ? undefined : { activeAt, seq };
}

/** The longest key and value that are indexed, in characters of the JSON text. */
const MAX_LENGTH = 500;

/** A member of the metadata of a session, as `session_metadata` stores it. */
export interface MetadataRow {
  readonly key: string;
  /** The value as JSON. */
  readonly value: string;
}

/** Returns the members of metadata by which a session is found: top-level strings, numbers, booleans and nulls of at most 500 characters. */
export function metadataRows(metadata: unknown): readonly MetadataRow[] {
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) return [];
  return Object.entries(metadata).flatMap(([key, member]) => {
    if (member === undefined || (typeof member === "object" && member !== null)) return [];
    const value = JSON.stringify(member);
    return key.length <= MAX_LENGTH && value.length <= MAX_LENGTH ? [{ key: key.toWellFormed(), value }] : [];
  });
}

// Matches titles with a name. Compares them in JavaScript, because databases convert only ASCII letters to lower case without a locale.

/** The tests of a title against a name, both in lower case, from exact to vague. */
const TITLE_MATCHERS: readonly ((title: string, name: string) => boolean)[] = [
  (title, name) => title === name,
  (title, name) => title.startsWith(name),
  (title, name) => title.includes(name),
  // Words of a title in their order, each by its beginning: `tab lex` for "Tabs in the lexer".
  (title, name) => startsWords(title, name),
];

function startsWords(title: string, name: string): boolean {
  const words = titleWords(title);
  let at = 0;
  for (const start of titleWords(name)) {
    while (at < words.length && words[at]?.startsWith(start) !== true) at += 1;
    if (at === words.length) return false;
    at += 1;
  }
  return at > 0;
}

/** The words of a title, in their order. */
export function titleWords(title: string): readonly string[] {
  return title.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

/** A session and its title. */
export interface Titled {
  readonly title: string | null;
}

/** Returns those that match a name in the most exact way that any of them does, at most `limit`, in their order. */
export function bestTitles<T extends Titled>(titled: readonly T[], name: string, limit: number): readonly T[] {
  const foldedName = foldCase(name);
  const folded = titled.map((one) => ({ one, title: one.title === null ? null : foldCase(one.title) }));
  for (const matches of TITLE_MATCHERS) {
    const found = folded.filter(({ title }) => title !== null && matches(title, foldedName)).slice(0, limit);
    if (found.length > 0) return found.map(({ one }) => one);
  }
  return [];
}

/** Normalizes case and composed characters, so that both forms of an accented letter are equal. */
function foldCase(text: string): string {
  return text.normalize("NFC").toLowerCase();
}
