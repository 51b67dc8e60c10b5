import { MISSING, type NodeIndex, ROOT, type SessionFile } from "./session-file.js";

/**
 * Where each record hangs in the imported tree.
 *
 * Claude Code's own parents form more branches than a person made: results of parallel calls hang on different lines
 * of one reply, hooks report beside the conversation, and a reply follows whichever record was the last in memory. The
 * rule that leaves the real branches only:
 *
 * 1. A record that is a *step* (a prompt, a reply, a compaction) hangs on its parent's settled point: from the parent
 *    on through everything that merely belongs to it, that is noise, injected messages that nothing came of, and
 *    results of tool calls. So a reply follows all results, whichever of them it names, and two steps of one parent are
 *    siblings: a rewind, or a reply tried again.
 * 2. A result hangs there too, unless a step is there already (it came too late): then rule 4 holds. A second
 *    answer to one call is a sibling of the first, because one path must not hold both.
 * 3. Noise and injected messages that a step hangs on count as steps: a rewind may begin with a hook's report or
 *    a slash command.
 * 4. All else (reports of hooks, snapshots, side records) can begin no branch: it goes to the end of what hangs on its
 *    parent so far, in file order.
 *
 * Memory: twelve bytes a record. Time: nearly linear, because the ways followed are shortened (path compression).
 */
export class TreePlacement {
  readonly #file: SessionFile;
  // Node n is at n + 1, the root at 0. Following #settled or #end from a node ends where it refers to itself.
  readonly #settled: Int32Array;
  readonly #end: Int32Array;
  readonly #parent: Int32Array;
  #lastPlaced: NodeIndex = ROOT;
  #lastStep: NodeIndex = ROOT;

  constructor(file: SessionFile) {
    this.#file = file;
    this.#settled = Int32Array.from({ length: file.records.length + 1 }, (_, at) => at);
    this.#end = this.#settled.slice();
    this.#parent = new Int32Array(file.records.length + 1).fill(ROOT);
  }

  /** The end of the branch on which the conversation went on last. */
  get current(): NodeIndex {
    return followLinks(this.#end, this.#lastStep + 1) - 1;
  }

  /** The record that was placed last, wherever. */
  get lastPlaced(): NodeIndex {
    return this.#lastPlaced;
  }

  /** Places a record, after all records before it in the file; returns the record that it hangs on. */
  place(node: NodeIndex): NodeIndex {
    const under = this.parentFor(node);
    this.#parent[node + 1] = under;
    // Behind a step, noise is part of a later branch and must not draw the next one after itself.
    const isFirst = this.#end[under + 1] === under + 1;
    if (isFirst && this.#belongsToParent(node)) this.#settled[under + 1] = node + 1;
    this.#end[under + 1] = node + 1;
    this.#lastPlaced = node;
    if (this.#isStep(node)) this.#lastStep = node;
    return under;
  }

  /** The record that the next record would hang on. */
  parentFor(node: NodeIndex): NodeIndex {
    const record = this.#file.records[node];
    if (record === undefined || record.kind === "side") return this.current;
    if (record.parent === MISSING) return record.kind === "boundary" ? this.current : this.#lastPlaced;
    if (record.kind === "boundary") return this.#parentOfCompaction(node, record.parent);
    if (record.kind === "summary" && record.parent === ROOT) return this.current;
    const earlier = this.#file.repeatedAnswers.get(node);
    if (earlier !== undefined && this.#file.records[earlier]?.chain === record.chain) return this.parentOf(earlier);
    if (!this.#isStep(node) && record.kind !== "result") return this.#endFrom(record.parent);
    const settled = followLinks(this.#settled, record.parent + 1) - 1;
    const late = record.kind === "result" && this.#end[settled + 1] !== settled + 1;
    return late ? this.#endFrom(settled) : settled;
  }

  // Messages that were kept may be younger than the record that the boundary names; they must be on its path.
  #parentOfCompaction(node: NodeIndex, parent: NodeIndex): NodeIndex {
    if (parent === ROOT) return this.current;
    const settled = followLinks(this.#settled, parent + 1) - 1;
    const lastKept = this.#file.boundaries.get(node)?.lastKept;
    if (lastKept === undefined || !this.isOnPath(settled, lastKept)) return settled;
    return followLinks(this.#settled, lastKept + 1) - 1;
  }

  #endFrom(node: NodeIndex): NodeIndex {
    return followLinks(this.#end, node + 1) - 1;
  }

  #isStep(node: NodeIndex): boolean {
    const record = this.#file.records[node];
    if (record === undefined || record.kind === "side" || record.kind === "result") return false;
    return record.leads || (record.kind !== "noise" && record.kind !== "injected");
  }

  // What a later sibling passes by. An injected message with a step behind it is a branch of its own, noise never is.
  #belongsToParent(node: NodeIndex): boolean {
    const record = this.#file.records[node];
    if (record?.kind === "result") return !this.#file.repeatedAnswers.has(node);
    if (record?.kind === "injected") return !record.leads;
    return record?.kind === "noise" || record?.kind === "side";
  }

  /** The record that a placed record hangs on. */
  parentOf(node: NodeIndex): NodeIndex {
    return this.#parent[node + 1] ?? ROOT;
  }

  /** Whether `node` is `leaf` or above it. Costs one step for each record between them. */
  isOnPath(node: NodeIndex, leaf: NodeIndex): boolean {
    let at = leaf;
    // A parent is always older than its child, so the search ends as soon as it is past the node.
    while (at > node) at = this.parentOf(at);
    return at === node;
  }
}

function followLinks(links: Int32Array, from: number): number {
  let end = from;
  while (links[end] !== undefined && links[end] !== end) end = links[end] ?? end;
  let at = from;
  while (at !== end) {
    const next = links[at] ?? end;
    links[at] = end;
    at = next;
  }
  return end;
}
