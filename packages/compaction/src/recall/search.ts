import type {
  EntryType,
  HitCopy,
  MessageRole,
  SearchHit,
  SearchMatch,
  SearchPage,
  SearchRequest,
  Session,
  Store,
} from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import { countLeftOut, createQueryFinder, describeCopies, readQuestion } from "@bough/session-core/engine";
import { cleanText, ENTRY_TYPES, isPrivate, shortLine } from "@bough/session-core/view";
import type { z } from "zod";
import { RECALL, SEARCHABLE } from "../arguments/shapes.js";
import { EntrySource, type Neighbor } from "./entry-source.js";
import { formatBody, formatSpeaker, formatTime } from "./entry-text.js";
import { MAX_CHARS, parseInput, type RecallOptions, type RecallSearchInput, recallSearchInput } from "./inputs.js";
import { choosePassages, type Passage } from "./passages.js";

/** The scope of a search, and the limits of its answer. */
export interface RecallSearchOptions extends RecallOptions {
  /** Only entries with these orders of arrival; default: all of the session or store. */
  readonly seqs?: readonly number[] | undefined;
  /** Further conditions, as of `Store.search`. `types` may name summaries. */
  readonly filter?: Pick<SearchRequest, "types" | "cwd" | "sinceMs" | "untilMs" | "agents" | "sessionIds"> | undefined;
  /** Returns a note on a hit for its first line, such as the summary that covers it; null: none. */
  readonly placeOf?: ((entryId: string) => string | null) | undefined;
  /** A text that says how to get further hits. Default: by the same call with the input `next`. */
  readonly howToContinue?: string | undefined;
}

/** An entry that was found. */
export interface RecallHit {
  readonly sessionId: string;
  readonly sessionTitle: string | null;
  readonly entryId: string;
  readonly type: EntryType;
  readonly role: MessageRole | null;
  readonly createdAtMs: number;
  readonly isPrivate: boolean;
  /** The other sessions that have it; only of a search in a store. */
  readonly copies: readonly HitCopy[];
  /** The degree of its match: all the words, some of them, or another spelling. */
  readonly matched: SearchMatch;
  /** Of a question: 0 to 1, how well it answers, as of `SearchHit`; null: of another query. */
  readonly score: number | null;
  /** The label of the entry, if it has words of the query; else null. */
  readonly label: string | null;
  /** The lines of the entry's text, as `recallRead` shows it. */
  readonly lines: number;
  /** The passages in which the words are close together, in the order of the text. */
  readonly passages: readonly Passage[];
  /** The entries around it, if they were asked for. */
  readonly around: readonly Neighbor[];
}

/** The result of a search of recall. */
export interface RecallSearchResult {
  readonly hits: readonly RecallHit[];
  /** Sessions whose title matches; only of a search in a store. */
  readonly titles: readonly { readonly sessionId: string; readonly title: string }[];
  /** The number of entries and titles that match on all pages; null if it is unknown, because entries with fewer words follow. */
  readonly total: number | null;
  /** The degree of match of the best hits: all the words, some of them, or another spelling. */
  readonly matched: SearchMatch;
  /** If nothing was found: for each condition of the input, how many hits there are without it. */
  readonly withoutFilters: readonly string[];
  /** The input `next` for the hits after these; null: there are no more. */
  readonly next: number | null;
}

/** An answer: as text for a model or a person, and as data. */
export interface RecallAnswer<T> {
  readonly text: string;
  readonly data: T;
}

/**
 * Finds entries of a session, or of all sessions of a store, best first. Each hit has the passages where the words stand close together,
 * with line numbers for `recallRead`. If too few entries have all the words, others follow: with most of them, with one spelling mistake if
 * nothing else was found, with some; the answer says which. Left out are summaries unless asked for, and what the user kept out of the
 * conversation unless `includePrivate` is set.
 *
 * Cost: the search, and the payloads of the hits; with `tool` or `in` the payloads of all entries that have the words.
 *
 * @throws {RecallInputError | InvalidQueryError}
 * @example
 * const { text, data } = await recallSearch(session, { query: "lexer tabs", limit: 5 });
 */
