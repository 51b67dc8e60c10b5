import type { Size } from "../tui/screen.js";

/** Where things stand on the screen, in lines and columns. */
export interface Panes {
  readonly columns: number;
  /** Lines above and below: on a screen of a few lines they leave, the foot first, so that the list keeps one. */
  readonly head: number;
  readonly foot: number;
  /** Lines between them: list and preview, and what a dialog can cover. */
  readonly body: number;
  /** Columns of the list, and lines. */
  readonly list: Size;
  /** Of the preview; undefined: none. `beside` the list, `below` it, or `over` it. */
  readonly preview: (Size & { readonly place: "beside" | "below" | "over" }) | undefined;
}

/** From here up the preview stands beside the list. */
const WIDE = 110;
/** From here up there is room below the list. */
const HIGH = 20;

/**
 * How a screen is divided: one line of heading, the tree, one line below it, and the search field where there is one.
 */
export function panesOf({ columns, rows }: Size, showsPreview: boolean, hasSearch: boolean): Panes {
  const field = hasSearch ? 1 : 0;
  const head = rows - field > 1 ? 1 : 0;
  const foot = rows - field > 2 ? 1 : 0;
  const high = Math.max(rows - head - foot - field, 1);
  const edges = { columns, head, foot, body: high };
  if (!showsPreview) return { ...edges, list: { columns, rows: high }, preview: undefined };
  if (columns >= WIDE) {
    const right = Math.min(Math.floor(columns / 2), 100);
    // One column for the line between them.
    return { ...edges, list: { columns: columns - right - 1, rows: high }, preview: { columns: right, rows: high, place: "beside" } };
  }
  if (rows >= HIGH) {
    const below = Math.floor(high * 0.45);
    return { ...edges, list: { columns, rows: high - below - 1 }, preview: { columns, rows: below, place: "below" } };
  }
  return { ...edges, list: { columns, rows: high }, preview: { columns, rows: high, place: "over" } };
}
