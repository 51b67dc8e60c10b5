import type { NavigationResult } from "@bough/compaction";
import { BoughError, type EntryId } from "@bough/session-core";
import { errorLine } from "../errors.js";
import { describeCompaction } from "../session/compaction-text.js";
import type { NavigatorDispatch, NavigatorResult, NavigatorWorld } from "./model.js";

const SECOND = 1000;

/** Does what takes time and can be cancelled: one piece of work at a time. */
export class Worker {
  #running: AbortController | undefined;

  constructor(
    private readonly world: NavigatorWorld,
    private readonly dispatch: NavigatorDispatch,
  ) {}

  /** Cancels the work that goes on; it tells of its end itself. */
  cancel(): void {
    this.#running?.abort();
  }

  async move(entryId: EntryId, summarize: boolean, focus: string | null): Promise<void> {
    await this.#work(async (signal) => {
      const instructions = focus ?? undefined;
      const result = await this.world.compactor.navigate(entryId, { summarize, instructions, signal });
      const arrived = arrivedOf(result);
      if (typeof arrived === "string") this.dispatch({ kind: "worked", text: arrived, isError: result.kind === "failed" });
      else this.dispatch({ kind: "moved", result: arrived });
    });
  }

  async compact(entryId: EntryId): Promise<void> {
    await this.#work(async (signal) => {
      const result = await this.world.compactor.compact({ keepFrom: entryId, signal });
      this.dispatch({ kind: "worked", text: describeCompaction(result, "bough compact --undo"), isError: result.kind === "failed" });
    });
  }

  async #work(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const controller = new AbortController();
    this.#running = controller;
    const tick = () => this.dispatch({ kind: "tick", nowMs: this.world.io.now() });
    const timer = setInterval(tick, SECOND);
    tick();
    try {
      await work(controller.signal);
    } catch (error) {
      // The store's and the engine's refusals are for the person; anything else is a defect of ours.
      if (!(error instanceof BoughError || isCompactionError(error))) throw error;
      this.dispatch({ kind: "worked", text: errorLine(error), isError: true });
    } finally {
      clearInterval(timer);
      this.#running = undefined;
    }
  }
}

function isCompactionError(error: unknown): boolean {
  return error instanceof Error && "code" in error;
}

function arrivedOf(result: NavigationResult): NavigatorResult | string {
  switch (result.kind) {
    case "moved":
      return { kind: "moved", leafId: result.leafId, text: result.text, summaryEntryId: result.summaryEntryId };
    case "already-there":
      return { kind: "moved", leafId: result.leafId, text: result.text, summaryEntryId: null };
    case "cancelled":
      return "Cancelled. The session stands where it stood.";
    case "failed":
      return `No summary was written, and the session stands where it stood: ${errorLine(result.error)}`;
  }
}
