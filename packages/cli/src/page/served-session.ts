import { setImmediate as pause } from "node:timers/promises";
import type { EntryId, OutlineRow, Session, SessionRecord } from "@bough/session-core";
import { countAtMost, SerialQueue } from "@bough/session-core/engine";
import { CONVERSATION_TYPES, isPrivate, isTyped } from "@bough/session-core/view";
import type { StoreWatcher } from "../session/store-watcher.js";
import { leafRow } from "../tree/shown-rows.js";
import { NONE, TreeIndex } from "../tree/tree-index.js";
import { BranchShape } from "./branches.js";

/** Rows of a block of the conversation, at least; it ends before the next message. */
const BLOCK_ROWS = 40;
/** Rows after which a block ends also where no message begins, so that no block grows without end. */
const MOST_BLOCK_ROWS = 400;

/** A run of positions on a path, which is sent as one piece. */
export interface Block {
  readonly from: number;
  /** The position after its last one. */
  readonly to: number;
}

/** The outline of a session that a server shows, read once and then continued. Row numbers count the entries from 0 and never change. */
export class ServedSession {
  readonly session: Session;
  readonly #watcher: StoreWatcher;
  readonly #reads = new SerialQueue();
  readonly #showsPrivate: boolean;
  readonly index = new TreeIndex();
  /** Rows that the page must not show. */
  readonly #private = new Set<number>();
  readonly #starts: boolean[] = [];
  #record: SessionRecord | undefined;
  #labels: ReadonlyMap<EntryId, string> = new Map();
  #leafId: EntryId | null = null;
  #isHeld = false;
  #marks = "";
  #revision = 0;
  #lastSeq = 0;
  #shape: BranchShape | undefined;

  constructor(session: Session, watcher: StoreWatcher, { showsPrivate }: { readonly showsPrivate: boolean }) {
    this.session = session;
    this.#watcher = watcher;
    this.#showsPrivate = showsPrivate;
  }

  /** Reads what has arrived. @throws {SessionNotFoundError} the session was deleted. */
  async update(): Promise<void> {
    await this.#reads.run(() => this.#read());
  }

