import type { EntryType, MessageRole, SearchHit, SearchMatch, SearchPage, SearchRequest, Session, Store } from "@bough/session-core";
import { cleanText, createQueryFinder, ENTRY_TYPES, isPrivate, type QueryFinder, shortLine } from "@bough/session-core/internals";
import type { z } from "zod";
import { EntrySource, type Neighbor } from "./entry-source.js";
import { formatBody, formatSpeaker, formatTime } from "./entry-text.js";
import { MAX_CHARS, parseInput, type RecallOptions, type RecallSearchInput, recallSearchInput } from "./inputs.js";
import { choosePassages, type Passage } from "./passages.js";
import { isOfTool } from "./tool-filter.js";

/** Where to search, and how much to answer. */
export interface RecallSearchOptions extends RecallOptions {
  /** Only entries with these orders of arrival; default: all of the session or store. */
  readonly seqs?: readonly number[] | undefined;
  /** What is said about a hit in its first line, such as the summary that covers it. */
  readonly placeOf?: ((entryId: string) => string | null) | undefined;
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
  /** The lines of the entry's text, as `recallRead` shows it. */
  readonly lines: number;
  /** Where the words stand close together, in the order of the text. */
  readonly passages: readonly Passage[];
  /** The entries around it, if they were asked for. */
  readonly around: readonly Neighbor[];
}

/** What a search of recall found. */
export interface RecallSearchResult {
  readonly hits: readonly RecallHit[];
  /** Sessions whose title matches; only of a search in a store. */
  readonly titles: readonly { readonly sessionId: string; readonly title: string }[];
  /** How many entries and titles match on all pages; null with `tool`, where it is unknown. */
  readonly total: number | null;
  /** Whether the hits have all the words. */
  readonly matched: SearchMatch;
  /** The input `next` for the hits after these; null: there are no more. */
  readonly next: number | null;
  /** Not everything was looked at, because too many entries have the words. */
  readonly isIncomplete: boolean;
}

/** An answer: as text for a model or a person, and as data. */
export interface RecallAnswer<T> {
  readonly text: string;
  readonly data: T;
}

/**
 * Finds entries of a session, or of all sessions of a store, best first. Each hit has the passages where the words stand close together,
 * with line numbers for `recallRead`. If no entry has all the words: most of them, then one spelling mistake, then some; the answer says
 * which. Left out are summaries unless asked for, and what the user kept out of the conversation unless `includePrivate` is set.
 *
 * Cost: the search, and the payloads of the hits; with `tool` the payloads of up to 2,000 entries.
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
  const asked = parseInput(recallSearchInput, input);
  const source = new EntrySource(target, options.includePrivate === true);
  const found = await collectHits(source, asked, options);
  const finder = asked.query.trim() === "" ? null : createQueryFinder(asked.query, found.matched);
  return write(source, asked, options, found, finder);
}

type Asked = z.output<typeof recallSearchInput>;

/** Hits read at once where a filter follows. */
const PAGE = 200;
/** The most entries whose payload is read for a filter. */
const MOST_FILTERED = 2_000;
const SUMMARIES: readonly EntryType[] = ["compaction", "branch_summary"];
const WITHOUT_SUMMARIES = ENTRY_TYPES.filter((type) => !SUMMARIES.includes(type));

interface Found extends Pick<RecallSearchResult, "matched" | "total" | "isIncomplete"> {
  /** From the asked position on, one more than asked if there are more. */
  readonly hits: readonly SearchHit[];
}

async function collectHits(source: EntrySource, asked: Asked, options: RecallSearchOptions): Promise<Found> {
  const request = buildRequest(asked, options);
  const skip = asked.next ?? 0;
  const wanted = skip + asked.limit + 1;
  const hits: SearchHit[] = [];
  let page: SearchPage | undefined;
  let seen = 0;
  do {
    page = await source.search({ ...request, cursor: page?.next ?? undefined, limit: asked.tool === undefined ? wanted : PAGE });
    seen += page.hits.length;
    for (const hit of page.hits) if (asked.tool === undefined || (await isOfTool(source, hit, asked.tool))) hits.push(hit);
  } while (page.next !== null && hits.length < wanted && seen < MOST_FILTERED);
  const isIncomplete = page.next !== null && hits.length < wanted;
  const total = asked.tool === undefined ? page.total : null;
  return { hits: hits.slice(skip, wanted), matched: page.matched, total, isIncomplete };
}

