import { createHash } from "node:crypto";
import type { EntryId, SessionId } from "../../ids/ids.js";
import { EntryChain } from "../../source/entry-chain.js";
import { type JsonObject, numberAt, objectAt, stringAt, tryStringify, without } from "../../source/json.js";
import type { ReadingPosition, SourceEntry, SourceRecord } from "../../source/source-session.js";
import { eventKind, toItems } from "./events.js";
import { toAgentMessage, toInputMessage } from "./inputs.js";
import { toReplyBlocks, toResultMessage } from "./items.js";
import { type ItemPlace, OpenRequest, type RequestEnd, type RolloutEntry } from "./request.js";
import type { RolloutLine } from "./rollout-line.js";
import { UsageReader } from "./usage.js";

/** Where the messages of a file are. `events`: it has no items with messages, so those of the interface are read. */
export type MessageSource = "items" | "events";

/** Turns the lines of a rollout into the entries of a tree, in file order. Memory: one request, and an id for each turn. */
export class RolloutReader {
  readonly #sessionId: SessionId;
  readonly #source: MessageSource;
  readonly #chain: EntryChain;
  readonly #usage: UsageReader;
  #provider: string | undefined;
  #model: string | undefined;
  #effort: string | null | undefined;
  /** A hash of the other settings. */
  #settings: string | undefined;
  #hasMeta: boolean;
  /** The tools of calls without an output, by call id. */
  readonly #calls: Map<string, string>;
  /** The entry before each turn of the path: a rollback goes back to one of them. */
  #turns: (EntryId | null)[];
  /** The entry before the texts that Codex wrote for the coming turn; undefined: there are none. */
  #beforeContext: EntryId | null | undefined;
  #pendingUsage: JsonObject | undefined;
  #request: { readonly open: OpenRequest; readonly start: ReadingPosition } | undefined;
  #isLeafMoved = false;

  constructor(sessionId: SessionId, startMs: number, source: MessageSource, state: JsonObject = {}) {
    this.#sessionId = sessionId;
    this.#source = source;
    this.#chain = new EntryChain(sessionId, startMs, objectAt(state, "chain"));
    this.#usage = new UsageReader(objectAt(state, "usage"));
    this.#provider = stringAt(state, "provider");
    this.#model = stringAt(state, "model");
    this.#effort = state.effort === null ? null : stringAt(state, "effort");
    this.#settings = stringAt(state, "settings");
    this.#hasMeta = state.hasMeta === true;
    this.#calls = new Map(pairsIn(state.calls));
    this.#turns = idsIn(state.turns);
    this.#beforeContext = state.beforeContext === null ? null : stringAt(state, "beforeContext");
    this.#pendingUsage = objectAt(state, "pendingUsage");
  }

