import type { SearchHit, SessionId } from "@bough/session-core";
import { flatRow, type Row } from "./arrange.js";
import { type Listed, searchForm } from "./listed.js";

/** Where a text was found in a session: the best hit, and how many there are among those that were read. */
export interface TextHit {
  readonly hit: SearchHit;
  readonly count: number;
}

/** The sessions that fit what was typed. */
export interface Matches {
  /** First those whose name fits, then those whose text does. */
  readonly rows: readonly Row[];
  readonly byName: number;
}

/**
 * Sessions that a typed text means: name exactly, as a beginning, inside; all words in the name; id or directory (regression
 * R166), in each of these the newest first; then those of `hits`, best first. One pass over the prepared names.
 */
export function matching(sessions: readonly Listed[], typed: string, hits: ReadonlyMap<SessionId, TextHit>): Matches {
  const wanted = searchForm(typed.replaceAll('"', " ").replace(/\*(?=\s|$)/g, " "));
  const words = wanted.split(" ");
  const tiers: Row[][] = [[], [], [], [], []];
  const rest = new Map<SessionId, Listed>();
  for (const one of sessions) {
    const tier = wanted === "" ? undefined : tierOf(one, wanted, words);
    if (tier !== undefined) tiers[tier]?.push(flatRow(one));
    else if (hits.has(one.record.id)) rest.set(one.record.id, one);
  }
  const named = tiers.flat();
  return { rows: [...named, ...inOrderOf(hits, rest)], byName: named.length };
}

function tierOf({ name, directory, record }: Listed, wanted: string, words: readonly string[]): number | undefined {
  const at = name.indexOf(wanted);
  if (at >= 0) return at > 0 ? 2 : name.length === wanted.length ? 0 : 1;
  if (words.length > 1 && words.every((word) => name.includes(word))) return 3;
  return record.id.startsWith(wanted) || directory.includes(wanted) ? 4 : undefined;
}

function inOrderOf(hits: ReadonlyMap<SessionId, TextHit>, found: ReadonlyMap<SessionId, Listed>): readonly Row[] {
  const rows: Row[] = [];
  for (const id of hits.keys()) {
    const one = found.get(id);
    if (one !== undefined) rows.push(flatRow(one));
  }
  return rows;
}

/** Hits by session, best first. Hits of titles are left out: names are looked for without the index. */
export function groupedHits(hits: Iterable<SearchHit>): ReadonlyMap<SessionId, TextHit> {
  const groups = new Map<SessionId, TextHit>();
  for (const hit of hits) {
    if (hit.entryId === null) continue;
    const known = groups.get(hit.sessionId);
    groups.set(hit.sessionId, { hit: known?.hit ?? hit, count: (known?.count ?? 0) + 1 });
  }
  return groups;
}

/** What the index is asked for a text that is still being typed: its last word may be the beginning of one. */
export function queryWhileTyping(typed: string): string {
  const isInPhrase = (typed.split('"').length - 1) % 2 === 1;
  return !isInPhrase && /[\p{L}\p{N}]$/u.test(typed) ? `${typed}*` : typed;
}
