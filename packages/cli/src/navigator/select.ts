import type { EntryId } from "@bough/session-core";
import type { TreeFilter } from "../tree/filter.js";
import { Layout } from "../tree/layout.js";
import type { Step } from "../tui/screen.js";
import type { NavigatorEffect, NavigatorModel, NavigatorTree, Preview } from "./model.js";
import { panesOf } from "./panes.js";

/** A step of the navigator. */
export type NavigatorStep = Step<NavigatorModel, NavigatorEffect>;

/** Lines of the list that the screen has now. */
export function listRows(model: NavigatorModel): number {
  return panesOf(model.size, model.preview.isShown, model.search !== null).list.rows;
}

/** How many rows there are under filter, search and folds. */
export function visibleCount({ layout, folds }: NavigatorModel): number {
  return layout === undefined ? 0 : layout.visibleCount(folds);
}

/** The position of the selected row; -1: none is. */
export function selectedPosition({ layout, folds, selected }: NavigatorModel): number {
  return layout === undefined || selected < 0 ? -1 : layout.positionOf(selected, folds);
}

/** The id of the selected entry; undefined: none is. */
export function selectedId(model: NavigatorModel): EntryId | undefined {
  const { tree, selected } = model;
  return tree === undefined || selected < 0 || visibleCount(model) === 0 ? undefined : tree.index.row(selected).id;
}

/** Selects the row at a position, kept within the list. */
export function selectPosition(model: NavigatorModel, position: number): NavigatorStep {
  const { layout, folds } = model;
  const count = visibleCount(model);
  // The row stays in mind while a filter or a search shows none at all.
  if (layout === undefined || count === 0) return showSelection({ ...model, top: 0 });
  const at = Math.min(Math.max(position, 0), count - 1);
  return showSelection({ ...model, selected: layout.atPosition(at, folds) });
}

/** Selects an entry's row, or that of its nearest shown ancestor. */
export function selectRow(model: NavigatorModel, place: number): NavigatorStep {
  const { layout, folds } = model;
  if (layout === undefined || visibleCount(model) === 0) return showSelection({ ...model, top: 0 });
  return selectPosition(model, place < 0 ? 0 : layout.positionOf(place, folds));
}

/** Selects an entry's row as `selectPlace` does, and unfolds what hides it. */
export function selectAndReveal(model: NavigatorModel, place: number): NavigatorStep {
  const { layout, folds } = model;
  return layout === undefined || place < 0 ? selectRow(model, place) : selectRow({ ...model, folds: layout.reveal(place, folds) }, place);
}

/**
 * The model with the selected row on screen, and the preview of that row asked for where it is shown. Every change of
 * selection, size, filter or folds comes by here.
 */
export function showSelection(model: NavigatorModel): NavigatorStep {
  const rows = listRows(model);
  const count = visibleCount(model);
  const position = selectedPosition(model);
  // Some rows stay in sight above and below, where there are enough.
  const margin = Math.min(2, Math.floor((rows - 1) / 2));
  const lowest = Math.max(count - rows, 0);
  const top = Math.min(Math.max(Math.min(model.top, position - margin), position - rows + 1 + margin, 0), lowest);
  return withPreview({ ...model, top });
}

function withPreview(model: NavigatorModel): NavigatorStep {
  const { preview, tree, selected } = model;
  const pane = panesOf(model.size, preview.isShown, model.search !== null).preview;
  const entryId = selectedId(model);
  if (pane === undefined || tree === undefined || entryId === undefined) return { model, effects: [] };
  const isSame = preview.entryId === entryId;
  const scroll = isSame ? clampScroll(preview, pane.rows, preview.scroll) : 0;
  if (isSame && preview.width === pane.columns) return { model: { ...model, preview: { ...preview, scroll } }, effects: [] };
  // The old lines stay until the new ones are there: a pane that goes empty for a moment flickers.
  const next = { ...preview, entryId, width: pane.columns, scroll };
  const isBranchPoint = tree.index.isBranchPoint(selected);
  return {
    model: { ...model, preview: next },
    effects: [{ kind: "preview", entryId, width: pane.columns, isBranchPoint, label: tree.labels.get(entryId) }],
  };
}

/** How far a pane of `rows` lines can be scrolled towards `wanted`: its last line stays the last of the text. */
export function clampScroll({ lines }: Preview, rows: number, wanted: number): number {
  return Math.min(Math.max(wanted, 0), Math.max((lines?.length ?? 0) - rows, 0));
}

/** The model with the layout that its filter and search ask for; the selection stays, or goes to the nearest shown ancestor. */
export function refreshLayout(model: NavigatorModel): NavigatorStep {
  return selectRow(withLayout(model), model.selected);
}

/** The same with another row selected, unfolded if it is folded away. */
export function refreshLayoutAt(model: NavigatorModel, place: number): NavigatorStep {
  return selectAndReveal(withLayout(model), place);
}

function withLayout(model: NavigatorModel): NavigatorModel {
  const { tree, search, filter } = model;
  if (tree === undefined) return model;
  const hits = search?.hits ?? null;
  if (hits !== null) return { ...model, layout: layoutOf(tree, filter, hits) };
  const known = model.layouts.get(filter);
  const layout = known ?? layoutOf(tree, filter, null);
  const layouts = known === undefined ? new Map([...model.layouts, [filter, layout] as const]) : model.layouts;
  return { ...model, layout, layouts };
}

/** The same after the tree changed: what was made for the old one is of no use. */
export function rebuildLayouts(model: NavigatorModel): NavigatorStep {
  return refreshLayout({ ...model, layouts: new Map() });
}

function layoutOf({ index, labels, leaves, leafId }: NavigatorTree, filter: TreeFilter, hits: readonly number[] | null): Layout {
  return new Layout(index, { filter, leafId, labeled: labels, leaves, ...(hits === null ? {} : { hits }) });
}
