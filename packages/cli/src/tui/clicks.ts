import type { MouseEvent } from "./screen.js";

/** Two presses on one cell within so many milliseconds are a double click. */
const DOUBLE_MS = 400;

/** Finds double clicks. */
export class Clicks {
  #last: { readonly column: number; readonly row: number; readonly atMs: number } | undefined;

  /** The event, with `isDouble` for the second of two presses. The third press begins anew. */
  count(event: MouseEvent, atMs: number): MouseEvent {
    if (event.action !== "press") return event;
    const { column, row } = event;
    const last = this.#last;
    const isDouble = last !== undefined && last.column === column && last.row === row && atMs - last.atMs <= DOUBLE_MS;
    this.#last = isDouble ? undefined : { column, row, atMs };
    return isDouble ? { ...event, isDouble } : event;
  }
}
