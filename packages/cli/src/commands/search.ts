import { resolve } from "node:path";
import type { SearchHit, SearchPage, SearchRequest, Store } from "@bough/session-core";
import { countLeftOut, describeCopies, groupBy, SEARCH_PLACES } from "@bough/session-core/engine";
import { count, counted, ENTRY_TYPES, MESSAGE_ROLES } from "@bough/session-core/view";
import { UsageError } from "../errors.js";
import { hitKind } from "../format/entry-lines.js";
import { dateTime } from "../format/time.js";
import { wrapLine } from "../format/wrap.js";
import { searchConditions } from "../session/chosen-sessions.js";
import { resolveSession, sessionTitle, shortEntryIds, shortSessionId } from "../session/names.js";
import { withStore } from "../session/open-store.js";
import { readPrices } from "../session/prices.js";
import { bothOf, conflictOf, parseTypedQuery } from "../session/typed-filters.js";
import { splitMatches } from "../session/typed-text.js";
import type { Io } from "../terminal/io.js";
import { fitLine, type Line, styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { loadExactWidths } from "../terminal/width.js";
import { type Command, type CommonOptions, timeOption } from "./command.js";
import { PRINTED_CHARS, printAnswer } from "./recall-output.js";

interface SearchOptions extends CommonOptions {
  readonly session?: string;
  readonly role?: readonly string[];
  readonly type?: readonly string[];
  readonly path?: string;
  readonly directory?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
  readonly all?: boolean;
  readonly private?: boolean;
  readonly exact?: boolean;
  readonly passages?: boolean;
  readonly in?: readonly string[];
  readonly tool?: string;
  readonly agent?: string;
  readonly around?: number;
  readonly summaries?: boolean;
  readonly interactive?: boolean;
}

/** `bough search`: prints entries and titles that contain all of the query, or most of its words, best match first. */
export const runSearch: Command<SearchOptions> = async (invocation) => {
  const { io, out, args, options } = invocation;
  const asked = buildRequest(io, args.join(" "), options);
  if (options.interactive === true || (args.length === 0 && isBare(options) && io.terminal !== undefined))
    return (await import("./search-interactive.js")).searchInteractively(invocation, asked, describeConditions(options));
  await withStore(io, options.store, "read", async (store) => {
    await loadExactWidths();
    const sessionId = options.session === undefined ? undefined : (await resolveSession(store, io, out, options.session)).id;
    const nowMs = io.now();
    const typed = parseTypedQuery(asked.query, { nowMs, home: io.home, isComplete: true });
    const conditions = await searchConditions({ store, prices: () => readPrices(io) }, typed);
    const conflict = conflictOf(asked, conditions);
    if (conflict !== undefined) throw new UsageError(`An option and a filter of the query exclude each other: ${conflict}.`);
    const request = { ...asked, ...bothOf(asked, conditions), query: typed.words };
    const usesRecall = options.passages === true || options.summaries === true || options.around !== undefined;
    if (usesRecall) return searchByRecall(out, store, { ...request, sessionId }, options);
    const page = await readPages(store, { ...request, sessionId }, options.all === true);
    if (options.json === true) return out.json(page);
    await printHits(out, store, page, sessionId !== undefined);
    if (page.total > 0) return;
    for (const line of await countWithoutFilters(store, { ...request, sessionId })) out.line(line);
  });
};

/** Prints hits as a model gets them: the lines where the words stand close together, with their numbers. */
async function searchByRecall(out: Printer, store: Store, request: SearchRequest, options: SearchOptions): Promise<void> {
  const { recallSearch } = await import("@bough/compaction");
  const { query, sessionId, sessionIds, path, types, cwd, sinceMs, untilMs, includePrivate, places, agents, tool, roles } = request;
  const { around = 0, summaries = false } = options;
  const target = sessionId === undefined ? store : await store.openSession(sessionId);
  const limit = Math.min(options.all === true ? MOST_PASSAGES : options.limit, MOST_PASSAGES);
  const filter = { types, cwd, sinceMs, untilMs, agents, sessionIds };
  const answer = await recallSearch(
    target,
    { query, path, tool, around, summaries, limit, roles: roles?.slice(), in: places?.slice() },
    { filter, includePrivate, maxChars: PRINTED_CHARS, howToContinue: `--limit prints up to ${MOST_PASSAGES}` },
  );
  await printAnswer(out, answer, options.json === true);
}

/** The most hits with passages. */
const MOST_PASSAGES = 50;

function buildRequest(io: Io, query: string, options: SearchOptions): SearchRequest {
  return {
    query,
    roles: checkChoices("--role", options.role, MESSAGE_ROLES),
    types: checkChoices("--type", options.type, ENTRY_TYPES),
    places: checkChoices("--in", options.in, SEARCH_PLACES),
    tool: options.tool,
    agents: options.agent === undefined ? undefined : [options.agent],
    path: options.path,
    cwd: options.directory === undefined ? undefined : resolve(io.cwd, options.directory),
    sinceMs: timeOption("--since", options.since, io.now()),
    untilMs: timeOption("--until", options.until, io.now()),
    relax: options.exact !== true,
    includePrivate: options.private === true,
    limit: options.limit,
  };
}

/** Options that leave out hits, in the order in which they are shown. */
const CONDITIONS = ["agent", "since", "until", "session", "directory", "path", "role", "type", "in", "tool"] as const;

/** The conditions of a search as they were given: `--agent claude --since 2w`; empty: none. */
function describeConditions(options: SearchOptions): string {
  return CONDITIONS.flatMap((name) => [options[name] ?? []].flat().map((value) => `--${name} ${value}`)).join(" ");
}

/** True if no option asks for a list or a form of it. */
function isBare(options: SearchOptions): boolean {
  const { store: _store, limit: _limit, pager: _pager, ...others } = options;
  return Object.values(others).every((value) => value === undefined);
}

function checkChoices<T extends string>(
  option: string,
  given: readonly string[] | undefined,
  allowed: readonly T[],
): readonly T[] | undefined {
  return given?.map((one) => {
    const found = allowed.find((name) => name === one);
    if (found === undefined) throw new UsageError(`${option} ${one} is unknown. Choose from ${allowed.join(", ")}.`);
    return found;
  });
}

/** Hits of one page where all are printed: the rank of each hit is computed again for each page. */
const LARGE_PAGE = 1000;

async function readPages(store: Store, asked: SearchRequest, all: boolean): Promise<SearchPage> {
  const request = all ? { ...asked, limit: LARGE_PAGE } : asked;
  const first = await store.search(request);
  const hits: SearchHit[] = [...first.hits];
  let { next } = first;
  while (all && next !== null) {
    const page = await store.search({ ...request, cursor: next });
    for (const hit of page.hits) hits.push(hit);
    next = page.next;
  }
  return { ...first, hits, next };
}

const NOTHING = 'No matches. All words must occur in one entry; "some words" is a phrase, /expression/ a regular expression.';

async function printHits(out: Printer, store: Store, page: SearchPage, isWithin: boolean): Promise<void> {
  for (const note of explainPage(page)) out.line(styled("dim", note));
  if (page.total === 0) return out.line(NOTHING);
  let first: string | undefined;
  for (const hits of groupBy(page.hits, ({ sessionId }) => sessionId).values()) {
    const names = await readNames(store, out, hits);
    printHeading(out, names);
    for (const hit of hits) {
      printHit(out, hit, names.entries.get(hit.entryId ?? ""), isWithin);
      await out.pump();
    }
    const entry = hits[0]?.entryId ?? null;
    first ??= out.command(`tree ${names.session}${entry === null ? "" : ` ${names.entries.get(entry) ?? entry}`} -i`);
  }
  const shown = page.next === null ? "" : `, the best ${count(page.hits.length)} printed; --all prints all`;
  out.line(styled("dim", `${counted(page.total, "match", "matches")}${shown}`));
  if (first !== undefined) out.line(styled("dim", `Open the first in the tree: ${first}`));
}

/** Explains how the query was parsed, and how the hits differ from it. */
function explainPage({ matched, unclosedQuote }: SearchPage): readonly string[] {
  const quote = unclosedQuote === null ? [] : [`The quotation mark is not closed: "${unclosedQuote}" is searched as a phrase.`];
  switch (matched.kind) {
    case "all":
      return quote;
    case "words":
      return [...quote, "No entry has this as it is typed; these have its words, with other characters between them."];
    case "some":
      return [...quote, `No entry has all ${matched.of} words; these have at least ${matched.words}.`];
    case "ranked":
      return matched.misspelt.length === 0
        ? quote
        : [`No entry has "${matched.misspelt.join('" or "')}"; words with one other letter are searched instead.`];
    case "spelling":
      return [...quote, `No entry has "${matched.typed}"; these have "${matched.found.join('", "')}".`];
  }
}

/** The conditions of a request that can be left out, and the names of their filters. */
const FILTERS = [
  ["agents", "agent"],
  ["sinceMs", "since"],
  ["untilMs", "until"],
  ["sessionId", "session"],
  ["sessionIds", "dir, model or cost"],
  ["cwd", "directory"],
  ["path", "path"],
  ["roles", "role"],
  ["types", "type"],
  ["places", "in"],
  ["tool", "tool"],
] as const satisfies readonly (readonly [keyof SearchRequest, string])[];

/** Of a search that found nothing: the matches without its filters. */
async function countWithoutFilters(store: Store, request: SearchRequest): Promise<readonly string[]> {
  if (request.query.trim() === "") return [];
  const names = new Map<keyof SearchRequest, string>(FILTERS);
  const given = FILTERS.map(([member]) => member).filter((member) => request[member] !== undefined);
  const found = await countLeftOut(given, async (left) => {
    const without = Object.fromEntries(left.map((member) => [member, undefined]));
    return (await store.search({ ...request, ...without, limit: 1, snippets: false })).total;
  });
  return found.map(
    ({ filters, total }) =>
      `Without the filter ${filters.map((member) => names.get(member)).join(", ")}: ${counted(total, "match", "matches")}.`,
  );
}

/** The names by which the user refers to a session and its entries. */
interface Names {
  readonly title: string;
  readonly session: string;
  readonly entries: ReadonlyMap<string, string>;
}

async function readNames(store: Store, out: Printer, hits: readonly SearchHit[]): Promise<Names> {
  const id = hits[0]?.sessionId ?? "";
  const record = await store.findSession(id);
  if (record === undefined) return { title: "(deleted)", session: id, entries: new Map() };
  const ids = hits.flatMap(({ entryId }) => entryId ?? []);
  const entries = await shortEntryIds(await store.openSession(id), ids, out);
  return { title: sessionTitle(record), session: await shortSessionId(store, id, out), entries };
}

function printHeading(out: Printer, { title, session }: Names): void {
  const id = styled("dim", `  ${session}`);
  out.line(...fitLine([styled("bold", title)], Math.max(out.width - session.length - 2, 10), out.glyphs.ellipsis), id);
}

function printHit(out: Printer, hit: SearchHit, id: string | undefined, isWithin: boolean): void {
  const copies = describeCopies(hit, isWithin);
  const mark = `${hit.isPrivate ? "  private" : ""}${copies === "" ? "" : `  ${copies}`}`;
  const name = hit.entryId === null ? "title" : (id ?? hit.entryId);
  out.line("  ", styled("label", name), styled("dim", `  ${dateTime(hit.createdAtMs)}  ${hitKind(hit)}${mark}`));
  for (const line of wrapLine(renderSnippet(hit), out.width - 4)) out.line("    ", ...line);
}

function renderSnippet({ snippet, matches }: SearchHit): Line {
  return splitMatches(snippet, matches).map(({ text, isMatch }) => (isMatch ? styled("match", text) : text));
}
