import type { Size } from "../tui/screen.js";
import type { NavigatorModel } from "./model.js";

/** The areas of the screen, in lines and columns. */
export interface Panes {
  readonly columns: number;
  /** Lines of heading and footer. On a screen of very few lines first the footer and then the heading are omitted. */
  readonly head: number;
  readonly foot: number;
  /** Lines between them, for list, preview and dialog. */
  readonly body: number;
  readonly list: Size;
  /** The preview `beside` the list, `below` it, or `over` it; undefined: none. */
  readonly preview: (Size & { readonly place: "beside" | "below" | "over" }) | undefined;
}

/** From this width on the preview is beside the list. */
const WIDE = 110;
/** From this height on the preview fits below the list. */
const HIGH = 20;
/** The rows of the list that a preview leaves on a lower screen. */
export const LEAST_LIST = 3;

/** Divides the screen: one line of heading, the body, the search field if there is a search, and one line of footer. */
export function panesOf({ size, preview, search }: Pick<NavigatorModel, "size" | "preview" | "search">): Panes {
  const { columns, rows } = size;
  const field = search === null ? 0 : 1;
  const head = rows - field > 1 ? 1 : 0;
  const foot = rows - field > 2 ? 1 : 0;
  const body = Math.max(rows - head - foot - field, 1);
  const edges = { columns, head, foot, body };
  if (!preview.isShown) return { ...edges, list: { columns, rows: body }, preview: undefined };
  if (columns >= WIDE) {
    const right = Math.min(Math.floor(columns / 2), 100);
    // One column for the line between them.
    return { ...edges, list: { columns: columns - right - 1, rows: body }, preview: { columns: right, rows: body, place: "beside" } };
  }
  if (rows >= HIGH) {
    const below = Math.floor(body * 0.45);
    return { ...edges, list: { columns, rows: body - below - 1 }, preview: { columns, rows: below, place: "below" } };
  }
  // A few rows of the list stay, so that a key that moves shows where it goes.
  const left = body - LEAST_LIST - 1;
  if (left >= 2 * LEAST_LIST) return { ...edges, list: { columns, rows: LEAST_LIST }, preview: { columns, rows: left, place: "below" } };
  return { ...edges, list: { columns, rows: body }, preview: { columns, rows: body, place: "over" } };
}
