import type { SearchHit, SessionId, SessionRecord } from "@bough/session-core";
import { sessionTitle } from "../session/choose-session.js";

/** A session of the list, with the text that names are looked for in, prepared once (regression R167). */
export interface ListedSession {
  readonly record: SessionRecord;
  /** What it is called, as `searchForm` makes it. */
  readonly name: string;
  /** Its directory in the same form; empty: none. */
  readonly directory: string;
}

/** A session of the store as the list keeps it. */
export function toListedSession(record: SessionRecord): ListedSession {
  return { record, name: normalizeForSearch(sessionTitle(record)), directory: normalizeForSearch(record.cwd ?? "") };
}

const PLAIN = /^[\x20-\x7e]*$/;

/** A text without case and accents, each white space one blank: what the index of the store does not distinguish either. */
export function normalizeForSearch(text: string): string {
  const bare = PLAIN.test(text) ? text : text.normalize("NFKD").replace(/\p{M}/gu, "");
  return bare.toLowerCase().replace(/\s+/g, " ").trim();
}

/** How the list is ordered: forks under their parents, or flat. */
export type Sort = "threads" | "newest" | "name";

/** In this order the sort key goes through them. */
export const SORTS: readonly Sort[] = ["threads", "newest", "name"];

/** One session where it stands in the list. */
export interface SessionRow {
  readonly session: ListedSession;
  /** The row of the session it was forked from; null: it stands at the margin. */
  readonly parent: SessionRow | null;
  /** Forks between it and the margin. */
  readonly depth: number;
  /** Whether no later fork of the same parent follows. */
  readonly isLast: boolean;
}

/**
 * Rows for the sessions. `threads`: each fork under its parent, newest activity of the whole subtree first (regression
 * R161); a fork whose parent is not listed stands alone. Takes time linear in the sessions, and that of a sort.
 */
export function sortSessions(sessions: readonly ListedSession[], sort: Sort): readonly SessionRow[] {
  if (sort === "threads") return sortInThreads(sessions);
  return [...sessions].sort(sort === "name" ? compareByName : compareByActivity).map(flatRow);
}

/** A row at the margin. */
export function flatRow(session: ListedSession): SessionRow {
  return { session, parent: null, depth: 0, isLast: true };
}

function compareByActivity(a: ListedSession, b: ListedSession): number {
  return b.record.activeAtMs - a.record.activeAtMs;
}

/** By code units: a collator would take longer for 10,000 names than a key may. */
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

/** The sessions at the margin, each with its forks below it and the newest activity of all of them. */
function buildForest(sessions: readonly ListedSession[]): Node[] {
  const nodes = linkNodes(sessions);
  const roots = nodes.filter(({ parent }) => parent === undefined);
  const order: Node[] = [];
  const reached = new Set<Node>();
  for (const root of roots) appendSubtree(root, order, reached);
  for (const node of nodes) {
    if (reached.has(node)) continue;
    // Records that name each other in a circle: it is opened here.
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

/** Puts a node and everything below it behind `order`, each before its forks. */
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

/** Newest last, so that a stack gives them newest first. */
function oldestFirst(nodes: Node[], parent: SessionRow | null) {
  nodes.sort((a, b) => b.activeAtMs - a.activeAtMs);
  const depth = parent === null ? 0 : parent.depth + 1;
  return nodes.map((node, at) => ({ node, parent, depth, isLast: at === nodes.length - 1 })).reverse();
}

/** Where a text was found in a session: the best hit, and how many there are among those that were read. */
export interface TextHit {
  readonly hit: SearchHit;
  readonly count: number;
}

/** The sessions that fit what was typed. */
export interface Matches {
  /** First those whose name fits, then those whose text does. */
  readonly rows: readonly SessionRow[];
  readonly nameMatchCount: number;
}

/**
 * Sessions that a typed text means: name exactly, as a beginning, inside; all words in the name; id or directory (regression
 * R166), in each of these the newest first; then those of `hits`, best first. One pass over the prepared names.
 */
export function matchSessions(sessions: readonly ListedSession[], typed: string, hits: ReadonlyMap<SessionId, TextHit>): Matches {
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
  return { rows: [...named, ...rowsInHitOrder(hits, rest)], nameMatchCount: named.length };
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

/** Hits by session, best first. Hits of titles are left out: names are looked for without the index. */
export function groupHitsBySession(hits: Iterable<SearchHit>): ReadonlyMap<SessionId, TextHit> {
  const groups = new Map<SessionId, TextHit>();
  for (const hit of hits) {
    if (hit.entryId === null) continue;
    const known = groups.get(hit.sessionId);
    groups.set(hit.sessionId, { hit: known?.hit ?? hit, count: (known?.count ?? 0) + 1 });
  }
  return groups;
}

/** What the index is asked for a text that is still being typed: its last word may be the beginning of one. */
export function prefixQuery(typed: string): string {
  const isInPhrase = (typed.split('"').length - 1) % 2 === 1;
  return !isInPhrase && /[\p{L}\p{N}]$/u.test(typed) ? `${typed}*` : typed;
}
