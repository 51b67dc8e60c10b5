import type { EntryId, SessionId } from "@bough/session-core";
import { type ReadingPosition, RUNNING_MS, type SourceEntry, type SourceRecord } from "@bough/session-core/engine";
import { type JsonObject, numberAt, objectAt, stringAt } from "@bough/session-core/wire";
import { EntryChain } from "../source/entry-chain.js";
import { type KeptEntries, messagePayload } from "../source/payloads.js";
import { eventKind, toItems } from "./events.js";
import { toInputMessage } from "./inputs.js";
import { isOutput, summaryIn, toCompaction, toReplyBlocks, toResultPayload } from "./items.js";
import { type ItemPlace, OpenRequest, type RequestEnd, type RolloutEntry } from "./request.js";
import { type MessageSource, type RolloutLine, toForeign } from "./rollout-file.js";
import { SettingsReader } from "./settings.js";
import { UsageReader } from "./usage.js";
import { Window } from "./window.js";

/** The number of calls without an output that are remembered: a call that was cut off never gets one, and each request saves all of them. */
const MOST_OPEN = 200;

/** Turns the lines of a rollout into the entries of a tree, in file order. Memory: one request, and an id for each turn. */
export class RolloutReader {
  readonly #sessionId: SessionId;
  readonly #source: MessageSource;
  readonly #chain: EntryChain;
  readonly #usage: UsageReader;
  readonly #settings: SettingsReader;
  #hasMeta: boolean;
  /** The tools of the last calls without an output, by call id. */
  readonly #calls: Map<string, string>;
  /** The entry before each turn of the path: a rollback goes back to one of them. */
  #turns: (EntryId | null)[];
  /** The entry before the texts that Codex wrote for the coming turn; undefined: there are none. */
  #beforeContext: EntryId | null | undefined;
  #pendingUsage: JsonObject | undefined;
  /** `windowItems`: the size of the window at its start. */
  #request: { readonly open: OpenRequest; readonly start: ReadingPosition; readonly windowItems: number } | undefined;
  readonly #window: Window;
  #isLeafMoved = false;

  /** `idSeed`: the text from which, with their lines, the ids of the entries are derived; different for each file. */
  constructor(sessionId: SessionId, startMs: number, source: MessageSource, state: JsonObject = {}, idSeed: string = sessionId) {
    this.#sessionId = sessionId;
    this.#source = source;
    this.#chain = new EntryChain(idSeed, startMs, objectAt(state, "chain"));
    this.#usage = new UsageReader(objectAt(state, "usage"));
    this.#settings = new SettingsReader(objectAt(state, "settings"));
    this.#hasMeta = state.hasMeta === true;
    this.#calls = new Map(pairsIn(state.calls));
    this.#turns = idsIn(state.turns);
    this.#beforeContext = state.beforeContext === null ? null : stringAt(state, "beforeContext");
    this.#pendingUsage = objectAt(state, "pendingUsage");
    this.#window = new Window(objectAt(state, "window"));
  }

