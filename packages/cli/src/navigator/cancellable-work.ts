import type { NavigationResult } from "@bough/compaction";
import type { EntryId } from "@bough/session-core";
import { errorLine } from "../format/error-text.js";
import { afterResults } from "../session/after-results.js";
import { describeCompaction } from "../session/compaction-text.js";
import type { NavigatorDispatch, NavigatorResult, NavigatorWorld } from "./model.js";

const SECOND_MS = 1000;

/** Moves and compactions, which take time and can be cancelled. One runs at a time. */
export class CancellableWork {
  readonly #world: NavigatorWorld;
  readonly #dispatch: NavigatorDispatch;
  #running: AbortController | undefined;

  constructor(world: NavigatorWorld, dispatch: NavigatorDispatch) {
    this.#world = world;
    this.#dispatch = dispatch;
  }

  /** Cancels the running work. The work dispatches its end. */
  cancel(): void {
    this.#running?.abort();
  }

  /** Moves the leaf to an entry. */
  async move(entryId: EntryId, summarize: boolean, focus: string | null): Promise<void> {
    await this.#run(async (signal) => {
      const { id } = await afterResults(this.#world.session, entryId);
      const result = await (await this.#world.compactor()).navigate(id, { summarize, instructions: focus ?? undefined, signal });
      const outcome = moveOutcome(result);
      if (typeof outcome === "string") this.#dispatch({ kind: "workEnded", text: outcome, isError: result.kind === "failed" });
      else this.#dispatch({ kind: "finished", result: outcome });
    });
  }

  /** Compacts the entries before an entry. */
  async compact(entryId: EntryId): Promise<void> {
    await this.#run(async (signal) => {
      const result = await (await this.#world.compactor()).compact({ keepFrom: entryId, signal });
      this.#dispatch({ kind: "workEnded", text: describeCompaction(result, "bough compact --undo"), isError: result.kind === "failed" });
    });
  }

  async #run(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const controller = new AbortController();
    this.#running = controller;
    const tick = () => this.#dispatch({ kind: "tick", nowMs: this.#world.io.now() });
    const timer = setInterval(tick, SECOND_MS);
    tick();
    try {
      await work(controller.signal);
    } finally {
      clearInterval(timer);
      this.#running = undefined;
    }
  }
}

/** The result that closes the navigator, or the notice to show instead. */
function moveOutcome(result: NavigationResult): NavigatorResult | string {
  switch (result.kind) {
    case "moved":
      return { kind: "moved", leafId: result.leafId, text: result.text, summaryEntryId: result.summaryEntryId };
    case "already-there":
      return { kind: "moved", leafId: result.leafId, text: result.text, summaryEntryId: null };
    case "cancelled":
      return "Cancelled. The session did not move.";
    case "failed":
      return `No summary was written, and the session did not move: ${errorLine(result.error)}`;
  }
}
