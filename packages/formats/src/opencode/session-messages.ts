import { isObject, type JsonObject, objectAt, objectsAt, parseJsonObject, stringAt } from "@bough/session-core/wire";
import { type StoredRecord, toStoredRecord } from "./store.js";

// Newer versions keep a message with its whole content as one row of the table `session_message`. Its types have other members than messages
// and parts; here they become those.

/** A row of `session_message`. */
interface SessionMessageRow {
  readonly id: string;
  readonly type: string;
  readonly data: unknown;
}

/** The records of a row: a message with its parts, or two for a compaction. A row of an unknown type stays as it is. */
export function toMessages({ id, type, data }: SessionMessageRow, path: string): readonly StoredRecord[] {
  const value = typeof data === "string" ? parseJsonObject(data) : undefined;
  if (value === undefined) return [toStoredRecord(id, data, path, `session_message ${id}`)];
  const { time } = value;
  const record = (members: JsonObject, of = id): StoredRecord => ({ id: of, value: { id: of, time, ...members }, problem: undefined });
  const text = stringAt(value, "text") ?? "";
  switch (type) {
    case "user":
      return [record({ role: "user", parts: [{ type: "text", text }, ...filesOf(value)] })];
    case "synthetic":
    case "system":
      return [record({ role: "user", parts: [{ type: "text", text, synthetic: true }] })];
    case "shell":
      return [record({ role: "assistant", parts: [shellPart(value)] })];
    case "assistant":
      return [record(toReply(value))];
    case "compaction": {
      const summary = { type: "text", text: stringAt(value, "summary") ?? "" };
      return [
        record({ role: "user", parts: [{ type: "compaction", auto: value.reason !== "manual" }] }),
        record({ role: "assistant", summary: true, parentID: id, finish: "stop", recent: value.recent, parts: [summary] }, `${id}:summary`),
      ];
    }
  }
  return [record({ type, ...value })];
}

function filesOf(message: JsonObject): readonly JsonObject[] {
  return objectsAt(message, "files").map((file) => ({
    ...{ type: "file", mime: file.mime, url: file.url ?? file.uri },
    ...(typeof file.name === "string" ? { filename: file.name } : {}),
  }));
}

function shellPart({ callID, command, output, time }: JsonObject): JsonObject {
  const { created: start, completed: end = start } = isObject(time) ? time : {};
  return { type: "tool", callID, tool: "bash", state: { status: "completed", input: { command }, output, time: { start, end } } };
}

function toReply(value: JsonObject): JsonObject {
  const { content: _, model, error, ...rest } = value;
  const { id: modelID, providerID } = isObject(model) ? model : {};
  return {
    ...rest,
    ...{ role: "assistant", modelID, providerID, parts: objectsAt(value, "content").map(toPart) },
    ...(isObject(error) ? { error: { name: "UnknownError", data: { message: error.message } } } : {}),
  };
}

function toPart(block: JsonObject): JsonObject {
  if (block.type === "reasoning") return { ...block, metadata: block.providerMetadata };
  return block.type === "tool" ? toToolPart(block) : block;
}

function toToolPart(block: JsonObject): JsonObject {
  const { id, name, time, provider } = block;
  const state = objectAt(block, "state") ?? {};
  const { status, input, structured, error, attachments } = state;
  const { created, ran: start = created, completed: end, pruned: compacted } = isObject(time) ? time : {};
  const output = objectsAt(state, "content").flatMap((part) => (typeof part.text === "string" ? [part.text] : []));
  const metadata = objectAt({ ...(isObject(provider) ? provider : {}) }, "metadata");
  return {
    ...{ type: "tool", id, callID: id, tool: name },
    state: {
      ...(typeof input === "string" ? { status, raw: input } : { status, input }),
      ...(status === "completed" ? { output: output.join("\n"), attachments } : {}),
      ...(status === "error" ? { error: isObject(error) ? error.message : output.join("\n") } : {}),
      ...(isObject(structured) && Object.keys(structured).length > 0 ? { metadata: structured } : {}),
      time: { start, end, compacted },
    },
    ...(metadata === undefined ? {} : { metadata }),
  };
}
