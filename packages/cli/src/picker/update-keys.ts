import { sessionTitle } from "../session/names.js";
import { SORTS } from "../session/session-rows.js";
import { editField, newField } from "../tui/field.js";
import { actionOf, helpRows } from "../tui/key-table.js";
import { pageFrom, scrollText, stepFrom } from "../tui/list.js";
import { andThen, type KeyEvent, type MouseEvent, type PasteEvent, withoutEffects } from "../tui/screen.js";
import type { PickerAction } from "./keys.js";
import { helpLines, listOf } from "./layout.js";
import { isSearching, type PickerMode, type PickerModel, type PickerStep, selectedRow } from "./model.js";
import { quoteTitle } from "./prompt.js";
import { refreshPool, showScope, startSearch } from "./session-lists.js";

/** Handles an action in the list. */
export function updateByAction(model: PickerModel, action: PickerAction): PickerStep {
  const moved = targetRow(model, action);
  return moved === undefined ? updateListView(model, action) : withoutEffects(selectRow(model, moved));
}

/** The row that an action moves to; undefined if it is no movement. */
function targetRow(model: PickerModel, action: PickerAction): number | undefined {
  const list = listOf(model);
  switch (action) {
    case "up":
      return stepFrom(list, model.selected, -1, "stop");
    case "down":
      return stepFrom(list, model.selected, 1, "stop");
    case "pageUp":
      return pageFrom(list, model.selected, -1);
    case "pageDown":
      return pageFrom(list, model.selected, 1);
    case "first":
      return 0;
    case "last":
      return model.rows.length - 1;
    default:
      return undefined;
  }
}

function selectRow(model: PickerModel, at: number): PickerModel {
  return { ...model, selected: Math.max(0, Math.min(at, model.rows.length - 1)), isChosen: true };
}

function updateListView(model: PickerModel, action: PickerAction): PickerStep {
  switch (action) {
    case "new":
      return withoutEffects({ ...model, result: { kind: "new" } });
    case "cancel":
      return isSearching(model) ? startSearch(model, newField()) : withoutEffects({ ...model, result: { kind: "cancelled" } });
    case "search":
      return withoutEffects({ ...model, mode: { kind: "search" } });
    case "scope":
      // The search runs again in the scope that is shown now.
      return andThen(showScope(model, model.scope === "here" ? "all" : "here"), (next) => startSearch(next, next.search.field));
    case "sort":
      return withoutEffects(nextSort(model));
    case "archived":
      return withoutEffects(refreshPool({ ...model, withArchived: !model.withArchived }));
    case "preview":
      return withoutEffects({ ...model, preview: { ...model.preview, isOpen: !model.preview.isOpen, id: undefined } });
    case "previewEnd":
      return withoutEffects({ ...model, preview: { ...model.preview, isOpen: true, id: undefined, end: togglePreviewEnd(model) } });
    case "help":
      return withoutEffects({ ...model, mode: { kind: "help", top: 0 } });
    default:
      return updateSelectedSession(model, action);
  }
}

function togglePreviewEnd({ preview }: PickerModel): "first" | "last" {
  return preview.isOpen && preview.end === "last" ? "first" : "last";
}

function nextSort(model: PickerModel): PickerModel {
  const sort = SORTS[(SORTS.indexOf(model.sort) + 1) % SORTS.length] ?? "threads";
  const names = { threads: "forks below their parents", newest: "newest first", name: "by name" };
  const withSearch = isSearching(model) ? "; search results stay sorted by relevance" : "";
  return refreshPool({ ...model, sort, notice: { kind: "info", text: `Sorted: ${names[sort]}${withSearch}.` } });
}

