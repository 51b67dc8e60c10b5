import type { Size } from "../tui/event.js";

/** Where things stand on the screen, in lines and columns. */
export interface Panes {
  readonly columns: number;
  /** Columns of the list, and lines. */
  readonly list: Size;
  /** Of the preview; undefined: none. `beside` the list, `below` it, or `over` it. */
  readonly preview: (Size & { readonly place: "beside" | "below" | "over" }) | undefined;
}

/** From here up the preview stands beside the list. */
const WIDE = 110;
/** From here up there is room below the list. */
const HIGH = 20;
const HEAD = 1;
const FOOT = 1;

/**
 * How a screen is divided: one line of heading, the tree, one line below it, and the search field where there is one.
 */
export function panesOf({ columns, rows }: Size, showsPreview: boolean, hasSearch: boolean): Panes {
  const high = Math.max(rows - HEAD - FOOT - (hasSearch ? 1 : 0), 1);
  if (!showsPreview) return { columns, list: { columns, rows: high }, preview: undefined };
  if (columns >= WIDE) {
    const right = Math.min(Math.floor(columns / 2), 100);
    // One column for the line between them.
    return { columns, list: { columns: columns - right - 1, rows: high }, preview: { columns: right, rows: high, place: "beside" } };
  }
  if (rows >= HIGH) {
    const below = Math.floor(high * 0.45);
    return { columns, list: { columns, rows: high - below - 1 }, preview: { columns, rows: below, place: "below" } };
  }
  return { columns, list: { columns, rows: high }, preview: { columns, rows: high, place: "over" } };
}
