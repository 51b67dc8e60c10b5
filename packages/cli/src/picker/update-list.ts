import { titleOf } from "../place/session-choice.js";
import { fieldOf } from "../tui/field.js";
import { SORTS } from "./arrange.js";
import type { PickerAction } from "./keys.js";
import { layoutOf } from "./layout.js";
import { inScope, withPool } from "./lists.js";
import { isSearching, type PickerModel, type PickerStep, selectedRow } from "./model.js";
import { quoted } from "./prompt.js";
import { searched } from "./searching.js";

/** What an action of the key table does to the list. */
export function updateList(model: PickerModel, action: PickerAction): PickerStep {
  const moved = movedTo(model, action);
  return moved === undefined ? updateOther(model, action) : still(chosen(model, moved));
}

const still = (model: PickerModel): PickerStep => ({ model, effects: [] });

/** The row that a movement leads to; undefined: the action is none. */
function movedTo(model: PickerModel, action: PickerAction): number | undefined {
  const page = Math.max(1, layoutOf(model).list.rows - 1);
  switch (action) {
    case "up":
      return model.selected - 1;
    case "down":
      return model.selected + 1;
    case "pageUp":
      return model.selected - page;
    case "pageDown":
      return model.selected + page;
    case "first":
      return 0;
    case "last":
      return model.rows.length - 1;
    default:
      return undefined;
  }
}

function chosen(model: PickerModel, at: number): PickerModel {
  return { ...model, selected: Math.max(0, Math.min(at, model.rows.length - 1)), isChosen: true };
}

function updateOther(model: PickerModel, action: PickerAction): PickerStep {
  switch (action) {
    case "new":
      return still({ ...model, result: { kind: "new" } });
    case "cancel":
      return isSearching(model) ? searched(model, fieldOf()) : still({ ...model, result: { kind: "cancelled" } });
    case "search":
      return still({ ...model, mode: { kind: "search" } });
    case "scope":
      return searchedAgain(inScope(model, model.scope === "here" ? "all" : "here"));
    case "sort":
      return still(sortedNext(model));
    case "archived":
      return still(withPool({ ...model, withArchived: !model.withArchived }));
    case "preview":
      return still({ ...model, preview: { ...model.preview, isOpen: !model.preview.isOpen, id: undefined } });
    case "previewEnd":
      return still({ ...model, preview: { ...model.preview, isOpen: true, id: undefined, end: otherEnd(model) } });
    case "help":
      return still({ ...model, mode: { kind: "help", top: 0 } });
    default:
      return updateSelected(model, action);
  }
}

function otherEnd({ preview }: PickerModel): "first" | "last" {
  return preview.isOpen && preview.end === "last" ? "first" : "last";
}

function sortedNext(model: PickerModel): PickerModel {
  const sort = SORTS[(SORTS.indexOf(model.sort) + 1) % SORTS.length] ?? "threads";
  const names = { threads: "forks under what they were forked from", newest: "newest conversation first", name: "by name" };
  const withSearch = isSearching(model) ? "; what was found stays in the order of how well it fits" : "";
  return withPool({ ...model, sort, notice: { kind: "info", text: `Sorted: ${names[sort]}${withSearch}.` } });
}

/** What was searched for is searched for in the other directories too. */
function searchedAgain({ model, effects }: PickerStep): PickerStep {
  const again = searched(model, model.search.field);
  return { model: again.model, effects: [...effects, ...again.effects] };
}

/** What is done to the selected session. */
function updateSelected(model: PickerModel, action: PickerAction): PickerStep {
  const record = selectedRow(model)?.listed.record;
  if (record === undefined) return still(model);
  const { id } = record;
  switch (action) {
    case "open":
      return { model, effects: [{ kind: "check", record }] };
    case "rename":
      return still({ ...chosen(model, model.selected), mode: { kind: "rename", id, field: fieldOf(record.title ?? "") } });
    case "archive":
      return { model: chosen(model, model.selected), effects: [{ kind: "archive", id, archived: record.archivedAtMs === null }] };
    case "delete":
      if (id === model.settings.currentId) return still(refused(model, titleOf(record)));
      return {
        model: { ...chosen(model, model.selected), mode: { kind: "delete", record, subagents: 0 } },
        effects: [{ kind: "countSubagents", id }],
      };
    default:
      return still(model);
  }
}

function refused(model: PickerModel, title: string): PickerModel {
  const text = `${quoted(title, model.settings)} is open here and cannot be deleted. Open another session first.`;
  return { ...model, notice: { kind: "error", text } };
}
