import type { SearchHit, SessionId, SessionRecord } from "@bough/session-core";
import { sessionTitle } from "../session/choose-session.js";

/** A session of the list, with the text that names are looked for in, prepared once (regression R167). */
export interface Listed {
  readonly record: SessionRecord;
  /** What it is called, as `searchForm` makes it. */
  readonly name: string;
  /** Its directory in the same form; empty: none. */
  readonly directory: string;
}

/** A session of the store as the list keeps it. */
export function listed(record: SessionRecord): Listed {
  return { record, name: searchForm(sessionTitle(record)), directory: searchForm(record.cwd ?? "") };
}

const PLAIN = /^[\x20-\x7e]*$/;

/** A text without case and accents, each white space one blank: what the index of the store does not distinguish either. */
export function searchForm(text: string): string {
  const bare = PLAIN.test(text) ? text : text.normalize("NFKD").replace(/\p{M}/gu, "");
  return bare.toLowerCase().replace(/\s+/g, " ").trim();
}

/** How the list is ordered: forks under their parents, or flat. */
export type Sort = "threads" | "newest" | "name";

/** In this order the sort key goes through them. */
export const SORTS: readonly Sort[] = ["threads", "newest", "name"];

/** One session where it stands in the list. */
export interface Row {
  readonly listed: Listed;
  /** The row of the session it was forked from; null: it stands at the margin. */
  readonly parent: Row | null;
  /** Forks between it and the margin. */
  readonly depth: number;
  /** Whether no later fork of the same parent follows. */
  readonly isLast: boolean;
}

/**
 * Rows for the sessions. `threads`: each fork under its parent, newest activity of the whole subtree first (regression
 * R161); a fork whose parent is not listed stands alone. Takes time linear in the sessions, and that of a sort.
 */
export function arranged(sessions: readonly Listed[], sort: Sort): readonly Row[] {
  if (sort === "threads") return threads(sessions);
  return [...sessions].sort(sort === "name" ? byName : byActivity).map(flatRow);
}

/** A row at the margin. */
export function flatRow(listed: Listed): Row {
  return { listed, parent: null, depth: 0, isLast: true };
}

function byActivity(a: Listed, b: Listed): number {
  return b.record.activeAtMs - a.record.activeAtMs;
}

/** By code units: a collator would take longer for 10,000 names than a key may. */
function byName(a: Listed, b: Listed): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : byActivity(a, b);
}

interface Node {
  readonly listed: Listed;
  readonly forks: Node[];
  parent: Node | undefined;
  activeAtMs: number;
}

function threads(sessions: readonly Listed[]): readonly Row[] {
  const roots = forest(sessions);
  const rows: Row[] = [];
  const stack = siblings(roots, null);
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { node, ...place } = next;
    const row: Row = { listed: node.listed, ...place };
    rows.push(row);
    if (node.forks.length > 0) for (const fork of siblings(node.forks, row)) stack.push(fork);
  }
  return rows;
}

/** The sessions at the margin, each with its forks below it and the newest activity of all of them. */
function forest(sessions: readonly Listed[]): Node[] {
  const nodes = linked(sessions);
  const roots = nodes.filter(({ parent }) => parent === undefined);
  const order: Node[] = [];
  const reached = new Set<Node>();
  for (const root of roots) reach(root, order, reached);
  for (const node of nodes) {
    if (reached.has(node)) continue;
    // Records that name each other in a circle: it is opened here.
    node.parent?.forks.splice(node.parent.forks.indexOf(node), 1);
    node.parent = undefined;
    roots.push(node);
    reach(node, order, reached);
  }
  for (let at = order.length - 1; at >= 0; at -= 1) {
    const node = order[at];
    if (node?.parent !== undefined) node.parent.activeAtMs = Math.max(node.parent.activeAtMs, node.activeAtMs);
  }
  return roots;
}

function linked(sessions: readonly Listed[]): Node[] {
  const nodes = new Map<SessionId, Node>();
  for (const one of sessions) nodes.set(one.record.id, { listed: one, forks: [], parent: undefined, activeAtMs: one.record.activeAtMs });
  for (const node of nodes.values()) {
    node.parent = nodes.get(node.listed.record.parent?.sessionId ?? "");
    node.parent?.forks.push(node);
  }
  return [...nodes.values()];
}

/** Puts a node and everything below it behind `order`, each before its forks. */
function reach(root: Node, order: Node[], reached: Set<Node>): void {
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
function siblings(nodes: Node[], parent: Row | null) {
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
