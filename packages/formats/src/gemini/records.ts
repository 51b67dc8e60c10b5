import type { EntryId, SessionId } from "@bough/session-core";
import { QUIET_MS, ReadFromStartError, RUNNING_MS, SILENT_CALL_MS, type SourceEntry, type SourceRecord } from "@bough/session-core/engine";
import { isId, isObject, type JsonObject, objectAt, objectsAt, parseTime, stringAt, without } from "@bough/session-core/wire";
import { derivedId } from "../source/derived-id.js";
import { EntryChain } from "../source/entry-chain.js";
import { compactionPayload, foreignPayload } from "../source/payloads.js";
import { readSeenIds, SeenIds } from "../source/seen-ids.js";
import {
  type Change,
  CutEnds,
  callsIn,
  compareLists,
  factsOf,
  hasEnded,
  hasEntries,
  type MessageFacts,
  type Place,
  Places,
  plainFactsOf,
} from "./history.js";
import { type MessagePayload, toPayloads } from "./messages.js";
import { textOf, toParts, toResultContent } from "./parts.js";
import type { FoundVersion } from "./versions.js";

/** A summary in a user message, as Gemini CLI asks the model for it when it compresses the conversation. */
const SNAPSHOT = /<state_snapshot>([\s\S]*?)(?:<\/state_snapshot>|$)/;

/** The model's answer that Gemini CLI puts behind a summary, also behind one without a snapshot. */
const ACKNOWLEDGEMENT = "Got it. Thanks for the additional context!";

/** The facts of the log that are read before the replay. */
interface KnownVersions {
  /** True if a record lists or edits messages. */
  readonly areCompared: boolean;
  /** The most complete version of a message; undefined: the one at hand. */
  find(id: string, line: number): FoundVersion | undefined;
}

const NO_VERSIONS: KnownVersions = { areCompared: true, find: () => undefined };

/**
 * Replays the log of a session: each record changes the list of messages, and its new messages become entries. Memory: a few
 * digests and ids for each message.
 */
export class Replay {
  readonly #sessionId: SessionId;
  readonly #chain: EntryChain;
  readonly #versions: KnownVersions;
  readonly #places = new Places();
  readonly #cutEnds = new CutEnds();
  /** The entries of results, by the id of the call. */
  readonly #answered = new Map<string, EntryId>();
  readonly #usedIds = new Set<EntryId>();
  /** The ids of messages with a summary. */
  readonly #summaries = new Set<string>();
  /** The ids of messages and answered calls, in the order of the log. */
  readonly #ids: string[] = [];
  /** Those of an earlier reading. */
  readonly #before: SeenIds | undefined;
  #order = 0;
  #title: string | undefined;
  #lastAdded: EntryId | null = null;
  /** The last reply, until another message follows: it is written again when its calls have ended. */
  #reply: { readonly record: JsonObject; readonly entries: readonly SourceEntry[] } | undefined;

