import { ReadFromStartError } from "@bough/session-core/engine";
import { isNoise } from "./record-kind.js";
import { BEFORE, type SavedPlacement } from "./saved-transcript.js";
import { MISSING, type NodeIndex, ROOT, type SessionFile } from "./session-file.js";

/**
 * Computes the parent of each record in the imported tree.
 *
 * The parents in the file form more branches than the user made: results of parallel calls have different lines of a reply as
 * parents, reports of hooks branch off the conversation, and the parent of a reply is the last record that Claude Code had in memory.
 * These rules keep only the real branches:
 *
 * 1. A *step* (a prompt, a reply, a compaction) is attached to its parent's settled point: the end of the records that belong to
 *    the parent, which are noise, injected messages without children, and results of tool calls. So a reply follows all results,
 *    and two steps with one parent are siblings: a rewind, or a repeated reply.
 * 2. A result is attached there too, unless there is a step already (a late result): then rule 4 applies. A second result of a
 *    call is a sibling of the first, because a path must not contain both.
 * 3. Noise and injected messages with a step as a child count as steps: a rewind may start with a hook's report or a slash
 *    command.
 * 4. Other records (reports of hooks, snapshots, side records) start no branch: they are attached to the end of their parent's
 *    descendants so far, in file order.
 *
 * Memory: twelve bytes a record. Time: nearly linear (union-find with path compression). Records may be added to the file between
 * two calls.
 */
export class TreePlacement {
  readonly #file: SessionFile;
  // Node n is at n + 1, the root at 0. Following #settled or #end from a node ends where it refers to itself.
  #settled: Int32Array;
  #end: Int32Array;
  #parent: Int32Array;
  #lastPlaced: NodeIndex = ROOT;
  #lastStep: NodeIndex = ROOT;

  /** `saved`: the placement of the first records, by an earlier reading. */
  constructor(file: SessionFile, saved?: SavedPlacement) {
    this.#file = file;
    this.#settled = Int32Array.from({ length: file.records.length + 1 }, (_, at) => at);
    this.#end = this.#settled.slice();
    this.#parent = new Int32Array(file.records.length + 1).fill(ROOT);
    if (saved === undefined) return;
    this.#settled.set(saved.settled);
    this.#end.set(saved.end);
    this.#parent.set(saved.parent);
    this.#lastPlaced = saved.lastPlaced;
    this.#lastStep = saved.lastStep;
  }

  /** The last step that was placed. */
  get lastStep(): NodeIndex {
    return this.#lastStep;
  }

