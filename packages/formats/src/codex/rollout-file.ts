import type { SessionId } from "@bough/session-core";
import {
  type EntryReference,
  isId,
  type JsonObject,
  numberAt,
  objectAt,
  parseTime,
  stringAt,
  tryStringify,
} from "@bough/session-core/wire";
import { derivedId } from "../source/derived-id.js";
import { readJsonLines, type SourceLine } from "../source/json-lines.js";
import { foreignPayload } from "../source/payloads.js";

/** A line of a rollout in the form of today's versions. */
export interface RolloutLine {
  /** From 1. */
  readonly line: number;
  /** The start of the line in the file, in bytes. */
  readonly offset: number;
  /** `session_meta`, `turn_context`, `response_item`, `event_msg`, `compacted`, or an unknown type. */
  readonly type: string;
  readonly payload: JsonObject;
  readonly createdAtMs: number | undefined;
  /** The record as it is in the file. */
  readonly raw: JsonObject;
  /** The entry of which the line is a copy, in a rollout that Bough wrote. */
  readonly origin?: EntryReference | undefined;
}

const LINE_TYPES: ReadonlySet<unknown> = new Set([
  ...["session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state"],
  ...["inter_agent_communication", "inter_agent_communication_metadata"],
]);

/** The items that the first versions wrote without an envelope. */
const BARE_ITEMS: ReadonlySet<unknown> = new Set([
  ...["message", "reasoning", "function_call", "function_call_output", "local_shell_call", "web_search_call"],
  ...["custom_tool_call", "custom_tool_call_output"],
]);

/**
 * Reads a line. The first versions wrote three kinds of lines without `payload`: the data of the session, items, and
 * `record_type: "state"` as a separator.
 */
export function toRolloutLine(raw: JsonObject, { number: line, offset }: Pick<SourceLine, "number" | "offset">): RolloutLine {
  const [type, payload] = toEnvelope(raw);
  return { line, offset, type, payload, createdAtMs: parseTime(raw.timestamp), raw, origin: readOrigin(objectAt(raw, ORIGIN)) };
}

/** The member of a line with the entry of which it is a copy: Codex ignores it. */
export const ORIGIN = "bough_origin";

/** The member of the metadata that names the session of which it is a fork, if Codex would refuse the id: it reads a UUID only. */
export const FORKED_FROM = "bough_forked_from";

function readOrigin(origin: JsonObject | undefined): EntryReference | undefined {
  const [sessionId, entryId] = [stringAt(origin ?? {}, "sessionId"), stringAt(origin ?? {}, "entryId")];
  return sessionId === undefined || entryId === undefined ? undefined : { sessionId, entryId };
}

function toEnvelope(raw: JsonObject): readonly [type: string, payload: JsonObject] {
  const payload = objectAt(raw, "payload");
  if (payload !== undefined) return [stringAt(raw, "type") ?? "unknown", payload];
  if (isBareMeta(raw)) return ["session_meta", raw];
  if (BARE_ITEMS.has(raw.type)) return ["response_item", raw];
  if (raw.record_type === "state") return ["state", raw];
  return [stringAt(raw, "type") ?? "unknown", {}];
}

/** The payload of a line that is kept as it is. */
export function toForeign({ type, payload, raw }: RolloutLine): JsonObject {
  const detail = stringAt(payload, "type");
  return foreignPayload(raw, detail === undefined ? type : `${type}/${detail}`);
}

/** True if Codex writes such a line: an envelope with a known type, or the data of a session of an early version. */
export function isRolloutRecord(raw: JsonObject): boolean {
  if (!isTime(raw.timestamp)) return false;
  return (LINE_TYPES.has(raw.type) && objectAt(raw, "payload") !== undefined) || isBareMeta(raw);
}

/** Programs that write Codex's format may write times as numbers. */
function isTime(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number";
}

function isBareMeta(raw: JsonObject): boolean {
  const { type, id, timestamp, instructions } = raw;
  return type === undefined && typeof id === "string" && isTime(timestamp) && instructions !== undefined;
}

/** The place of the messages of a file. `events`: it has no items with messages, so those of the interface are read. */
export type MessageSource = "items" | "events";

/** The facts of a whole rollout, from its beginning. */
export interface RolloutFacts {
  readonly sessionId: SessionId;
  readonly meta: JsonObject;
  /** The number of the first record in its session; 0 where Codex wrote none. */
  readonly firstOrdinal: number;
  readonly startMs: number | undefined;
  /** undefined: there is no message yet, except `promptLine`. */
  readonly source: MessageSource | undefined;
  /** The line of the session's data; 1 if there are none. */
  readonly metaLine: number;
  /** The line of the last prompt that is recorded for the interface only. */
  readonly promptLine: number | undefined;
}

/** Reads a file up to its first message, which is among the first lines: only of a file without messages as items all of it. */
export function readFacts(path: string, nameId: SessionId | undefined): RolloutFacts {
  const scan = new FactScan();
  for (const parsed of readJsonLines(path)) {
    if (parsed.kind === "problem") continue;
    scan.add(toRolloutLine(parsed.object, parsed.line));
    if (scan.isComplete) break;
  }
  return scan.toFacts(nameId);
}

class FactScan {
  #first: RolloutLine | undefined;
  #meta: RolloutLine | undefined;
  #startMs: number | undefined;
  #source: MessageSource | undefined;
  #promptLine: number | undefined;

  add(line: RolloutLine): void {
    this.#first ??= line;
    this.#startMs ??= line.createdAtMs;
    if (line.type === "session_meta") this.#meta ??= line;
    if (hasMessage(line)) this.#source = "items";
    else if (endsTurn(line)) this.#source ??= "events";
    if (line.type === "event_msg" && line.payload.type === "user_message") this.#promptLine = line.line;
  }

  get isComplete(): boolean {
    return this.#source === "items" && this.#meta !== undefined;
  }

  toFacts(nameId: SessionId | undefined): RolloutFacts {
    const meta = this.#meta?.payload ?? {};
    const metaId = stringAt(meta, "id");
    // A file whose first line is broken may have the data of the session that it was forked from.
    const own = this.#first?.type === "session_meta" ? metaId : (nameId ?? metaId);
    const sessionId = own !== undefined && isId(own) ? own : (nameId ?? derivedId("codex", tryStringify(this.#first?.raw) ?? ""));
    const startMs = parseTime(meta.timestamp) ?? this.#startMs;
    const firstOrdinal = numberAt(this.#first?.raw ?? {}, "ordinal") ?? 0;
    return { sessionId, meta, firstOrdinal, startMs, source: this.#source, metaLine: this.#meta?.line ?? 1, promptLine: this.#promptLine };
  }
}

function hasMessage({ type, payload }: RolloutLine): boolean {
  return type === "response_item" && payload.type === "message" && (payload.role === "user" || payload.role === "assistant");
}

/** True if the line is the reply or the end of a turn without items. */
function endsTurn({ type, payload }: RolloutLine): boolean {
  if (type !== "event_msg") return false;
  if (payload.type === "item_completed") return objectAt(payload, "item")?.type === "AgentMessage";
  return payload.type === "agent_message" || payload.type === "task_complete" || payload.type === "turn_aborted";
}
