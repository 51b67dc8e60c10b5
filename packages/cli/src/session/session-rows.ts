import type { SearchHit, SessionId, SessionRecord } from "@bough/session-core";
import { sessionTitle } from "./names.js";

/** A session of the list with its normalized search texts, computed once because each key searches all of them. */
export interface ListedSession {
  readonly record: SessionRecord;
  /** The displayed title, normalized. */
  readonly name: string;
  /** The directory, normalized; empty if it has none. */
  readonly directory: string;
}

/** Prepares a session for sorting and searching. */
export function toListedSession(record: SessionRecord): ListedSession {
  return { record, name: normalizeForSearch(sessionTitle(record)), directory: normalizeForSearch(record.cwd ?? "") };
}

const PLAIN = /^[\x20-\x7e]*$/;

/** Folds case and accents and collapses whitespace, as the search index of the store does. */
function normalizeForSearch(text: string): string {
  const bare = PLAIN.test(text) ? text : text.normalize("NFKD").replace(/\p{M}/gu, "");
  return bare.toLowerCase().replace(/\s+/g, " ").trim();
}

/** Order of the list: `threads` has forks below their parents, the others are flat. */
export type Sort = "threads" | "newest" | "name";

/** The order in which the sort key cycles. */
export const SORTS: readonly Sort[] = ["threads", "newest", "name"];

/** A row of the list. */
export interface SessionRow {
  readonly session: ListedSession;
  /** The row of the session it was forked from; null at the top level. */
  readonly parent: SessionRow | null;
  readonly depth: number;
  /** True if it is the last fork of its parent. */
  readonly isLast: boolean;
}

/**
 * Rows for the sessions. `threads` puts each fork below its parent and orders subtrees by their newest activity; a fork
 * whose parent is not in the list is a top-level row. O(n log n).
 */
export function sortSessions(sessions: readonly ListedSession[], sort: Sort): readonly SessionRow[] {
  if (sort === "threads") return sortInThreads(sessions);
  return [...sessions].sort(sort === "name" ? compareByName : compareByActivity).map(flatRow);
}

/** A top-level row. */
function flatRow(session: ListedSession): SessionRow {
  return { session, parent: null, depth: 0, isLast: true };
}

function compareByActivity(a: ListedSession, b: ListedSession): number {
  return b.record.activeAtMs - a.record.activeAtMs;
}

/** By code units: a collator takes too long for 10,000 names on each key. */
function compareByName(a: ListedSession, b: ListedSession): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : compareByActivity(a, b);
}

interface Node {
  readonly session: ListedSession;
  readonly forks: Node[];
  parent: Node | undefined;
  activeAtMs: number;
}

function sortInThreads(sessions: readonly ListedSession[]): readonly SessionRow[] {
  const roots = buildForest(sessions);
  const rows: SessionRow[] = [];
  const stack = oldestFirst(roots, null);
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { node, ...place } = next;
    const row: SessionRow = { session: node.session, ...place };
    rows.push(row);
    if (node.forks.length > 0) for (const fork of oldestFirst(node.forks, row)) stack.push(fork);
  }
  return rows;
}

/** The top-level nodes with their forks; `activeAtMs` becomes the newest activity of the subtree. */
function buildForest(sessions: readonly ListedSession[]): Node[] {
  const nodes = linkNodes(sessions);
  const roots = nodes.filter(({ parent }) => parent === undefined);
  const order: Node[] = [];
  const reached = new Set<Node>();
  for (const root of roots) appendSubtree(root, order, reached);
  for (const node of nodes) {
    if (reached.has(node)) continue;
    // Parents form a cycle: break it here.
    node.parent?.forks.splice(node.parent.forks.indexOf(node), 1);
    node.parent = undefined;
    roots.push(node);
    appendSubtree(node, order, reached);
  }
  for (let at = order.length - 1; at >= 0; at -= 1) {
    const node = order[at];
    if (node?.parent !== undefined) node.parent.activeAtMs = Math.max(node.parent.activeAtMs, node.activeAtMs);
  }
  return roots;
}

