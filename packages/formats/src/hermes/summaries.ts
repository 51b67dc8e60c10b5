import { type JsonObject, stringAt } from "@bough/session-core/wire";
import { textBlocks } from "../source/payloads.js";
import { type Content, contentOf } from "./messages.js";

/** The start of a message that replaces earlier ones. */
const SUMMARY = /^(?:\[CONTEXT COMPACTION[^\]]*\]|\[CONTEXT SUMMARY\]:)\s*/;

/** The start of a message behind which a summary was put, and what is between them. */
const PRIOR = /^\[PRIOR CONTEXT[^\]]*\]\s*/;
const DELIMITER = "[END OF PRIOR CONTEXT";

/** The line behind a summary, which a message may follow into which it was put. */
const END = "--- END OF CONTEXT SUMMARY";
const RULE = "---";

/** A row that has a summary of a compression. */
export interface Handoff {
  readonly summary: string;
  /** The message that the row was before the summary was put into it; empty: the row has the summary alone. */
  readonly live: Content;
}

/** The summary in a row: newer versions mark the row, older ones only begin its text. undefined: it has none. */
export function handoffIn(row: JsonObject): Handoff | undefined {
  const isMarked = row["_compressed_summary"] === 1;
  if (!isMarked && row.role !== "user" && row.role !== "assistant") return undefined;
  const content = contentOf(row);
  if (typeof content === "string") return splitText(content, isMarked);
  for (const [at, part] of content.entries()) {
    const found = splitText(stringAt(part, "text") ?? "", false);
    if (found !== undefined) return { ...found, live: content.flatMap((one, index) => (index === at ? textBlocks(found.live) : [one])) };
  }
  return undefined;
}

/** `isMarked`: true if the text has a summary, whatever it begins with. */
function splitText(text: string, isMarked: boolean): { readonly summary: string; readonly live: string } | undefined {
  const middle = PRIOR.test(text) ? text.indexOf(DELIMITER) : -1;
  const from = middle === -1 ? 0 : text.indexOf("]", middle) + 1;
  const rest = text.slice(from).trimStart();
  if (!SUMMARY.test(rest) && !isMarked) return undefined;
  const end = rest.indexOf(END);
  const rule = end === -1 ? -1 : rest.indexOf(RULE, end + END.length);
  const summary = (end === -1 ? rest : rest.slice(0, end)).replace(SUMMARY, "").trim();
  const prior = middle === -1 ? "" : text.slice(0, middle).replace(PRIOR, "").trim();
  const after = rule === -1 ? "" : rest.slice(rule + RULE.length).trim();
  return { summary, live: [prior, after].filter((part) => part !== "").join("\n\n") };
}
