import { basename, dirname } from "node:path";
import type { SourceHeader, SourceRecord, SourceSession } from "@bough/session-core/engine";
import { isObject, type JsonObject, stringAt, tryStringify, without } from "@bough/session-core/wire";
import { derivedId } from "../source/derived-id.js";
import { readDocumentHead, readJsonDocument } from "../source/json-document.js";
import { statPath } from "../source/source-file.js";
import type { FileHead } from "../source/source-format.js";
import { Replay } from "./records.js";

/** The members with the messages to the model: of `/chat save`, and of a checkpoint before a tool call, whose `history` is its screen. */
const LISTS = ["history", "clientHistory"];

/** True if a file is a checkpoint: a list of contents of Google's API, or an object with one. */
export function isCheckpoint(head: FileHead): boolean {
  return readDocumentHead(head, LISTS).elements.some(isContent);
}

function isContent(value: unknown): value is JsonObject {
  if (!isObject(value) || (value.role !== "user" && value.role !== "model") || !Array.isArray(value.parts)) return false;
  return value.parts.every((part) => isObject(part) && part.type === undefined);
}

/**
 * The session of a checkpoint. It has no id of its own, so it is known by the name of its file and of the project's folder; ids of
 * messages are derived from their content and the one before, so that a checkpoint that was saved again adds a branch.
 */
export function checkpointSession(path: string, head: FileHead): SourceSession {
  const name = basename(path).replace(/\.json$/, "");
  const header: SourceHeader = {
    sessionId: derivedId("gemini", "checkpoint", basename(dirname(path)), name),
    createdAtMs: Math.trunc(statPath(path).mtimeMs),
    title: /^checkpoint-(.+)$/.exec(name)?.[1],
    kind: "conversation",
    metadata: readDocumentHead(head, LISTS).members,
  };
  return { header, path, records: () => readCheckpoint(path, header) };
}

function* readCheckpoint(path: string, { sessionId, createdAtMs = 0 }: SourceHeader): Generator<SourceRecord, void, void> {
  const replay = new Replay(sessionId, createdAtMs);
  const calls = new CallIds();
  let id = "";
  for (const part of readJsonDocument(path, LISTS)) {
    if (part.kind === "problem") yield part;
    if (part.kind !== "element") continue;
    if (isContent(part.value) && Array.isArray(part.value.parts)) {
      id = derivedId(sessionId, id, tryStringify(part.value) ?? "");
      const content = part.value.parts.filter(isObject).map((one) => calls.withId(one));
      const others = without(part.value, ["role", "parts", "id"]);
      yield* replay.message({ ...others, id, type: part.value.role === "model" ? "gemini" : "user", content }, part.line);
      // The texts of the screen are also in the messages to the model.
    } else if (part.list === "history" && isObject(part.value)) yield { kind: "merged", line: part.line };
    else yield* replay.read({ unknown: part.value }, part.line);
  }
  // Saved by a command, as a whole.
  yield* replay.finish(true);
}

/** Gives calls without an id one, and their results the id of the oldest call of the same name without a result. */
class CallIds {
  readonly #open: { readonly id: string; readonly name: string }[] = [];
  #count = 0;

  withId(part: JsonObject): JsonObject {
    const { functionCall: call, functionResponse: response } = part;
    if (isObject(call) && typeof call.id !== "string") {
      this.#count += 1;
      const id = `call-${this.#count}`;
      this.#open.push({ id, name: stringAt(call, "name") ?? "" });
      return { ...part, functionCall: { ...call, id } };
    }
    if (!isObject(response) || typeof response.id === "string") return part;
    const at = this.#open.findIndex(({ name }) => name === response.name);
    const [answered] = at === -1 ? [] : this.#open.splice(at, 1);
    return answered === undefined ? part : { ...part, functionResponse: { ...response, id: answered.id } };
  }
}
