import { actionOf } from "../tui/key-table.js";
import type { TerminalEvent } from "../tui/screen.js";
import { columnsFor } from "./columns.js";
import { layoutOf, scrolled, visibleRange } from "./layout.js";
import { type PickerEffect, type PickerModel, type PickerNews, type PickerStep, selectedRow } from "./model.js";
import { updateField } from "./update-fields.js";
import { updateList } from "./update-list.js";
import { isPlainNews, updateByNews } from "./update-news.js";

/** How long a row is in sight before its model is asked for, and how long it is selected before its messages are. */
const PAUSE_MS = 40;

/** The next model for what happened. A key takes the same time however many sessions there are, except for a search by name. */
export function update(model: PickerModel, event: TerminalEvent | PickerNews): PickerStep {
  const { model: next, effects } = updated(model, event);
  return asking({ model: scrolled(next), effects });
}

function updated(model: PickerModel, event: TerminalEvent | PickerNews): PickerStep {
  if (isPlainNews(event)) return updateByNews(model, event);
  switch (event.kind) {
    case "resize":
      return { model: { ...model, size: event.size }, effects: [] };
    case "paste":
      return updateField(inSearchIfList(model), event);
    case "key":
      return updateByKey({ ...model, notice: undefined }, event);
  }
}

function updateByKey(model: PickerModel, event: Extract<TerminalEvent, { kind: "key" }>): PickerStep {
  if (event.key === "ctrl+c") return { model: { ...model, result: { kind: "cancelled" } }, effects: [] };
  if (model.mode.kind !== "list") return updateField(model, event);
  const action = actionOf(model.settings.keys, event.key);
  return action === undefined ? { model, effects: [] } : updateList(model, action);
}

/** What is pasted into the list is searched for. */
function inSearchIfList(model: PickerModel): PickerModel {
  return model.mode.kind === "list" ? { ...model, mode: { kind: "search" } } : model;
}

/** Asks for what is in sight now and not known yet. */
export function asking({ model, effects }: PickerStep): PickerStep {
  const previewed = askingPreview(model);
  const named = askingModels(previewed.model);
  return { model: named.model, effects: [...effects, ...previewed.effects, ...named.effects] };
}

function askingPreview(model: PickerModel): PickerStep {
  const id = selectedRow(model)?.listed.record.id;
  const { preview } = model;
  if (!preview.isOpen || id === preview.id) return { model, effects: [] };
  const number = preview.number + 1;
  const next = { ...model, preview: { ...preview, number, id, messages: undefined } };
  return { model: next, effects: id === undefined ? [] : [{ kind: "preview", id, end: preview.end, number, delayMs: PAUSE_MS }] };
}

function askingModels(model: PickerModel): PickerStep {
  if (!columnsFor(layoutOf(model).list.columns, model.scope).columns.some(({ name }) => name === "model")) return { model, effects: [] };
  const { from, to } = visibleRange(model);
  const ids = model.rows
    .slice(from, to)
    .map(({ listed }) => listed.record.id)
    .filter((id) => !model.models.has(id));
  if (ids.length === 0 || isSame(ids, model.asked)) return { model, effects: [] };
  const effect: PickerEffect = { kind: "models", ids, delayMs: PAUSE_MS };
  return { model: { ...model, asked: ids }, effects: [effect] };
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((id, at) => id === b[at]);
}
