import { TREE_FILTERS, type TreeFilter } from "../tree/filter.js";
import type { Folds } from "../tree/folds.js";
import type { Layout } from "../tree/layout.js";
import { newField } from "../tui/field.js";
import { withoutEffects } from "../tui/screen.js";
import type { NavigatorAction } from "./keys.js";
import type { NavigatorModel } from "./model.js";
import { panesOf } from "./panes.js";
import {
  clampScroll,
  listRows,
  type NavigatorStep,
  refreshLayout,
  selectAndReveal,
  selectedId,
  selectedPosition,
  selectPosition,
  selectRow,
  showSelection,
  visibleCount,
} from "./select.js";
import { ENTRY_ACTIONS } from "./update-entry.js";
import { endSearch, openSearch } from "./update-search.js";

type Act = (model: NavigatorModel) => NavigatorStep;

const by = (rows: (model: NavigatorModel) => number) => (model: NavigatorModel) =>
  selectPosition(model, selectedPosition(model) + rows(model));

const page = (model: NavigatorModel) => Math.max(listRows(model) - 1, 1);

/** One row on, and around at the ends, as pi does. */
const around = (rows: 1 | -1) => (model: NavigatorModel) => {
  const count = visibleCount(model);
  return selectPosition(model, count === 0 ? 0 : (selectedPosition(model) + rows + count) % count);
};

const filtered = (filter: TreeFilter) => (model: NavigatorModel) => {
  // Each key is a switch: a second time it leads back to the usual rows.
  const next = model.filter === filter ? "default" : filter;
  return refreshLayout({ ...model, filter: next, search: null, notice: null });
};

const cycled = (steps: 1 | -1) => (model: NavigatorModel) => {
  const at = TREE_FILTERS.indexOf(model.filter) + steps + TREE_FILTERS.length;
  return refreshLayout({ ...model, filter: TREE_FILTERS[at % TREE_FILTERS.length] ?? "default", search: null, notice: null });
};

const jump = (find: (model: NavigatorModel) => number, missing: string) => (model: NavigatorModel) => {
  const place = find(model);
  return place < 0 ? withoutEffects({ ...model, notice: { text: missing, isError: false } }) : selectAndReveal(model, place);
};

const branchPoint = (direction: 1 | -1) =>
  jump(({ layout, selected, folds }) => layout?.nextBranchPoint(selected, direction, folds) ?? -1, "No other branch point that way.");

/** Folds hide no hit: what is searched for is shown. Behind the last one comes the first. */
const hit = (direction: 1 | -1) =>
  jump(({ layout, selected }) => {
    const next = layout?.nextHit(selected, direction) ?? -1;
    return next < 0 ? (layout?.nextHit(-1, direction) ?? -1) : next;
  }, "No hit is shown.");

const hitOrBranchPoint = (direction: 1 | -1) => (model: NavigatorModel) =>
  (model.search?.hits ?? null) === null ? branchPoint(direction)(model) : hit(direction)(model);

/** What is folded away cannot stay selected. */
const toggled: Act = (model) => {
  const { layout, selected, folds } = model;
  if (layout === undefined || selected < 0 || !layout.hasBelow(selected)) return withoutEffects(model);
  return showSelection({ ...model, folds: folds.toggle(selected) });
};

const foldOrBack: Act = (model) => {
  const { layout, selected, folds } = model;
  if (layout === undefined || selected < 0) return withoutEffects(model);
  const step = foldOrJump(layout, selected, folds);
  return selectRow({ ...model, folds: step.folds }, step.at);
};

const unfoldOrForth: Act = (model) => {
  const { layout, selected, folds } = model;
  if (layout === undefined || selected < 0) return withoutEffects(model);
  const step = unfoldOrJump(layout, selected, folds);
  return selectRow({ ...model, folds: step.folds }, step.at);
};

const scrolled = (steps: (rows: number) => number) => (model: NavigatorModel) => {
  const { preview } = model;
  const pane = panesOf(model.size, preview.isShown, model.search !== null).preview;
  if (pane === undefined) return withoutEffects(model);
  return withoutEffects({ ...model, preview: { ...preview, scroll: clampScroll(preview, pane.rows, preview.scroll + steps(pane.rows)) } });
};

const close: Act = (model) => (model.search === null ? withoutEffects({ ...model, result: { kind: "closed" } }) : endSearch(model));

const toLeaf: Act = (model) => {
  const { tree } = model;
  if (tree === undefined) return withoutEffects(model);
  if (tree.leafId === null)
    return withoutEffects({ ...model, notice: { text: "The session stands before its first entry.", isError: false } });
  return selectAndReveal(model, tree.index.indexOf(tree.leafId));
};

const LIST: Readonly<Record<NavigatorAction, Act>> = {
  up: around(-1),
  down: around(1),
  pageUp: by((model) => -page(model)),
  pageDown: by(page),
  first: (model) => selectPosition(model, 0),
  last: (model) => selectPosition(model, visibleCount(model) - 1),
  leaf: toLeaf,
  foldOrBack,
  unfoldOrForth,
  fold: toggled,
  next: hitOrBranchPoint(1),
  previous: hitOrBranchPoint(-1),
  nextBranch: branchPoint(1),
  previousBranch: branchPoint(-1),
  search: openSearch,
  filterDefault: filtered("default"),
  filterNoTools: filtered("no-tools"),
  filterUser: filtered("user"),
  filterLabeled: filtered("labeled"),
  filterSummaries: filtered("summaries"),
  filterAll: filtered("all"),
  cycleFilter: cycled(1),
  cycleFilterBack: cycled(-1),
  preview: (model) => showSelection({ ...model, preview: { ...model.preview, isShown: !model.preview.isShown, entryId: null } }),
  previewUp: scrolled((rows) => -Math.max(Math.floor(rows / 2), 1)),
  previewDown: scrolled((rows) => Math.max(Math.floor(rows / 2), 1)),
  times: (model) => withoutEffects({ ...model, showsTimes: !model.showsTimes }),
  label: (model) => {
    const entryId = selectedId(model);
    if (entryId === undefined) return withoutEffects(model);
    return withoutEffects({ ...model, dialog: { kind: "label", entryId, field: newField(model.tree?.labels.get(entryId)) } });
  },
  help: (model) => withoutEffects({ ...model, dialog: { kind: "help", scroll: 0 } }),
  close,
  ...ENTRY_ACTIONS,
};

/** What an action of the list does to the model. */
export function performAction(model: NavigatorModel, action: NavigatorAction): NavigatorStep {
  return LIST[action]({ ...model, notice: null });
}

/** Where the selection is after a key, and what is folded then. */
export interface FoldStep {
  readonly at: number;
  readonly folds: Folds;
}

/**
 * To the left: folds the segment of a row, at whose start the selection then is. Where that is folded already, or has
 * nothing below its start, goes to the start of the segment above. At the very top nothing changes.
 */
export function foldOrJump(layout: Layout, at: number, folds: Folds): FoldStep {
  const start = layout.segmentStart(at);
  if (layout.hasBelow(start) && !folds.isFolded(start)) return { at: start, folds: folds.fold(start) };
  return { at: layout.previousSegment(start), folds };
}

/** To the right: unfolds a row that is folded, else goes to the next segment start; below the last one, to the last row. */
export function unfoldOrJump(layout: Layout, at: number, folds: Folds): FoldStep {
  if (layout.hasBelow(at) && folds.isFolded(at)) return { at, folds: folds.unfold([at]) };
  return { at: layout.nextSegment(at, folds), folds };
}
