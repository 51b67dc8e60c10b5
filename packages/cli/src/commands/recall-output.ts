import type { RecallAnswer } from "@bough/compaction";
import { textLines } from "../format/entry-lines.js";
import type { Printer } from "../terminal/printer.js";

/** The most characters that a command prints of recall: a person scrolls, and a pipe has no limit. */
export const PRINTED_CHARS = 10_000_000;

/** Prints an answer of recall: its text, or its data as JSON. */
export async function printAnswer(out: Printer, { text, data }: RecallAnswer<object>, json: boolean): Promise<void> {
  if (json) return out.json(data);
  await out.lines(textLines(text));
}
