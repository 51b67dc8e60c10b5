import type { SessionId } from "@bough/session-core";
import { counted } from "@bough/session-core/view";
import { sessionTitle } from "../session/names.js";
import { actionOf } from "../tui/key-table.js";
import { turnWheel, visibleItems } from "../tui/list.js";
import { andThen, type MouseEvent, type TerminalEvent, withoutEffects } from "../tui/screen.js";
import { chooseColumns, computeLayout, listOf, rowAtLine, scrollToSelection } from "./layout.js";
import { type Notice, type PickerEvent, type PickerModel, type PickerResult, type PickerStep, queryOf, selectedRow } from "./model.js";
import { firstKeyName, quoteTitle } from "./prompt.js";
import { addPage, markListFailed, readAgain, refreshRows, reloadList, removeSession, replaceRecord } from "./session-lists.js";
import { updateByAction, updateByMode } from "./update-keys.js";

/** A row must be visible, or selected, for this time before its model, or its messages, are read. */
const READ_DELAY_MS = 40;

/**
 * Handles a key, a paste, a resize or the result of an effect. The cost of a key is independent of the number of sessions, except in a
 * search by name.
 */
export function update(model: PickerModel, event: TerminalEvent | PickerEvent): PickerStep {
  return andThen(reduce(model, event), (next) => andThen(requestPreview(scrollToSelection(next)), requestModels));
}

function reduce(model: PickerModel, event: TerminalEvent | PickerEvent): PickerStep {
  switch (event.kind) {
    case "resize":
      return withoutEffects({ ...model, size: event.size });
    case "paste":
      return updateByMode(pasteIntoSearch(model), event);
    case "mouse":
      return updateByMouse({ ...model, notice: undefined }, event);
    case "key":
      return updateByKey({ ...model, notice: undefined }, event);
    case "missing":
      return removeMissing(model, event.id);
    case "storeChanged":
      return readAgain(model);
    default:
      return withoutEffects(reduceEvent(model, event));
  }
}

function updateByKey(model: PickerModel, event: Extract<TerminalEvent, { kind: "key" }>): PickerStep {
  if (event.key === "ctrl+c") return withoutEffects({ ...model, result: { kind: "cancelled" } });
  if (model.mode.kind !== "list") return updateByMode(model, event);
  const action = actionOf(model.settings.keys, event.key);
  return action === undefined ? { model, effects: [] } : updateByAction(model, action);
}

/** The wheel scrolls the list or the help, a click selects, a double click opens. In the search field too; dialogs ignore the mouse. */
function updateByMouse(model: PickerModel, event: MouseEvent): PickerStep {
  if (model.mode.kind === "help") return updateByMode(model, event);
  if (model.mode.kind !== "list" && model.mode.kind !== "search") return withoutEffects(model);
  if (event.action !== "press") {
    const turned = turnWheel(listOf(model), model, event.action === "wheelUp" ? -1 : 1);
    return withoutEffects({ ...model, ...turned, isChosen: true });
  }
  const row = rowAtLine(model, event);
  if (row === undefined) return withoutEffects(model);
  const selected = { ...model, selected: row, isChosen: true };
  return event.isDouble === true ? updateByAction(selected, "open") : { model: selected, effects: [] };
}

/** A paste in the list starts a search. */
function pasteIntoSearch(model: PickerModel): PickerModel {
  return model.mode.kind === "list" ? { ...model, mode: { kind: "search" } } : model;
}

/** Requests the messages of the selected session if they are shown and not read yet. */
function requestPreview(model: PickerModel): PickerStep {
  const id = selectedRow(model)?.session.record.id;
  const { preview } = model;
  if (!preview.isOpen || (id === preview.id && !preview.isStale)) return withoutEffects(model);
  const number = preview.number + 1;
  // The messages of a session that went on stay until the new ones arrive.
  const messages = id === preview.id ? preview.messages : undefined;
  const next = { ...model, preview: { ...preview, number, id, isStale: false, messages } };
  return { model: next, effects: id === undefined ? [] : [{ kind: "preview", id, end: preview.end, number, delayMs: READ_DELAY_MS }] };
}

