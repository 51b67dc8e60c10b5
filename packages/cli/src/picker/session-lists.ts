import type { SessionId, SessionRecord } from "@bough/session-core";
import { type ListedSession, matchSessions, sortSessions, toListedSession } from "../session/session-rows.js";
import { asksForEntries, meetsPlace, meetsRecord, wasActive } from "../session/typed-filters.js";
import type { Field } from "../tui/field.js";
import { withoutEffects } from "../tui/screen.js";
import {
  isSearching,
  type PickerEvent,
  type PickerModel,
  type PickerStep,
  queryOf,
  type Scope,
  type SessionList,
  selectedRow,
} from "./model.js";

/** A list before its first read. */
export const UNREAD_LIST: SessionList = { sessions: [], incoming: [], round: 0, state: "unread" };

/** Reads the sessions of a scope again; the known sessions stay in the list until the read is complete. */
export function reloadList(model: PickerModel, scope: Scope): PickerStep {
  const round = model.lists[scope].round + 1;
  return { model: patchList(model, scope, { incoming: [], round, state: "reading" }), effects: [{ kind: "list", scope, round }] };
}

/**
 * Reads the sessions again after another process has written. The selected session stays selected, although the row above which a
 * new one appears was not chosen.
 */
export function readAgain(model: PickerModel): PickerStep {
  const other = model.scope === "here" ? "all" : "here";
  const { state } = model.lists[other];
  const kept = { ...model, isChosen: model.isChosen || model.rows.length > 0 };
  return reloadList(state === "unread" ? kept : patchList(kept, other, { state: "unread" }), model.scope);
}

/** Switches to a scope and reads its sessions if that has not been done. */
export function showScope(model: PickerModel, scope: Scope): PickerStep {
  const state = model.lists[scope].state;
  const moved = { ...model, scope, isChosen: false, selected: 0, top: 0 };
  const { model: next, effects } = state === "unread" || state === "failed" ? reloadList(moved, scope) : withoutEffects(moved);
  return { model: refreshPool(next), effects };
}

function patchList(model: PickerModel, scope: Scope, change: Partial<SessionList>): PickerModel {
  return { ...model, lists: { ...model.lists, [scope]: { ...model.lists[scope], ...change } } };
}

/** Adds a page of sessions. The first read is shown page by page, a later one when it is complete. */
export function addPage(model: PickerModel, page: Extract<PickerEvent, { kind: "sessions" }>): PickerModel {
  const { scope, round, records, held, isLast, nowMs } = page;
  const list = model.lists[scope];
  if (round !== list.round) return model;
  // The pages of one directory arrive in this order, but a read may cover two names of the directory.
  const incoming = list.incoming.concat(records.map(toListedSession)).sort((a, b) => b.record.activeAtMs - a.record.activeAtMs);
  const isShown = isLast || list.sessions.length < incoming.length;
  const next = patchList(model, scope, {
    incoming: isLast ? [] : incoming,
    sessions: isShown ? incoming : list.sessions,
    state: isLast ? "complete" : "reading",
  });
  return scope === model.scope && isShown ? refreshPool(forgetChanged({ ...next, held, nowMs }, list.sessions)) : next;
}

/** Drops the models of sessions whose number of entries changed, and marks their preview as stale, so that both are read again. */
function forgetChanged(model: PickerModel, before: readonly ListedSession[]): PickerModel {
  const counts = new Map(before.map(({ record }) => [record.id, record.entryCount]));
  const changed = model.lists[model.scope].sessions.flatMap(({ record: { id, entryCount } }) =>
    (counts.get(id) ?? entryCount) === entryCount ? [] : [id],
  );
  if (changed.length === 0) return model;
  const models = new Map(model.models);
  for (const id of changed) models.delete(id);
  const { preview } = model;
  const isStale = preview.id !== undefined && changed.includes(preview.id);
  return { ...model, models, requestedModels: [], preview: isStale ? { ...preview, isStale } : preview };
}

/** Marks a list as failed and shows the reason. */
export function markListFailed(model: PickerModel, { scope, round, reason }: Extract<PickerEvent, { kind: "listFailed" }>): PickerModel {
  if (round !== model.lists[scope].round) return model;
  const text = `Could not read the sessions: ${reason}`;
  return { ...patchList(model, scope, { incoming: [], state: "failed" }), notice: { kind: "error", text } };
}

/** Replaces a session that changed. */
export function replaceRecord(model: PickerModel, record: SessionRecord): PickerModel {
  const change = (sessions: readonly ListedSession[]) =>
    sessions.map((one) => (one.record.id === record.id ? toListedSession(record) : one));
  return mapLists(model, change);
}

export function removeSession(model: PickerModel, id: SessionId): PickerModel {
  return mapLists(model, (sessions) => sessions.filter((one) => one.record.id !== id));
}

function mapLists(model: PickerModel, change: (sessions: readonly ListedSession[]) => readonly ListedSession[]): PickerModel {
  const changed = (list: SessionList) => ({ ...list, sessions: change(list.sessions), incoming: change(list.incoming) });
  return refreshPool({ ...model, lists: { here: changed(model.lists.here), all: changed(model.lists.all) } });
}

/** Recomputes pool and rows from the list that is shown. */
export function refreshPool(model: PickerModel): PickerModel {
  const { sessions } = model.lists[model.scope];
  const pool = model.withArchived ? sessions : sessions.filter(({ record }) => record.archivedAtMs === null);
  return refreshRows({ ...model, pool, sortedRows: sortSessions(pool, model.sort) });
}

/** Recomputes the rows from pool and search. Keeps the selected session selected, or selects the nearest row. */
export function refreshRows(model: PickerModel): PickerModel {
  if (!isSearching(model)) return restoreSelection(model, { ...model, rows: model.sortedRows, nameMatchCount: 0 });
  const query = queryOf(model);
  const { hits, chosen } = model.search;
  const needsTotals = query.sessions.model !== undefined || query.sessions.costUsd !== undefined;
  const withEntries = asksForEntries(query);
  // The times of a query are those of entries: the last one counts only if entries are not searched.
  const meets = (record: SessionRecord) =>
    withEntries ? meetsPlace(record, query) && (hits.has(record.id) || wasActive(record, query)) : meetsRecord(record, query);
  const pool = model.pool.filter(({ record }) => meets(record) && (!needsTotals || chosen?.has(record.id) === true));
  // Filters that a session's record answers leave the list as it is sorted.
  if (!withEntries) return restoreSelection(model, { ...model, rows: sortSessions(pool, model.sort), nameMatchCount: pool.length });
  return restoreSelection(model, { ...model, ...matchSessions(pool, query.words, hits) });
}

function restoreSelection(before: PickerModel, model: PickerModel): PickerModel {
  if (!model.isChosen) return { ...model, selected: 0, top: 0 };
  const id = selectedRow(before)?.session.record.id;
  const at = model.rows.findIndex((row) => row.session.record.id === id);
  return { ...model, selected: at >= 0 ? at : Math.max(0, Math.min(before.selected, model.rows.length - 1)) };
}

/** Messages are searched when no key came for this time. */
const SEARCH_DELAY_MS = 120;

/** Searches for the text of the field: names at once, messages after a pause. Keeps the previous hits if the query only got longer. */
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
      chosen: isNarrower ? search.chosen : null,
    },
  });
  if (query === "") return withoutEffects(next);
  return {
    model: next,
    effects: [{ kind: "search", query: field.text.trimStart(), scope, number, delayMs: SEARCH_DELAY_MS }],
  };
}
