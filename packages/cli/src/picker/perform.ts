import { setTimeout as delay, setImmediate as pause } from "node:timers/promises";
import {
  BoughError,
  ENTRY_TYPES,
  type Entry,
  InvalidQueryError,
  previewOf,
  type SearchHit,
  type SessionId,
  SessionNotFoundError,
  type Store,
  textOf,
} from "@bough/session-core";
import { listSubagents } from "../session/paging.js";
import type { ScreenHost } from "../tui/screen.js";
import type { PickerEffect, PickerEvent, PreviewMessage, Scope } from "./model.js";
import { groupedHits } from "./session-rows.js";

/** Where effects look. */
export interface PickerWorld {
  readonly store: Store;
  /** The names of the current directory: as the system has it, and as the shell came to it. */
  readonly directories: readonly string[];
  readonly now: () => number;
}

type Of<Kind extends PickerEffect["kind"]> = Extract<PickerEffect, { kind: Kind }>;
type PickerDispatch = ScreenHost<PickerEvent>["dispatch"];

/** Sessions read at once: about 10 ms, between two keys. */
const PAGE = 1000;

/** Sessions whose models are asked for between two pauses. */
const MODELS_AT_ONCE = 8;

/** Hits read of a search, and at most so many pages of them until `ENOUGH` sessions are found. */
const HITS = 200;
const MOST_PAGES = 4;
const ENOUGH = 30;

/** Messages of a preview, and how much of each. */
const PREVIEW_MESSAGES = 12;
const PREVIEW_TEXT = 4000;

/**
 * What carries out the effects of one picker. A later effect of a kind replaces an earlier one that waits or reads;
 * changes are always done. What goes wrong is news.
 */
export function performer(world: PickerWorld): (effect: PickerEffect, host: ScreenHost<PickerEvent>) => void {
  const newest = new Map<string, PickerEffect>();
  return (effect, { dispatch }) => {
    const key = effect.kind === "list" ? `list ${effect.scope}` : effect.kind;
    newest.set(key, effect);
    void done(world, effect, dispatch, () => newest.get(key) === effect);
  };
}

async function done(world: PickerWorld, effect: PickerEffect, dispatch: PickerDispatch, isNewest: () => boolean): Promise<void> {
  try {
    if ("delayMs" in effect) {
      await delay(effect.delayMs);
      if (!isNewest()) return;
    }
    await performed(world, effect, dispatch, isNewest);
  } catch (error) {
    // A screen's effects have nobody above them to throw to: whatever it is, the person reads it.
    dispatch(failureEvent(effect, error));
  }
}

async function performed(world: PickerWorld, effect: PickerEffect, dispatch: PickerDispatch, isNewest: () => boolean): Promise<void> {
  const { store } = world;
  switch (effect.kind) {
    case "list":
      return list(world, effect, dispatch, isNewest);
    case "models":
      return models(store, effect, dispatch, isNewest);
    case "preview":
      return dispatch({ kind: "preview", number: effect.number, messages: await previewed(store, effect) });
    case "search":
      return search(world, effect, dispatch, isNewest);
    case "check":
      return dispatch({ kind: (await store.findSession(effect.record.id)) === undefined ? "gone" : "there", id: effect.record.id });
    case "rename":
      await store.renameSession(effect.id, effect.title);
      return dispatch(await changed(store, effect.id, "renamed"));
    case "archive":
      await store.archiveSession(effect.id, effect.archived);
      return dispatch(await changed(store, effect.id, effect.archived ? "archived" : "unarchived"));
    case "countSubagents":
      return dispatch({ kind: "subagents", id: effect.id, count: (await listSubagents(store, effect.id)).length });
    case "delete":
      return dispatch({ kind: "deleted", id: effect.id, subagents: await deleteAll(store, effect.id) });
  }
}

function directoriesOf({ directories }: PickerWorld, scope: Scope): readonly (string | undefined)[] {
  return scope === "all" ? [undefined] : directories;
}

async function list(world: PickerWorld, { scope, round }: Of<"list">, dispatch: PickerDispatch, isNewest: () => boolean): Promise<void> {
  const directories = directoriesOf(world, scope);
  for (const [at, cwd] of directories.entries()) {
    for (let cursor: string | undefined; ; ) {
      const page = await world.store.listSessions({ cwd, archived: "all", limit: PAGE, cursor });
      if (!isNewest()) return;
      const isLast = page.next === null && at === directories.length - 1;
      dispatch({ kind: "sessions", scope, round, records: page.items, isLast, nowMs: world.now() });
      if (page.next === null) break;
      cursor = page.next;
      // Keys come first.
      await pause();
      if (!isNewest()) return;
    }
  }
}

