import type { SessionId, SessionRecord } from "@bough/session-core";
import type { Field } from "../tui/field.js";
import { isSearching, type PickerEvent, type PickerModel, type PickerStep, type Scope, type SessionList, selectedRow } from "./model.js";
import { type ListedSession, matchSessions, prefixQuery, sortSessions, toListedSession } from "./session-rows.js";

/** A list of which nothing was read. */
export const UNREAD_LIST: SessionList = { sessions: [], incoming: [], round: 0, state: "unread" };

/** Reads the sessions of a scope again; those that are known stay until all are there. */
export function reloadList(model: PickerModel, scope: Scope): PickerStep {
  const round = model.lists[scope].round + 1;
  return { model: patchList(model, scope, { incoming: [], round, state: "reading" }), effects: [{ kind: "list", scope, round }] };
}

/** Reads what is shown again. */
export function reloadShownList(model: PickerModel): PickerStep {
  return reloadList(model, model.scope);
}

/** Shows the sessions of a scope; what was read of them before is shown at once. */
export function showScope(model: PickerModel, scope: Scope): PickerStep {
  const state = model.lists[scope].state;
  const moved = { ...model, scope, isChosen: false, selected: 0, top: 0 };
  return state === "unread" || state === "failed" ? withPoolOf(reloadList(moved, scope)) : { model: refreshPool(moved), effects: [] };
}

function withPoolOf({ model, effects }: PickerStep): PickerStep {
  return { model: refreshPool(model), effects };
}

function patchList(model: PickerModel, scope: Scope, change: Partial<SessionList>): PickerModel {
  return { ...model, lists: { ...model.lists, [scope]: { ...model.lists[scope], ...change } } };
}

/** A page of sessions that came. The first reading is shown as it comes, a later one when it is complete. */
export function addPage(model: PickerModel, page: Extract<PickerEvent, { kind: "sessions" }>): PickerModel {
  const { scope, round, records, isLast, nowMs } = page;
  const list = model.lists[scope];
  if (round !== list.round) return model;
  // Pages of one reading come in this order, but a directory may have two names.
  const coming = list.incoming.concat(records.map(toListedSession)).sort((a, b) => b.record.activeAtMs - a.record.activeAtMs);
  const isShown = isLast || list.sessions.length < coming.length;
  const next = patchList(model, scope, {
    incoming: isLast ? [] : coming,
    sessions: isShown ? coming : list.sessions,
    state: isLast ? "complete" : "reading",
  });
  return scope === model.scope && isShown ? refreshPool({ ...next, nowMs }) : next;
}

/** A reading that failed. */
export function markListFailed(model: PickerModel, { scope, round, reason }: Extract<PickerEvent, { kind: "listFailed" }>): PickerModel {
  if (round !== model.lists[scope].round) return model;
  const text = `The sessions could not be read: ${reason}`;
  return { ...patchList(model, scope, { incoming: [], state: "failed" }), notice: { kind: "error", text } };
}

/** The lists with a session as it is now. */
export function replaceRecord(model: PickerModel, record: SessionRecord): PickerModel {
  const change = (sessions: readonly ListedSession[]) =>
    sessions.map((one) => (one.record.id === record.id ? toListedSession(record) : one));
  return mapLists(model, change);
}

/** The lists without a session. */
export function removeSession(model: PickerModel, id: SessionId): PickerModel {
  return mapLists(model, (sessions) => sessions.filter((one) => one.record.id !== id));
}

function mapLists(model: PickerModel, change: (sessions: readonly ListedSession[]) => readonly ListedSession[]): PickerModel {
  const changed = (list: SessionList) => ({ ...list, sessions: change(list.sessions), coming: change(list.incoming) });
  return refreshPool({ ...model, lists: { here: changed(model.lists.here), all: changed(model.lists.all) } });
}

/** The model with its rows made anew from the list that is shown. */
export function refreshPool(model: PickerModel): PickerModel {
  const { sessions } = model.lists[model.scope];
  const pool = model.withArchived ? sessions : sessions.filter(({ record }) => record.archivedAtMs === null);
  return refreshRows({ ...model, pool, sortedRows: sortSessions(pool, model.sort) });
}

/** The model with the rows that its search leaves. The selected session stays selected, or else the nearest row. */
export function refreshRows(model: PickerModel): PickerModel {
  if (!isSearching(model)) return restoreSelection(model, { ...model, rows: model.sortedRows, nameMatchCount: 0 });
  const { field, hits } = model.search;
  return restoreSelection(model, { ...model, ...matchSessions(model.pool, field.text, hits) });
}

function restoreSelection(before: PickerModel, model: PickerModel): PickerModel {
  if (!model.isChosen) return { ...model, selected: 0, top: 0 };
  const id = selectedRow(before)?.session.record.id;
  const at = model.rows.findIndex((row) => row.session.record.id === id);
  return { ...model, selected: at >= 0 ? at : Math.max(0, Math.min(before.selected, model.rows.length - 1)) };
}

/** How long nobody types before texts are searched. */
const SEARCH_DELAY_MS = 120;

/** Searches for what stands in the field: names at once, texts when typing pauses. The hits so far stay until then. */
export function startSearch(model: PickerModel, field: Field): PickerStep {
  const { search, scope } = model;
  const number = search.number + 1;
  const query = field.text.trim();
  const isNarrower = query !== "" && search.field.text.trim() !== "" && query.startsWith(search.field.text.trim());
  const next = refreshRows({
    ...model,
    isChosen: false,
    search: {
      ...search,
      field,
      number,
      hits: isNarrower ? search.hits : new Map(),
      state: query === "" ? "idle" : "running",
      reason: "",
      more: false,
    },
  });
  if (query === "") return { model: next, effects: [] };
  return {
    model: next,
    effects: [{ kind: "search", query: prefixQuery(field.text.trimStart()), scope, number, delayMs: SEARCH_DELAY_MS }],
  };
}
