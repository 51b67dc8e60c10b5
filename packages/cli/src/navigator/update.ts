import type { EntryId } from "@bough/session-core";
import { isOverPane, scrollByWheel } from "../preview/pane.js";
import { leafRow } from "../tree/shown-rows.js";
import type { VisibleRow } from "../tree/visible-row.js";
import { actionOf } from "../tui/key-table.js";
import { turnWheel } from "../tui/list.js";
import { andThen, type MouseEvent, type TerminalEvent, withoutEffects } from "../tui/screen.js";
import type { NavigatorEvent, NavigatorModel, NavigatorStep, NavigatorTree, Reading } from "./model.js";
import { panesOf } from "./panes.js";
import {
  listOf,
  rebuildLayouts,
  refreshLayoutAt,
  refreshLayoutInPlace,
  selectedId,
  selectedPosition,
  selectPosition,
  selectRow,
  showSelection,
  visibleCount,
} from "./selection.js";
import { updateDialog } from "./update-dialog.js";
import { performAction } from "./update-list.js";
import { addHits, showPreview, showQueryProblem, startGivenSearch, updateSearchField } from "./update-search.js";
import { foldSignColumn } from "./view-rows.js";

/** The navigator after an event. Pure, except that new rows are appended to the tree's index. */
export function update(model: NavigatorModel, event: TerminalEvent | NavigatorEvent): NavigatorStep {
  switch (event.kind) {
    case "resize":
      return showSelection({ ...model, size: event.size });
    case "key":
    case "paste":
      return updateByInput(model, event);
    case "mouse":
      return updateByPointer(model, event);
    default:
      return updateByEvent(model, event);
  }
}

/** Input goes to the open dialog, else to the search field, else to the list. The next input removes the notice. */
function updateByInput(before: NavigatorModel, event: Extract<TerminalEvent, { kind: "key" | "paste" }>): NavigatorStep {
  const model = before.notice === null ? before : { ...before, notice: null };
  if (model.reading !== null) return updateWhileReading(model, model.reading, event);
  if (model.dialog.kind !== "none") return updateDialog(model, event);
  const { search } = model;
  const inField = search?.isTyping === true ? updateSearchField(model, search, event) : undefined;
  if (inField !== undefined) return inField;
  const action = event.kind === "key" ? actionOf(model.keys, event.key) : undefined;
  return action === undefined ? withoutEffects(model) : performAction(model, action);
}

/** The wheel scrolls help and comparison. Other dialogs, and the list while it is being read, ignore the mouse. */
function updateByPointer(model: NavigatorModel, event: MouseEvent): NavigatorStep {
  if (model.reading !== null) return withoutEffects(model);
  if (model.dialog.kind === "help" || model.dialog.kind === "comparison") return updateDialog(model, event);
  if (model.dialog.kind !== "none") return withoutEffects(model);
  if (event.action === "press") return press(model, event);
  const direction = event.action === "wheelUp" ? -1 : 1;
  const scroll = isOverPreview(model, event) ? scrollPreview : scrollList;
  return scroll({ ...model, notice: null }, direction);
}

function updateByEvent(model: NavigatorModel, event: NavigatorEvent): NavigatorStep {
  switch (event.kind) {
    case "begun":
      return openTree(model, event.tree, { done: event.tree.index.size, total: event.total, held: [] });
    case "progress":
      return showProgress(model, event.done);
    case "loaded":
      return applyHeld(andThen(openTree(model, event.tree, null), startGivenSearch), model.reading?.held ?? []);
    case "subagents":
      return withoutEffects({ ...model, subagents: event.subagents });
    case "rows":
      model.tree?.index.hold(event.rows);
      return showSelection(model);
    case "changed":
      return mergeChanges(model, event);
    case "previewed":
      return showPreview(model, event);
    case "hits":
      return addHits(model, event);
    case "badQuery":
      return showQueryProblem(model, event.queryId, event.problem);
    case "finished":
      return withoutEffects({ ...model, result: event.result });
    case "notice":
      return withoutEffects({ ...model, notice: { text: event.text, isError: event.isError } });
    case "workEnded":
      return withoutEffects({ ...model, dialog: { kind: "none" }, notice: { text: event.text, isError: event.isError } });
    case "compared":
      // A dialog opened meanwhile stays: it may contain typed text, or work that must remain cancellable.
      return model.dialog.kind === "none"
        ? withoutEffects({ ...model, dialog: { kind: "comparison", lines: event.lines, scroll: 0 } })
        : withoutEffects(model);
    case "tick":
      return withoutEffects(advanceTime(model, event.nowMs));
    case "deleted":
      return withoutEffects({ ...model, result: { kind: "deleted" } });
  }
}

/** The duration of work is counted from the first tick after its request. */
function advanceTime(model: NavigatorModel, nowMs: number): NavigatorModel {
  const { dialog } = model;
  return { ...model, nowMs, dialog: dialog.kind === "working" ? { ...dialog, sinceMs: dialog.sinceMs ?? nowMs } : dialog };
}

/** Applies input that was held while the tree was read. */
function applyHeld(opened: NavigatorStep, held: readonly TerminalEvent[]): NavigatorStep {
  return held.reduce((step, event) => andThen(step, (model) => update(model, event)), opened);
}

