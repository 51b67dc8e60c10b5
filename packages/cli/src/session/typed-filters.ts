import { AGENT_FILTERS } from "@bough/formats/agents";
import { InvalidQueryError, type SearchRequest, type SessionRecord } from "@bough/session-core";
import { SEARCH_PLACES } from "@bough/session-core/engine";
import { ENTRY_TYPES, MESSAGE_ROLES } from "@bough/session-core/view";
import { parseTime } from "../format/time.js";
import { agentOf } from "./names.js";
import type { TYPED_FILTERS } from "./typed-text.js";

// Filters in the text of a query, as in `agent:pi since:2w theme`: of `bough search`, the finder, the picker, and the list of `bough view`.

/** The conditions of a search that a store checks itself. */
export type SearchConditions = Pick<
  SearchRequest,
  "agents" | "roles" | "types" | "places" | "tool" | "path" | "cwd" | "sessionIds" | "sinceMs" | "untilMs"
>;

/** A range of costs in US dollars. */
interface CostRange {
  readonly atLeast: number;
  readonly below: number;
}

/** Conditions on a session as a whole. */
export interface SessionConditions {
  /** The directory contains this text, in any case; or, if it is absolute, it is this one or below it. */
  readonly directory?: string;
  /** The name of a model that wrote in the session contains this text, in any case. */
  readonly model?: string;
  readonly costUsd?: CostRange;
}

/** A query without its filters, and what these ask for. */
export interface TypedQuery {
  /** The words of the query. */
  readonly words: string;
  /** The filters as they were typed. */
  readonly filters: readonly string[];
  readonly search: SearchConditions;
  readonly sessions: SessionConditions;
  /** A filter whose value is none; undefined: all are valid. */
  readonly problem: InvalidQueryError | undefined;
}

/** The world of relative times and paths. */
export interface FilterWorld {
  readonly nowMs: number;
  readonly home: string;
  /** True for the text of a command, which nobody is typing any more: a name without a value at its end is text, too. */
  readonly isComplete?: boolean;
}

interface Parsed {
  readonly search?: SearchConditions;
  readonly sessions?: SessionConditions;
}

type ParseValue = (value: string, world: FilterWorld) => Parsed | string;

/** The items of a value, separated by commas. */
function itemsOf(value: string): readonly string[] {
  return value.split(",").filter((item) => item !== "");
}

/** The choice with this name, or those that begin with it. */
function choicesFor<Name extends string>(choices: readonly Name[], typed: string): readonly Name[] {
  const name = typed.toLowerCase();
  const exact = choices.filter((choice) => choice.toLowerCase() === name);
  return exact.length > 0 ? exact : choices.filter((choice) => choice.toLowerCase().startsWith(name));
}

/** Parses a value that is one or more of a list, separated by commas; of each its beginning is enough. */
function listed<Name extends string>(choices: readonly Name[], toSearch: (chosen: readonly Name[]) => SearchConditions): ParseValue {
  return (value) => {
    const items = itemsOf(value);
    const unknown = items.find((item) => choicesFor(choices, item).length === 0);
    if (items.length > 0 && unknown === undefined) return { search: toSearch(items.flatMap((item) => choicesFor(choices, item))) };
    const found = unknown === undefined || unknown === value ? "is unknown" : `has ${unknown}, which is unknown`;
    return `${found}: choose from ${choices.join(", ")}`;
  };
}

/** An agent that is none of the list may be that of a reader outside this repository: only a store knows (`searchConditions`). */
function agent(value: string): Parsed | string {
  const items = itemsOf(value);
  if (items.length === 0) return `is unknown: choose from ${AGENT_FILTERS.join(", ")}`;
  const chosen = items.flatMap((item) => {
    const known = choicesFor(AGENT_FILTERS, item);
    return known.length === 0 ? [item] : known;
  });
  return { search: { agents: chosen } };
}

function time(name: "sinceMs" | "untilMs"): ParseValue {
  return (value, { nowMs }) => {
    const at = parseTime(value, nowMs);
    return at === undefined ? "is not a time: write 2025-11-21, or 3d, 12h, 2w ago" : { search: { [name]: at } };
  };
}

