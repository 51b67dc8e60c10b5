import { counted } from "../format/numbers.js";
import { sessionTitle } from "../session/choose-session.js";
import { actionOf } from "../tui/key-table.js";
import type { TerminalEvent } from "../tui/screen.js";
import { chooseColumns, computeLayout, scrollToSelection, visibleRange } from "./layout.js";
import { type Notice, type PickerEffect, type PickerEvent, type PickerModel, type PickerStep, selectedRow } from "./model.js";
import { firstKeyName, quoteTitle } from "./prompt.js";
import { addPage, markListFailed, refreshRows, reloadShownList, removeSession, replaceRecord } from "./session-lists.js";
import { updateByAction, updateByMode } from "./update-keys.js";

/** How long a row is in sight before its model is asked for, and how long it is selected before its messages are. */
const READ_DELAY_MS = 40;

/** The next model for what happened. A key takes the same time however many sessions there are, except for a search by name. */
export function update(model: PickerModel, event: TerminalEvent | PickerEvent): PickerStep {
  const { model: next, effects } = reduce(model, event);
  return requestVisible({ model: scrollToSelection(next), effects });
}

function reduce(model: PickerModel, event: TerminalEvent | PickerEvent): PickerStep {
  if (isPickerEvent(event)) return updateByEvent(model, event);
  switch (event.kind) {
    case "resize":
      return { model: { ...model, size: event.size }, effects: [] };
    case "paste":
      return updateByMode(pasteIntoSearch(model), event);
    case "key":
      return updateByKey({ ...model, notice: undefined }, event);
  }
}

function updateByKey(model: PickerModel, event: Extract<TerminalEvent, { kind: "key" }>): PickerStep {
  if (event.key === "ctrl+c") return { model: { ...model, result: { kind: "cancelled" } }, effects: [] };
  if (model.mode.kind !== "list") return updateByMode(model, event);
  const action = actionOf(model.settings.keys, event.key);
  return action === undefined ? { model, effects: [] } : updateByAction(model, action);
}

/** What is pasted into the list is searched for. */
function pasteIntoSearch(model: PickerModel): PickerModel {
  return model.mode.kind === "list" ? { ...model, mode: { kind: "search" } } : model;
}

/** Asks for what is in sight now and not known yet. */
export function requestVisible({ model, effects }: PickerStep): PickerStep {
  const previewed = requestPreview(model);
  const named = requestModels(previewed.model);
  return { model: named.model, effects: [...effects, ...previewed.effects, ...named.effects] };
}

function requestPreview(model: PickerModel): PickerStep {
  const id = selectedRow(model)?.session.record.id;
  const { preview } = model;
  if (!preview.isOpen || id === preview.id) return { model, effects: [] };
  const number = preview.number + 1;
  const next = { ...model, preview: { ...preview, number, id, messages: undefined } };
  return { model: next, effects: id === undefined ? [] : [{ kind: "preview", id, end: preview.end, number, delayMs: READ_DELAY_MS }] };
}

function requestModels(model: PickerModel): PickerStep {
  if (!chooseColumns(computeLayout(model).list.columns, model.scope).columns.some(({ name }) => name === "model"))
    return { model, effects: [] };
  const { from, to } = visibleRange(model);
  const ids = model.rows
    .slice(from, to)
    .map(({ session }) => session.record.id)
    .filter((id) => !model.models.has(id));
  if (ids.length === 0 || haveSameIds(ids, model.requestedModels)) return { model, effects: [] };
  const effect: PickerEffect = { kind: "models", ids, delayMs: READ_DELAY_MS };
  return { model: { ...model, requestedModels: ids }, effects: [effect] };
}

function haveSameIds(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((id, at) => id === b[at]);
}

/** Whether it is news of an effect, not something that a person did. */
export function isPickerEvent(event: TerminalEvent | PickerEvent): event is PickerEvent {
  return event.kind !== "key" && event.kind !== "paste" && event.kind !== "resize";
}