  /** `state`: that of an earlier reading. */
  constructor(sessionId: SessionId, startMs: number, versions = NO_VERSIONS, state?: JsonObject) {
    this.#sessionId = sessionId;
    this.#chain = new EntryChain(sessionId, startMs, objectAt(state ?? {}, "chain"));
    this.#versions = versions;
    if (state === undefined) return;
    this.#title = stringAt(state, "title");
    this.#lastAdded = stringAt(state, "lastAdded") ?? null;
    this.#before = readSeenIds(state.seen);
    if (this.#before === undefined) throw new ReadFromStartError();
  }

  /**
   * The state of a later reading that begins at this record, which is a function because it has the ids of all messages so far. That
   * reading replays new messages only: lists, edits and rewinds refer to earlier ones, so it begins at the start for them.
   */
  stateHere(): () => JsonObject | undefined {
    const [chain, title, lastAdded, count] = [this.#chain.state, this.#title, this.#lastAdded, this.#ids.length];
    return () => {
      const ids = this.#ids.slice(0, count);
      const seen = this.#before ?? SeenIds.for(ids.length);
      for (const id of ids) seen.add(id);
      return seen.state && { chain, title, lastAdded, seen: seen.state };
    };
  }

  /** The message that is released by the next one; undefined: none. It may still be written again. */
  get pending(): JsonObject | undefined {
    return this.#reply?.record;
  }

  /** Of a reading that continues an earlier one: fails if a record refers to messages before it. */
  #assertKnown(id?: string): void {
    if (this.#before !== undefined && (id === undefined || this.#before.has(id))) throw new ReadFromStartError();
  }

  /** Replays a record of the log. */
  *read(record: JsonObject, line: number): Generator<SourceRecord, void, void> {
    const isLastReply = this.#reply !== undefined && record.id === this.#reply.record.id;
    if (!isNote(record) && !isLastReply) yield* this.#release();
    if (typeof record.$rewindTo === "string") yield* this.#rewind(record.$rewindTo, line);
    else if (isObject(record.$patch)) yield* this.#patch(record.$patch, line);
    else if (isObject(record.$set)) yield* this.#set(record.$set, line);
    else if (typeof record.id === "string" && typeof record.type === "string") yield* this.message(record, line);
    else if (typeof record.sessionId === "string") yield* this.#set(record, line);
    else yield this.#chain.add({ line, payload: foreignPayload(record, "unknown") });
  }

  /** A message in the log, or in the list of a document. */
  *message(record: JsonObject, line: number): Generator<SourceRecord, void, void> {
    const isKnown = this.#places.numberOf(record.id) !== undefined;
    if (!isKnown) this.#assertKnown(stringAt(record, "id") ?? "");
    if (!isKnown) yield* this.#release();
    const found = isKnown ? undefined : this.#versions.find(stringAt(record, "id") ?? "", line);
    if (isKnown) yield { kind: "merged", line };
    else yield* this.#place(found?.record ?? record, line, found?.line ?? line);
  }

  /** Returns the records after the last one of the log. `isComplete`: nothing more is written. */
  *finish(isComplete = false): Generator<SourceRecord, void, void> {
    const { leafId } = this.#chain;
    if (leafId !== null && leafId !== this.#lastAdded) yield { kind: "leaf", name: "main", entryId: leafId };
    if (this.#reply !== undefined && !isComplete) yield { kind: "open", waitMs: waitFor(this.#reply.record) };
    yield* this.#release();
  }

  /** Yields the last reply, which no later record changes. */
  *#release(): Generator<SourceRecord, void, void> {
    const entries = this.#reply?.entries ?? [];
    this.#reply = undefined;
    yield* entries;
  }

  *#place(record: JsonObject, line: number, versionLine: number): Generator<SourceRecord, void, void> {
    const facts = this.#versions.areCompared ? factsOf(record) : plainFactsOf(record);
    const summary = facts.kind === "user" ? SNAPSHOT.exec(textOf(toParts(record.content)))?.[1] : undefined;
    if (summary !== undefined) yield* this.#addCompaction(record, summary, line);
    else {
      const payloads = toPayloads(record, (id) => this.#isAnswered(id));
      yield* this.#add(record, facts, payloads, line, versionLine);
    }
  }

  #isAnswered(callId: string): boolean {
    const isKnown = this.#answered.has(callId);
    if (!isKnown) this.#assertKnown(callId);
    return isKnown;
  }

  *#add(record: JsonObject, facts: MessageFacts, payloads: readonly MessagePayload[], line: number, versionLine: number) {
    const before = this.#chain.leafId;
    const entries: SourceEntry[] = [];
    for (const { part, payload, createdAtMs = parseTime(record.timestamp), answers } of payloads) {
      const entry = this.#chain.add({ line, id: this.#idFor(facts.id, line), part, createdAtMs, payload });
      entries.push(entry);
      if (answers !== undefined) {
        this.#answered.set(answers, entry.id);
        this.#ids.push(answers);
      }
    }
    for (const { id } of entries) this.#usedIds.add(id);
    this.#ids.push(facts.id);
    if (entries.length === 0) yield { kind: "merged", line } as const;
    else this.#lastAdded = this.#chain.leafId;
    yield* this.#release();
    if (facts.kind === "gemini" && entries.length > 0) this.#reply = { record, entries };
    else yield* entries;
    const [first = before, last = before] = [entries[0]?.id, entries.at(-1)?.id];
    // Also those of an earlier message that has the same results.
    const { id, kind, digest, calls, results } = facts;
    const resultIds = results.size === 0 ? NO_IDS : new Map([...results.keys()].flatMap((call) => pairOf(call, this.#answered.get(call))));
    const order = this.#nextOrder();
    // Each member by name: an object that begins with a spread takes 3 µs to make.
    this.#places.add({ id, kind, digest, calls, results, line: versionLine, order, before, first, last, resultIds, leafId: last });
  }

  /** The id for the entries of a message: its own, or a derived one if a message with this id was read before. */
  #idFor(id: string, line: number): string {
    return isId(id) && !this.#usedIds.has(id) ? id : derivedId(this.#sessionId, id, line);
  }

  *#rewind(id: string, line: number): Generator<SourceRecord, void, void> {
    this.#assertKnown();
    yield { kind: "merged", line };
    // Gemini CLI drops all messages if the id is not known.
    this.#goOnAfter(this.#places.numberOf(id) ?? 0);
  }

  /** Moves the end of the conversation behind its first `count` messages. */
  #goOnAfter(count: number): void {
    const removed = this.#places.all[count];
    if (removed !== undefined) this.#chain.moveTo(removed.before);
    this.#cutEnds.add(this.#places.lastId(count), this.#places.keep(count));
  }

  *#set(patch: JsonObject, line: number): Generator<SourceRecord, void, void> {
    yield { kind: "merged", line };
    const title = stringAt(patch, "summary")?.trim();
    if (title !== undefined && title !== "" && title !== this.#title) yield { kind: "title", title, source: "auto" };
    this.#title = title ?? this.#title;
    if (Array.isArray(patch.messages)) yield* this.#replace(patch.messages, line);
  }

  *#patch(patch: JsonObject, line: number): Generator<SourceRecord, void, void> {
    this.#assertKnown();
    yield { kind: "merged", line };
    const updates = [...(typeof patch.id === "string" ? [patch] : []), ...objectsAt(patch, "updates")];
    for (const update of updates) yield* this.#edit(update, line);
    const removed = new Set<unknown>(Array.isArray(patch.removeIds) ? patch.removeIds : []);
    const ordered = new Set<unknown>(Array.isArray(patch.orderIds) ? patch.orderIds : []);
    if (removed.size + ordered.size === 0) return;
    const places = this.#places.all;
    const last = [...ordered].flatMap((id) => places[this.#places.numberOf(id) ?? -1] ?? []);
    yield* this.#relist([...places.filter(({ id }) => !removed.has(id) && !ordered.has(id)), ...last], [], line);
  }

  *#replace(messages: readonly unknown[], line: number): Generator<SourceRecord, void, void> {
    this.#assertKnown();
    const records = messages.filter(isObject);
    for (const other of messages.filter((message) => !isObject(message)))
      yield this.#chain.add({ line, payload: { type: "foreign", originalType: typeof other, raw: other } });
    yield* this.#relist(records.map(factsOf), records, line);
    for (const record of records) yield* this.#edit(record, line);
  }

  /** Makes the list of messages the given one. `records`: the messages of the list; empty if all are known. */
  *#relist(listed: readonly MessageFacts[], records: readonly JsonObject[], line: number): Generator<SourceRecord, void, void> {
    // Known messages may have another id in the list, and the log can go on with it.
    for (const { id } of listed) this.#ids.push(id);
    const snapshot = records.findIndex((record, at) => this.#isNewSummary(record, listed[at], records[at + 1]));
    const change = compareLists(this.#places.all, listed, snapshot, isAcknowledgement(records[snapshot + 1]));
    if (change.kind === "compact") yield* this.#compact(change, records, listed, line);
    else {
      if (change.kind === "branch") this.#goOnAfter(this.#countUpTo(change.kept, listed));
      if (change.kind === "omit") yield* this.#omit(change.omitted, line);
      this.#places.rename(new Map(change.same.flatMap(({ place, at }) => newIdOf(place, listed[at]))));
    }
    for (const record of records.slice(change.from)) {
      if (this.#restore(record)) continue;
      const found = this.#versions.find(stringAt(record, "id") ?? "", line);
      yield* this.#place(found?.record ?? record, line, found?.line ?? line);
    }
    // A list is sent to the model, so its replies are complete.
    yield* this.#release();
  }

  /** Puts a message that was cut off back to its place. False: it was not, or it stood elsewhere. */
  #restore({ id }: JsonObject): boolean {
    const places = typeof id === "string" ? this.#cutEnds.take(id, this.#places.lastId(this.#places.all.length)) : [];
    for (const place of places) this.#places.add(place);
    const last = places.at(-1);
    if (last !== undefined) this.#chain.moveTo(last.leafId);
    return last !== undefined;
  }

  #isNewSummary(record: JsonObject, facts: MessageFacts | undefined, next: JsonObject | undefined): boolean {
    if (facts?.kind !== "user" || this.#places.numberOf(facts.id) !== undefined || this.#summaries.has(facts.id)) return false;
    return SNAPSHOT.test(textOf(toParts(record.content))) || isAcknowledgement(next);
  }

  /** The number of places up to the message number `kept` of the conversation, notes included. */
  #countUpTo(kept: number, listed: readonly MessageFacts[]): number {
    const ids = new Set(listed.map(({ id }) => id));
    const places = this.#places.all;
    const next = places.filter(({ kind, id }) => kind !== "note" || ids.has(id))[kept];
    return next === undefined ? places.length : places.indexOf(next);
  }

  *#omit(places: readonly Place[], line: number): Generator<SourceRecord, void, void> {
    for (const { first, before } of places) if (first !== null && first !== before) yield this.#edited(first, null, line);
    const omitted = new Set(places);
    this.#places.replace(this.#places.all.filter((place) => !omitted.has(place)));
  }