function directory(value: string, { home }: FilterWorld): Parsed {
  const isBelowHome = value === "~" || value.startsWith("~/");
  return { sessions: { directory: isBelowHome && home !== "" ? `${home}${value.slice(1)}` : value } };
}

function cost(value: string): Parsed | string {
  const [, sign = "", figure = ""] = /^([<>]?)(\d+(?:\.\d+)?)$/.exec(value) ?? [];
  if (figure === "") return "is not a cost in US dollars: write 1, >0.5 or <2";
  const usd = Number(figure);
  return { sessions: { costUsd: sign === "<" ? { atLeast: 0, below: usd } : { atLeast: usd, below: Number.POSITIVE_INFINITY } } };
}

/** The filters by their names. */
const FILTERS: Readonly<Record<(typeof TYPED_FILTERS)[number] | "directory", ParseValue>> = {
  agent,
  role: listed(MESSAGE_ROLES, (roles) => ({ roles })),
  type: listed(ENTRY_TYPES, (types) => ({ types })),
  in: listed(SEARCH_PLACES, (places) => ({ places })),
  since: time("sinceMs"),
  until: time("untilMs"),
  dir: directory,
  directory,
  model: (value) => ({ sessions: { model: value.toLowerCase() } }),
  cost,
  tool: (value) => ({ search: { tool: value } }),
  path: (value) => ({ search: { path: value } }),
};

function isFilter(name: string): name is keyof typeof FILTERS {
  return Object.hasOwn(FILTERS, name);
}

/** The filters that have one value in a query, under the name of the condition. */
const SINGLE: Readonly<Partial<Record<keyof typeof FILTERS, string>>> = {
  dir: "directory",
  directory: "directory",
  model: "model",
  tool: "tool",
  path: "path",
};

