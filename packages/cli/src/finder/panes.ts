import type { Size } from "../tui/screen.js";
import type { FinderModel } from "./model.js";

/** The areas of the screen between its first two lines and its last one. */
export interface FinderPanes {
  readonly body: number;
  readonly list: Size;
  readonly preview: (Size & { readonly place: "beside" | "below" }) | undefined;
}

/** From this width on the preview is beside the list. */
const WIDE = 100;
/** From this height of the body on the preview fits below the list. */
const HIGH = 9;

/** Divides the screen: heading, query, list and preview, key hints. */
export function panesOf({ size: { columns, rows } }: Pick<FinderModel, "size">): FinderPanes {
  const body = Math.max(rows - 3, 1);
  if (columns >= WIDE) {
    const right = Math.min(Math.floor(columns / 2), 100);
    return { body, list: { columns: columns - right - 1, rows: body }, preview: { columns: right, rows: body, place: "beside" } };
  }
  if (body < HIGH) return { body, list: { columns, rows: body }, preview: undefined };
  const below = Math.floor(body * 0.45);
  return { body, list: { columns, rows: body - below - 1 }, preview: { columns, rows: below, place: "below" } };
}