/** What came of an effect. News that answers an older question changes nothing. */
export function updateByEvent(model: PickerModel, event: PickerEvent): PickerStep {
  return event.kind === "missing" ? removeMissing(model, event.id) : { model: reduceEvent(model, event), effects: [] };
}

function reduceEvent(model: PickerModel, event: Exclude<PickerEvent, { kind: "missing" }>): PickerModel {
  switch (event.kind) {
    case "sessions":
      return addPage(model, event);
    case "listFailed":
      return markListFailed(model, event);
    case "models":
      return { ...model, models: new Map([...model.models, ...event.models]) };
    case "preview":
      return event.number === model.preview.number ? { ...model, preview: { ...model.preview, messages: event.messages } } : model;
    case "hits":
    case "searchFailed":
      return applySearchResult(model, event);
    case "found":
      return { ...model, result: { kind: "open", sessionId: event.id } };
    case "changed":
      return withNotice(replaceRecord(model, event.record), changeNotice(model, event));
    case "subagents":
      return setSubagentCount(model, event);
    case "deleted":
      return removeDeleted(model, event);
    case "failed":
      return withNotice(model, { kind: "error", text: `${event.what}: ${event.reason}` });
  }
}

function applySearchResult(model: PickerModel, event: Extract<PickerEvent, { kind: "hits" | "searchFailed" }>): PickerModel {
  const { search } = model;
  if (event.number !== search.number) return model;
  if (event.kind === "hits") return refreshRows({ ...model, search: { ...search, hits: event.hits, more: event.more, state: "done" } });
  return refreshRows({
    ...model,
    search: { ...search, hits: new Map(), state: event.isInvalid ? "invalid" : "failed", reason: event.reason },
  });
}

function withNotice(model: PickerModel, notice: Notice): PickerModel {
  return { ...model, notice };
}

function changeNotice({ settings, withArchived }: PickerModel, { record, what }: Extract<PickerEvent, { kind: "changed" }>): Notice {
  const name = quoteTitle(sessionTitle(record), settings);
  switch (what) {
    case "renamed":
      return { kind: "info", text: record.title === null ? `Without a title it is called ${name}.` : `Renamed to ${name}.` };
    case "archived":
      return {
        kind: "info",
        text: `Archived ${name}.${withArchived ? "" : ` ${firstKeyName(settings, "archived")} lists archived sessions too.`}`,
      };
    case "unarchived":
      return { kind: "info", text: `${name} is no longer archived.` };
  }
}

/** The question says what else would go, if it still stands. */
function setSubagentCount(model: PickerModel, { id, count }: Extract<PickerEvent, { kind: "subagents" }>): PickerModel {
  if (model.mode.kind !== "delete" || model.mode.record.id !== id) return model;
  return { ...model, mode: { ...model.mode, subagents: count } };
}

function removeDeleted(model: PickerModel, { id, subagents }: Extract<PickerEvent, { kind: "deleted" }>): PickerModel {
  const beside = subagents === 0 ? "" : ` and ${counted(subagents, "session of its subagents", "sessions of its subagents")}`;
  return withNotice(removeSession(model, id), { kind: "info", text: `Deleted ${sessionName(model, id)}${beside}.` });
}

/** Another process deleted a session: it is said, the list is read again, and the nearest row is selected. */
function removeMissing(model: PickerModel, id: string): PickerStep {
  // What was deleted here is no news.
  if (!model.lists[model.scope].sessions.some(({ record }) => record.id === id)) return { model, effects: [] };
  const isAsked = (model.mode.kind === "delete" && model.mode.record.id === id) || (model.mode.kind === "rename" && model.mode.id === id);
  const left: PickerModel = isAsked ? { ...model, mode: { kind: "list" } } : model;
  const text = `${sessionName(model, id)} was deleted meanwhile by another program.`;
  return reloadShownList(withNotice(removeSession({ ...left, isChosen: true }, id), { kind: "error", text }));
}

function sessionName({ lists, scope, settings }: PickerModel, id: string): string {
  const known = lists[scope].sessions.find(({ record }) => record.id === id)?.record;
  return known === undefined ? `The session ${id}` : quoteTitle(sessionTitle(known), settings);
}
