import { clampScroll } from "../preview/pane.js";
import { WHEEL_ROWS } from "../tui/list.js";
import type { MouseEvent } from "../tui/screen.js";
import type { FinderModel } from "./model.js";
import { panesOf } from "./panes.js";

/** The lines above the list: heading and query. */
const HEAD_ROWS = 2;

/** The action of a mouse event: choose a row of the list, scroll the list, or scroll the preview. */
export type Pointed =
  | { readonly kind: "row"; readonly row: number; readonly isOpened: boolean }
  | { readonly kind: "list"; readonly direction: 1 | -1 }
  | { readonly kind: "preview"; readonly model: FinderModel };

/** Returns the action of a mouse event at the position of the pointer; undefined: none. */
export function pointedAt(model: FinderModel, event: MouseEvent): Pointed | undefined {
  if (event.action !== "press") {
    const direction = event.action === "wheelUp" ? -1 : 1;
    return isOverPreview(model, event) ? { kind: "preview", model: scrolled(model, direction) } : { kind: "list", direction };
  }
  const line = event.row - HEAD_ROWS;
  if (line < 0 || line >= panesOf(model).list.rows || isOverPreview(model, event)) return undefined;
  const row = model.top + line;
  return model.rows[row]?.kind === "hit" ? { kind: "row", row, isOpened: event.isDouble === true } : undefined;
}

function isOverPreview(model: FinderModel, { column, row }: MouseEvent): boolean {
  const { list, preview } = panesOf(model);
  if (preview === undefined || row < HEAD_ROWS) return false;
  return preview.place === "beside" ? column >= list.columns : row - HEAD_ROWS >= list.rows;
}

function scrolled(model: FinderModel, by: 1 | -1): FinderModel {
  const { preview } = model;
  return {
    ...model,
    preview: { ...preview, scroll: clampScroll(preview, panesOf(model).preview?.rows ?? 1, preview.scroll + by * WHEEL_ROWS) },
  };
}
