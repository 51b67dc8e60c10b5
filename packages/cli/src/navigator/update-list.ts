import { scrollByHalf } from "../preview/pane.js";
import { TREE_FILTERS, type TreeFilter } from "../tree/filter-names.js";
import { leafRow } from "../tree/shown-rows.js";
import { newField } from "../tui/field.js";
import { pageFrom, stepFrom } from "../tui/list.js";
import { withoutEffects } from "../tui/screen.js";
import type { NavigatorAction } from "./keys.js";
import type { NavigatorModel, NavigatorStep } from "./model.js";
import { panesOf } from "./panes.js";
import {
  listOf,
  refreshLayout,
  selectAndReveal,
  selectedId,
  selectedPosition,
  selectPosition,
  selectRow,
  showSelection,
  visibleCount,
} from "./selection.js";
import { ENTRY_ACTIONS } from "./update-entry.js";
import { endSearch, goToMatch, openSearch, toggleAncestors } from "./update-search.js";

/** The navigator after an action of the list. */
export function performAction(model: NavigatorModel, action: NavigatorAction): NavigatorStep {
  return ACTIONS[action]({ ...model, notice: null });
}

type Act = (model: NavigatorModel) => NavigatorStep;

const moveByPage =
  (direction: 1 | -1): Act =>
  (model) =>
    selectPosition(model, pageFrom(listOf(model), selectedPosition(model), direction));

/** Moves by one row; wraps around at both ends. */
const moveByRow =
  (direction: 1 | -1): Act =>
  (model) =>
    selectPosition(model, stepFrom(listOf(model), selectedPosition(model), direction, "wrap"));

const setFilter = (model: NavigatorModel, filter: TreeFilter) => refreshLayout({ ...model, filter, search: null, notice: null });

/** The key of the current filter returns to the default filter. */
const toggleFilter =
  (filter: TreeFilter): Act =>
  (model) =>
    setFilter(model, model.filter === filter ? "default" : filter);

const cycleFilter =
  (steps: 1 | -1): Act =>
  (model) => {
    const at = TREE_FILTERS.indexOf(model.filter) + steps + TREE_FILTERS.length;
    return setFilter(model, TREE_FILTERS[at % TREE_FILTERS.length] ?? "default");
  };

const jumpTo =
  (find: (model: NavigatorModel) => number, missing: string): Act =>
  (model) => {
    const row = find(model);
    return row < 0 ? withoutEffects({ ...model, notice: { text: missing, isError: false } }) : selectAndReveal(model, row);
  };

const jumpToBranchPoint = (direction: 1 | -1) =>
  jumpTo(({ layout, selected, folds }) => layout?.nextBranchPoint(selected, direction, folds) ?? -1, "No further branch point.");

const jumpToSibling = (direction: 1 | -1) =>
  jumpTo(({ layout, selected }) => layout?.siblingBranch(selected, direction) ?? -1, "There is no branch point above this row.");

const jumpToTurn = (direction: 1 | -1) =>
  jumpTo(({ layout, selected, folds }) => layout?.nextTurn(selected, direction, folds) ?? -1, "No further user message.");

const jumpToHitOrBranchPoint =
  (direction: 1 | -1): Act =>
  (model) =>
    (model.search?.hits ?? null) === null ? jumpToBranchPoint(direction)(model) : goToMatch(model, direction);

const jumpToLeaf: Act = (model) => {
  const { tree } = model;
  if (tree === undefined) return withoutEffects(model);
  if (tree.leafId === null)
    return withoutEffects({ ...model, notice: { text: "The current position is before the first entry.", isError: false } });
  return selectAndReveal(model, leafRow(tree.index, tree.leafId, { filter: model.filter, labeled: tree.labels }));
};

const toggleFold: Act = (model) => {
  const { layout, selected, folds } = model;
  const step = selected < 0 ? undefined : layout?.toggle(selected, folds);
  return step === undefined ? withoutEffects(model) : selectRow({ ...model, folds: step.folds }, step.at);
};

const foldOrGoBack: Act = (model) => {
  const { layout, selected, folds } = model;
  if (layout === undefined || selected < 0) return withoutEffects(model);
  const step = layout.foldOrGoBack(selected, folds);
  return selectRow({ ...model, folds: step.folds }, step.at);
};

const unfoldOrGoOn: Act = (model) => {
  const { layout, selected, folds } = model;
  if (layout === undefined || selected < 0) return withoutEffects(model);
  const step = layout.unfoldOrGoOn(selected, folds);
  return selectRow({ ...model, folds: step.folds }, step.at);
};

const togglePreview: Act = (model) =>
  showSelection({ ...model, preview: { ...model.preview, isShown: !model.preview.isShown, entryId: null } });

/** Scrolls the preview by half a page. */
const scrollPreview =
  (direction: 1 | -1): Act =>
  (model) => {
    const { preview } = model;
    const pane = panesOf(model).preview;
    if (pane === undefined) return withoutEffects(model);
    return withoutEffects({ ...model, preview: scrollByHalf(preview, pane.rows, direction) });
  };

const editLabel: Act = (model) => {
  const entryId = selectedId(model);
  if (entryId === undefined) return withoutEffects(model);
  return withoutEffects({ ...model, dialog: { kind: "label", entryId, field: newField(model.tree?.labels.get(entryId)) } });
};

const close: Act = (model) =>
  model.search?.isGiven === false ? endSearch(model) : withoutEffects({ ...model, result: { kind: "closed" } });

const ACTIONS: Readonly<Record<NavigatorAction, Act>> = {
  up: moveByRow(-1),
  down: moveByRow(1),
  pageUp: moveByPage(-1),
  pageDown: moveByPage(1),
  first: (model) => selectPosition(model, 0),
  last: (model) => selectPosition(model, visibleCount(model) - 1),
  leaf: jumpToLeaf,
  foldOrBack: foldOrGoBack,
  unfoldOrForth: unfoldOrGoOn,
  fold: toggleFold,
  next: jumpToHitOrBranchPoint(1),
  previous: jumpToHitOrBranchPoint(-1),
  nextBranch: jumpToBranchPoint(1),
  previousBranch: jumpToBranchPoint(-1),
  nextSibling: jumpToSibling(1),
  previousSibling: jumpToSibling(-1),
  nextTurn: jumpToTurn(1),
  previousTurn: jumpToTurn(-1),
  search: openSearch,
  ancestors: toggleAncestors,
  filterDefault: toggleFilter("default"),
  filterNoTools: toggleFilter("no-tools"),
  filterUser: toggleFilter("user"),
  filterLabeled: toggleFilter("labeled"),
  filterSummaries: toggleFilter("summaries"),
  filterAll: toggleFilter("all"),
  cycleFilter: cycleFilter(1),
  cycleFilterBack: cycleFilter(-1),
  preview: togglePreview,
  previewUp: scrollPreview(-1),
  previewDown: scrollPreview(1),
  times: (model) => withoutEffects({ ...model, showsTimes: !model.showsTimes }),
  label: editLabel,
  help: (model) => withoutEffects({ ...model, dialog: { kind: "help", scroll: 0 } }),
  close,
  ...ENTRY_ACTIONS,
};
