import { type SplitAreas, splitBelow, splitBeside } from "../preview/pane.js";
import type { NavigatorModel } from "./model.js";

/** The areas of the screen, in lines and columns. */
export interface Panes extends SplitAreas {
  readonly columns: number;
  /** Lines of heading and footer. On a screen of very few lines first the footer and then the heading are omitted. */
  readonly head: number;
  readonly foot: number;
  /** Lines between them, for list, preview and dialog. */
  readonly body: number;
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
  if (columns >= WIDE) return { ...edges, ...splitBeside({ columns, rows: body }) };
  if (rows >= HIGH) return { ...edges, ...splitBelow({ columns, rows: body }) };
  // A few rows of the list stay, so that a key that moves shows where it goes.
  const left = body - LEAST_LIST - 1;
  if (left >= 2 * LEAST_LIST) return { ...edges, ...splitBelow({ columns, rows: body }, left) };
  return { ...edges, list: { columns, rows: body }, preview: { columns, rows: body, place: "over" } };
}