export async function recallSearch(
  target: Session | Store,
  input: RecallSearchInput,
  options: RecallSearchOptions = {},
): Promise<RecallAnswer<RecallSearchResult>> {
  rules.checkArgument("target", target, SEARCHABLE);
  rules.checkArgument("options", options, RECALL);
  const asked = parseInput(recallSearchInput, input);
  const source = new EntrySource(target, options.includePrivate === true, options.masks);
  const skip = asked.next ?? 0;
  // One more, to know whether there are more.
  const found = await collectHits(source, buildRequest(asked, options), skip + asked.limit + 1);
  const titles =
    skip === 0 ? await readTitles(source, found.matched.kind === "ranked" ? found.titles : await findTitles(source, asked, options)) : [];
  const isEmpty = found.hits.length + titles.length === 0 && asked.query.trim() !== "";
  const filters = isEmpty ? await countWithout(source, asked, options) : [];
  return write(source, asked, options, { ...found, hits: found.hits.slice(skip) }, titles, filters);
}

/** The conditions of an input that can be left out. */
const FILTERS = ["path", "tool", "in", "roles"] as const;

/** Of a search that found nothing: the hits without each of its conditions. */
async function countWithout(source: EntrySource, asked: Asked, options: RecallSearchOptions): Promise<readonly string[]> {
  const given = FILTERS.filter((name) => asked[name] !== undefined);
  const found = await countLeftOut(given, async (left) => {
    const without = { ...asked, ...Object.fromEntries(left.map((name) => [name, undefined])) };
    return (await source.search({ ...buildRequest(without, options), relax: true, limit: 1 })).total;
  });
  return found.map(({ filters, total }) => `without ${filters.join(", ")} there ${total === 1 ? "is 1 hit" : `are ${total} hits`}`);
}

type Asked = z.output<typeof recallSearchInput>;

const SUMMARIES: readonly EntryType[] = ["compaction", "branch_summary"];
const WITHOUT_SUMMARIES = ENTRY_TYPES.filter((type) => !SUMMARIES.includes(type));

/** The most titles of an answer. */
const TITLES = 5;

/** The titles that match, of a store. */
function readTitles(source: EntrySource, titles: readonly SearchHit[]): Promise<RecallSearchResult["titles"]> {
  return Promise.all(
    titles
      .slice(0, TITLES)
      .map(async ({ sessionId, sessionTitle }) => ({ sessionId, title: await source.title(sessionId, sessionTitle ?? "") })),
  );
}

/** Titles that have all the words. */
async function findTitles(
  source: EntrySource,
  { query, roles, in: places, tool, path }: Asked,
  { filter }: RecallSearchOptions,
): Promise<readonly SearchHit[]> {
  if (filter?.types !== undefined || !source.isStore || query.trim() === "" || [roles, places, tool, path].some((one) => one !== undefined))
    return [];
  const { hits } = await source.search({ ...filter, query, limit: TITLES, snippets: false });
  return hits.filter(({ type }) => type === "title");
}

function buildRequest(asked: Asked, { seqs, filter, includePrivate }: RecallSearchOptions): SearchRequest {
  const { query, path, tool, in: places } = asked;
  const roles = asked.roles ?? (tool === undefined ? undefined : (["assistant", "toolResult"] as const));
  const types = asked.summaries || roles !== undefined || seqs !== undefined ? undefined : WITHOUT_SUMMARIES;
  return { ...filter, query, roles, types: filter?.types ?? types, path, places, tool, seqs, includePrivate, snippets: false };
}

/** The most passages of one hit. */
const PASSAGES = 3;

async function write(
  source: EntrySource,
  asked: Asked,
  options: RecallSearchOptions,
  found: Found,
  titles: RecallSearchResult["titles"],
  filters: readonly string[],
): Promise<RecallAnswer<RecallSearchResult>> {
  const { maxChars = MAX_CHARS } = options;
  const shown = found.hits.slice(0, asked.limit);
  const parts = titles.map(({ sessionId, title }) => cleanText(`The title of session ${sessionId} matches: ${shortLine(title, 200)}`));
  const hits: RecallHit[] = [];
  let [used, taken, note] = [0, 0, ""];
  for (const one of shown) {
    const { matched } = one;
    const made = await describeHit(source, one, asked, options);
    // At least one hit is shown, whatever its length.
    if (taken > 0 && used + made.text.length > maxChars) break;
    taken += 1;
    if (made.hit !== null) hits.push(made.hit);
    if (explainMatch(matched) !== note) parts.push(explainMatch(matched));
    note = explainMatch(matched);
    if (made.text !== "") parts.push(made.text);
    used += made.text.length + 2;
  }
  const next = taken < found.hits.length ? (asked.next ?? 0) + taken : null;
  const { matched, total } = found;
  const result: RecallSearchResult = { hits, titles, total, matched, next, withoutFilters: filters };
  return { text: [...parts, explainEnd(result, asked, options.howToContinue)].filter((part) => part !== "").join("\n\n"), data: result };
}

