import type { BranchSummaryPayload, CompactionPayload } from "../../entry/entry.js";
import { authoredText } from "./authored-text.js";
import { codeSpan } from "./fence.js";

/** A summary in place of what came before, marked as one. */
export function compactionSection(payload: CompactionPayload): string {
  const { tokensBefore, tokensAfter } = payload;
  const size = tokensBefore === undefined ? "" : ` (${tokensBefore.toLocaleString("en-US")} tokens`;
  const sizes = size === "" ? "" : tokensAfter === undefined ? `${size})` : `${size} → ${tokensAfter.toLocaleString("en-US")})`;
  return summaryQuote(`**Compaction** — summary of the conversation before this point${sizes}. The model went on from it.`, payload);
}

/** A summary of a branch that was left, marked as one. */
export function branchSummarySection(payload: BranchSummaryPayload): string {
  const from = payload.fromId === null ? "" : ` (left at ${codeSpan(payload.fromId)})`;
  return summaryQuote(`**Branch summary** — what happened on another branch${from}.`, payload);
}

function summaryQuote(title: string, payload: { readonly summary: string; readonly details?: unknown }): string {
  const text = authoredText(payload.summary);
  const blocks = [
    title,
    text,
    fileList("Modified files", payload.details, "modifiedFiles"),
    fileList("Read files", payload.details, "readFiles"),
  ];
  return quoted(blocks.filter((block) => block !== "").join("\n\n"));
}

function quoted(text: string): string {
  return text.replace(/^(?=.)/gm, "> ").replace(/^$/gm, ">");
}

// A hook may have put anything into the details, so each step is looked at.
function fileList(title: string, details: unknown, key: string): string {
  const files = typeof details === "object" && details !== null ? (details as Readonly<Record<string, unknown>>)[key] : undefined;
  const paths = Array.isArray(files) ? files.filter((file): file is string => typeof file === "string" && file.trim() !== "") : [];
  return paths.length === 0 ? "" : `**${title}:** ${paths.map(codeSpan).join(", ")}`;
}
