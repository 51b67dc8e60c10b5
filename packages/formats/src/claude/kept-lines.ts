import { hash } from "node:crypto";
import type { JsonObject } from "@bough/session-core/wire";
import type { SourceLine } from "../source/json-lines.js";
import { comparableContent, type EarlierLines } from "./indexer.js";
import type { IndexedRecord, LineSource } from "./session-file.js";

/** The lines of a growing transcript: the text and object of each line that is not read yet, and a digest of each line with a uuid. */
export class KeptLines implements LineSource, EarlierLines {
  readonly #kept = new Map<number, { readonly text: string; readonly object: JsonObject }>();
  readonly #digests = new Map<number, string>();

  add(line: SourceLine, object: JsonObject): void {
    this.#kept.set(line.number, { text: line.text, object });
    if (typeof object.uuid === "string") this.#digests.set(line.number, digestOf(line, object));
  }

  textAt(record: IndexedRecord): string {
    return this.#kept.get(record.line)?.text ?? "";
  }

  takeObject(record: IndexedRecord): JsonObject | undefined {
    return this.#kept.get(record.line)?.object;
  }

  isSame(earlier: IndexedRecord, line: SourceLine, record: JsonObject): boolean {
    return this.#digests.get(earlier.line) === digestOf(line, record);
  }

  /** Drops text and object of a line. */
  release(line: number): void {
    this.#kept.delete(line);
  }
}

function digestOf(line: SourceLine, record: JsonObject): string {
  return hash("sha256", comparableContent(record) ?? line.text, "base64url").slice(0, 12);
}
