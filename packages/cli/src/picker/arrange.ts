import type { SessionId } from "@bough/session-core";
import type { Listed } from "./listed.js";

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
