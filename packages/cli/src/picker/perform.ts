import { setTimeout as delay, setImmediate as pause } from "node:timers/promises";
import {
  BoughError,
  type Entry,
  InvalidQueryError,
  pagesOf,
  type SearchHit,
  type SessionFilter,
  type SessionId,
  SessionNotFoundError,
  type Store,
  textOf,
} from "@bough/session-core";
import { asTyped, ENTRY_TYPES, previewOf } from "@bough/session-core/view";
import { searchConditions } from "../session/chosen-sessions.js";
import { KeptSessions } from "../session/kept-sessions.js";
import { hitPages } from "../session/paging.js";
import { type Place, placeFilters } from "../session/place.js";
import { readPrices } from "../session/prices.js";
import { groupHitsBySession } from "../session/session-rows.js";
import { StoreWatcher } from "../session/store-watcher.js";
import { deleteWithSubagents, listSubagents } from "../session/subagents.js";
import { asksForEntries, bothOf, parseTypedQuery } from "../session/typed-filters.js";
import { NewestOnly } from "../session/typed-search.js";
import { unfinishedQuery } from "../session/typed-text.js";
import type { Io } from "../terminal/io.js";
import type { Performer, ScreenHost } from "../tui/screen.js";
import type { PickerEffect, PickerEvent, PreviewMessage, Scope } from "./model.js";

/** The objects that effects operate on. */
interface PickerWorld {
  readonly store: Store;
  /** The current directory or its repository. */
  readonly place: Place;
  readonly io: Pick<Io, "env" | "home" | "now">;
}

/** The same, with its changes, the sessions that searches choose from, and the receiver of events. */
interface WatchedWorld extends PickerWorld {
  readonly watcher: StoreWatcher;
  readonly kept: KeptSessions;
  readonly dispatch: ScreenHost<PickerEvent>["dispatch"];
}

type EffectOf<Kind extends PickerEffect["kind"]> = Extract<PickerEffect, { kind: Kind }>;

/** One page takes about 10 ms. */
const SESSIONS_PER_PAGE = 1000;

const MODELS_PER_PAUSE = 8;

/** Limits of a search: it ends with the page in which the sessions found reach `ENOUGH_SESSIONS`. */
const HITS_PER_PAGE = 200;
const MAX_HIT_PAGES = 4;
const ENOUGH_SESSIONS = 30;

const PREVIEW_MESSAGES = 12;
const PREVIEW_CHARACTERS = 4000;

/** Effects that read what is shown: of each kind, and of lists of each scope, only the newest counts. */
type ReadEffect = EffectOf<"list" | "models" | "preview" | "search">;

/**
 * Performs the effects of one picker. A later read of a kind replaces an earlier one that is waiting or reading; changes are
 * always made. Failures are dispatched as events.
 */
export class PickerPerformer implements Performer<PickerEffect> {
  readonly #world: WatchedWorld;
  readonly #reads = new Map<string, NewestOnly<ReadEffect>>();

  constructor(world: PickerWorld, { dispatch }: ScreenHost<PickerEvent>) {
    this.#world = { ...world, dispatch, watcher: new StoreWatcher(world.store, world.io.now), kept: new KeptSessions(world.store) };
  }

