import { clampScroll } from "../preview/pane.js";
import type { VisibleRow } from "../tree/visible-row.js";
import { turnWheel, WHEEL_ROWS } from "../tui/list.js";
import { type MouseEvent, withoutEffects } from "../tui/screen.js";
import type { NavigatorModel, NavigatorStep } from "./model.js";
import { panesOf } from "./panes.js";
import { listOf, selectedPosition, selectPosition, selectRow } from "./selection.js";
import { foldSignColumn } from "./view-rows.js";

/** The result of a mouse event: the next step, and whether a row was opened. */
interface Clicked {
  readonly step: NavigatorStep;
  /** A double click on a row: as Enter. */
  readonly isOpened: boolean;
}

/** The navigator after a step of the wheel, or a press of the left button. undefined: there is nothing under the pointer. */
export function updateByMouse(model: NavigatorModel, event: MouseEvent): Clicked | undefined {
  if (event.action === "press") return press(model, event);
  const direction = event.action === "wheelUp" ? -1 : 1;
  const step = isOverPreview(model, event) ? scrollPreview(model, direction) : scrollList(model, direction);
  return { step, isOpened: false };
}

function isOverPreview(model: NavigatorModel, { column, row }: MouseEvent): boolean {
  const { head, list, preview } = panesOf(model);
  switch (preview?.place) {
    case "over":
      return true;
    case "below":
      return row - head >= list.rows;
    case "beside":
      return column >= list.columns;
    case undefined:
      return false;
  }
}

function scrollPreview(model: NavigatorModel, direction: 1 | -1): NavigatorStep {
  const { preview } = model;
  const scroll = clampScroll(preview, panesOf(model).preview?.rows ?? 0, preview.scroll + direction * WHEEL_ROWS);
  return withoutEffects({ ...model, preview: { ...preview, scroll } });
}

/** Scrolls the list. The selection stays on its row as long as that is on the screen. */
function scrollList(model: NavigatorModel, direction: 1 | -1): NavigatorStep {
  const { selected, top } = turnWheel(listOf(model), { selected: selectedPosition(model), top: model.top }, direction);
  return selectPosition({ ...model, top }, selected);
}

function press(model: NavigatorModel, event: MouseEvent): Clicked | undefined {
  const { layout, tree, folds, top } = model;
  const { head, list } = panesOf(model);
  const line = event.row - head;
  if (layout === undefined || tree === undefined || line < 0 || line >= list.rows || isOverPreview(model, event)) return undefined;
  const [row] = layout.window(top + line, 1, folds);
  if (row === undefined) return undefined;
  // Also the second one of two quick presses, which folds what the first one unfolded.
  if (isFoldSign(model, row, event.column)) return { step: toggle(model, row), isOpened: false };
  return { step: selectPosition(model, row.position), isOpened: event.isDouble === true };
}

function isFoldSign(model: NavigatorModel, row: VisibleRow, column: number): boolean {
  const at = foldSignColumn(model, row, panesOf(model).list.columns);
  return row.fold !== "none" && column >= at && column < at + 2;
}

function toggle(model: NavigatorModel, { at }: VisibleRow): NavigatorStep {
  const step = model.layout?.toggle(at, model.folds);
  return step === undefined ? withoutEffects(model) : selectRow({ ...model, folds: step.folds }, step.at);
}
