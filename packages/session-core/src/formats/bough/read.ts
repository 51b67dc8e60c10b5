import { UnknownFormatVersionError } from "../../errors/import-errors.js";
import { isId } from "../../ids/ids.js";
import { isObject, type JsonObject, millisecondsOf, numberAt, objectAt, stringAt } from "../../source/json.js";
import { jsonLinesOf } from "../../source/json-lines.js";
import type { SourceFormat, SourceHeader, SourceRecord, SourceSession } from "../../source/source-session.js";
import { BOUGH_TYPE, BOUGH_VERSION } from "./write.js";

/** Our own JSONL. */
export const boughFormat: SourceFormat = {
  name: "bough",
  detects: ({ records }) => records[0]?.["type"] === BOUGH_TYPE,
  *sessions(path) {
    yield sessionIn(path);
  },
};

function sessionIn(path: string): SourceSession {
  const header = headerOf(path);
  return { header: sourceHeader(header), records: () => records(path, header) };
}

function headerOf(path: string): JsonObject {
  for (const line of jsonLinesOf(path)) {
    if (line.kind !== "object") continue;
    const version = numberAt(line.object, "version") ?? 0;
    if (version > BOUGH_VERSION) throw new UnknownFormatVersionError(path, "Bough", version, BOUGH_VERSION);
    return line.object;
  }
  return {};
}

function sourceHeader(header: JsonObject): SourceHeader {
  const parent = objectAt(header, "parent");
  const parentId = parent && stringAt(parent, "sessionId");
  return {
    sessionId: stringAt(header, "id") ?? "unnamed",
    kind: header["kind"] === "subagent" ? "subagent" : "conversation",
    createdAtMs: millisecondsOf(header["createdAtMs"]),
    cwd: stringAt(header, "cwd"),
    parent:
      parent && parentId !== undefined
        ? { sessionId: parentId, entryId: stringAt(parent, "entryId"), toolCallId: stringAt(parent, "toolCallId") }
        : undefined,
    metadata: objectAt(header, "metadata"),
  };
}

function* records(path: string, header: JsonObject): Generator<SourceRecord, void, void> {
  const title = stringAt(header, "title");
  if (title !== undefined) yield { kind: "title", title, source: header["titleSource"] === "auto" ? "auto" : "user" };
  for (const line of jsonLinesOf(path)) {
    if (line.kind === "problem") yield line;
    else if (line.object["type"] !== BOUGH_TYPE) yield recordOf(line.object, path, line.line.number);
  }
}

function recordOf(object: JsonObject, path: string, line: number): SourceRecord {
  const record = knownRecord(object, line);
  if (record !== undefined) return record;
  return { kind: "problem", problem: { code: "malformed-line", path, line, message: "not a line of a Bough session; it was left out" } };
}

function knownRecord(object: JsonObject, line: number): SourceRecord | undefined {
  switch (object["type"]) {
    case "entry":
      return entryOf(object, line);
    case "label":
      return labelOf(object);
    case "leaf":
      return leafOf(object);
    case "value": {
      const key = stringAt(object, "key");
      return key === undefined ? undefined : { kind: "value", key, value: object["value"] };
    }
    default:
      return undefined;
  }
}

function entryOf(object: JsonObject, line: number): SourceRecord | undefined {
  const id = stringAt(object, "id");
  const payload = object["entry"];
  if (id === undefined || !isId(id) || !isObject(payload)) return undefined;
  return {
    kind: "entry",
    line,
    id,
    parentId: stringAt(object, "parentId") ?? null,
    createdAtMs: millisecondsOf(object["createdAtMs"]) ?? 0,
    payload,
  };
}

function labelOf(object: JsonObject): SourceRecord | undefined {
  const entryId = stringAt(object, "entryId");
  const label = stringAt(object, "label");
  if (entryId === undefined || label === undefined) return undefined;
  return { kind: "label", entryId, label, createdAtMs: millisecondsOf(object["createdAtMs"]) };
}

function leafOf(object: JsonObject): SourceRecord | undefined {
  const name = stringAt(object, "name");
  return name === undefined ? undefined : { kind: "leaf", name, entryId: stringAt(object, "entryId") ?? null };
}
