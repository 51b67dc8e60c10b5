import type { FileHead } from "../src/source/source-format.js";

/** The head of a JSONL file with these records. */
export function headOf(records: readonly Readonly<Record<string, unknown>>[]): FileHead {
  const text = records.map((record) => `${JSON.stringify(record)}\n`).join("");
  return { path: "any name", records, lines: records, document: undefined, text, isSqlite: false };
}
