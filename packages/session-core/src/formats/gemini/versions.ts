import { isObject, type JsonObject, parseJsonObject } from "../../source/json.js";
import { readJsonLines } from "../../source/json-lines.js";
import { SourceFileReader } from "../../source/source-file.js";
import type { ReadingPosition } from "../../source/source-session.js";
import { factsOf } from "./history.js";

/** A version of a message: the line with it, and its number in the list of this line; -1: the line is the message. */
interface Version {
  readonly score: number;
  readonly line: number;
  readonly offset: number;
  readonly bytes: number;
  readonly at: number;
}

/** A version of a message that was read. */
export interface FoundVersion {
  readonly record: JsonObject;
  readonly line: number;
}

/**
 * The most complete version of each message of a log: Gemini CLI writes a message again, whole, whenever its tokens, calls or results
 * change. The log is read once for them; a version is read from its place. Memory: a place for each message.
 */
export class Versions {
  readonly #path: string;
  readonly #best = new Map<string, Version>();
  #file: SourceFileReader | undefined;
  #last: { readonly line: number; readonly record: JsonObject } | undefined;

  constructor(path: string, from?: ReadingPosition) {
    this.#path = path;
    for (const read of readJsonLines(path, { from })) if (read.kind === "object") this.#add(read.object, read.line);
  }

  #add(record: JsonObject, { number, offset, bytes }: { readonly number: number; readonly offset: number; readonly bytes: number }): void {
    const place = { line: number, offset, bytes };
    if (typeof record.id === "string") this.#offer(record, { ...place, at: -1 });
    const { messages } = isObject(record.$set) ? record.$set : record;
    if (Array.isArray(messages))
      for (const [at, message] of messages.entries()) if (isObject(message)) this.#offer(message, { ...place, at });
  }

  /** A list may have a message as it is sent to the model, with masked results, so it must say more than a version before it. */
  #offer(record: JsonObject, place: Omit<Version, "score">): void {
    const { id, score } = factsOf(record);
    const known = this.#best.get(id);
    if (known === undefined || score > known.score || (score === known.score && place.at === -1)) this.#best.set(id, { ...place, score });
  }

  /** The best version of a message; undefined if it is the one at `line`. */
  find(id: string, line: number): FoundVersion | undefined {
    const version = this.#best.get(id);
    if (version === undefined || version.line === line) return undefined;
    const found = this.#recordAt(version);
    const { messages } = isObject(found.$set) ? found.$set : found;
    const record: unknown = version.at === -1 ? found : Array.isArray(messages) ? messages[version.at] : undefined;
    // The file may have been rewritten since.
    return isObject(record) && record.id === id ? { record, line: version.line } : undefined;
  }

  #recordAt({ line, offset, bytes }: Version): JsonObject {
    if (this.#last?.line === line) return this.#last.record;
    this.#file ??= new SourceFileReader(this.#path);
    const record = parseJsonObject(this.#file.bytesAt(offset, bytes).toString("utf8")) ?? {};
    this.#last = { line, record };
    return record;
  }

  close(): void {
    this.#file?.close();
  }
}