  /** The position at which a later reading continues if this one ends at `end`: the start of the open request, otherwise `end`. */
  position(end: { readonly offset: number; readonly line: number }): ReadingPosition {
    const { offset, line, state } = this.#request?.start ?? { ...end, state: this.#changingState() };
    const turns = { turns: [...this.#turns], beforeContext: this.#beforeContext };
    const window = this.#window.state(this.#request?.windowItems);
    return { offset, line, state: { ...state, settings: this.#settings.state, hasMeta: this.#hasMeta, ...turns, window } };
  }

  /** The part of the state that the lines of a request change. */
  #changingState(): JsonObject {
    return { chain: this.#chain.state, usage: this.#usage.state, calls: [...this.#calls], pendingUsage: this.#pendingUsage };
  }

  *read(line: RolloutLine): Generator<SourceRecord, void, void> {
    let isEntry = false;
    for (const record of this.#readLine(line)) {
      isEntry ||= record.kind === "entry" && record.line === line.line;
      yield record;
    }
    if (!isEntry && !this.#isHeld(line)) yield { kind: "merged", line: line.line };
  }

  /** Yields the held records at the end of the file, and the leaf if a rollback moved it. `end`: of a request that is still open. */
  *finish(end?: RequestEnd): Generator<SourceRecord, void, void> {
    // The end of the turn, which follows, ends the request.
    if (end === undefined && this.#request !== undefined) yield { kind: "open", waitMs: RUNNING_MS };
    yield* this.#flush(end);
    if (this.#isLeafMoved) yield { kind: "leaf", name: "main", entryId: this.#chain.leafId };
  }

  *#readLine(line: RolloutLine): Generator<SourceRecord, void, void> {
    switch (line.type) {
      case "session_meta":
        return yield* this.#readMeta(line);
      case "turn_context":
        return yield* this.#readSettings(line, line.payload);
      case "response_item":
        return yield* this.#readItem(line, line.payload);
      case "compacted":
        return yield* this.#readCompaction(line);
      case "event_msg":
        return yield* this.#readEvent(line, line.payload);
      case "token_usage_record":
        return this.#addUsage(this.#usage.readRecord(line.payload));
      case "state":
        return;
    }
    yield* this.#follow(line, toForeign(line));
  }

  *#readMeta(line: RolloutLine): Generator<SourceRecord, void, void> {
    // A fork starts with a copy of its source, whose data come second.
    if (this.#hasMeta) return yield* this.#follow(line, toForeign(line));
    this.#hasMeta = true;
    const system = this.#settings.readMeta(line.payload);
    if (system !== undefined) yield* this.#emit(line, messagePayload({ role: "system", content: system }));
  }

  *#readItem(line: RolloutLine, item: JsonObject, part = 0): Generator<SourceRecord, void, void> {
    if (isOutput(item)) return yield* this.#readOutput(line, item, part);
    const blocks = toReplyBlocks(item);
    if (blocks !== undefined) return yield* this.#readReply(line, item, part, blocks);
    yield* this.#input(line, item, part);
  }

  *#readReply(line: RolloutLine, item: JsonObject, part: number, blocks: readonly JsonObject[]): Generator<SourceRecord, void, void> {
    if (this.#request?.open.isBefore(line.line, blocks) === true) yield* this.#flush("complete");
    if (this.#request === undefined) {
      const start = { offset: line.offset, line: line.line - 1, state: this.#changingState() };
      const open = new OpenRequest(this.#placeOf(line, part), this.#settings.model, this.#pendingUsage);
      this.#request = { open, start, windowItems: this.#window.length };
      this.#pendingUsage = undefined;
    }
    this.#beforeContext = undefined;
    this.#request.open.addBlocks(blocks, item);
    this.#window.add(item, this.#request.open.place.entryId);
    const [call] = blocks;
    if (call?.type !== "toolCall" || typeof call.id !== "string") return;
    this.#calls.set(call.id, stringAt(call, "name") ?? "");
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > MOST_OPEN && oldest !== undefined) this.#calls.delete(oldest);
  }

  *#readOutput(line: RolloutLine, item: JsonObject, part: number): Generator<SourceRecord, void, void> {
    const id = stringAt(item, "call_id");
    if (id === undefined) return yield* this.#follow(line, toForeign(line), part);
    const place = this.#placeOf(line, part);
    this.#window.add(item, place.entryId);
    const toolName = this.#calls.get(id);
    this.#calls.delete(id);
    if (this.#request !== undefined) return this.#request.open.addResult(place, item, toolName);
    const payload = toResultPayload(item, toolName);
    if (payload !== undefined) yield this.#add({ ...place, payload });
  }

  /** A message that starts a new request; undefined: the item has not the shape of its type. */
  *#input(line: RolloutLine, item: JsonObject, part: number): Generator<SourceRecord, void, void> {
    const input = toInputMessage(item);
    if (input === undefined) return yield* this.#follow(line, toForeign(line), part);
    yield* this.#flush("complete");
    if (input.isHuman) {
      this.#pendingUsage = undefined;
      // A rollback removes the texts for a turn with it, except those at the start of the session.
      this.#turns.push(this.#turns.length === 0 ? this.#chain.leafId : (this.#beforeContext ?? this.#chain.leafId));
      this.#window.startTurn();
      this.#beforeContext = undefined;
    } else this.#beforeContext ??= this.#chain.leafId;
    const place = this.#placeOf(line, part);
    this.#window.add(item, place.entryId);
    yield this.#add({ ...place, payload: messagePayload(input.message) });
  }

  *#readSettings(line: RolloutLine, given: JsonObject): Generator<SourceRecord, void, void> {
    const payloads = this.#settings.read(given, line.type === "turn_context");
    if (payloads.length === 0) return;
    yield* this.#flush("complete");
    this.#beforeContext ??= this.#chain.leafId;
    for (const [part, payload] of payloads.entries()) yield this.#add({ ...placeOf(line), part, payload });
  }

  *#readCompaction(line: RolloutLine): Generator<SourceRecord, void, void> {
    const message = stringAt(line.payload, "message");
    if (message === undefined) return yield* this.#follow(line, toForeign(line));
    this.#beforeContext = undefined;
    const reply = yield* this.#takeReply(summaryIn(message).summary);
    yield* this.#flush("complete");
    // The usage of a request without items is that of the summary.
    const usage = reply?.usage ?? this.#pendingUsage;
    this.#pendingUsage = undefined;
    const kept = yield* this.#readKept(line, message);
    const facts = { tokensBefore: this.#usage.contextTokens, usage, reply: reply?.items, kept, model: this.#settings.model };
    const payload = toCompaction(message, line.payload, facts);
    yield this.#add({ ...placeOf(line), payload });
  }

  /**
   * Reads the kept entries of a compaction from the list that replaces the history. Items that no entry has become entries above the
   * compaction.
   */
  *#readKept(line: RolloutLine, message: string): Generator<SourceRecord, KeptEntries, void> {
    const list = line.payload.replacement_history;
    const listed = Array.isArray(list) ? this.#window.find(list, message) : [];
    const kept: (EntryId | null)[] = [];
    let part = 0;
    for (const { item, entryId } of listed) {
      const payload = entryId === undefined ? toPayload(item) : undefined;
      if (entryId !== undefined) kept.push(entryId);
      if (payload === undefined) continue;
      part += 1;
      const entry = this.#add({ ...placeOf(line), part, payload });
      yield entry;
      this.#window.add(item, entry.id);
      kept.push(entry.id);
    }
    return this.#window.restart(kept.includes(null) ? kept : [...kept, null]);
  }

  /** The reply that is the summary of the compaction below it: the compaction has it, so it is no entry of its own. */
  *#takeReply(summary: string): Generator<SourceRecord, ReturnType<OpenRequest["replyOf"]>, void> {
    const open = this.#request?.open;
    const reply = open?.replyOf(summary);
    if (open === undefined || reply === undefined) return undefined;
    this.#request = undefined;
    yield { kind: "merged", line: open.place.line };
    for (const entry of open.followers()) yield this.#add(entry);
    return reply;
  }

  *#readEvent(line: RolloutLine, event: JsonObject): Generator<SourceRecord, void, void> {
    const items = this.#source === "events" ? toItems(event) : [];
    if (items.length > 0) {
      for (const [part, item] of items.entries()) yield* this.#readItem(line, item, part);
      return;
    }
    switch (eventKind(event)) {
      case "mirror":
        return;
      case "shown":
        return this.#request?.open.show();
      case "call":
        if (this.#request?.open.addEvent(event) !== true) yield* this.#follow(line, toForeign(line));
        return;
      case "usage":
        return this.#addUsage(this.#usage.read(event));
      case "settings":
        return yield* this.#readSettings(line, objectAt(event, "thread_settings") ?? {});
      case "title":
        return yield* this.#readTitle(line, event);
      case "rollback":
        return yield* this.#rollBack(event);
      case "complete":
        return yield* this.#flush("complete");
      case "aborted":
        return yield* this.#flush("aborted");
      case "error":
        return yield* this.#readError(line, event);
      case "other":
        return yield* this.#follow(line, toForeign(line));
    }
  }

  /** The usage of a request that has no entry yet is that of the next one: some versions write it before its items. */
  #addUsage(usage: JsonObject | undefined): void {
    if (usage !== undefined && this.#request?.open.setUsage(usage) !== true) this.#pendingUsage = usage;
  }

  *#readTitle(line: RolloutLine, event: JsonObject): Generator<SourceRecord, void, void> {
    const [id, title] = [stringAt(event, "thread_id"), stringAt(event, "thread_name")];
    // A fork has the names of its source.
    if (id !== undefined && id !== this.#sessionId) return yield* this.#follow(line, toForeign(line));
    if (title !== undefined && title.trim() !== "") yield { kind: "title", title, source: "user" };
  }

  *#rollBack(event: JsonObject): Generator<SourceRecord, void, void> {
    yield* this.#flush("complete");
    const first = Math.max(0, this.#turns.length - (numberAt(event, "num_turns") ?? 0));
    const target = this.#turns[first];
    if (target === undefined) return;
    this.#turns.length = first;
    this.#window.rollBack(first);
    this.#chain.moveTo(target);
    this.#isLeafMoved = true;
    // The settings of the turns that are left are not on this path: they are written again.
    this.#settings.forget();
    this.#beforeContext = undefined;
  }

  *#readError(line: RolloutLine, event: JsonObject): Generator<SourceRecord, void, void> {
    const errorMessage = stringAt(event, "message");
    if (errorMessage === undefined) return yield* this.#follow(line, toForeign(line));
    yield* this.#emit(line, messagePayload({ role: "assistant", content: [], ...this.#settings.model, stopReason: "error", errorMessage }));
  }

  /** An entry that ends the open request. */
  *#emit(line: RolloutLine, payload: JsonObject): Generator<SourceRecord, void, void> {
    yield* this.#flush("complete");
    yield this.#add({ ...placeOf(line), payload });
  }

