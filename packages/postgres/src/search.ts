import type { SearchPage, SearchRequest } from "@bough/session-core";
import {
  type Attempt,
  type EntryMatch,
  finishPage,
  includesLabels,
  includesTitles,
  type LabelRow,
  listAttempts,
  listMisspellings,
  type Matching,
  matchAll,
  parseRequest,
  type QuestionTerm,
  questionOf,
  rowLimit,
  type SearchTerm,
  snippetsFor,
  type TitleRow,
  tokensOf,
  toMatching,
  toTitleHits,
  type UnmatchedPage,
  type WordsTerm,
} from "@bough/session-core/engine";
import type { Database } from "./database.js";
import { pgQuery, pgRaw } from "./query.js";
import { findAnswers, matchedAnswers } from "./question-search.js";
import { type FoundEntries, findByConditions, findEntries } from "./search-entries.js";
import { findLabelled, readLabels } from "./search-labels.js";
import { findTitles, keyOf, readHits } from "./search-rows.js";
import { formsKey, piecesToLookUp, readWordParts } from "./search-words.js";
import { requireSession } from "./session-key.js";

const DEFAULT_LIMIT = 20;

/**
 * Searches titles, labels and entries, with the terms and conditions of a search in a store on SQLite. With `relax`, a search that finds nothing is
 * tried again with weaker conditions. A search of words is five statements: the words with a part, labels, titles,
 * entries with their ranks, and the payloads of the page.
 *
 * @throws {InvalidQueryError | SessionNotFoundError}
 */
export async function search(database: Database, request: SearchRequest): Promise<SearchPage> {
  const page = await findPage(database, request);
  if (page.total === 0 && request.sessionId !== undefined) await requireSession(database, request.sessionId);
  return page;
}

async function findPage(database: Database, request: SearchRequest): Promise<SearchPage> {
  const terms = parseRequest(request);
  const question = questionOf(request);
  if (question !== null) return answer(database, request, question);
  const isBare = terms.length === 0 && request.tool === undefined && request.places === undefined;
  const position = parseCursor(request.cursor);
  if (isBare) return listByConditions(database, request, position);
  const attempts = listAttempts(terms, request);
  const first = Math.min(position.attempt, attempts.length - 1);
  for (const [at, attempt] of attempts.entries()) {
    if (at < first) continue;
    const matching = await matchingOf(database, terms, attempt);
    const page = await searchOnce(database, snippetsFor(request, attempt), matching, { ...position, attempt: at });
    const isFound = page.total > 0 || at === attempts.length - 1 || request.cursor !== undefined;
    if (isFound) return finishPage(request, page, attempt, matching);
  }
  throw new RangeError("a search has at least one attempt");
}

async function listByConditions(database: Database, request: SearchRequest, position: Position): Promise<SearchPage> {
  const found = await findByConditions(database, request, position.untilMs);
  const page = await readPage(database, request, matchAll([]), { titles: [], labelled: [], found, position });
  return { ...page, matched: { kind: "all" }, unclosedQuote: null };
}

/** Titles and labels with all the words of a question, then the entries that answer it, the best first. */
async function answer(database: Database, request: SearchRequest, terms: readonly QuestionTerm[]): Promise<SearchPage> {
  const position = parseCursor(request.cursor);
  const answers = await findAnswers(database, request, terms, position.untilMs);
  const matching = matchAll(answers.asked.map(({ term }) => term));
  const forms = new Map(answers.asked.map(({ term, forms: of }) => [formsKey(term), of]));
  const titles = includesTitles(request, matching) ? await findTitles(database, matching, request, forms) : [];
  const { entries: labelled, all } = await findLabelled(
    database,
    answers.labels.map(({ row }) => row),
    matching,
    request,
  );
  const isLabelled = new Set(all.map(keyOf));
  const labelOf = new Map(answers.labels.map(({ row }) => [keyOf(row), row.label]));
  const scoreOf = new Map(answers.ranked.map(({ entry, score }) => [keyOf(entry), score]));
  const scored = labelled.map((row) => ({ ...row, score: scoreOf.get(keyOf(row)) }));
  const ranked = answers.ranked.filter(({ entry }) => !isLabelled.has(keyOf(entry)));
  const found: FoundEntries = {
    total: ranked.length,
    newestMs: answers.ranked.length === 0 ? null : Math.max(...answers.ranked.map(({ entry }) => entry.createdAtMs)),
    list: async (offset, limit) =>
      ranked.slice(offset, offset + limit).map(({ entry, score }) => ({ ...entry, score, label: labelOf.get(keyOf(entry)) })),
  };
  const page = await readPage(database, request, matching, { titles, labelled: scored, found, position });
  return { ...page, matched: matchedAnswers(answers), unclosedQuote: null };
}