function explainMatch(matched: SearchMatch): string {
  if (matched.kind === "words") return "The same words, with other characters between or around them:";
  if (matched.kind === "some") return `Not all words, at least ${matched.words} of ${matched.of}:`;
  if (matched.kind === "ranked" && matched.misspelt.length > 0)
    return cleanText(`No entry has ${shortLine(matched.misspelt.join(", "), 200)}; words with one other letter:`);
  if (matched.kind === "spelling") return cleanText(`Not the word ${shortLine(matched.typed, 60)}, but ${matched.found.join(", ")}:`);
  return "";
}

function explainEnd(
  { hits, titles, total, next, withoutFilters }: RecallSearchResult,
  asked: Asked,
  howToContinue = `the same with next ${next} continues`,
): string {
  if (hits.length + titles.length === 0) {
    if ((asked.next ?? 0) > 0) return "There are no more hits.";
    if (asked.query === "") return "No entry meets these conditions.";
    if (withoutFilters.length > 0) return `No entry with these conditions has any of these words: ${withoutFilters.join("; ")}.`;
    return "No entry has any of these words.";
  }
  if (next === null) return "";
  return `${total === null ? "There are more" : `${total} match`}: ${howToContinue}.`;
}

async function describeHit(
  source: EntrySource,
  { hit, matched, query }: FoundHit,
  asked: Asked,
  { placeOf, includePrivate = false }: RecallSearchOptions,
): Promise<{ readonly hit: RecallHit | null; readonly text: string }> {
  const { sessionId, entryId, role, createdAtMs } = hit;
  const sessionTitle = hit.sessionTitle === null ? null : await source.title(sessionId, hit.sessionTitle);
  const where = source.isStore
    ? ` in session ${sessionId}${sessionTitle === null ? "" : ` ${JSON.stringify(shortLine(sessionTitle, 60))}`}`
    : "";
  const entry = entryId === null ? undefined : await source.find(sessionId, entryId);
  // Deleted meanwhile.
  if (entryId === null || entry === undefined) return { hit: null, text: "" };
  const body = formatBody(entry, includePrivate);
  const lines = body.split("\n").length;
  const finder = asked.query.trim() === "" ? null : createQueryFinder(query, matched);
  const passages = choosePassages(body, finder, PASSAGES);
  const around = asked.around === 0 ? [] : await source.neighbors(sessionId, entryId, asked.around);
  const label = hit.label === null ? null : await source.title(sessionId, hit.label);
  const place = placeOf?.(entryId) ?? null;
  const call = await source.callOf(sessionId, entry);
  const copies = source.isStore ? hit.copies : [];
  const head = [
    `[${entryId}]${where} ${formatSpeaker(entry)}${call === null ? "" : ` ${call}`}`,
    formatTime(createdAtMs),
    label === null ? null : `labelled ${JSON.stringify(shortLine(label, 60))}`,
    place,
    `${lines} ${lines === 1 ? "line" : "lines"}`,
    isPrivate(entry) ? "private" : null,
    describeCopies({ copies }) || null,
  ];
  const text = [
    cleanText(shortLine(head.filter((part) => part !== null).join(", "), 400)),
    ...around.filter(({ distance }) => distance < 0).map(formatNeighbor),
    ...passages.map(formatPassage),
    ...around.filter(({ distance }) => distance > 0).map(formatNeighbor),
  ].join("\n");
  const { type } = entry;
  return {
    hit: {
      sessionId,
      sessionTitle,
      entryId,
      type,
      role,
      createdAtMs,
      isPrivate: isPrivate(entry),
      copies,
      matched,
      score: hit.score,
      label,
      lines,
      passages,
      around,
    },
    text,
  };
}

function formatPassage({ line, text }: Passage): string {
  return text
    .split("\n")
    .map((one, at) => `${line + at}: ${one}`)
    .join("\n");
}

function formatNeighbor({ distance, entryId, speaker, preview }: Neighbor): string {
  return cleanText(`  (${distance < 0 ? "before" : "after"}: [${entryId}] ${speaker}: ${preview})`);
}

/** A hit, and the words by which it was found. */
interface FoundHit {
  readonly hit: SearchHit;
  readonly matched: SearchMatch;
  /** The query, or the query with a corrected word. */
  readonly query: string;
}

/** The hits of one or several searches. */
interface Found {
  /** Best first, at most as many as wanted. */
  readonly hits: readonly FoundHit[];
  /** Titles that this search found. */
  readonly titles: readonly SearchHit[];
  readonly matched: SearchMatch;
  /** null: unknown, because entries with fewer words follow. */
  readonly total: number | null;
}

/** A query of more words is long. */
const LONG = 3;
const ALL_WORDS: SearchMatch = { kind: "all" };