/** Applies changes of the session by this screen or another writer. The selected entry stays selected. */
function mergeChanges(model: NavigatorModel, event: Extract<NavigatorEvent, { kind: "changed" }>): NavigatorStep {
  const { tree } = model;
  if (tree === undefined) return withoutEffects(model);
  tree.index.append(event.rows);
  const labels = new Map(event.labels.map(({ entryId, label }) => [entryId, label]));
  // The preview shows labels and branches too: width 0 requests it again.
  const preview = { ...model.preview, width: 0 };
  return rebuildLayouts({ ...model, preview, tree: { ...tree, labels, leaves: event.leaves, leafId: event.leafId, isHeld: event.isHeld } });
}

type InputEvent = Extract<TerminalEvent, { kind: "key" | "paste" }>;

/**
 * Shows a tree, the selected entry on its line of the screen. Without a selected entry it selects the leaf, or the last row if the
 * leaf is before the first entry. `reading`: the tree has only the end of the leaf's path.
 */
function openTree(model: NavigatorModel, tree: NavigatorTree, reading: Reading | null): NavigatorStep {
  if (reading === null && model.opensAt !== null) return openAt({ ...model, tree, layouts: new Map() }, tree, model.opensAt);
  const leaf =
    tree.leafId === null ? tree.index.size - 1 : leafRow(tree.index, tree.leafId, { filter: model.filter, labeled: tree.labels });
  const before = selectedId(model);
  const selected = before === undefined ? leaf : tree.index.indexOf(before);
  const line = before === undefined ? undefined : selectedPosition(model) - model.top;
  // The preview shows labels and branches too: width 0 requests it again.
  const preview = { ...model.preview, width: 0 };
  return refreshLayoutInPlace({ ...model, tree, reading, selected, preview, layouts: new Map() }, line);
}

/** Selects an entry in a tree that was read. If the filter hides it, all entries are shown, unless hits of a search follow. */
function openAt(model: NavigatorModel, tree: NavigatorTree, entryId: EntryId): NavigatorStep {
  const row = tree.index.indexOf(entryId);
  const isFound = model.search === null;
  const opened = refreshLayoutAt({ ...model, reading: null, opensAt: isFound ? null : entryId }, row);
  if (row < 0 || !isFound || opened.model.selected === row) return opened;
  return refreshLayoutAt({ ...opened.model, filter: "all" }, row);
}

/** Shows how many rows were read. */
function showProgress(model: NavigatorModel, done: number): NavigatorStep {
  return withoutEffects(model.reading === null ? model : { ...model, reading: { ...model.reading, done } });
}

/**
 * Input while the tree has only the end of the leaf's path: the keys that close work, and moves within that part. All other input,
 * and what follows it, is held until the rest is there: in a part of the tree it would do something else.
 */
function updateWhileReading(model: NavigatorModel, reading: Reading, event: InputEvent): NavigatorStep {
  const action = event.kind === "key" ? actionOf(model.keys, event.key) : undefined;
  if (action === "close") return withoutEffects({ ...model, result: { kind: "closed" } });
  const page = Math.max(panesOf(model).list.rows - 1, 1);
  const rows = { up: -1, down: 1, pageUp: -page, pageDown: page }[String(action)];
  const position = selectedPosition(model) + (rows ?? 0);
  // A move past the ends of the part leads to rows that are not there yet.
  if (rows === undefined || position < 0 || position >= visibleCount(model) || reading.held.length > 0)
    return withoutEffects({ ...model, reading: { ...reading, held: [...reading.held, event] } });
  return selectPosition(model, position);
}

function isOverPreview(model: NavigatorModel, event: MouseEvent): boolean {
  const panes = panesOf(model);
  return isOverPane(panes, event, panes.head);
}

function scrollPreview(model: NavigatorModel, direction: 1 | -1): NavigatorStep {
  return withoutEffects({ ...model, preview: scrollByWheel(model.preview, panesOf(model).preview?.rows ?? 0, direction) });
}

/** Scrolls the list. The selection stays on its row as long as that is on the screen. */
function scrollList(model: NavigatorModel, direction: 1 | -1): NavigatorStep {
  const { selected, top } = turnWheel(listOf(model), { selected: selectedPosition(model), top: model.top }, direction);
  return selectPosition({ ...model, top }, selected);
}

/** A press on a fold sign folds or unfolds; elsewhere in a row it selects that, and a double click is Enter. */
function press(before: NavigatorModel, event: MouseEvent): NavigatorStep {
  const { layout, folds, top } = before;
  const { head, list } = panesOf(before);
  const line = event.row - head;
  const isInList = line >= 0 && line < list.rows && !isOverPreview(before, event);
  const [row] = layout === undefined || !isInList ? [] : layout.window(top + line, 1, folds);
  if (row === undefined) return withoutEffects(before);
  const model = { ...before, notice: null };
  // Also the second one of two quick presses, which folds what the first one unfolded.
  if (isFoldSign(model, row, event.column)) return toggle(model, row);
  const selected = selectPosition(model, row.position);
  return event.isDouble === true ? andThen(selected, (next) => performAction(next, "go")) : selected;
}

function isFoldSign(model: NavigatorModel, row: VisibleRow, column: number): boolean {
  const at = foldSignColumn(model, row, panesOf(model).list.columns);
  return row.fold !== "none" && column >= at && column < at + 2;
}

function toggle(model: NavigatorModel, { at }: VisibleRow): NavigatorStep {
  const step = model.layout?.toggle(at, model.folds);
  return step === undefined ? withoutEffects(model) : selectRow({ ...model, folds: step.folds }, step.at);
}