async function searchOnce(database: Database, request: SearchRequest, matching: Matching, position: Position): Promise<UnmatchedPage> {
  const labels = includesLabels(request, matching) ? readLabels(database, request, position.untilMs) : [];
  const [parts, rows] = await Promise.all([readWordParts(database, piecesToLookUp(matching)), labels]);
  const { entries: labelled, all: except } = await findLabelled(database, rows, matching, request);
  const [titles, found] = await Promise.all([
    includesTitles(request, matching) ? findTitles(database, matching, request, parts) : [],
    findEntries(database, matching, { ...request, except }, parts, position.untilMs),
  ]);
  return readPage(database, request, matching, { titles, labelled, found, position });
}

interface Found {
  readonly titles: readonly TitleRow[];
  readonly labelled: readonly (LabelRow & EntryMatch)[];
  readonly found: FoundEntries;
  readonly position: Position;
}

async function readPage(
  database: Database,
  request: SearchRequest,
  matching: Matching,
  { titles, labelled, found, position: { offset, untilMs, attempt } }: Found,
): Promise<UnmatchedPage> {
  const limit = rowLimit(request.limit ?? DEFAULT_LIMIT);
  const onPage = titles.slice(offset, offset + limit);
  const start = Math.max(0, offset - titles.length);
  const byLabel = labelled.slice(start, start + limit - onPage.length);
  const wanted = limit - onPage.length - byLabel.length;
  const first = titles.length + labelled.length;
  const entries = [...byLabel, ...(wanted > 0 ? await found.list(Math.max(0, offset - first), wanted) : [])];
  const total = first + found.total;
  const end = offset + limit;
  const next = { offset: end, untilMs: untilMs ?? newestOf(found, labelled), attempt };
  return {
    hits: [...toTitleHits(onPage, matching, request), ...(await readHits(database, entries, matching, request))],
    total,
    next: limit > 0 && end < total ? formatCursor(next) : null,
  };
}

function newestOf({ newestMs }: FoundEntries, labelled: readonly LabelRow[]): number | null {
  return labelled.reduce((newest, { created_at_ms }) => Math.max(newest ?? 0, created_at_ms), newestMs);
}

const listedOf = pgQuery<{ words: readonly string[] }, { word: string }>(({ sql, p }) =>
  pgRaw(sql<{ word: string }>`
    SELECT asked.word FROM unnest(${p.words}::text[]) AS asked (word)
    WHERE EXISTS (SELECT 1 FROM word WHERE word.tenant = ${p.tenant} AND word.word = asked.word)`),
);

/** Returns the words that an entry must contain in an attempt. Looks up words with a mistake in the list of words. */
async function matchingOf(database: Database, terms: readonly SearchTerm[], attempt: Attempt): Promise<Matching> {
  let misspelt: WordsTerm | undefined;
  toMatching(terms, attempt, (term) => (misspelt = term));
  if (misspelt === undefined) return toMatching(terms, attempt, (term) => term);
  const words = [tokensOf(misspelt.words).join(""), ...listMisspellings(misspelt.words)];
  const known = new Set((await database.all(listedOf, { words })).map(({ word }) => word));
  const inIndex = words.filter((word) => known.has(word));
  return toMatching(terms, attempt, (term) => ({ ...term, reach: "whole", misspelt: { inIndex } }));
}

/** The start of a page. */
interface Position {
  readonly offset: number;
  /** The time of the newest entry of the first page: what was added later is on no page. null: this is the first page. */
  readonly untilMs: number | null;
  /** The number of the attempt that found something. */
  readonly attempt: number;
}

function parseCursor(cursor = "0"): Position {
  const [offset = "0", untilMs = "", attempt = "0"] = cursor.split(".");
  return {
    offset: rowLimit(Number(offset)),
    untilMs: untilMs === "" ? null : rowLimit(Number(untilMs)),
    attempt: rowLimit(Number(attempt)),
  };
}

function formatCursor({ offset, untilMs, attempt }: Position): string {
  // A cursor has no negative numbers. What came before 1970 is on the next page, too.
  return `${offset}.${untilMs === null ? "" : Math.max(0, untilMs)}.${attempt}`;
}