/** Actions on the selected session. */
function updateSelectedSession(model: PickerModel, action: PickerAction): PickerStep {
  const record = selectedRow(model)?.session.record;
  if (record === undefined) return withoutEffects(model);
  const { id } = record;
  switch (action) {
    case "open":
      return { model, effects: [{ kind: "check", record }] };
    case "rename":
      return withoutEffects({ ...selectRow(model, model.selected), mode: { kind: "rename", id, field: newField(record.title ?? "") } });
    case "archive":
      return { model: selectRow(model, model.selected), effects: [{ kind: "archive", id, archived: record.archivedAtMs === null }] };
    case "delete":
      if (id === model.settings.currentId) return withoutEffects(refuseDelete(model, sessionTitle(record)));
      return {
        model: { ...selectRow(model, model.selected), mode: { kind: "delete", record, subagents: 0 } },
        effects: [{ kind: "countSubagents", id }],
      };
    default:
      return withoutEffects(model);
  }
}

function refuseDelete(model: PickerModel, title: string): PickerModel {
  const text = `${quoteTitle(title, model.settings)} is open here and cannot be deleted. Open another session first.`;
  return { ...model, notice: { kind: "error", text } };
}

type InputEvent = KeyEvent | PasteEvent;

/** List actions that work in the search field, on keys that type nothing. Home, End, Left and Right move in the field. */
const SEARCH_ACTIONS: ReadonlySet<PickerAction> = new Set(["up", "down", "pageUp", "pageDown", "open", "scope"]);

/** Handles keys and pastes in a field, a question or the help, which the wheel scrolls too. */
export function updateByMode(model: PickerModel, event: InputEvent | MouseEvent): PickerStep {
  if (model.mode.kind === "help") return withoutEffects(scrollHelp(model, model.mode, event));
  if (event.kind === "mouse") return withoutEffects(model);
  switch (model.mode.kind) {
    case "search":
      return updateSearchField(model, event);
    case "rename":
      return updateRenameField(model, model.mode, event);
    case "delete":
      return answerDeleteQuestion(model, model.mode, event);
    case "list":
      return withoutEffects(model);
  }
}

const backToList = (model: PickerModel): PickerModel => ({ ...model, mode: { kind: "list" } });

function updateSearchField(model: PickerModel, event: InputEvent): PickerStep {
  if (event.kind === "key" && event.text === undefined) {
    if (event.key === "escape") return withoutEffects(backToList(model));
    const action = event.key === "enter" ? "open" : actionOf(model.settings.keys, event.key);
    if (action !== undefined && SEARCH_ACTIONS.has(action)) return updateByAction(model, action);
  }
  const field = editField(model.search.field, event);
  if (field === undefined) return withoutEffects(model);
  // Only the cursor moved.
  if (field.text === model.search.field.text) return withoutEffects({ ...model, search: { ...model.search, field } });
  return startSearch(model, field);
}

function updateRenameField(model: PickerModel, mode: Extract<PickerMode, { kind: "rename" }>, event: InputEvent): PickerStep {
  if (event.kind === "key" && event.key === "escape") return withoutEffects(backToList(model));
  if (event.kind === "key" && event.key === "enter") {
    const title = mode.field.text.trim();
    return { model: backToList(model), effects: [{ kind: "rename", id: mode.id, title: title === "" ? null : title }] };
  }
  return withoutEffects({ ...model, mode: { ...mode, field: editField(mode.field, event) ?? mode.field } });
}

/** Only y deletes; keys other than y and n leave the question open. */
function answerDeleteQuestion(model: PickerModel, mode: Extract<PickerMode, { kind: "delete" }>, event: InputEvent): PickerStep {
  if (event.kind === "paste") return withoutEffects(model);
  if (event.key === "y" || event.key === "Y") return { model: backToList(model), effects: [{ kind: "delete", id: mode.record.id }] };
  const isNo = ["n", "N", "q", "escape"].includes(event.key);
  return withoutEffects(isNo ? { ...backToList(model), notice: { kind: "info", text: "Nothing was deleted." } } : model);
}

function scrollHelp(model: PickerModel, mode: Extract<PickerMode, { kind: "help" }>, event: InputEvent | MouseEvent): PickerModel {
  const action = event.kind !== "key" ? undefined : event.key === "escape" ? "cancel" : actionOf(model.settings.keys, event.key);
  if (action === "cancel" || action === "help") return backToList(model);
  const top = scrollText(event, mode.top, helpLines(model).length, helpRows(model.size));
  return top === undefined ? model : { ...model, mode: { ...mode, top } };
}
