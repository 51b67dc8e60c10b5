import type { SearchHit, SearchMatch, SearchPage, SearchRequest } from "@bough/session-core";
import { createQueryFinder } from "@bough/session-core/engine";
import type { EntrySource } from "./entry-source.js";

/** A hit, and the words by which it was found. */
export interface FoundHit {
  readonly hit: SearchHit;
  readonly matched: SearchMatch;
  /** The query, or the query with a corrected word. */
  readonly query: string;
}

/** The hits of one or several searches. */
export interface Found {
  /** Best first, at most as many as wanted. */
  readonly hits: readonly FoundHit[];
  readonly matched: SearchMatch;
  /** null: unknown, because entries with fewer words follow. */
  readonly total: number | null;
}

/** A query of more words is long. */
const LONG = 3;
const ALL_WORDS: SearchMatch = { kind: "all" };

/**
 * Collects hits until there are `wanted`: entries with all the words, with most of them, with most of them where a word that is nowhere
 * is replaced by one that differs in a letter, and with some of them.
 */
export async function collectHits(source: EntrySource, request: SearchRequest, wanted: number): Promise<Found> {
  const { query } = request;
  const collector = new HitCollector(source, wanted);
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
  return { hits: collector.hits, matched: first.matched, total };
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
  async collect(request: SearchRequest, correction?: Correction): Promise<SearchPage> {
    this.searches += 1;
    const asked = { ...request, limit: this.#wanted };
    const first = await this.#source.search(asked);
    for (let page = first; ; ) {
      const matched =
        correction === undefined ? page.matched : { kind: "spelling" as const, typed: correction.typed, found: correction.found };
      for (const hit of page.hits) this.#add({ hit, matched, query: request.query });
      if (page.next === null || this.isDone) return first;
      page = await this.#source.search({ ...asked, cursor: page.next });
    }
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