function buildRequest(asked: Asked, { seqs, includePrivate }: RecallSearchOptions): SearchRequest {
  const { query, path, tool } = asked;
  const roles = asked.roles ?? (tool === undefined ? undefined : (["assistant", "toolResult"] as const));
  const types = asked.summaries || roles !== undefined || seqs !== undefined ? undefined : WITHOUT_SUMMARIES;
  return { query, roles, types, path, seqs, includePrivate, relax: true, snippets: false };
}

/** The most passages of one hit. */
const PASSAGES = 3;

async function write(
  source: EntrySource,
  asked: Asked,
  options: RecallSearchOptions,
  found: Found,
  finder: QueryFinder | null,
): Promise<RecallAnswer<RecallSearchResult>> {
  const { maxChars = MAX_CHARS } = options;
  const shown = found.hits.slice(0, asked.limit);
  const notes = explainMatch(found.matched);
  const parts: string[] = notes === "" ? [] : [notes];
  const hits: RecallHit[] = [];
  const titles: { sessionId: string; title: string }[] = [];
  let used = notes.length;
  let taken = 0;
  for (const hit of shown) {
    const made = await describeHit(source, hit, asked, options, finder);
    // At least one hit is shown, whatever its length.
    if (taken > 0 && used + made.text.length > maxChars) break;
    taken += 1;
    if (made.hit !== null) hits.push(made.hit);
    else if (hit.entryId === null) titles.push({ sessionId: hit.sessionId, title: hit.sessionTitle ?? "" });
    if (made.text !== "") parts.push(made.text);
    used += made.text.length + 2;
  }
  const next = taken < found.hits.length ? (asked.next ?? 0) + taken : null;
  const { matched, total, isIncomplete } = found;
  const result: RecallSearchResult = { hits, titles, total, matched, next, isIncomplete };
  return { text: [...parts, explainEnd(result, asked)].filter((part) => part !== "").join("\n\n"), data: result };
}

function explainMatch(matched: SearchMatch): string {
  if (matched.kind === "some") return `No entry has all ${matched.of} words; these have at least ${matched.words} of them.`;
  if (matched.kind === "spelling")
    return cleanText(`No entry has the word ${shortLine(matched.typed, 60)}; these have ${matched.found.join(", ")}.`);
  return "";
}

function explainEnd({ hits, titles, total, next, isIncomplete }: RecallSearchResult, asked: Asked): string {
  if (isIncomplete) return "Too many entries have these words to look at all; use rarer ones.";
  if (hits.length + titles.length === 0) {
    if ((asked.next ?? 0) > 0) return "There are no more hits.";
    return asked.query === "" ? "No entry meets these conditions." : "No entry has any of these words.";
  }
  if (next === null) return "";
  return `${total === null ? "There are more" : `${total} match`}: the same with next ${next} continues.`;
}

async function describeHit(
  source: EntrySource,
  hit: SearchHit,
  asked: Asked,
  { placeOf, includePrivate = false }: RecallSearchOptions,
  finder: QueryFinder | null,
): Promise<{ readonly hit: RecallHit | null; readonly text: string }> {
  const { sessionId, sessionTitle, entryId, role, createdAtMs } = hit;
  const where = source.isStore ? ` in session ${sessionId}${sessionTitle === null ? "" : ` "${shortLine(sessionTitle, 60)}"`}` : "";
  if (entryId === null) return { hit: null, text: cleanText(`The title of session ${sessionId} matches: ${sessionTitle ?? ""}`) };
  const entry = await source.find(sessionId, entryId);
  // Deleted meanwhile.
  if (entry === undefined) return { hit: null, text: "" };
  const body = formatBody(entry, includePrivate);
  const lines = body.split("\n").length;
  const passages = choosePassages(body, finder, PASSAGES);
  const around = asked.around === 0 ? [] : await source.neighbors(sessionId, entryId, asked.around);
  const place = placeOf?.(entryId) ?? null;
  const head = [
    `[${entryId}]${where} ${formatSpeaker(entry)}`,
    formatTime(createdAtMs),
    place,
    `${lines} lines`,
    isPrivate(entry) ? "private" : null,
  ];
  const text = [
    shortLine(head.filter((part) => part !== null).join(", "), 400),
    ...around.filter(({ distance }) => distance < 0).map(formatNeighbor),
    ...passages.map(formatPassage),
    ...around.filter(({ distance }) => distance > 0).map(formatNeighbor),
  ].join("\n");
  const { type } = entry;
  return { hit: { sessionId, sessionTitle, entryId, type, role, createdAtMs, isPrivate: isPrivate(entry), lines, passages, around }, text };
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
