import { parsed } from "./json-text.js";
import { isObject, type JsonObject } from "./narrow.js";
import { OpenSource } from "./open-source.js";
import type { FileHead } from "./source-session.js";

const HEAD_BYTES = 1 << 20;
const MOST_RECORDS = 50;
const SNIFF_BYTES = 64;

/**
 * The first complete JSON lines of a file, to tell its format by. A file that does not start like JSON is not read
 * further than a few bytes, so that a walk through a folder of anything is cheap.
 *
 * @throws {SourceNotFoundError | SourceUnreadableError} the file cannot be read.
 */
export function headOf(path: string): FileHead {
  const file = new OpenSource(path);
  try {
    const start = file.bytesAt(0, SNIFF_BYTES).toString("utf8");
    return {
      path,
      records: /^\uFEFF?\s*\{/.test(start) ? recordsIn(file.bytesAt(0, Math.min(file.bytes, HEAD_BYTES)).toString("utf8")) : [],
    };
  } finally {
    file.close();
  }
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
