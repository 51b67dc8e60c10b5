import { type EntryId, SessionNotFoundError } from "@bough/session-core";
import { errorLine } from "../errors.js";
import { readOutline } from "../session/paging.js";
import { loadWidthsFor } from "../terminal/width.js";
import { TreeIndex } from "../tree/tree-index.js";
import type { NavigatorDispatch, NavigatorWorld } from "./model.js";

/** How often another process is looked after, in milliseconds. */
const EVERY = 500;

/** How often the ages of rows are drawn anew, in milliseconds. */
const AGES = 30_000;

/** Reads the tree of a session, and from then on tells what other writers do to it. */
export class TreeReader {
  #timer: NodeJS.Timeout | undefined;
  #lastSeq = 0;
  #seen = "";
  #looking: Promise<void> | undefined;
  #tickedMs = 0;
  #isOver = false;

  constructor(
    private readonly world: NavigatorWorld,
    private readonly dispatch: NavigatorDispatch,
  ) {}

  async load(): Promise<void> {
    const { session } = this.world;
    await session.refresh();
    const [rows, labels, leaves] = await Promise.all([readOutline(session), session.labels(), session.leaves()]);
    await loadWidthsFor(labels.map(({ label }) => label));
    const { leafId, leafName } = session;
    this.#lastSeq = rows.at(-1)?.seq ?? 0;
    this.#seen = seen(leafId, leaves, labels);
    this.#tick();
    const named = new Map(labels.map(({ entryId, label }) => [entryId, label]));
    this.dispatch({ kind: "loaded", tree: { index: TreeIndex.of(rows), labels: named, leaves, leafName, leafId } });
    // The screen may have been closed while this was read, or by what it was told.
    if (this.#isOver) return;
    this.#timer = setInterval(() => void this.#lookOnce(), EVERY);
    this.#timer.unref();
  }

  /** Looks now: after this screen itself wrote something, and every half second. One look at a time. */
  async look(): Promise<void> {
    const looking = (this.#looking ?? Promise.resolve()).then(() => this.#look());
    this.#looking = looking;
    await looking;
    if (this.#looking === looking) this.#looking = undefined;
  }

  /** A look that takes longer than the time between two is not waited for by more and more of them. */
  async #lookOnce(): Promise<void> {
    if (this.#looking === undefined) await this.look();
  }

  end(): void {
    this.#isOver = true;
    clearInterval(this.#timer);
  }

  #tick(): void {
    this.#tickedMs = this.world.io.now();
    this.dispatch({ kind: "tick", nowMs: this.#tickedMs });
  }

  async #look(): Promise<void> {
    const { session } = this.world;
    if (this.#isOver) return;
    try {
      await session.refresh();
      const [rows, labels, leaves] = await Promise.all([readOutline(session, this.#lastSeq), session.labels(), session.leaves()]);
      const now = seen(session.leafId, leaves, labels);
      // Ages grow old, and new rows are younger than the last tick.
      if (this.world.io.now() - this.#tickedMs >= AGES) this.#tick();
      if (rows.length === 0 && now === this.#seen) return;
      this.#tick();
      this.#seen = now;
      this.#lastSeq = rows.at(-1)?.seq ?? this.#lastSeq;
      this.dispatch({ kind: "changed", rows, labels, leaves, leafId: session.leafId });
    } catch (error) {
      // A store that is busy now may not be in half a second; one that lost the session is told of once.
      if (!(error instanceof SessionNotFoundError)) return this.dispatch({ kind: "notice", text: errorLine(error), isError: true });
      this.end();
      this.dispatch({ kind: "gone" });
    }
  }
}

function seen(leafId: EntryId | null, leaves: readonly unknown[], labels: readonly unknown[]): string {
  return JSON.stringify([leafId, leaves, labels]);
}
