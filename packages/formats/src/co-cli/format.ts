import { createHash } from "node:crypto";
import { basename, join } from "node:path";
import type { EntryId, SessionId } from "@bough/session-core";
import type { ReadingPosition, SourceHeader, SourceRecord, SourceSession } from "@bough/session-core/engine";
import { isId, isObject, type JsonObject, parseTime, stringAt, tryStringify } from "@bough/session-core/wire";
import { derivedId } from "../source/derived-id.js";
import { EntryChain } from "../source/entry-chain.js";
import { isDocument, readDocumentHead, readJsonDocument } from "../source/json-document.js";
import { readHead, readJsonValues } from "../source/json-lines.js";
import { messagePayload } from "../source/payloads.js";
import { statPath } from "../source/source-file.js";
import type { FileHead, SourceAgent, SourceFormat } from "../source/source-format.js";
import { requestPayload, responsePayload } from "./parts.js";

const coCliAgent: SourceAgent = {
  name: "co-cli",
  folders: ({ home }) => [join(home, ".co-cli", "sessions")],
  files: /^[^/]+\.jsonl$/,
};

/** Sessions of co-cli: each line is an array of messages of pydantic-ai; also such an array as a document of its own. */
export const coCliFormat: SourceFormat = {
  name: "co-cli",
  agents: [coCliAgent],
  detects: (head) => (isDocument(head) ? readDocumentHead(head, []).elements : head.lines.flat()).some(isMessage),
  sessions: (path) => [toSession(path)],
};

function isMessage(value: unknown): value is JsonObject {
  if (!isObject(value) || !Array.isArray(value.parts) || (value.kind !== "request" && value.kind !== "response")) return false;
  return value.parts.every((part) => isObject(part) && typeof part.part_kind === "string");
}

function toSession(path: string): SourceSession {
  const head = readHead(path);
  // A file with one line is both; it is read as lines, which grow.
  const isWhole = isDocument(head) && !head.lines.some((line) => Array.isArray(line) && line.some(isMessage));
  const header = toHeader(path, head);
  let reader: Reader | undefined;
  return {
    header,
    path,
    *records(from) {
      reader = new Reader(path, header, from);
      yield* isWhole ? reader.document() : reader.lines();
    },
    position: () => (isWhole ? undefined : reader?.position),
  };
}

// `2026-04-01-T100000Z-1a2b3c4d.jsonl`
const FILE_NAME = /^(\d{4}-\d\d-\d\d)-T(\d\d)(\d\d)(\d\d)Z-([0-9a-f]{8})$/;

function toHeader(path: string, head: FileHead): SourceHeader {
  const name = basename(path).replace(/\.jsonl?$/, "");
  const [, day, hour, minute, second, id] = FILE_NAME.exec(name) ?? [];
  const [first] = isDocument(head) ? readDocumentHead(head, []).elements : head.lines;
  return {
    sessionId: id !== undefined && isId(id) ? id : derivedId("co-cli", name, tryStringify(first) ?? ""),
    createdAtMs: parseTime(`${day}T${hour}:${minute}:${second}Z`) ?? Math.trunc(statPath(path).mtimeMs),
    kind: "conversation",
  };
}

/**
 * Reads the messages of a session. The id of an entry is derived from its content and the id of the one before it: co-cli rewrites the
 * file when it shortens the conversation, and the messages that are new then are a branch.
 */
class Reader {
  readonly #path: string;
  readonly #sessionId: SessionId;
  readonly #from: ReadingPosition | undefined;
  readonly #chain: EntryChain;
  #instructions: string | undefined;
  #end: { readonly offset: number; readonly line: number };

  constructor(path: string, { sessionId, createdAtMs = 0 }: SourceHeader, from: ReadingPosition | undefined) {
    this.#path = path;
    this.#sessionId = sessionId;
    this.#from = from;
    this.#chain = new EntryChain(sessionId, createdAtMs, from?.state);
    this.#instructions = stringAt(from?.state ?? {}, "instructions");
    this.#end = from ?? { offset: 0, line: 0 };
  }

  get position(): ReadingPosition {
    const state = { ...this.#chain.state, ...(this.#instructions === undefined ? {} : { instructions: this.#instructions }) };
    return { ...this.#end, state };
  }

  *lines(): Generator<SourceRecord, void, void> {
    for (const read of readJsonValues(this.#path, { from: this.#from })) {
      if (read.kind === "value") {
        const { offset, bytes, number, hasLineBreak } = read.line;
        const messages: readonly unknown[] = Array.isArray(read.value) && read.value.length > 0 ? read.value : [read.value];
        for (const message of messages) yield* this.#message(message, number);
        if (hasLineBreak) this.#end = { offset: offset + bytes + 1, line: number };
      } else yield read;
    }
  }

  *document(): Generator<SourceRecord, void, void> {
    for (const part of readJsonDocument(this.#path, [])) {
      if (part.kind === "problem") yield part;
      else yield* this.#message(part.kind === "member" ? { [part.name]: part.value } : part.value, part.line);
    }
  }

  *#message(message: unknown, line: number): Generator<SourceRecord, void, void> {
    if (!isMessage(message) || !Array.isArray(message.parts))
      return yield this.#add(line, { type: "foreign", originalType: "unknown", raw: message }, undefined);
    const at = parseTime(message.timestamp);
    if (message.kind === "response") return yield this.#add(line, responsePayload(message), at);
    const instructions = stringAt(message, "instructions");
    if (instructions !== undefined && instructions !== this.#instructions) {
      this.#instructions = instructions;
      yield this.#add(line, messagePayload({ role: "system", content: instructions }), at);
    }
    const parts = message.parts.filter(isObject);
    if (parts.length === 0) yield { kind: "merged", line };
    for (const part of parts) yield this.#add(line, requestPayload(part), parseTime(part.timestamp) ?? at);
  }

  #add(line: number, payload: JsonObject, createdAtMs: number | undefined): SourceRecord {
    return this.#chain.add({ line, id: this.#idOf(payload), createdAtMs, payload });
  }

  #idOf(payload: JsonObject): EntryId {
    const text = createHash("sha256").update(tryStringify(payload) ?? "");
    return derivedId(this.#sessionId, this.#chain.leafId ?? "", text.digest("hex"));
  }
}
