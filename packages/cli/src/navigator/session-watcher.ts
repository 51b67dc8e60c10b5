import { type EntryId, SessionNotFoundError } from "@bough/session-core";
import { errorLine } from "../format/error-text.js";
import { readOutline } from "../session/paging.js";
import { loadWidthsFor } from "../terminal/width.js";
import { TreeIndex } from "../tree/tree-index.js";
import type { NavigatorDispatch, NavigatorTree, NavigatorWorld } from "./model.js";

/** Interval of polls for changes by other processes, in milliseconds. */
const POLL_MS = 500;

/** Interval of ticks that redraw the ages of rows, in milliseconds. */
const TICK_MS = 30_000;

/** Interval of progress while a long session is read, in milliseconds. */
const PROGRESS_MS = 100;

/** A session of up to so many entries is read at once, and a longer one in pages of so many. */
const AT_ONCE = 2000;

/** How much of the leaf's path is read first, in screens: the filter may hide most rows. */
const PATH_SCREENS = 4;

/** Reads the tree of a session, then polls for changes and dispatches them. */
export class SessionWatcher {
  readonly #world: NavigatorWorld;
  readonly #dispatch: NavigatorDispatch;
  #timer: NodeJS.Timeout | undefined;
  #lastSeq = 0;
  /** Leaf, leaves and labels as JSON at the last read. */
  #marks = "";
  #polling: Promise<void> | undefined;
  #tickedMs = 0;
  #isOver = false;

  constructor(world: NavigatorWorld, dispatch: NavigatorDispatch) {
    this.#world = world;
    this.#dispatch = dispatch;
  }

  /**
   * Reads the whole tree and starts to poll. Of a long session it first reads the end of the leaf's path, which fills the screen,
   * and then the rest in pages, with the event loop free between them.
   */
  async load(entries: number, screenRows: number): Promise<void> {
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
    this.#timer = setInterval(() => void this.#pollUnlessBusy(), POLL_MS);
    this.#timer.unref();
  }

  async #treeOf(index: TreeIndex): Promise<NavigatorTree> {
    const { session } = this.#world;
    const [labels, leaves] = await Promise.all([session.labels.list(), session.leaves()]);
    await loadWidthsFor(labels.map(({ label }) => label));
    const { leafId, leafName } = session;
    this.#marks = marksAsJson(leafId, leaves, labels);
    return { index, labels: new Map(labels.map(({ entryId, label }) => [entryId, label])), leaves, leafName, leafId };
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

  /** Reads changes now, after a poll that is running. */
  async poll(): Promise<void> {
    const polling = (this.#polling ?? Promise.resolve()).then(() => this.#readChanges());
    this.#polling = polling;
    await polling;
    if (this.#polling === polling) this.#polling = undefined;
  }

  /** Stops polling. */
  end(): void {
    this.#isOver = true;
    clearInterval(this.#timer);
  }

  /** A poll that takes longer than the interval must not queue more polls. */
  async #pollUnlessBusy(): Promise<void> {
    if (this.#polling === undefined) await this.poll();
  }

  #tick(): void {
    this.#tickedMs = this.#world.io.now();
    this.#dispatch({ kind: "tick", nowMs: this.#tickedMs });
  }

  async #readChanges(): Promise<void> {
    const { session, io } = this.#world;
    if (this.#isOver) return;
    try {
      await session.refresh();
      const [rows, labels, leaves] = await Promise.all([readOutline(session, this.#lastSeq), session.labels.list(), session.leaves()]);
      const marks = marksAsJson(session.leafId, leaves, labels);
      if (io.now() - this.#tickedMs >= TICK_MS) this.#tick();
      if (rows.length === 0 && marks === this.#marks) return;
      // New rows are younger than the last tick.
      this.#tick();
      this.#marks = marks;
      this.#lastSeq = rows.at(-1)?.seq ?? this.#lastSeq;
      this.#dispatch({ kind: "changed", rows, labels, leaves, leafId: session.leafId });
    } catch (error) {
      // Other failures, such as a busy store, may be over at the next poll.
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

function marksAsJson(leafId: EntryId | null, leaves: readonly unknown[], labels: readonly unknown[]): string {
  return JSON.stringify([leafId, leaves, labels]);
}