  #edited(targetId: EntryId, replacement: JsonObject | null, line: number): SourceRecord {
    const id = derivedId(this.#sessionId, "edit", targetId, line);
    const entry = this.#chain.add({ line, id, payload: { type: "context_edit", targetId, replacement } });
    this.#lastAdded = entry.id;
    return entry;
  }

  /** Edits the entries of a known message whose text, or a result of which, is another one now. */
  *#edit(update: JsonObject, line: number): Generator<SourceRecord, void, void> {
    const at = this.#places.numberOf(update.id);
    const place = at === undefined ? undefined : this.#places.all[at];
    if (at === undefined || place === undefined || place.line >= line) return;
    const facts = factsOf(update);
    for (const [callId, text] of facts.results) {
      const target = place.resultIds.get(callId);
      if (target !== undefined && place.results.get(callId) !== text)
        yield this.#edited(target, { content: this.#answerIn(update, callId) }, line);
    }
    const isTextNew = update.content !== undefined && facts.digest !== place.digest && place.first !== place.before;
    if (isTextNew && place.first !== null) yield this.#edited(place.first, { content: this.#contentIn(update, place) }, line);
    const results = new Map([...place.results, ...facts.results]);
    this.#places.update(at, { ...place, digest: update.content === undefined ? place.digest : facts.digest, results, line });
  }

  #contentIn(update: JsonObject, place: Place): unknown {
    const calls = callsIn(update).filter((call) => typeof call.name === "string");
    const [payload] = toPayloads({ ...update, toolCalls: calls, type: place.kind }, () => true);
    return objectAt(payload?.payload ?? {}, "message")?.content ?? [];
  }

  #answerIn(update: JsonObject, callId: string): unknown {
    const recorded = callsIn(update).find(({ id }) => id === callId);
    const parts = recorded === undefined ? toParts(update.content) : toParts(recorded.result);
    return toResultContent(parts.filter((part) => (objectAt(part, "functionResponse")?.id ?? callId) === callId));
  }

  /** Yields the records for a list with a new summary: the messages before it that no entry has, the compaction, and its kept messages. */
  *#compact(change: Compaction, records: readonly JsonObject[], listed: readonly MessageFacts[], line: number) {
    const { snapshot, context, kept, from } = change;
    const known = new Map(context.map(({ place, at }) => [at, renamed(place, listed[at])]));
    for (const [at, record] of records.slice(0, snapshot).entries()) {
      if (known.has(at)) continue;
      const count = this.#places.all.length;
      yield* this.#place(record, line, line);
      for (const place of this.#places.all.slice(count)) known.set(at, place);
    }
    const before = [...known].sort(([one], [other]) => one - other).map(([, place]) => place);
    const record = records[snapshot] ?? {};
    const text = textOf(toParts(record.content));
    const after = kept.map(({ place, at }) => renamed(place, listed[at]));
    // The model's answer to a summary before kept messages is no entry; later lists have it too.
    const answer = from > snapshot + 1 && isAcknowledgement(records[snapshot + 1]) ? listed[snapshot + 1] : undefined;
    yield* this.#addCompaction(record, SNAPSHOT.exec(text)?.[1] ?? text, line, { before, answer, after });
  }

  *#addCompaction(
    record: JsonObject,
    summary: string,
    line: number,
    { before, answer, after }: KeptMessages = { before: [], answer: undefined, after: [] },
  ): Generator<SourceRecord, void, void> {
    this.#assertKnown();
    this.#ids.push(stringAt(record, "id") ?? "");
    const facts = factsOf(record);
    const kept = [...before.flatMap(entriesOf), null, ...after.flatMap(entriesOf)];
    const [first] = [...before, ...after].filter(hasEntries).sort((one, other) => one.order - other.order);
    const listed = before.length === 0 ? {} : { keptEntryIds: kept };
    const payload = {
      ...compactionPayload({ summary: summary.trim(), kept: { firstKeptEntryId: first?.first ?? null, ...listed } }),
      gemini: without(record, ["type"]),
    };
    const leafId = this.#chain.leafId;
    const entry = this.#chain.add({ line, id: this.#idFor(facts.id, line), createdAtMs: parseTime(record.timestamp), payload });
    this.#usedIds.add(entry.id);
    this.#summaries.add(facts.id);
    this.#lastAdded = entry.id;
    yield entry;
    const none = { line, order: this.#nextOrder(), leafId: entry.id, resultIds: NO_IDS };
    const answers = answer === undefined ? [] : [{ ...answer, ...none, before: entry.id, first: entry.id, last: entry.id }];
    this.#places.replace([
      ...before,
      { ...facts, ...none, before: leafId, first: entry.id, last: entry.id },
      ...answers,
      ...after.map((place) => ({ ...place, leafId: entry.id })),
    ]);
  }

  #nextOrder(): number {
    this.#order += 1;
    return this.#order;
  }
}

