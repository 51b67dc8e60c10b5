import type { SearchRequest } from "../../port/search.js";
import { parseQuery, type SearchTerm } from "./search-terms.js";

/** The terms of a search, and how many of them an entry must contain. */
export interface Matching {
  readonly terms: readonly SearchTerm[];
  readonly atLeast: number;
}

/** The terms of a request; none if it has only other conditions. @throws {InvalidQueryError} */
export function parseRequest(request: SearchRequest): readonly SearchTerm[] {
  const { query, sessionId, sessionIds, roles, types, path, cwd, seqs, sinceMs, untilMs, places, tool, agents } = request;
  const conditions = [sessionId, sessionIds, roles, types, path, cwd, seqs, sinceMs, untilMs, places, tool, agents];
  const hasConditions = conditions.some((one) => one !== undefined);
  return query.trim() === "" && hasConditions ? [] : parseQuery(query);
}

/** Every term is needed. */
export function matchAll(terms: readonly SearchTerm[]): Matching {
  return { terms, atLeast: terms.length };
}

/** True if an entry must contain every term. */
export function needsAll({ terms, atLeast }: Matching): boolean {
  return atLeast >= terms.length;
}

/** True if the index alone finds the entries. It has words without the characters between them, and without their place in an entry. */
export function isIndexed({ terms }: Matching, { places, tool }: SearchRequest): boolean {
  return places === undefined && tool === undefined && terms.every(({ kind }) => kind === "words");
}

/** The number of hits that a search has without some of its filters. */
export interface LeftOutHits<F extends string> {
  readonly filters: readonly F[];
  readonly total: number;
}

/**
 * For a search that found nothing: how many hits there are without each of its filters, and without all of them; those without hits are
 * left out. Cost: a search for each. `count` searches without some filters.
 *
 * @example
 * await countLeftOut(["path", "roles"], async (left) => (await store.search(requestWithout(left))).total);
 * // [{ filters: ["roles"], total: 3 }, { filters: ["path", "roles"], total: 12 }]
 */
export async function countLeftOut<F extends string>(
  filters: readonly F[],
  count: (left: readonly F[]) => Promise<number>,
): Promise<readonly LeftOutHits<F>[]> {
  const found: LeftOutHits<F>[] = [];
  for (const left of [...filters.map((one) => [one]), ...(filters.length > 1 ? [filters] : [])]) {
    const total = await count(left);
    if (total > 0) found.push({ filters: left, total });
  }
  return found;
}

/** True if titles can match: a title has no role, type, file or tool, and only few words. */
export function includesTitles(request: SearchRequest, matching: Matching): boolean {
  return (
    request.roles === undefined &&
    request.types === undefined &&
    request.path === undefined &&
    request.seqs === undefined &&
    request.places === undefined &&
    request.tool === undefined &&
    needsAll(matching)
  );
}

/** True if a search finds copies of entries: a search in one session, or in given entries. */
export function showsCopies({ sessionId, seqs }: SearchRequest): boolean {
  return sessionId !== undefined || seqs !== undefined;
}