  get record(): SessionRecord {
    if (this.#record === undefined) throw new Error("The session is read by update().");
    return this.#record;
  }

  get labels(): ReadonlyMap<EntryId, string> {
    return this.#labels;
  }

  /** True while a program writes a reply that the store does not have yet. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Changes whenever something that the page shows has changed. */
  get version(): string {
    return `${this.index.size}.${this.#revision}`;
  }

  /** Marks all that was sent as outdated, as after a secret was found. */
  outdate(): void {
    this.#revision += 1;
  }

  /** The number that changes with labels, leaves and masks. */
  get revision(): number {
    return this.#revision;
  }

  /** The row of the leaf; -1: it is before the first entry. */
  get leaf(): number {
    return this.#leafId === null ? NONE : this.index.indexOf(this.#leafId);
  }

  /** The row at which the tree draws the leaf. */
  get drawnLeaf(): number {
    return leafRow(this.index, this.#leafId, { filter: "default", labeled: this.#labels });
  }

  /** The branches of the rows that were read so far. */
  get shape(): BranchShape {
    const { parents } = this.index;
    if (this.#shape?.parents.length !== parents.length) this.#shape = undefined;
    this.#shape ??= new BranchShape(parents.slice(), this.leaf);
    return this.#shape;
  }

  isPrivate(at: number): boolean {
    return this.#private.has(at);
  }

  /** The rows from the first one down to a row. */
  pathTo(end: number): Int32Array {
    const path = new Int32Array(end === NONE ? 0 : this.index.depthOf(end) + 1);
    for (let [at, place] = [end, path.length - 1]; at !== NONE; at = this.index.parentOf(at), place -= 1) path[place] = at;
    return path;
  }

  /** The end of the branch of a row that is shown: the leaf if the row is on its path, else the newest row below. */
  endOf(at: number): number {
    return this.isOnPath(at, this.leaf) ? this.leaf : this.shape.newestBelow(at);
  }

  /**
   * The end of a branch that was shown up to a row when the session had `size` entries: the leaf if the branch leads to it, else the newest
   * entry below the row if nothing was below it then.
   */
  continuationOf(at: number, size: number): number {
    if (at === NONE || this.isOnPath(at, this.leaf)) return this.leaf;
    const { parents } = this.index;
    for (let row = at + 1; row < Math.min(size, parents.length); row += 1) if (parents[row] === at) return at;
    return this.shape.newestBelow(at);
  }

  /** True if a row is on the path of another one, or is that one. */
  isOnPath(at: number, end: number): boolean {
    if (end === NONE || at === NONE) return false;
    let row = end;
    while (row > at) row = this.index.parentOf(row);
    return row === at;
  }

  /** Positions of a path in blocks. A block begins with a message, so that a reply and its results are in one. */
  blocksOf(path: Int32Array): readonly Block[] {
    const blocks: Block[] = [];
    let from = 0;
    for (let place = 1; place < path.length; place += 1) {
      const size = place - from;
      if (size < BLOCK_ROWS) continue;
      const row = path[place] ?? NONE;
      if (this.#starts[row] !== true && !(size >= MOST_BLOCK_ROWS && this.index.row(row).role !== "toolResult")) continue;
      blocks.push({ from, to: place });
      from = place;
    }
    return path.length === 0 ? [] : [...blocks, { from, to: path.length }];
  }

  /** The next message of the user on a path after a row, or before it; undefined: there is none. */
  promptFrom(path: Int32Array, from: number, by: 1 | -1): number | undefined {
    const place = by === 1 ? countAtMost(path, from) - 1 : countAtMost(path, from - 1);
    for (let next = place + by; next >= 0 && next < path.length; next += by) {
      const row = path[next] ?? NONE;
      if (isTyped(this.index.row(row))) return row;
    }
    return undefined;
  }

  /** The branches below a row, oldest first: the first row of each, and the first one that the page may show. One without it is left out. */
  async branchesAt(at: number): Promise<readonly { readonly first: number; readonly shown: number }[]> {
    const children = (await this.session.tree.children(this.index.idOf(at))).map(({ id }) => this.index.indexOf(id));
    return children.map((first) => ({ first, shown: this.#firstShown(first) })).filter(({ shown }) => shown !== NONE);
  }

  #firstShown(row: number): number {
    let at = row;
    while (this.#private.has(at)) at = this.shape.next(at);
    return at;
  }

  async #read(): Promise<void> {
    const { session } = this;
    await session.refresh();
    await this.#readRows();
    const [record, labels, held] = await Promise.all([session.record(), session.labels.list(), this.#watcher.readHeld()]);
    this.#isHeld = held.has(session.id);
    this.#record = record;
    this.#labels = new Map(labels.map(({ entryId, label }) => [entryId, label]));
    this.#leafId = session.leafId;
    const marks = JSON.stringify([record.title, session.leafId, this.#isHeld, labels]);
    if (marks === this.#marks) return;
    this.#marks = marks;
    this.#shape = undefined;
    this.#revision += 1;
  }

  async #readRows(): Promise<void> {
    for (;;) {
      const page = await this.session.tree.outline({ afterSeq: this.#lastSeq, limit: PAGE });
      // Read before the rows are added: a request that is answered meanwhile must not show a private row.
      const hidden = await this.#privateIn(page);
      const before = this.index.size;
      this.index.append(page);
      for (const id of hidden) this.#private.add(this.index.indexOf(id));
      this.#lastSeq = page.at(-1)?.seq ?? this.#lastSeq;
      for (let at = before; at < this.index.size; at += 1) this.#starts.push(isMessage(this.index.row(at)));
      if (page.length < PAGE) return;
      // Other requests have their turn.
      await pause();
    }
  }

  /** Only commands of the user can be private, and only their payload says so. */
  async #privateIn(rows: readonly OutlineRow[]): Promise<readonly EntryId[]> {
    const ids = this.#showsPrivate ? [] : rows.filter(({ role }) => role === "bashExecution").map(({ id }) => id);
    return [...(await this.session.entriesById(ids)).values()].filter(isPrivate).map(({ id }) => id);
  }
}

/**
 * Rows of one read, about 4 ms. The outline is read while the browser starts, and each of some ten steps of the first request may wait for one
 * read: with 5000 rows the head of a page of 100,000 entries came after 0.6 s of work, with 500 after 0.2 s.
 */
const PAGE = 500;

function isMessage({ type, role }: OutlineRow): boolean {
  return CONVERSATION_TYPES.includes(type) && role !== "toolResult";
}