/** The messages that a compaction keeps before and after its summary, and the model's answer to it. */
interface KeptMessages {
  readonly before: readonly Place[];
  readonly answer: MessageFacts | undefined;
  readonly after: readonly Place[];
}

type Compaction = Extract<Change, { readonly kind: "compact" }>;

/** The id that a list has for a message, if it is another one. */
function newIdOf(place: Place, listed: MessageFacts | undefined): readonly (readonly [Place, string])[] {
  return listed === undefined || listed.id === place.id ? [] : [[place, listed.id]];
}

/** A message under the id that a list has for it. */
function renamed(place: Place, listed: MessageFacts | undefined): Place {
  return { ...place, id: listed?.id ?? place.id };
}

/** The entries of a message, in their order. */
function entriesOf(place: Place): readonly EntryId[] {
  const { first, last, resultIds } = place;
  return first === null || last === null || !hasEntries(place) ? [] : [...new Set([first, ...resultIds.values(), last])];
}

function isAcknowledgement(record: JsonObject | undefined): boolean {
  return record?.type === "gemini" && textOf(toParts(record.content)).trim() === ACKNOWLEDGEMENT;
}

/** Shared: a log that is not compared would keep an empty map for each message. */
const NO_IDS: ReadonlyMap<string, EntryId> = new Map<string, EntryId>();

const pairOf = (id: string, entryId: EntryId | undefined): readonly (readonly [string, EntryId])[] =>
  entryId === undefined ? [] : [[id, entryId]];

/** True if a record changes only members of the session, such as the time of its last change. */
function isNote({ $set }: JsonObject): boolean {
  return isObject($set) && $set.messages === undefined;
}

/**
 * Returns the time for which the last reply may still get calls or their results, in milliseconds. Most versions write a call when it
 * has ended.
 */
function waitFor(record: JsonObject): number {
  const calls = callsIn(record);
  if (calls.length === 0) return SILENT_CALL_MS;
  return calls.every(hasEnded) ? QUIET_MS : RUNNING_MS;
}
