import { editField } from "../tui/field.js";
import { actionOf } from "../tui/key-table.js";
import type { KeyEvent, PasteEvent } from "../tui/screen.js";
import { helpLines, helpRoom } from "./help.js";
import type { PickerAction } from "./keys.js";
import type { Mode, PickerModel, PickerStep } from "./model.js";
import { searched } from "./searching.js";
import { updateList } from "./update-list.js";

type Typed = KeyEvent | PasteEvent;

/** What acts in the search field too, by keys that type nothing. Home, End, left and right belong to the field. */
const IN_SEARCH: ReadonlySet<PickerAction> = new Set(["up", "down", "pageUp", "pageDown", "open", "scope"]);

/** Keys and pastes while a field, a question or the help has them. */
export function updateField(model: PickerModel, event: Typed): PickerStep {
  switch (model.mode.kind) {
    case "search":
      return inSearch(model, event);
    case "rename":
      return inRename(model, model.mode, event);
    case "delete":
      return inQuestion(model, model.mode, event);
    case "help":
      return still(inHelp(model, model.mode, event));
    case "list":
      return still(model);
  }
}

const still = (model: PickerModel): PickerStep => ({ model, effects: [] });
const inList = (model: PickerModel): PickerModel => ({ ...model, mode: { kind: "list" } });

function inSearch(model: PickerModel, event: Typed): PickerStep {
  if (event.kind === "key" && event.text === undefined) {
    if (event.key === "escape") return still(inList(model));
    const action = event.key === "enter" ? "open" : actionOf(model.settings.keys, event.key);
    if (action !== undefined && IN_SEARCH.has(action)) return updateList(model, action);
  }
  const field = editField(model.search.field, event);
  if (field === undefined) return still(model);
  // Moving the cursor searches for nothing else.
  if (field.text === model.search.field.text) return still({ ...model, search: { ...model.search, field } });
  return searched(model, field);
}

function inRename(model: PickerModel, mode: Extract<Mode, { kind: "rename" }>, event: Typed): PickerStep {
  if (event.kind === "key" && event.key === "escape") return still(inList(model));
  if (event.kind === "key" && event.key === "enter") {
    const title = mode.field.text.trim();
    return { model: inList(model), effects: [{ kind: "rename", id: mode.id, title: title === "" ? null : title }] };
  }
  return still({ ...model, mode: { ...mode, field: editField(mode.field, event) ?? mode.field } });
}

/** Only a clear yes deletes; a key that means neither leaves the question where it is. */
function inQuestion(model: PickerModel, mode: Extract<Mode, { kind: "delete" }>, event: Typed): PickerStep {
  if (event.kind === "paste") return still(model);
  if (event.key === "y" || event.key === "Y") return { model: inList(model), effects: [{ kind: "delete", id: mode.record.id }] };
  const isNo = ["n", "N", "q", "escape"].includes(event.key);
  return still(isNo ? { ...inList(model), notice: { kind: "info", text: "Nothing was deleted." } } : model);
}

function inHelp(model: PickerModel, mode: Extract<Mode, { kind: "help" }>, event: Typed): PickerModel {
  if (event.kind === "paste") return model;
  const page = Math.max(1, helpRoom(model) - 1);
  const steps: Partial<Record<PickerAction, number>> = { up: -1, down: 1, pageUp: -page, pageDown: page, first: -1e6, last: 1e6 };
  const action = event.key === "escape" ? "cancel" : actionOf(model.settings.keys, event.key);
  if (action === "cancel" || action === "help") return inList(model);
  const step = action === undefined ? 0 : (steps[action] ?? 0);
  return { ...model, mode: { ...mode, top: Math.max(0, Math.min(mode.top + step, helpLines(model).length - helpRoom(model))) } };
}
