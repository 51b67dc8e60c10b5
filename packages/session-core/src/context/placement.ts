import type { EntryId } from "../ids/ids.js";
import type { ContextPath } from "../port/records.js";
import { placedMessages } from "./build.js";
import type { ContextMessage, SessionContext } from "./context.js";
import type { ShownEntry } from "./shown-entry.js";
import { type DanglingCalls, everyResultHasCall, type Placed, pairPlaced, pendingReply } from "./tool-pairs.js";
import type { WindowView } from "./window.js";

/** What of a context stands in its window. */
export type PlacedContext = Pick<SessionContext, "messages" | "entries" | "compaction">;

/**
 * The messages of a window in the order that every provider accepts, kept from one context to the next. What is new goes
 * behind what is there, wherever that gives the same as building anew; else it is built anew. So a context after an
 * append costs the new entries and a copy of two lists of references.
 */
export class Placement {
  #messages: ContextMessage[] = [];
  #ids: EntryId[] = [];
  #compaction: SessionContext["compaction"] = null;
  #compactionSeq: number | null = null;
  #dangling: DanglingCalls | undefined;
  /** The last reply and its results, as long as results of it may still come; they stand at the end of the messages. */
  #pending: readonly Placed[] = [];
  /** How many messages stand before them. */
  #settled = 0;

  /** The messages of `window`, which continues the one before from `newFrom` on. */
  at({ compactionSeq }: ContextPath, { entries, newFrom }: WindowView, dangling: DanglingCalls): PlacedContext {
    const continues = newFrom > 0 && dangling === this.#dangling && compactionSeq === this.#compactionSeq;
    // Until it is done: after a failure in between, the next one is built anew.
    this.#dangling = undefined;
    if (!continues || !this.#extend(entries, newFrom, dangling)) this.#rebuild(compactionSeq, entries, dangling);
    this.#dangling = dangling;
    // Copies: the lists go on growing, and a context that was given away must not.
    return { messages: this.#messages.slice(), entries: this.#ids.slice(), compaction: this.#compaction };
  }

  #rebuild(compactionSeq: number | null, window: readonly ShownEntry[], dangling: DanglingCalls): void {
    const compaction = compactionSeq === null ? undefined : window.find(({ seq }) => seq === compactionSeq);
    this.#messages = [];
    this.#ids = [];
    this.#compactionSeq = compactionSeq;
    this.#compaction = compaction?.payload.type === "compaction" ? { entryId: compaction.id, payload: compaction.payload } : null;
    this.#push(placedMessages(compaction, window), dangling);
  }

  /** Puts what is new behind what is there; false: it changes how something before it appears, and nothing was done. */
  #extend(window: readonly ShownEntry[], newFrom: number, dangling: DanglingCalls): boolean {
    const placed = [...this.#pending];
    for (let at = newFrom; at < window.length; at++) {
      const entry = window[at] as ShownEntry;
      if (entry.payload.type === "context_edit" || entry.payload.type === "compaction") return false;
      // An edit comes after what it changes, so none applies to what is new.
      const shown = entry.shown(undefined);
      if (shown !== null) placed.push(shown);
    }
    // A result of a reply further up would have to go there.
    if (!everyResultHasCall(placed)) return false;
    this.#messages.length = this.#settled;
    this.#ids.length = this.#settled;
    this.#push(placed, dangling);
    return true;
  }

  #push(placed: readonly Placed[], dangling: DanglingCalls): void {
    for (const { id, message } of pairPlaced(placed, dangling)) {
      this.#messages.push(message);
      this.#ids.push(id);
    }
    this.#pending = pendingReply(placed);
    this.#settled = this.#messages.length - pairPlaced(this.#pending, dangling).length;
  }
}
