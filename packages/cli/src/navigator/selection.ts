import type { EntryId } from "@bough/session-core";
import { clampScroll } from "../preview/pane.js";
import type { TreeFilter } from "../tree/filter-names.js";
import { Layout } from "../tree/layout.js";
import { type ListShape, topOf } from "../tui/list.js";
import type { NavigatorModel, NavigatorStep, NavigatorTree } from "./model.js";
import { panesOf } from "./panes.js";

/** Maximum replies that are read for the preview of a group of calls. */
const PREVIEWED_CALLS = 200;

/** Number of visible rows. */
export function visibleCount({ layout, folds }: NavigatorModel): number {
  return layout === undefined ? 0 : layout.visibleCount(folds);
}

/** The list of the visible rows. Two rows above and below the selected one stay visible if there are enough. */
export function listOf(model: NavigatorModel): ListShape {
  return { count: visibleCount(model), rows: panesOf(model).list.rows, margin: 2 };
}

/** The position of the selected row; -1: none is selected. */
export function selectedPosition({ layout, folds, selected }: NavigatorModel): number {
  return layout === undefined || selected < 0 ? -1 : layout.positionOf(selected, folds);
}

/** The id of the selected entry; undefined: none is selected. */
export function selectedId(model: NavigatorModel): EntryId | undefined {
  const { tree, selected } = model;
  return tree === undefined || selected < 0 || visibleCount(model) === 0 ? undefined : tree.index.idOf(selected);
}

/** Selects the row at a position, clamped to the list. */
export function selectPosition(model: NavigatorModel, position: number): NavigatorStep {
  const { layout, folds } = model;
  const count = visibleCount(model);
  // While filter or search show no row, `selected` stays, and the row is selected again when it is shown again.
  if (layout === undefined || count === 0) return showSelection({ ...model, top: 0 });
  const at = Math.min(Math.max(position, 0), count - 1);
  return showSelection({ ...model, selected: layout.atPosition(at, folds) });
}

/** Selects a row by its row number. Instead of a row that is not visible it selects the one that `Layout.positionOf` names. */
export function selectRow(model: NavigatorModel, row: number): NavigatorStep {
  const { layout, folds } = model;
  if (layout === undefined || visibleCount(model) === 0) return showSelection({ ...model, top: 0 });
  return selectPosition(model, row < 0 ? 0 : layout.positionOf(row, folds));
}

/** Selects a row as `selectRow` does, after unfolding the rows that hide it. */
export function selectAndReveal(model: NavigatorModel, row: number): NavigatorStep {
  const { layout, folds } = model;
  return layout === undefined || row < 0 ? selectRow(model, row) : selectRow({ ...model, folds: layout.reveal(row, folds) }, row);
}

/**
 * Scrolls to the selected row, and requests rows on screen that the index does not hold, and the preview if that is shown. Each
 * change of selection, size or layout ends here.
 */
export function showSelection(model: NavigatorModel): NavigatorStep {
  const list = listOf(model);
  const top = topOf(list, { selected: selectedPosition(model), top: model.top });
  const { model: next, effects } = requestPreview({ ...model, top });
  const seqs = seqsToRead(next, list.rows);
  return { model: next, effects: seqs.length === 0 ? effects : [{ kind: "rows", seqs }, ...effects] };
}

function seqsToRead({ tree, layout, top, folds }: NavigatorModel, rows: number): readonly number[] {
  if (tree === undefined || layout === undefined) return [];
  const missing = layout.window(top, rows, folds).filter(({ at }) => !tree.index.isHeld(at));
  return missing.map(({ at }) => tree.index.seqOf(at));
}

function requestPreview(model: NavigatorModel): NavigatorStep {
  const { preview, tree, selected } = model;
  const pane = panesOf(model).preview;
  const entryId = selectedId(model);
  if (pane === undefined || tree === undefined || entryId === undefined) return { model, effects: [] };
  const isHit = (model.layout?.hitNumber(selected) ?? 0) > 0;
  const words = isHit ? (model.search?.words ?? null) : null;
  const isSame = preview.entryId === entryId;
  const scroll = isSame ? clampScroll(preview, pane.rows, preview.scroll) : 0;
  const isMarked = preview.words === words;
  if (isSame && isMarked && preview.width === pane.columns) return { model: { ...model, preview: { ...preview, scroll } }, effects: [] };
  // The old lines stay until the new ones arrive: an empty pane in between would flicker.
  const goesTo = words === null ? "keep" : isSame && isMarked ? preview.goesTo : preview.goesTo === "last" ? "last" : "first";
  const next = { ...preview, entryId, width: pane.columns, words, scroll, goesTo };
  const isBranchPoint = tree.index.isBranchPoint(selected);
  const rows = model.layout?.callsAt(selected, model.folds) ?? [];
  const calls = rows.length === 0 ? undefined : rows.slice(-PREVIEWED_CALLS).map((at) => tree.index.idOf(at));
  return {
    model: { ...model, preview: next },
    effects: [{ kind: "preview", entryId, width: pane.columns, isBranchPoint, calls, label: tree.labels.get(entryId), words }],
  };
}

/** Sets the layout of the current filter and search, and selects the same row again. */
export function refreshLayout(model: NavigatorModel): NavigatorStep {
  return selectRow(withLayout(model), model.selected);
}

/** Sets the layout of the current filter and search, and keeps the selected row on a line of the list if it has one. */
export function refreshLayoutInPlace(model: NavigatorModel, line: number | undefined): NavigatorStep {
  const next = withLayout(model);
  return selectRow({ ...next, top: line === undefined ? 0 : selectedPosition(next) - line }, next.selected);
}

/** Sets the layout of the current filter and search, and selects and unfolds another row. */
export function refreshLayoutAt(model: NavigatorModel, row: number): NavigatorStep {
  return selectAndReveal(withLayout(model), row);
}

/** Discards all layouts after a change of the tree. */
export function rebuildLayouts(model: NavigatorModel): NavigatorStep {
  return refreshLayout({ ...model, layouts: new Map() });
}

function withLayout(model: NavigatorModel): NavigatorModel {
  const { tree, search, filter } = model;
  if (tree === undefined) return model;
  const hits = search?.hits ?? null;
  if (search !== null && hits !== null) return { ...model, layout: newLayout(tree, filter, hits, search.showsAncestors) };
  const known = model.layouts.get(filter);
  const layout = known ?? newLayout(tree, filter, null, false);
  const layouts = known === undefined ? new Map([...model.layouts, [filter, layout] as const]) : model.layouts;
  return { ...model, layout, layouts };
}

function newLayout(
  { index, labels, leaves, leafId }: NavigatorTree,
  filter: TreeFilter,
  hits: readonly number[] | null,
  showsAncestors: boolean,
): Layout {
  return new Layout(index, {
    filter,
    leafId,
    leaves,
    labeled: labels,
    hits: hits ?? undefined,
    hitsOnly: !showsAncestors,
    foldsCalls: filter === "default" && hits === null,
    foldsBranches: hits === null,
  });
}