/** Requests the models of the visible sessions that are not read yet. */
function requestModels(model: PickerModel): PickerStep {
  if (!chooseColumns(computeLayout(model).list.columns, model.scope).columns.some(({ name }) => name === "model"))
    return withoutEffects(model);
  const { from, to } = visibleItems(listOf(model), model.top);
  const ids = model.rows
    .slice(from, to)
    .map(({ session }) => session.record.id)
    .filter((id) => !model.models.has(id));
  if (ids.length === 0 || haveSameIds(ids, model.requestedModels)) return withoutEffects(model);
  return { model: { ...model, requestedModels: ids }, effects: [{ kind: "models", ids, delayMs: READ_DELAY_MS }] };
}

function haveSameIds(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((id, at) => id === b[at]);
}

/** Handles the result of an effect that requests no other one. A stale result changes nothing. */
function reduceEvent(model: PickerModel, event: Exclude<PickerEvent, { kind: "missing" | "storeChanged" }>): PickerModel {
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
      return { ...model, result: openResult(model, event.id) };
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

/** Opens a session; one that was found by its text only is opened at the best hit. */
function openResult(model: PickerModel, id: SessionId): PickerResult {
  const { rows, search, nameMatchCount } = model;
  const at = rows.findIndex(({ session }) => session.record.id === id);
  const entryId = at < nameMatchCount ? undefined : search.hits.get(id)?.hit.entryId;
  const query = queryOf(model).words.trim();
  if (entryId === undefined || entryId === null) return { kind: "open", sessionId: id };
  return { kind: "open", sessionId: id, hit: query === "" ? { entryId } : { entryId, query } };
}

function applySearchResult(model: PickerModel, event: Extract<PickerEvent, { kind: "hits" | "searchFailed" }>): PickerModel {
  const { search } = model;
  if (event.number !== search.number) return model;
  if (event.kind === "hits")
    return refreshRows({ ...model, search: { ...search, hits: event.hits, more: event.more, chosen: event.chosen, state: "done" } });
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
      return { kind: "info", text: record.title === null ? `Removed the title; the session is shown as ${name}.` : `Renamed to ${name}.` };
    case "archived":
      return {
        kind: "info",
        text: `Archived ${name}.${withArchived ? "" : ` ${firstKeyName(settings, "archived")} shows archived sessions.`}`,
      };
    case "unarchived":
      return { kind: "info", text: `Unarchived ${name}.` };
  }
}

/** Adds to the open question how many sessions of subagents will be deleted too. */
function setSubagentCount(model: PickerModel, { id, count }: Extract<PickerEvent, { kind: "subagents" }>): PickerModel {
  if (model.mode.kind !== "delete" || model.mode.record.id !== id) return model;
  return { ...model, mode: { ...model.mode, subagents: count } };
}

function removeDeleted(model: PickerModel, { id, subagents }: Extract<PickerEvent, { kind: "deleted" }>): PickerModel {
  const others = subagents === 0 ? "" : ` and ${counted(subagents, "session of its subagents", "sessions of its subagents")}`;
  return withNotice(removeSession(model, id), { kind: "info", text: `Deleted ${sessionName(model, id)}${others}.` });
}

/** Another process deleted a session: shows a notice, reads the list again, and selects the nearest row. */
function removeMissing(model: PickerModel, id: string): PickerStep {
  // It was deleted here.
  if (!model.lists[model.scope].sessions.some(({ record }) => record.id === id)) return withoutEffects(model);
  const isAsked = (model.mode.kind === "delete" && model.mode.record.id === id) || (model.mode.kind === "rename" && model.mode.id === id);
  const left: PickerModel = isAsked ? { ...model, mode: { kind: "list" } } : model;
  const text = `${sessionName(model, id)} was deleted by another program.`;
  return reloadList(withNotice(removeSession({ ...left, isChosen: true }, id), { kind: "error", text }), model.scope);
}

function sessionName({ lists, scope, settings }: PickerModel, id: string): string {
  const known = lists[scope].sessions.find(({ record }) => record.id === id)?.record;
  return known === undefined ? `The session ${id}` : quoteTitle(sessionTitle(known), settings);
}