  /** An entry that does not end the open request. */
  *#follow(line: RolloutLine, payload: JsonObject, part = 0): Generator<SourceRecord, void, void> {
    const entry = { ...placeOf(line), part, payload };
    if (this.#request === undefined) yield this.#add(entry);
    else this.#request.open.addEntry(entry);
  }

  *#flush(end: RequestEnd): Generator<SourceRecord, void, void> {
    const request = this.#request;
    this.#request = undefined;
    for (const entry of request?.open.entries(end) ?? []) yield this.#add(entry);
  }

  /** The place of an item. */
  #placeOf({ line, createdAtMs, origin }: RolloutLine, part: number): ItemPlace {
    return { line, part, createdAtMs, origin, entryId: this.#chain.idOf({ line, part }) };
  }

  #add(entry: RolloutEntry): SourceEntry {
    this.#isLeafMoved = false;
    return this.#chain.add(entry);
  }

  #isHeld({ line }: RolloutLine): boolean {
    return this.#request?.open.holds(line) === true;
  }
}

/** The payload of an item of a list; undefined: it has none. */
function toPayload(item: JsonObject): JsonObject | undefined {
  const content = toReplyBlocks(item);
  if (content !== undefined) return messagePayload({ role: "assistant", content });
  if (isOutput(item)) return toResultPayload(item, undefined);
  const input = toInputMessage(item);
  return input && messagePayload(input.message);
}

function placeOf({ line, createdAtMs, origin }: RolloutLine): Omit<RolloutEntry, "payload"> {
  return { line, part: 0, createdAtMs, origin };
}

function pairsIn(value: unknown): (readonly [string, string])[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((pair: unknown) => (Array.isArray(pair) && pair.length === 2 ? [[String(pair[0]), String(pair[1])] as const] : []));
}

function idsIn(value: unknown): (EntryId | null)[] {
  return Array.isArray(value) ? value.filter((id: unknown) => typeof id === "string" || id === null) : [];
}