/** An expression, which may have blanks; or a run of characters in which quotation marks keep blanks. */
const PIECE = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/i?(?=\s|$)|(?:[^\s"]|"[^"]*"?)+/g;

/** The name and the value of a filter; undefined: the piece is text. */
function filterIn(piece: string, isBeingTyped: boolean): { readonly name: keyof typeof FILTERS; readonly value: string } | undefined {
  const [, name = "", quoted = ""] = /^([a-z]+):(.*)$/s.exec(piece) ?? [];
  const value = quoted.replaceAll('"', "");
  return isFilter(name) && (value !== "" || isBeingTyped) ? { name, value } : undefined;
}

/**
 * Takes the filters out of a query. `name:value` is one if the name is that of a filter; blanks in a value stand in quotation marks. In
 * quotation marks as a whole (`"type:module"`) it is text. A name without a value is text, too, except at the end of a text that somebody
 * is typing: there it asks for nothing.
 */
export function parseTypedQuery(typed: string, world: FilterWorld): TypedQuery {
  const filters: string[] = [];
  let search: SearchConditions = {};
  let sessions: SessionConditions = {};
  /** The filters that have one value, under the name of the condition. */
  const singles = new Map<string, { readonly piece: string; readonly value: string }>();
  let problem: InvalidQueryError | undefined;
  let words = "";
  let end = 0;
  for (const { 0: piece, index } of typed.matchAll(PIECE)) {
    const found = filterIn(piece, world.isComplete !== true && index + piece.length === typed.length);
    if (found === undefined) continue;
    words += typed.slice(end, index);
    end = index + piece.length;
    const { name, value } = found;
    if (value === "") continue;
    filters.push(piece);
    const other = singles.get(SINGLE[name] ?? "");
    if (other !== undefined && other.value !== value)
      problem ??= new InvalidQueryError(typed, `${other.piece} and ${piece} cannot both hold: leave one out`);
    if (SINGLE[name] !== undefined) singles.set(SINGLE[name], { piece, value });
    const parsed = FILTERS[name](value, world);
    if (typeof parsed === "string") problem ??= new InvalidQueryError(typed, `${piece} ${parsed}; in quotation marks it is text`);
    else {
      search = bothOf(search, parsed.search ?? {}, "either");
      sessions = { ...sessions, ...parsed.sessions, ...costOfBoth(sessions.costUsd, parsed.sessions?.costUsd) };
    }
  }
  words = filters.length === 0 && end === 0 ? typed : `${words}${typed.slice(end)}`.replace(/^\s+/, "");
  return { words, filters, search, sessions, problem };
}

function costOfBoth(a: CostRange | undefined, b: CostRange | undefined): SessionConditions {
  if (a === undefined || b === undefined) return {};
  return { costUsd: { atLeast: Math.max(a.atLeast, b.atLeast), below: Math.min(a.below, b.below) } };
}

/** Conditions that have one value. */
const SINGLE_CONDITIONS = ["tool", "path"] as const;

/** Says which conditions of two sources cannot both hold; undefined: all can. */
export function conflictOf(a: SearchConditions, b: SearchConditions): string | undefined {
  const name = SINGLE_CONDITIONS.find((one) => a[one] !== undefined && b[one] !== undefined && a[one] !== b[one]);
  return name === undefined ? undefined : `the ${name} cannot be both ${a[name]} and ${b[name]}: leave one out`;
}

/**
 * The conditions of two sources together: both hold. Lists have what both name (`either`: what one of them names, as for a filter that is
 * typed twice). Of a tool or a file, of which only one can hold (`conflictOf`), and of a directory the second one counts.
 */
export function bothOf(a: SearchConditions, b: SearchConditions, lists: "both" | "either" = "both"): SearchConditions {
  const joined = <Value>(own: readonly Value[] | undefined, other: readonly Value[] | undefined) => {
    if (own === undefined || other === undefined) return own ?? other;
    return lists === "both" ? own.filter((value) => other.includes(value)) : [...new Set([...own, ...other])];
  };
  const later = Math.max(a.sinceMs ?? Number.NEGATIVE_INFINITY, b.sinceMs ?? Number.NEGATIVE_INFINITY);
  const earlier = Math.min(a.untilMs ?? Number.POSITIVE_INFINITY, b.untilMs ?? Number.POSITIVE_INFINITY);
  return {
    ...a,
    ...b,
    agents: joined(a.agents, b.agents),
    roles: joined(a.roles, b.roles),
    types: joined(a.types, b.types),
    places: joined(a.places, b.places),
    sessionIds: joined(a.sessionIds, b.sessionIds),
    sinceMs: Number.isFinite(later) ? later : undefined,
    untilMs: Number.isFinite(earlier) ? earlier : undefined,
  };
}

/** True if only the entries of a session can answer: such filters choose no session by its record. */
export function asksForEntries({ words, search }: TypedQuery): boolean {
  return words.trim() !== "" || [search.roles, search.types, search.places, search.tool, search.path].some((one) => one !== undefined);
}

/** True if the record of a session meets the filters that it can answer: agent, directory and the time of its last entry. */
export function meetsRecord(record: SessionRecord, query: Pick<TypedQuery, "search" | "sessions">): boolean {
  const { sinceMs, untilMs } = query.search;
  return (
    meetsPlace(record, query) &&
    (sinceMs === undefined || record.activeAtMs >= sinceMs) &&
    (untilMs === undefined || record.activeAtMs < untilMs)
  );
}

/** True if the record of a session meets the filters by agent and directory. */
export function meetsPlace(record: SessionRecord, { search: { agents, cwd }, sessions }: Pick<TypedQuery, "search" | "sessions">): boolean {
  return (
    (agents === undefined || agents.includes(agentOf(record))) &&
    (cwd === undefined || record.cwd === cwd) &&
    (sessions.directory === undefined || isInDirectory(record.cwd ?? "", sessions.directory))
  );
}

/** True if a session was going on in the time of a query: it began before the end, and its last entry is not before the start. */
export function wasActive(
  { createdAtMs, activeAtMs }: SessionRecord,
  { search: { sinceMs, untilMs } }: Pick<TypedQuery, "search">,
): boolean {
  return (sinceMs === undefined || activeAtMs >= sinceMs) && (untilMs === undefined || createdAtMs < untilMs);
}

function isInDirectory(directory: string, wanted: string): boolean {
  if (!wanted.startsWith("/")) return directory.toLowerCase().includes(wanted.toLowerCase());
  const folder = wanted.replace(/\/+$/, "");
  return directory === folder || directory.startsWith(`${folder}/`);
}
