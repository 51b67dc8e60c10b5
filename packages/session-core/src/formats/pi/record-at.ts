import { type JsonLine, jsonLinesOf } from "../../source/json-lines.js";
import type { PiFile } from "./pi-file.js";

/**
 * The record with number `index` of a file, the header being number 0; lines that are no records do not count.
 *
 * Reads the file again from its start up to that record: version 1 counts the entries it kept, such files are few and
 * their compactions fewer, and so no file makes us remember the ids of all its entries.
 */
export function recordAt(file: PiFile, index: number): JsonLine | undefined {
  let at = -1;
  for (const line of jsonLinesOf(file.path)) {
    if (line.kind === "problem" || line.line.number < file.headerLine) continue;
    at++;
    if (at === index) return line;
  }
  return undefined;
}