async function models(store: Store, { ids }: Of<"models">, dispatch: PickerDispatch, isNewest: () => boolean): Promise<void> {
  const found = new Map<SessionId, string | null>();
  for (const [at, id] of ids.entries()) {
    if (at % MODELS_AT_ONCE === MODELS_AT_ONCE - 1) await pause();
    if (!isNewest()) break;
    found.set(id, await modelOf(store, id));
  }
  dispatch({ kind: "models", models: found });
}

/** The model that answers at the leaf: two rows are read for it, no path. */
async function modelOf(store: Store, id: SessionId): Promise<string | null> {
  try {
    const { model } = await (await store.openSession(id)).settings();
    return model?.modelId ?? null;
  } catch (error) {
    // Nobody asked for this one session: that it is gone is said when somebody does.
    if (error instanceof SessionNotFoundError) return null;
    throw error;
  }
}

async function previewed(store: Store, { id, end }: Of<"preview">): Promise<readonly PreviewMessage[]> {
  const session = await store.openSession(id);
  const order = end === "first" ? "down" : "up";
  const { items } = await session.scan({ order, types: ["message"], roles: ["user", "assistant"], limit: PREVIEW_MESSAGES });
  const messages = items.flatMap(previewMessage);
  return order === "up" ? messages.reverse() : messages;
}

function previewMessage(entry: Entry): readonly PreviewMessage[] {
  if (entry.type !== "message" || (entry.message.role !== "user" && entry.message.role !== "assistant")) return [];
  const { role, content } = entry.message;
  const text = textOf(content).trim().slice(0, PREVIEW_TEXT);
  // A reply of tool calls only is shown as in lists.
  return [{ role, text: text === "" ? previewOf(entry) : text.toWellFormed() }];
}

async function search(world: PickerWorld, effect: Of<"search">, dispatch: PickerDispatch, isNewest: () => boolean): Promise<void> {
  const hits: SearchHit[] = [];
  let more = false;
  for (const cwd of directoriesOf(world, effect.scope)) {
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      // Titles are looked for without the index, so they are not asked for here.
      const found = await world.store.search({
        query: effect.query,
        cwd,
        types: ENTRY_TYPES,
        limit: HITS,
        cursor,
      });
      if (!isNewest()) return;
      for (const hit of found.hits) hits.push(hit);
      more ||= found.next !== null;
      if (found.next === null || new Set(hits.map(({ sessionId }) => sessionId)).size >= ENOUGH) break;
      cursor = found.next;
      await pause();
    }
  }
  dispatch({ kind: "hits", number: effect.number, hits: groupedHits(hits), more });
}

async function changed(store: Store, id: SessionId, what: "renamed" | "archived" | "unarchived"): Promise<PickerEvent> {
  const record = await store.findSession(id);
  return record === undefined ? { kind: "gone", id } : { kind: "changed", record, what };
}

async function deleteAll(store: Store, id: SessionId): Promise<number> {
  const subagents = await listSubagents(store, id);
  for (const one of subagents) await deleteIfThere(store, one.id);
  await store.deleteSession(id);
  return subagents.length;
}

/** Whoever deletes the subagent's session meanwhile did what was wanted. */
async function deleteIfThere(store: Store, id: SessionId): Promise<void> {
  try {
    await store.deleteSession(id);
  } catch (error) {
    // Only that it is gone already may be passed over.
    if (!(error instanceof SessionNotFoundError)) throw error;
  }
}

const CHANGES: Readonly<Record<"rename" | "archive" | "delete", string>> = {
  rename: "Not renamed",
  archive: "Not archived",
  delete: "Not deleted",
};

function failureEvent(effect: PickerEffect, error: unknown): PickerEvent {
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof SessionNotFoundError) return { kind: "gone", id: error.sessionId };
  switch (effect.kind) {
    case "list":
      return { kind: "listFailed", scope: effect.scope, round: effect.round, reason };
    case "search":
      return { kind: "searchFailed", number: effect.number, isInvalid: error instanceof InvalidQueryError, reason };
    case "rename":
    case "archive":
    case "delete":
      return { kind: "failed", what: CHANGES[effect.kind], reason };
    case "models":
    case "preview":
    case "check":
    case "countSubagents":
      return { kind: "failed", what: error instanceof BoughError ? "Could not be read" : "Unexpected failure", reason };
  }
}
