import { isObject, type JsonObject, parseJson, parseJsonObject, stringAt } from "@bough/session-core/wire";
import { type LineOptions, readLines, type SourceLine } from "../source/json-lines.js";
import { SourceFileReader } from "../source/source-file.js";
import { scoreOf } from "./history.js";

/** A version of a message: the line with it, and its number in the list of this line; -1: the line is the message. */
interface Version {
  /** Undefined: not read yet; it is the only version so far. */
  readonly score?: number;
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

/** The start of a message as Gemini CLI writes it. */
const MESSAGE = /^\{"id":("[^"\\]{1,128}"),"timestamp":"[^"\\]*","type":"/;

/**
 * The most complete version of each message of a log: Gemini CLI writes a message again, whole, whenever its tokens, calls or results
 * change. The log is read once for them; a line with the first version of a message is parsed only if there is another version. A
 * version is read from its place. Memory: a place for each message.
 */
export class Versions {
  readonly #path: string;
  readonly #best = new Map<string, Version>();
  #file: SourceFileReader | undefined;
  #areCompared = false;
  /** The last line, and its length. */
  #end: { readonly line: number; readonly bytes: number };
  #last: { readonly line: number; readonly record: JsonObject } | undefined;

  /** `from`: the position at which the reading begins; versions before it are not known. */
  constructor(path: string, from?: LineOptions["from"]) {
    this.#path = path;
    this.#end = { line: from?.line ?? 0, bytes: 0 };
    for (const line of readLines(path, { from })) {
      this.#addLine(line);
      this.#end = { line: line.number, bytes: line.bytes };
    }
  }

  /** True if the log had this line, as it is, when the versions were read: Gemini CLI may write while the log is read. */
  has({ number, bytes }: SourceLine): boolean {
    return number < this.#end.line || (number === this.#end.line && bytes === this.#end.bytes);
  }

  #addLine({ text, number, offset, bytes }: SourceLine): void {
    const version: Version = { line: number, offset, bytes, at: -1 };
    // Parsed, because a part of a text keeps the whole text in memory.
    const id = parseJson(MESSAGE.exec(text)?.[1] ?? "");
    if (typeof id === "string" && !this.#best.has(id) && !text.includes('"$')) this.#best.set(id, version);
    else this.#add(parseJsonObject(text) ?? {}, version);
  }

  #add(record: JsonObject, version: Version): void {
    if (typeof record.id === "string") this.#offer(record, version);
    const { messages } = isObject(record.$set) ? record.$set : record;
    if (isObject(record.$patch) || Array.isArray(messages)) this.#areCompared = true;
    if (Array.isArray(messages))
      for (const [at, message] of messages.entries()) if (isObject(message)) this.#offer(message, { ...version, at });
  }

  /** Keeps the better version of a message. A list may have it with masked results, so a version of a list must be more complete to win. */
  #offer(record: JsonObject, place: Version): void {
    const id = stringAt(record, "id") ?? "";
    const score = scoreOf(record);
    const known = this.#best.get(id);
    const most = known === undefined ? -1 : (known.score ?? this.#readScore(id, known));
    const isBetter = known === undefined || score > most || (score === most && place.at === -1);
    this.#best.set(id, isBetter ? { ...place, score } : { ...known, score: most });
  }

  /** Returns the score of a version; -1 if its line turns out to be another message. */
  #readScore(id: string, version: Version): number {
    const record = this.#recordAt(version);
    return record.id === id ? scoreOf(record) : -1;
  }

  /** True if a record lists or edits messages, so that the messages before it are compared with it. */
  get areCompared(): boolean {
    return this.#areCompared;
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
