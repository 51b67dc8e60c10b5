import { isObject, type JsonObject, stringAt } from "@bough/session-core/wire";
import { readDocumentHead, readJsonDocument } from "../source/json-document.js";
import type { FileHead } from "../source/source-format.js";
import { isSessionInfo } from "./session-header.js";
import { inlineParts, type MessageStore, type StoredRecord, toStoredRecord } from "./store.js";

/** One session as `opencode export` prints it and `opencode import` takes it: `{ info, messages: [{ info, parts }] }`. */
export class ExportStore implements MessageStore {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** The record of the session; empty if it comes behind the messages, or is damaged. */
  get info(): JsonObject {
    for (const part of readJsonDocument(this.#path, ["messages"]))
      if (part.kind === "member" && part.name === "info") return isObject(part.value) ? part.value : {};
    return {};
  }

  *messages(): Generator<StoredRecord, void, void> {
    for (const part of readJsonDocument(this.#path, ["messages"])) {
      if (part.kind === "problem") yield { id: "", value: undefined, problem: part.problem };
      if (part.kind !== "element") continue;
      const { info, parts } = isObject(part.value) ? part.value : {};
      const id = isObject(info) ? (stringAt(info, "id") ?? "") : "";
      yield isObject(info) ? { id, value: { ...info, parts }, problem: undefined } : toStoredRecord(id, undefined, this.#path);
    }
  }

  parts(message: StoredRecord): readonly StoredRecord[] {
    return inlineParts(message) ?? [];
  }
}

export function isExport(head: FileHead): boolean {
  if (!/^\s*\{\s*"info"\s*:\s*\{/.test(head.text)) return false;
  const { info } = readDocumentHead(head, ["messages"]).members;
  return isObject(info) && isSessionInfo(info) && String(info.id).startsWith("ses");
}
