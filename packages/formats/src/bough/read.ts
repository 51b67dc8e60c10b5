import type { SourceHeader, SourceRecord, SourceSession } from "@bough/session-core/engine";
import { decodeBytes, isId, isObject, type JsonObject, numberAt, objectAt, parseTime, stringAt } from "@bough/session-core/wire";
import { UnknownFormatVersionError } from "../errors.js";
import { readJsonLines } from "../source/json-lines.js";
import type { SourceFormat } from "../source/source-format.js";
import { BOUGH_TYPE, BOUGH_VERSION } from "./write.js";

/** Bough's JSONL format. */
export const boughFormat: SourceFormat = {
  name: "bough",
  detects: ({ records }) => records[0]?.["type"] === BOUGH_TYPE,
  *sessions(path) {
    yield readSession(path);
  },
};

function readSession(path: string): SourceSession {
  const header = readHeader(path);
  return { header: toSourceHeader(header), records: () => readRecords(path, header) };
}

function readHeader(path: string): JsonObject {
  for (const line of readJsonLines(path)) {
    if (line.kind !== "object") continue;
    const version = numberAt(line.object, "version") ?? 0;
    if (version > BOUGH_VERSION) throw new UnknownFormatVersionError(path, "Bough", version, BOUGH_VERSION);
    return line.object;
  }
  return {};
}

function toSourceHeader(header: JsonObject): SourceHeader {
  const parent = objectAt(header, "parent");
  const parentId = parent && stringAt(parent, "sessionId");
  return {
    sessionId: stringAt(header, "id") ?? "unnamed",
    kind: header["kind"] === "subagent" ? "subagent" : "conversation",
    createdAtMs: parseTime(header["createdAtMs"]),
    cwd: stringAt(header, "cwd"),
    parent:
      parent && parentId !== undefined
        ? { sessionId: parentId, entryId: stringAt(parent, "entryId"), toolCallId: stringAt(parent, "toolCallId") }
        : undefined,
    metadata: objectAt(header, "metadata"),
  };
}

function* readRecords(path: string, header: JsonObject): Generator<SourceRecord, void, void> {
  const title = stringAt(header, "title");
  if (title !== undefined) yield { kind: "title", title, source: header["titleSource"] === "auto" ? "auto" : "user" };
  for (const line of readJsonLines(path)) {
    if (line.kind === "problem") yield line;
    else if (line.object["type"] !== BOUGH_TYPE) yield toRecord(line.object, path, line.line.number);
  }
}

function toRecord(object: JsonObject, path: string, line: number): SourceRecord {
  const record = toKnownRecord(object, line);
  if (record !== undefined) return record;
  return { kind: "problem", problem: { code: "malformed-line", path, line, message: "not a line of a Bough session; it was left out" } };
}

function toKnownRecord(object: JsonObject, line: number): SourceRecord | undefined {
  switch (object["type"]) {
    case "entry":
      return toEntry(object, line);
    case "label":
      return toLabel(object);
    case "leaf":
      return toLeaf(object);
    case "value": {
      const key = stringAt(object, "key");
      return key === undefined ? undefined : { kind: "value", key, value: decodeBytes(object["value"]) };
    }
    default:
      return undefined;
  }
}

function toEntry(object: JsonObject, line: number): SourceRecord | undefined {
  const id = stringAt(object, "id");
  const payload = decodeBytes(object["entry"]);
  if (id === undefined || !isId(id) || !isObject(payload)) return undefined;
  return {
    kind: "entry",
    line,
    id,
    parentId: stringAt(object, "parentId") ?? null,
    createdAtMs: parseTime(object["createdAtMs"]) ?? 0,
    payload,
  };
}

function toLabel(object: JsonObject): SourceRecord | undefined {
  const entryId = stringAt(object, "entryId");
  const label = stringAt(object, "label");
  if (entryId === undefined || label === undefined) return undefined;
  return { kind: "label", entryId, label, createdAtMs: parseTime(object["createdAtMs"]) };
}

function toLeaf(object: JsonObject): SourceRecord | undefined {
  const name = stringAt(object, "name");
  return name === undefined ? undefined : { kind: "leaf", name, entryId: stringAt(object, "entryId") ?? null };
}