  perform(effect: PickerEffect): void {
    const { watcher, dispatch } = this.#world;
    if (effect.kind === "watch") watcher.start(() => dispatch({ kind: "storeChanged" }));
    else if (isRead(effect)) this.#readsOf(effect).start(effect);
    else void performSafely(this.#world, effect, () => true);
  }

  /** Abandons what is read, and ends the watching of the store. */
  end(): void {
    for (const reads of this.#reads.values()) reads.end();
    this.#world.watcher.end();
    this.#world.kept.end();
  }

  #readsOf(effect: ReadEffect): NewestOnly<ReadEffect> {
    const key = effect.kind === "list" ? `list ${effect.scope}` : effect.kind;
    const reads = this.#reads.get(key) ?? new NewestOnly<ReadEffect>((read, isWanted) => performSafely(this.#world, read, isWanted));
    this.#reads.set(key, reads);
    return reads;
  }
}

function isRead(effect: PickerEffect): effect is ReadEffect {
  return effect.kind === "list" || effect.kind === "models" || effect.kind === "preview" || effect.kind === "search";
}

/** An effect that reads or writes once. `watch` continues until the picker is closed. */
type SingleEffect = Exclude<PickerEffect, { kind: "watch" }>;

async function performSafely(world: WatchedWorld, effect: SingleEffect, isNewest: () => boolean): Promise<void> {
  try {
    if ("delayMs" in effect) {
      await delay(effect.delayMs);
      if (!isNewest()) return;
    }
    await performEffect(world, effect, isNewest);
    if (!isRead(effect)) world.kept.forget();
  } catch (error) {
    // Nothing above an effect catches: every failure becomes an event.
    world.dispatch(failureEvent(effect, error));
  }
}

async function performEffect(world: WatchedWorld, effect: SingleEffect, isNewest: () => boolean): Promise<void> {
  const { store, dispatch } = world;
  switch (effect.kind) {
    case "list":
      return readSessions(world, effect, isNewest);
    case "models":
      return readModels(world, effect, isNewest);
    case "preview":
      return dispatch({ kind: "preview", number: effect.number, messages: await readPreview(store, effect) });
    case "search":
      return searchTexts(world, effect, isNewest);
    case "check":
      return dispatch({ kind: (await store.findSession(effect.record.id)) === undefined ? "missing" : "found", id: effect.record.id });
    case "rename":
      await store.renameSession(effect.id, effect.title);
      return dispatch(await readChange(store, effect.id, "renamed"));
    case "archive":
      await store.archiveSession(effect.id, effect.archived);
      return dispatch(await readChange(store, effect.id, effect.archived ? "archived" : "unarchived"));
    case "countSubagents":
      return dispatch({ kind: "subagents", id: effect.id, count: (await listSubagents(store, effect.id)).length });
    case "delete":
      return dispatch({ kind: "deleted", id: effect.id, subagents: (await deleteWithSubagents(store, effect.id)).length });
  }
}

function filtersOf({ place }: PickerWorld, scope: Scope): readonly Pick<SessionFilter, "cwd" | "under">[] {
  return scope === "all" ? [{}] : placeFilters(place);
}

async function readSessions(world: WatchedWorld, { scope, round }: EffectOf<"list">, isNewest: () => boolean): Promise<void> {
  const filters = filtersOf(world, scope);
  const held = await world.watcher.readHeld();
  for (const [at, filter] of filters.entries()) {
    const asked = { ...filter, archived: "all", limit: SESSIONS_PER_PAGE } as const;
    for await (const { items: records, next } of pagesOf((cursor) => world.store.listSessions({ ...asked, cursor }))) {
      if (!isNewest()) return;
      const isLast = next === null && at === filters.length - 1;
      world.dispatch({ kind: "sessions", scope, round, records, held, isLast, nowMs: world.io.now() });
      if (next === null) break;
      // Let keys be handled between two pages.
      await pause();
      if (!isNewest()) return;
    }
  }
}

async function readModels({ store, dispatch }: WatchedWorld, { ids }: EffectOf<"models">, isNewest: () => boolean): Promise<void> {
  const found = new Map<SessionId, string | null>();
  for (const [at, id] of ids.entries()) {
    if (at % MODELS_PER_PAUSE === MODELS_PER_PAUSE - 1) await pause();
    if (!isNewest()) break;
    found.set(id, await readModel(store, id));
  }
  dispatch({ kind: "models", models: found });
}

/** The model at the leaf; reads two rows, not the path. */
async function readModel(store: Store, id: SessionId): Promise<string | null> {
  try {
    const { model } = await (await store.openSession(id)).settings();
    return model?.modelId ?? null;
  } catch (error) {
    // The session was deleted by another process; opening it will report that.
    if (error instanceof SessionNotFoundError) return null;
    throw error;
  }
}

async function readPreview(store: Store, { id, end }: EffectOf<"preview">): Promise<readonly PreviewMessage[]> {
  const session = await store.openSession(id);
  const order = end === "first" ? "down" : "up";
  const { items } = await session.scan({ order, types: ["message"], roles: ["user", "assistant", "custom"], limit: PREVIEW_MESSAGES * 2 });
  const messages = items.flatMap(toPreviewMessage).slice(0, PREVIEW_MESSAGES);
  return order === "up" ? messages.reverse() : messages;
}

function toPreviewMessage(entry: Entry): readonly PreviewMessage[] {
  const message = entry.type === "message" ? asTyped(entry.message) : undefined;
  if (message?.role !== "user" && message?.role !== "assistant") return [];
  const { role, content } = message;
  const text = textOf(content).trim().slice(0, PREVIEW_CHARACTERS);
  // A reply of tool calls only has no text: use its one-line preview.
  return [{ role, text: text === "" ? previewOf(entry) : text.toWellFormed() }];
}

async function searchTexts(world: WatchedWorld, effect: EffectOf<"search">, isNewest: () => boolean): Promise<void> {
  const { store, kept, io, dispatch } = world;
  const typed = parseTypedQuery(effect.query, { nowMs: io.now(), home: io.home });
  const conditions = await searchConditions({ store, kept, prices: () => readPrices(io) }, typed);
  const chosen = conditions.sessionIds === undefined ? null : new Set(conditions.sessionIds);
  const hits: SearchHit[] = [];
  let more = false;
  if (!asksForEntries(typed)) return dispatch({ kind: "hits", number: effect.number, hits: new Map(), more, chosen });
  for (const filter of filtersOf(world, effect.scope)) {
    // A search knows no folders: the sessions of a repository are named, so that better hits elsewhere do not take their places.
    const place = filter.under === undefined ? filter : { sessionIds: await idsOf(kept, filter) };
    // Without titles: matchSessions finds those without the index.
    const own = { query: unfinishedQuery(typed.words), types: conditions.types ?? ENTRY_TYPES, includePrivate: true };
    let pages = 0;
    for await (const found of hitPages(store, { ...bothOf(conditions, place), ...own, limit: HITS_PER_PAGE })) {
      if (!isNewest()) return;
      for (const hit of found.hits) hits.push(hit);
      pages += 1;
      more ||= found.next !== null;
      if (pages === MAX_HIT_PAGES || new Set(hits.map(({ sessionId }) => sessionId)).size >= ENOUGH_SESSIONS) break;
      await pause();
    }
  }
  dispatch({ kind: "hits", number: effect.number, hits: groupHitsBySession(hits), more, chosen });
}

async function idsOf(kept: KeptSessions, filter: SessionFilter): Promise<readonly SessionId[]> {
  return (await kept.list({ ...filter, archived: "all" })).map(({ id }) => id);
}

async function readChange(store: Store, id: SessionId, what: "renamed" | "archived" | "unarchived"): Promise<PickerEvent> {
  const record = await store.findSession(id);
  return record === undefined ? { kind: "missing", id } : { kind: "changed", record, what };
}

const FAILED_CHANGES: Readonly<Record<"rename" | "archive" | "delete", string>> = {
  rename: "Not renamed",
  archive: "Not archived",
  delete: "Not deleted",
};

function failureEvent(effect: SingleEffect, error: unknown): PickerEvent {
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof SessionNotFoundError) return { kind: "missing", id: error.sessionId };
  switch (effect.kind) {
    case "list":
      return { kind: "listFailed", scope: effect.scope, round: effect.round, reason };
    case "search":
      return { kind: "searchFailed", number: effect.number, isInvalid: error instanceof InvalidQueryError, reason };
    case "rename":
    case "archive":
    case "delete":
      return { kind: "failed", what: FAILED_CHANGES[effect.kind], reason };
    case "models":
    case "preview":
    case "check":
    case "countSubagents":
      return { kind: "failed", what: error instanceof BoughError ? "Could not read the session" : "Unexpected failure", reason };
  }
}
