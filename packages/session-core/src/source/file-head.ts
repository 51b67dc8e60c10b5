import { closeSync, openSync, readSync } from "node:fs";
import { SourceNotFoundError } from "../errors/import-errors.js";
import { parsed } from "./json-text.js";
import { isObject, type JsonObject } from "./narrow.js";
import type { FileHead } from "./source-session.js";

const HEAD_BYTES = 1 << 20;
const MOST_RECORDS = 50;
const SNIFF_BYTES = 64;

/**
 * The first complete JSON lines of a file, to tell its format by. A file that does not start like JSON is not read
 * further than a few bytes, so that a walk through a folder of anything is cheap.
 *
 * @throws {SourceNotFoundError} the file cannot be read.
 */
export function headOf(path: string): FileHead {
  try {
    const file = openSync(path, "r");
    try {
      const start = read(file, SNIFF_BYTES);
      return { path, records: /^\uFEFF?\s*\{/.test(start) ? recordsIn(read(file, HEAD_BYTES)) : [] };
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (!(error instanceof Error && "errno" in error)) throw error;
    throw new SourceNotFoundError(path, { cause: error });
  }
}

function read(file: number, bytes: number): string {
  const buffer = Buffer.alloc(bytes);
  return buffer.toString("utf8", 0, readSync(file, buffer, 0, bytes, 0));
}

function recordsIn(text: string): readonly JsonObject[] {
  const records: JsonObject[] = [];
  for (const line of text.replace(/^\uFEFF/, "").split("\n")) {
    const value = parsed(line);
    if (isObject(value)) records.push(value);
    if (records.length === MOST_RECORDS) break;
  }
  return records;
}
