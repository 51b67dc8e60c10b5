import { type JsonObject, objectAt, parseTime, stringAt } from "../../source/json.js";
import type { SourceLine } from "../../source/json-lines.js";

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
  const place = { line, offset, createdAtMs: parseTime(raw.timestamp), raw };
  const payload = objectAt(raw, "payload");
  if (payload !== undefined) return { ...place, type: stringAt(raw, "type") ?? "unknown", payload };
  if (isBareMeta(raw)) return { ...place, type: "session_meta", payload: raw };
  if (BARE_ITEMS.has(raw.type)) return { ...place, type: "response_item", payload: raw };
  if (raw.record_type === "state") return { ...place, type: "state", payload: raw };
  return { ...place, type: stringAt(raw, "type") ?? "unknown", payload: {} };
}

/** Whether a record is a line that Codex writes: an envelope with a known type, or the data of a session of an early version. */
export function isRolloutRecord(raw: JsonObject): boolean {
  if (typeof raw.timestamp !== "string") return false;
  return (LINE_TYPES.has(raw.type) && objectAt(raw, "payload") !== undefined) || isBareMeta(raw);
}

function isBareMeta(raw: JsonObject): boolean {
  const { type, id, timestamp, instructions } = raw;
  return type === undefined && typeof id === "string" && typeof timestamp === "string" && instructions !== undefined;
}
