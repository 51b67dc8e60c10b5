import { AGENT_FILTERS } from "@bough/formats/agents";
import { InvalidQueryError, type SearchRequest, type SessionRecord } from "@bough/session-core";
import { SEARCH_PLACES } from "@bough/session-core/engine";
import { ENTRY_TYPES, MESSAGE_ROLES } from "@bough/session-core/view";
import { parseTime } from "../format/time.js";
import { agentOf } from "./names.js";
import type { TYPED_FILTERS } from "./typed-filter-names.js";

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
}

interface Parsed {
  readonly search?: SearchConditions;
  readonly sessions?: SessionConditions;
}

type ParseValue = (value: string, world: FilterWorld) => Parsed | string;

/** Parses a value that is one or more of a list, separated by commas; of each its beginning is enough. */
function listed<Name extends string>(choices: readonly Name[], toSearch: (chosen: readonly Name[]) => SearchConditions): ParseValue {
  return (value) => {
    const names = value.toLowerCase().split(",");
    const chosen = names.flatMap((name) => {
      const exact = choices.filter((choice) => choice.toLowerCase() === name);
      return exact.length > 0 ? exact : choices.filter((choice) => choice.toLowerCase().startsWith(name));
    });
    return chosen.length === 0 ? `is unknown: choose from ${choices.join(", ")}` : { search: toSearch(chosen) };
  };
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
  agent: listed(AGENT_FILTERS, (agents) => ({ agents })),
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

/** An expression, which may have blanks; or a run of characters in which quotation marks keep blanks. */
const PIECE = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/i?(?=\s|$)|(?:[^\s"]|"[^"]*"?)+/g;

/**
 * Takes the filters out of a query. `name:value` is one if the name is that of a filter; blanks in a value stand in quotation marks. In
 * quotation marks as a whole (`"type:module"`) it is text. A filter without a value, as it is while somebody types, asks for nothing.
 */
export function parseTypedQuery(typed: string, world: FilterWorld): TypedQuery {
  const filters: string[] = [];
  let search: SearchConditions = {};
  let sessions: SessionConditions = {};
  let problem: InvalidQueryError | undefined;
  let words = "";
  let end = 0;
  for (const { 0: piece, index } of typed.matchAll(PIECE)) {
    const [, name = "", quoted = ""] = /^([a-z]+):(.*)$/s.exec(piece) ?? [];
    const parse = isFilter(name) ? FILTERS[name] : undefined;
    if (parse === undefined) continue;
    words += typed.slice(end, index);
    end = index + piece.length;
    const value = quoted.replaceAll('"', "");
    if (value === "") continue;
    filters.push(piece);
    const parsed = parse(value, world);
    if (typeof parsed === "string") problem ??= new InvalidQueryError(typed, `${piece} ${parsed}; in quotation marks it is text`);
    else {
      search = bothOf(search, parsed.search ?? {}, "either");
      sessions = { ...sessions, ...parsed.sessions };
    }
  }
  words = filters.length === 0 && end === 0 ? typed : `${words}${typed.slice(end)}`.replace(/^\s+/, "");
  return { words, filters, search, sessions, problem };
}

/**
 * The conditions of two sources together: both hold. Lists have what both name (`either`: what one of them names, as for a filter that is
 * typed twice); of a tool, a file or a directory the second one counts.
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
export function meetsRecord(record: SessionRecord, { search, sessions }: Pick<TypedQuery, "search" | "sessions">): boolean {
  const { agents, sinceMs, untilMs, cwd } = search;
  return (
    (agents === undefined || agents.includes(agentOf(record))) &&
    (cwd === undefined || record.cwd === cwd) &&
    (sinceMs === undefined || record.activeAtMs >= sinceMs) &&
    (untilMs === undefined || record.activeAtMs < untilMs) &&
    (sessions.directory === undefined || isInDirectory(record.cwd ?? "", sessions.directory))
  );
}

function isInDirectory(directory: string, wanted: string): boolean {
  if (!wanted.startsWith("/")) return directory.toLowerCase().includes(wanted.toLowerCase());
  const folder = wanted.replace(/\/+$/, "");
  return directory === folder || directory.startsWith(`${folder}/`);
}
