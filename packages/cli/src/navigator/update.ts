import { actionOf } from "../tui/key-table.js";
import { type MouseEvent, type TerminalEvent, withoutEffects } from "../tui/screen.js";
import type { NavigatorEvent, NavigatorModel, NavigatorStep } from "./model.js";
import { rebuildLayouts, showSelection } from "./selection.js";
import { updateDialog } from "./update-dialog.js";
import { performAction } from "./update-list.js";
import { updateByMouse } from "./update-mouse.js";
import { openTree, showProgress, updateWhileReading } from "./update-reading.js";
import { addHits, showPreview, showQueryProblem, startGivenSearch, updateSearchField } from "./update-search.js";

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
  const clicked = updateByMouse({ ...model, notice: null }, event);
  if (clicked === undefined) return withoutEffects(model);
  if (!clicked.isOpened) return clicked.step;
  const opened = performAction(clicked.step.model, "go");
  return { model: opened.model, effects: [...clicked.step.effects, ...opened.effects] };
}

function updateByEvent(model: NavigatorModel, event: NavigatorEvent): NavigatorStep {
  switch (event.kind) {
    case "begun":
      return openTree(model, event.tree, { done: event.tree.index.size, total: event.total, held: [] });
    case "progress":
      return showProgress(model, event.done);
    case "loaded":
      return applyHeld(startGivenSearch(openTree(model, event.tree, null)), model.reading?.held ?? []);
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
  let { model, effects } = opened;
  for (const event of held) {
    const step = update(model, event);
    model = step.model;
    effects = [...effects, ...step.effects];
  }
  return { model, effects };
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
