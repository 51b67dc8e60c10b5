import type { SessionId, SessionRecord } from "@bough/session-core";
import type { Field } from "../tui/field.js";
import { isSearching, type PickerEvent, type PickerModel, type PickerStep, type Scope, type SessionList, selectedRow } from "./model.js";
import { arranged, type Listed, listed, matching, queryWhileTyping } from "./session-rows.js";

/** A list of which nothing was read. */
export const UNREAD: SessionList = { sessions: [], coming: [], round: 0, state: "unread" };

/** Reads the sessions of a scope again; those that are known stay until all are there. */
export function reread(model: PickerModel, scope: Scope): PickerStep {
  const round = model.lists[scope].round + 1;
  return { model: withList(model, scope, { coming: [], round, state: "reading" }), effects: [{ kind: "list", scope, round }] };
}

/** Reads what is shown again. */
export function rereadShown(model: PickerModel): PickerStep {
  return reread(model, model.scope);
}

/** Shows the sessions of a scope; what was read of them before is shown at once. */
export function inScope(model: PickerModel, scope: Scope): PickerStep {
  const state = model.lists[scope].state;
  const moved = { ...model, scope, isChosen: false, selected: 0, top: 0 };
  return state === "unread" || state === "failed" ? withPoolOf(reread(moved, scope)) : { model: withPool(moved), effects: [] };
}

function withPoolOf({ model, effects }: PickerStep): PickerStep {
  return { model: withPool(model), effects };
}

function withList(model: PickerModel, scope: Scope, change: Partial<SessionList>): PickerModel {
  return { ...model, lists: { ...model.lists, [scope]: { ...model.lists[scope], ...change } } };
}

/** A page of sessions that came. The first reading is shown as it comes, a later one when it is complete. */
export function withPage(model: PickerModel, page: Extract<PickerEvent, { kind: "sessions" }>): PickerModel {
  const { scope, round, records, isLast, nowMs } = page;
  const list = model.lists[scope];
  if (round !== list.round) return model;
  // Pages of one reading come in this order, but a directory may have two names.
  const coming = list.coming.concat(records.map(listed)).sort((a, b) => b.record.activeAtMs - a.record.activeAtMs);
  const isShown = isLast || list.sessions.length < coming.length;
  const next = withList(model, scope, {
    coming: isLast ? [] : coming,
    sessions: isShown ? coming : list.sessions,
    state: isLast ? "complete" : "reading",
  });
  return scope === model.scope && isShown ? withPool({ ...next, nowMs }) : next;
}

/** A reading that failed. */
export function withFailedList(model: PickerModel, { scope, round, reason }: Extract<PickerEvent, { kind: "listFailed" }>): PickerModel {
  if (round !== model.lists[scope].round) return model;
  const text = `The sessions could not be read: ${reason}`;
  return { ...withList(model, scope, { coming: [], state: "failed" }), notice: { kind: "error", text } };
}

/** The lists with a session as it is now. */
export function withRecord(model: PickerModel, record: SessionRecord): PickerModel {
  const change = (sessions: readonly Listed[]) => sessions.map((one) => (one.record.id === record.id ? listed(record) : one));
  return inBoth(model, change);
}

/** The lists without a session. */
export function withoutSession(model: PickerModel, id: SessionId): PickerModel {
  return inBoth(model, (sessions) => sessions.filter((one) => one.record.id !== id));
}

function inBoth(model: PickerModel, change: (sessions: readonly Listed[]) => readonly Listed[]): PickerModel {
  const changed = (list: SessionList) => ({ ...list, sessions: change(list.sessions), coming: change(list.coming) });
  return withPool({ ...model, lists: { here: changed(model.lists.here), all: changed(model.lists.all) } });
}

/** The model with its rows made anew from the list that is shown. */
export function withPool(model: PickerModel): PickerModel {
  const { sessions } = model.lists[model.scope];
  const pool = model.withArchived ? sessions : sessions.filter(({ record }) => record.archivedAtMs === null);
  return withRows({ ...model, pool, arranged: arranged(pool, model.sort) });
}

/** The model with the rows that its search leaves. The selected session stays selected, or else the nearest row. */
export function withRows(model: PickerModel): PickerModel {
  if (!isSearching(model)) return reselected(model, { ...model, rows: model.arranged, byName: 0 });
  const { field, hits } = model.search;
  return reselected(model, { ...model, ...matching(model.pool, field.text, hits) });
}

function reselected(before: PickerModel, model: PickerModel): PickerModel {
  if (!model.isChosen) return { ...model, selected: 0, top: 0 };
  const id = selectedRow(before)?.listed.record.id;
  const at = model.rows.findIndex((row) => row.listed.record.id === id);
  return { ...model, selected: at >= 0 ? at : Math.max(0, Math.min(before.selected, model.rows.length - 1)) };
}

/** How long nobody types before texts are searched. */
const PAUSE_MS = 120;

/** Searches for what stands in the field: names at once, texts when typing pauses. The hits so far stay until then. */
export function searched(model: PickerModel, field: Field): PickerStep {
  const { search, scope } = model;
  const number = search.number + 1;
  const query = field.text.trim();
  const isNarrower = query !== "" && search.field.text.trim() !== "" && query.startsWith(search.field.text.trim());
  const next = withRows({
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
  return { model: next, effects: [{ kind: "search", query: queryWhileTyping(field.text.trimStart()), scope, number, delayMs: PAUSE_MS }] };
}
