import { type EntryId, SessionNotFoundError } from "@bough/session-core";
import { errorLine } from "../format/error-text.js";
import { readOutline } from "../session/paging.js";
import { loadWidthsFor } from "../terminal/width.js";
import { TreeIndex } from "../tree/tree-index.js";
import type { NavigatorDispatch, NavigatorWorld } from "./model.js";

/** Interval of polls for changes by other processes, in milliseconds. */
const POLL_MS = 500;

/** Interval of ticks that redraw the ages of rows, in milliseconds. */
const TICK_MS = 30_000;

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

  /** Reads the whole tree and starts to poll. */
  async load(): Promise<void> {
    const { session } = this.#world;
    await session.refresh();
    const [rows, labels, leaves] = await Promise.all([readOutline(session), session.labels.list(), session.leaves()]);
    await loadWidthsFor(labels.map(({ label }) => label));
    const { leafId, leafName } = session;
    this.#lastSeq = rows.at(-1)?.seq ?? 0;
    this.#marks = marksAsJson(leafId, leaves, labels);
    this.#tick();
    const named = new Map(labels.map(({ entryId, label }) => [entryId, label]));
    this.#dispatch({ kind: "loaded", tree: { index: TreeIndex.of(rows), labels: named, leaves, leafName, leafId } });
    // The screen may have been closed during the read, or by the event.
    if (this.#isOver) return;
    this.#timer = setInterval(() => void this.#pollUnlessBusy(), POLL_MS);
    this.#timer.unref();
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

function marksAsJson(leafId: EntryId | null, leaves: readonly unknown[], labels: readonly unknown[]): string {
  return JSON.stringify([leafId, leaves, labels]);
}