function linkNodes(sessions: readonly ListedSession[]): Node[] {
  const nodes = new Map<SessionId, Node>();
  for (const one of sessions) nodes.set(one.record.id, { session: one, forks: [], parent: undefined, activeAtMs: one.record.activeAtMs });
  for (const node of nodes.values()) {
    node.parent = nodes.get(node.session.record.parent?.sessionId ?? "");
    node.parent?.forks.push(node);
  }
  return [...nodes.values()];
}

/** Appends a node and its descendants to `order`, parents before their forks. */
function appendSubtree(root: Node, order: Node[], reached: Set<Node>): void {
  let at = order.length;
  order.push(root);
  for (; at < order.length; at += 1) {
    const node = order[at];
    if (node === undefined) continue;
    reached.add(node);
    for (const fork of node.forks) order.push(fork);
  }
}

/** For a stack, which returns the last one, the newest, first. */
function oldestFirst(nodes: Node[], parent: SessionRow | null) {
  nodes.sort((a, b) => b.activeAtMs - a.activeAtMs);
  const depth = parent === null ? 0 : parent.depth + 1;
  return nodes.map((node, at) => ({ node, parent, depth, isLast: at === nodes.length - 1 })).reverse();
}

/** The best text match in a session, and the number of matches among the hits read. */
export interface TextHit {
  readonly hit: SearchHit;
  readonly count: number;
}

/**
 * Sessions that match a query. Order: the name equals it, starts with it, contains it, contains all its words; the id starts
 * with it or the directory contains it (in each group newest first); then the sessions of `hits`, best first. O(n).
 */
export function matchSessions(sessions: readonly ListedSession[], typed: string, hits: ReadonlyMap<SessionId, TextHit>) {
  const wanted = normalizeForSearch(typed.replaceAll('"', " ").replace(/\*(?=\s|$)/g, " "));
  const words = wanted.split(" ");
  const tiers: SessionRow[][] = [[], [], [], [], []];
  const rest = new Map<SessionId, ListedSession>();
  for (const one of sessions) {
    const tier = wanted === "" ? undefined : matchTier(one, wanted, words);
    if (tier !== undefined) tiers[tier]?.push(flatRow(one));
    else if (hits.has(one.record.id)) rest.set(one.record.id, one);
  }
  const named = tiers.flat();
  return {
    /** First the matches by name, then the matches by text. */
    rows: [...named, ...rowsInHitOrder(hits, rest)],
    nameMatchCount: named.length,
  };
}

function matchTier({ name, directory, record }: ListedSession, wanted: string, words: readonly string[]): number | undefined {
  const at = name.indexOf(wanted);
  if (at >= 0) return at > 0 ? 2 : name.length === wanted.length ? 0 : 1;
  if (words.length > 1 && words.every((word) => name.includes(word))) return 3;
  return record.id.startsWith(wanted) || directory.includes(wanted) ? 4 : undefined;
}

function rowsInHitOrder(hits: ReadonlyMap<SessionId, TextHit>, found: ReadonlyMap<SessionId, ListedSession>): readonly SessionRow[] {
  const rows: SessionRow[] = [];
  for (const id of hits.keys()) {
    const one = found.get(id);
    if (one !== undefined) rows.push(flatRow(one));
  }
  return rows;
}

/** Groups hits by session, best first. Ignores hits in titles: `matchSessions` finds those without the index. */
export function groupHitsBySession(hits: Iterable<SearchHit>): ReadonlyMap<SessionId, TextHit> {
  const groups = new Map<SessionId, TextHit>();
  for (const hit of hits) {
    if (hit.entryId === null) continue;
    const known = groups.get(hit.sessionId);
    groups.set(hit.sessionId, { hit: known?.hit ?? hit, count: (known?.count ?? 0) + 1 });
  }
  return groups;
}