  /** Where a later reading goes on, if this one ends at `end`: at the request that is still open, or else there. */
  position(end: { readonly offset: number; readonly line: number }): ReadingPosition {
    const { offset, line, state } = this.#request?.start ?? { ...end, state: this.#changingState() };
    const calls = { provider: this.#provider, model: this.#model, effort: this.#effort, settings: this.#settings };
    return { offset, line, state: { ...state, ...calls, hasMeta: this.#hasMeta, turns: this.#turns, beforeContext: this.#beforeContext } };
  }

  /** What the lines of a request change. */
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

  /** The end of the file: what is held, and the leaf if a rollback moved it. */
  *finish(): Generator<SourceRecord, void, void> {
    yield* this.#flush(undefined);
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
      case "state":
        return;
    }
    yield* this.#follow(line, toForeign(line));
  }

  *#readMeta(line: RolloutLine): Generator<SourceRecord, void, void> {
    // A fork starts with a copy of its source, whose data come second.
    if (this.#hasMeta) return yield* this.#follow(line, toForeign(line));
    this.#hasMeta = true;
    this.#provider = stringAt(line.payload, "model_provider");
    const text = stringAt(objectAt(line.payload, "base_instructions") ?? {}, "text");
    if (text !== undefined && text !== "") yield* this.#emit(line, { type: "message", message: { role: "system", content: text } });
  }

  *#readItem(line: RolloutLine, item: JsonObject, part = 0): Generator<SourceRecord, void, void> {
    const place = { line: line.line, part, createdAtMs: line.createdAtMs };
    if (isOutput(item)) return yield* this.#readOutput(line, place, item);
    if (item.type === "agent_message") return yield* this.#input(line, toAgentMessage(item), item, false, part);
    const blocks = toReplyBlocks(item);
    if (blocks !== undefined) return yield* this.#readReply(line, place, blocks);
    const input = item.type === "message" ? toInputMessage(item) : undefined;
    yield* this.#input(line, input?.message, item, input?.isHuman === true, part);
  }

  *#readReply(line: RolloutLine, place: ItemPlace, blocks: readonly JsonObject[]): Generator<SourceRecord, void, void> {
    if (this.#request?.open.isAnswered === true) yield* this.#flush("complete");
    if (this.#request === undefined) {
      const start = { offset: line.offset, line: line.line - 1, state: this.#changingState() };
      const model = { provider: this.#provider, model: this.#model };
      this.#request = { open: new OpenRequest(place, model, this.#pendingUsage), start };
      this.#pendingUsage = undefined;
    }
    this.#beforeContext = undefined;
    this.#request.open.addBlocks(blocks);
    const [call] = blocks;
    if (call?.type === "toolCall" && typeof call.id === "string") this.#calls.set(call.id, stringAt(call, "name") ?? "");
  }

  *#readOutput(line: RolloutLine, place: ItemPlace, item: JsonObject): Generator<SourceRecord, void, void> {
    const id = stringAt(item, "call_id");
    if (id === undefined) return yield* this.#follow(line, toForeign(line), place.part);
    const toolName = this.#calls.get(id);
    this.#calls.delete(id);
    if (this.#request !== undefined) return this.#request.open.addResult(place, item, toolName);
    const message = toResultMessage(item, toolName);
    if (message !== undefined) yield this.#add({ ...place, payload: { type: "message", message } });
  }

  /** A message that starts a new request. */
  *#input(
    line: RolloutLine,
    message: JsonObject | undefined,
    item: JsonObject,
    isHuman: boolean,
    part: number,
  ): Generator<SourceRecord, void, void> {
    if (message === undefined)
      return yield* this.#follow(line, toForeign(line, `response_item/${stringAt(item, "type") ?? "unknown"}`), part);
    yield* this.#flush("complete");
    if (isHuman) {
      // A rollback removes the texts for a turn with it, except those at the start of the session.
      const before = this.#beforeContext ?? null;
      this.#turns.push(this.#turns.length === 0 || before === null ? this.#chain.leafId : before);
      this.#beforeContext = undefined;
    } else this.#beforeContext ??= this.#chain.leafId;
    yield this.#add({ line: line.line, part, createdAtMs: line.createdAtMs, payload: { type: "message", message } });
  }

  *#readSettings(line: RolloutLine, given: JsonObject): Generator<SourceRecord, void, void> {
    const payloads = [...this.#changedModel(given), ...this.#changedContext(given, line.type)];
    if (payloads.length === 0) return;
    yield* this.#flush("complete");
    this.#beforeContext ??= this.#chain.leafId;
    for (const [part, payload] of payloads.entries()) yield this.#add({ ...placeOf(line), part, payload });
  }

  #changedModel(given: JsonObject): readonly JsonObject[] {
    const payloads: JsonObject[] = [];
    const [model, provider] = [stringAt(given, "model"), stringAt(given, "model_provider_id") ?? this.#provider];
    if (model !== undefined && (model !== this.#model || provider !== this.#provider)) {
      payloads.push({ type: "model_change", ...(provider === undefined ? {} : { provider }), modelId: model });
      [this.#model, this.#provider] = [model, provider];
    }
    const effort = given.effort ?? given.reasoning_effort;
    if (typeof effort === "string" && effort !== this.#effort) {
      payloads.push({ type: "thinking_level_change", thinkingLevel: effort });
      this.#effort = effort;
    }
    return payloads;
  }

  /** The other settings of a turn, if they are not those of the turn before. */
  #changedContext(given: JsonObject, type: string): readonly JsonObject[] {
    if (type !== "turn_context") return [];
    const data = without(given, PER_TURN);
    const settings = createHash("sha256")
      .update(tryStringify(data) ?? "")
      .digest("base64")
      .slice(0, 12);
    if (settings === this.#settings) return [];
    this.#settings = settings;
    return [{ type: "custom", customType: "codex.turn_context", data }];
  }

  *#readCompaction(line: RolloutLine): Generator<SourceRecord, void, void> {
    const message = stringAt(line.payload, "message");
    if (message === undefined) return yield* this.#follow(line, toForeign(line));
    const details = without(line.payload, ["message"]);
    const tokensBefore = this.#usage.contextTokens;
    this.#beforeContext = undefined;
    yield* this.#emit(line, {
      type: "compaction",
      summary: message,
      firstKeptEntryId: null,
      ...(tokensBefore === undefined ? {} : { tokensBefore }),
      ...(Object.keys(details).length === 0 ? {} : { details }),
    });
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
      case "call":
        if (this.#request?.open.addEvent(event) !== true) yield* this.#follow(line, toForeign(line));
        return;
      case "usage":
        return this.#readUsage(event);
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

  #readUsage(event: JsonObject): void {
    const usage = this.#usage.read(event);
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
    this.#chain.moveTo(target);
    this.#isLeafMoved = true;
    // The settings of the turns that are left are not on this path: they are written again.
    [this.#model, this.#effort, this.#settings, this.#beforeContext] = [undefined, undefined, undefined, undefined];
  }

  *#readError(line: RolloutLine, event: JsonObject): Generator<SourceRecord, void, void> {
    const errorMessage = stringAt(event, "message");
    if (errorMessage === undefined) return yield* this.#follow(line, toForeign(line));
    const { provider, model } = { provider: this.#provider, model: this.#model };
    const by = model === undefined ? {} : { ...(provider === undefined ? {} : { provider }), model };
    const message = { role: "assistant", content: [], ...by, stopReason: "error", errorMessage };
    yield* this.#emit(line, { type: "message", message });
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

  #add(entry: RolloutEntry): SourceEntry {
    this.#isLeafMoved = false;
    return this.#chain.add(entry);
  }

  #isHeld({ line }: RolloutLine): boolean {
    return this.#request?.open.holds(line) === true;
  }
}

/** Settings that differ in each turn, and those that are entries of their own. */
const PER_TURN = ["turn_id", "trace_id", "model", "effort"];

const OUTPUTS: ReadonlySet<unknown> = new Set([
  "function_call_output",
  "custom_tool_call_output",
  "tool_search_output",
  "mcp_tool_call_output",
]);

function isOutput({ type }: JsonObject): boolean {
  return OUTPUTS.has(type);
}

function placeOf({ line, createdAtMs }: RolloutLine): ItemPlace {
  return { line, part: 0, createdAtMs };
}

function toForeign({ type, payload, raw }: RolloutLine, originalType?: string): JsonObject {
  const detail = stringAt(payload, "type");
  return { type: "foreign", originalType: originalType ?? (detail === undefined ? type : `${type}/${detail}`), raw };
}

function pairsIn(value: unknown): (readonly [string, string])[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((pair: unknown) => (Array.isArray(pair) && pair.length === 2 ? [[String(pair[0]), String(pair[1])] as const] : []));
}

function idsIn(value: unknown): (EntryId | null)[] {
  return Array.isArray(value) ? value.filter((id: unknown) => typeof id === "string" || id === null) : [];
}