  /** The placement as a later reading needs it, which numbers the records from `first` on. Call it before `next` is placed. */
  save(first: NodeIndex, next: NodeIndex): SavedPlacement {
    const shift = (node: NodeIndex) => (node < 0 ? node : node < first ? BEFORE : node - first);
    return {
      settled: saveLinks(this.#settled, first, next),
      end: saveLinks(this.#end, first, next),
      parent: [ROOT, ...this.#parent.slice(first + 1, next + 1)].map(shift),
      lastPlaced: shift(this.#lastPlaced),
      lastStep: shift(this.#lastStep),
    };
  }

  /** Makes room for the records that were added since. */
  #grow(): void {
    if (this.#file.records.length < this.#settled.length) return;
    const length = 2 * this.#file.records.length + 2;
    this.#settled = extendLinks(this.#settled, length);
    this.#end = extendLinks(this.#end, length);
    const parents = new Int32Array(length).fill(ROOT);
    parents.set(this.#parent);
    this.#parent = parents;
  }

  /** The end of the branch that the conversation continued last. */
  get current(): NodeIndex {
    return followLinks(this.#end, this.#lastStep + 1) - 1;
  }

  /** The record that was placed last. */
  get lastPlaced(): NodeIndex {
    return this.#lastPlaced;
  }

  /** Places a record after all records before it in the file. Returns its parent. */
  place(node: NodeIndex): NodeIndex {
    const under = this.parentFor(node);
    this.#parent[node + 1] = under;
    // After a step, noise belongs to a later branch and must not move the settled point.
    const isFirst = this.#end[under + 1] === under + 1;
    if (isFirst && this.#belongsToParent(node)) this.#settled[under + 1] = node + 1;
    this.#end[under + 1] = node + 1;
    this.#lastPlaced = node;
    if (this.#isStep(node)) this.#lastStep = node;
    return under;
  }

  /** The parent that a record gets if it is placed next. */
  parentFor(node: NodeIndex): NodeIndex {
    this.#grow();
    const record = this.#file.records.get(node);
    if (record === undefined || record.kind === "side") return this.current;
    if (record.parent === MISSING) return record.kind === "boundary" ? this.current : this.#lastPlaced;
    if (record.kind === "boundary") return this.#parentOfCompaction(node, record.parent);
    if (record.kind === "summary" && record.parent === ROOT) return this.current;
    const earlier = this.#file.repeatedResults.get(node);
    if (earlier !== undefined && this.#file.records.get(earlier)?.chain === record.chain) return this.parentOf(earlier);
    if (!this.#isStep(node) && record.kind !== "result") return this.#endFrom(record.parent);
    const settled = followLinks(this.#settled, record.parent + 1) - 1;
    const isLate = record.kind === "result" && this.#end[settled + 1] !== settled + 1;
    return isLate ? this.#endFrom(settled) : settled;
  }

  // Kept messages may be newer than the parent of the boundary; they must be on its path.
  #parentOfCompaction(node: NodeIndex, parent: NodeIndex): NodeIndex {
    if (parent === ROOT) return this.current;
    const settled = followLinks(this.#settled, parent + 1) - 1;
    const lastKept = this.#file.boundaries.get(node)?.kept.at(-1);
    if (lastKept === undefined || !this.isOnPath(settled, lastKept)) return settled;
    return followLinks(this.#settled, lastKept + 1) - 1;
  }

  #endFrom(node: NodeIndex): NodeIndex {
    return followLinks(this.#end, node + 1) - 1;
  }

  #isStep(node: NodeIndex): boolean {
    const record = this.#file.records.get(node);
    if (record === undefined || record.kind === "side" || record.kind === "result") return false;
    return record.hasStepChild || (!isNoise(record.kind) && record.kind !== "injected");
  }

  // True if later siblings are attached after this record. An injected message with a step as a child is a branch; noise is not.
  #belongsToParent(node: NodeIndex): boolean {
    const record = this.#file.records.get(node);
    if (record?.kind === "result") return !this.#file.repeatedResults.has(node);
    if (record?.kind === "injected") return !record.hasStepChild;
    return isNoise(record?.kind) || record?.kind === "side";
  }

  /** The parent of a placed record. */
  parentOf(node: NodeIndex): NodeIndex {
    return this.#parent[node + 1] ?? ROOT;
  }

  /** The records from `node` to `leaf`, which is below it. Linear in the records between them. */
  pathFrom(node: NodeIndex, leaf: NodeIndex): readonly NodeIndex[] {
    const path: NodeIndex[] = [];
    for (let at = leaf; at >= node; at = this.parentOf(at)) path.push(at);
    return path.reverse();
  }

  /** True if `node` is `leaf` or an ancestor of it. Linear in the records between them. */
  isOnPath(node: NodeIndex, leaf: NodeIndex): boolean {
    let at = leaf;
    // A parent always has a smaller index than its child.
    while (at > node) at = this.parentOf(at);
    return at === node;
  }
}

/** Links lead to later records, so only that of the root may lead to one before `first`: -1 then, if no record from `first` on follows. */
function saveLinks(links: Int32Array, first: NodeIndex, next: NodeIndex): readonly number[] {
  let root = links[0] ?? 0;
  // -1: an earlier saving has already found it to be before the records that are kept.
  while (root > 0 && root <= first && links[root] !== root) root = links[root] ?? root;
  return [root === 0 ? 0 : root <= first ? -1 : root - first, ...links.slice(first + 1, next + 1).map((link) => link - first)];
}

function extendLinks(links: Int32Array, length: number): Int32Array {
  const longer = Int32Array.from({ length }, (_, at) => at);
  longer.set(links);
  return longer;
}

/** @throws {ReadFromStartError} it ends at a record before those that an earlier reading saved. */
function followLinks(links: Int32Array, from: number): number {
  let end = from;
  while (links[end] !== undefined && links[end] !== end) end = links[end] ?? end;
  if (end < 0) throw new ReadFromStartError();
  let at = from;
  while (at !== end) {
    const next = links[at] ?? end;
    links[at] = end;
    at = next;
  }
  return end;
}
