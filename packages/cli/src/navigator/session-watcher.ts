import { type EntryId, SessionNotFoundError } from "@bough/session-core";
import { SerialQueue } from "@bough/session-core/engine";
import { errorLine } from "../format/error-text.js";
import { readOutline } from "../session/paging.js";
import { StoreWatcher } from "../session/store-watcher.js";
import { TreeIndex } from "../tree/tree-index.js";
import type { NavigatorDispatch, NavigatorTree, NavigatorWorld } from "./model.js";

/** Interval of ticks that redraw the ages of rows, in milliseconds. */
const TICK_MS = 30_000;

/** Interval of progress while a long session is read, in milliseconds. */
const PROGRESS_MS = 100;

/** Maximum entries of one read: a session of up to this size is read at once, a longer one in pages of this size. */
const AT_ONCE = 2000;

/** The part of the leaf's path that is read first, in screens: the filter may hide most rows. */
const PATH_SCREENS = 4;

/** Reads the tree of a session, then reads what other processes write to it, and dispatches that. */
export class SessionWatcher {
  readonly #world: NavigatorWorld;
  readonly #dispatch: NavigatorDispatch;
  #timer: NodeJS.Timeout | undefined;
  readonly #changes: StoreWatcher;
  #lastSeq = 0;
  /** The state beside the rows (labels, leaves and so on) at the last read, as JSON. */
  #marks = "";
  readonly #reads = new SerialQueue();
  #isOver = false;

  constructor(world: NavigatorWorld, dispatch: NavigatorDispatch) {
    this.#world = world;
    this.#dispatch = dispatch;
    this.#changes = new StoreWatcher(world.store, () => world.io.now());
  }

  /**
   * Reads the whole tree and starts to watch. Of a long session it first reads the end of the leaf's path, which fills the screen,
   * and then the rest in pages, with the event loop free between them.
   */
  async load(entries: number, screenRows: number): Promise<void> {
    // Changes while the tree is read are read after it.
    this.#changes.start(() => this.poll(), this.#world.session.id);
    await this.#reads.run(() => this.#loadOrEnd(entries, screenRows));
  }

  async #loadOrEnd(entries: number, screenRows: number): Promise<void> {
    try {
      await this.#load(entries, screenRows);
    } catch (error) {
      if (!(error instanceof SessionNotFoundError)) throw error;
      this.end();
      this.#dispatch({ kind: "deleted" });
    }
  }

  async #load(entries: number, screenRows: number): Promise<void> {
    const { session } = this.#world;
    await session.refresh();
    const isLong = entries > AT_ONCE;
    const end = isLong ? await session.tree.path(session.leafId, screenRows * PATH_SCREENS) : [];
    if (end.length > 0) {
      this.#tick();
      this.#dispatch({ kind: "begun", tree: await this.#treeOf(TreeIndex.of(end.toReversed())), total: entries });
      await nextTurn();
    }
    const index = new TreeIndex(!isLong);
    await this.#readAll(index);
    index.hold(end);
    if (this.#isOver) return;
    await session.refresh();
    const tree = await this.#treeOf(index);
    this.#tick();
    this.#dispatch({ kind: "loaded", tree });
    // The event may have closed the screen.
    if (this.#isOver) return;
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#timer.unref();
  }

  async #treeOf(index: TreeIndex): Promise<NavigatorTree> {
    const { session } = this.#world;
    const [labels, leaves, held] = await Promise.all([session.labels.list(), session.leaves(), this.#changes.readHeld()]);
    const isHeld = held.has(session.id);
    const { leafId, leafName } = session;
    this.#marks = marksAsJson(leafId, leaves, labels, isHeld);
    return { index, labels: new Map(labels.map(({ entryId, label }) => [entryId, label])), leaves, leafName, leafId, isHeld };
  }

  async #readAll(index: TreeIndex): Promise<void> {
    let toldMs = this.#world.io.now();
    for (let isMore = true; isMore && !this.#isOver; ) {
      const page = await this.#world.session.tree.outline({ afterSeq: this.#lastSeq, limit: AT_ONCE });
      index.append(page);
      this.#lastSeq = page.at(-1)?.seq ?? this.#lastSeq;
      isMore = page.length === AT_ONCE;
      if (!isMore) return;
      await nextTurn();
      const nowMs = this.#world.io.now();
      if (nowMs - toldMs < PROGRESS_MS) continue;
      toldMs = nowMs;
      this.#dispatch({ kind: "progress", done: index.size });
    }
  }

  /** Reads changes now, after a read that is running. */
  async poll(): Promise<void> {
    await this.#reads.run(() => this.#readChanges());
  }

  /** Ends watching. */
  end(): void {
    this.#isOver = true;
    this.#changes.end();
    clearInterval(this.#timer);
  }

  #tick(): void {
    this.#dispatch({ kind: "tick", nowMs: this.#world.io.now() });
  }

  async #readChanges(): Promise<void> {
    const { session } = this.#world;
    if (this.#isOver) return;
    try {
      await session.refresh();
      const [rows, labels, leaves, held] = await Promise.all([
        readOutline(session, this.#lastSeq),
        session.labels.list(),
        session.leaves(),
        this.#changes.readHeld(),
      ]);
      const isHeld = held.has(session.id);
      const marks = marksAsJson(session.leafId, leaves, labels, isHeld);
      if (rows.length === 0 && marks === this.#marks) return;
      // New rows are younger than the last tick.
      this.#tick();
      this.#marks = marks;
      this.#lastSeq = rows.at(-1)?.seq ?? this.#lastSeq;
      this.#dispatch({ kind: "changed", rows, labels, leaves, leafId: session.leafId, isHeld });
    } catch (error) {
      // Other failures, such as a busy store, may be over at the next change.
      if (!(error instanceof SessionNotFoundError)) return this.#dispatch({ kind: "notice", text: errorLine(error), isError: true });
      this.end();
      this.#dispatch({ kind: "deleted" });
    }
  }
}

/** Lets input and drawing have their turn. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function marksAsJson(leafId: EntryId | null, leaves: readonly unknown[], labels: readonly unknown[], isHeld: boolean): string {
  return JSON.stringify([leafId, leaves, labels, isHeld]);
}