/**
 * Collects hits until there are `wanted`. The answers to a question are ranked by one search. Of other queries: entries with all the words,
 * with most of them, with most of them after a word that is nowhere was replaced by one that differs in a letter, and with some of them.
 */
async function collectHits(source: EntrySource, request: SearchRequest, wanted: number): Promise<Found> {
  const { query } = request;
  const collector = new HitCollector(source, wanted);
  if (readQuestion(query) !== null) return collector.collectAnswers(request);
  const first = await collector.collect({ ...request, relax: true });
  const words = createQueryFinder(query, ALL_WORDS).terms;
  const half = Math.floor(words / 2);
  const start = first.matched.kind === "some" ? first.matched.words - 1 : words - 1;
  await collector.collectFewer(request, start, half + 1);
  const isCorrect = first.matched.kind === "all" && first.total > 0;
  const correction = isCorrect || collector.isDone ? null : await correctWord(source, request);
  const corrected = correction === null ? request : { ...request, query: correction.query };
  if (correction !== null) await collector.collectFewer(corrected, words, half + 1, correction);
  await collector.collectFewer(corrected, Math.min(start, half), 1, correction ?? undefined);
  const total = words < 2 || collector.searches === 1 ? first.total : null;
  return { hits: collector.hits, titles: [], matched: first.matched, total };
}

interface Correction {
  readonly query: string;
  readonly typed: string;
  readonly found: readonly string[];
}

/** The query with the first of its words that is nowhere replaced by a similar one; null: there is none. Cost: a search for each word. */
async function correctWord(source: EntrySource, request: SearchRequest): Promise<Correction | null> {
  const words = request.query.split(/\s+/).filter((word) => /^\p{L}+$/u.test(word));
  for (const typed of words) {
    const { matched } = await source.search({ ...request, query: typed, relax: true, limit: 1 });
    const [word] = matched.kind === "spelling" ? matched.found : [];
    if (matched.kind === "spelling" && word !== undefined) return { query: request.query.replace(typed, word), typed, found: [word] };
  }
  return null;
}

/** Hits of several searches, each entry once. */
class HitCollector {
  readonly hits: FoundHit[] = [];
  searches = 0;
  readonly #source: EntrySource;
  readonly #wanted: number;
  readonly #seen = new Set<string>();

  constructor(source: EntrySource, wanted: number) {
    this.#source = source;
    this.#wanted = wanted;
  }

  get isDone(): boolean {
    return this.hits.length >= this.#wanted;
  }

  /** Adds the hits of a search until there are enough; returns its first page. */
  async collect(request: SearchRequest, correction?: Correction, skipsSummaries = false): Promise<SearchPage> {
    this.searches += 1;
    const asked = { ...request, limit: this.#wanted };
    const first = await this.#source.search(asked);
    for (let page = first; ; ) {
      const matched =
        correction === undefined ? page.matched : { kind: "spelling" as const, typed: correction.typed, found: correction.found };
      for (const hit of page.hits)
        if (!skipsSummaries || hit.type === "title" || !SUMMARIES.includes(hit.type)) this.#add({ hit, matched, query: request.query });
      if (page.next === null || this.isDone) return first;
      page = await this.#source.search({ ...asked, cursor: page.next });
    }
  }

  /** The entries that answer a question, and the titles with all its words, by one search. */
  async collectAnswers(request: SearchRequest): Promise<Found> {
    const { types } = request;
    // A search by types finds no titles.
    const isOfAll = types === WITHOUT_SUMMARIES;
    const first = await this.collect({ ...request, relax: true, types: isOfAll ? undefined : types }, undefined, isOfAll);
    const titles = first.hits.filter(({ type }) => type === "title");
    return { hits: this.hits, titles, matched: first.matched, total: first.total - titles.length };
  }

  /** Searches for entries with at least `most` of the words, then with fewer, down to `least`, until there are enough hits. */
  async collectFewer(request: SearchRequest, most: number, least: number, correction?: Correction): Promise<void> {
    // Of a long query not every number: each search looks up every word.
    const step = most > LONG ? 2 : 1;
    for (let atLeast = most; atLeast >= least && !this.isDone; atLeast -= step) await this.collect({ ...request, atLeast }, correction);
  }

  #add(found: FoundHit): void {
    const { hit } = found;
    const key = `${hit.sessionId} ${hit.entryId}`;
    // Titles are found apart.
    if (hit.entryId === null || this.#seen.has(key) || this.hits.length >= this.#wanted) return;
    this.#seen.add(key);
    this.hits.push(found);
  }
}
