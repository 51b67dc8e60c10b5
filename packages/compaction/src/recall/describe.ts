import { type FileLists, fileLists, type OutlineRow, type Session } from "@bough/session-core";
import { cleanText, shortLine } from "@bough/session-core/internals";
import { z } from "zod";
import { fileListsOf } from "../plan/file-lists.js";
import { stripComposed } from "../summary/compose.js";
import { formatTime } from "./entry-text.js";
import { ALL_IN_CONTEXT } from "./search.js";
import { getTitle, readSummarizedPath, type SummarizedPart, type SummaryEntry } from "./summarized.js";

/** All summaries of the path in a line each, or one of them (by its number or id) with what it covers. */
export async function describeSummaries(session: Session, wanted: string | undefined): Promise<string> {
  const { parts } = await readSummarizedPath(session);
  if (parts.length === 0) return ALL_IN_CONTEXT;
  if (wanted === undefined) return parts.map(formatPart).join("\n");
  const part = parts.find(({ summary }) => summary.id === wanted) ?? parts.find(({ number }) => String(number) === wanted);
  if (part !== undefined) return describePart(session, part);
  return `${shortLine(wanted, 60)} is no summary on this path. There are: ${parts.map(({ summary }) => summary.id).join(", ")}`;
}

function formatPart({ summary, number, rows }: SummarizedPart): string {
  const what = number === null ? "summary of a branch that was left" : `summary ${number}`;
  return asLine(`${summary.id}: ${what}, ${formatTime(summary.createdAtMs)}, ${formatRange(summary, rows)}: ${getTitle(summary)}`);
}

function formatRange(summary: SummaryEntry, rows: readonly OutlineRow[]): string {
  const [first, last] = [rows[0], rows.at(-1)];
  if (first !== undefined && last !== undefined) return `covers ${first.id} to ${last.id} (${rows.length} entries)`;
  return summary.type === "compaction" ? "covers nothing that an earlier one does not" : "the branch is not in this session";
}

async function describePart(session: Session, part: SummarizedPart): Promise<string> {
  const { summary, previousId, rows } = part;
  const { readFiles, modifiedFiles } = await readFileLists(session, part);
  const lines = [
    formatPart(part),
    `made by: ${describeAuthor(summary)}${summary.type === "compaction" ? `; trigger: ${summary.trigger ?? "unknown"}` : ""}`,
    previousId === null ? "" : `continues the summary ${previousId}`,
    formatTokens(summary),
    formatTimes(rows),
    formatRoles(rows),
    formatFidelity(summary),
    modifiedFiles.length === 0 ? "" : `files modified: ${modifiedFiles.join(", ")}`,
    readFiles.length === 0 ? "" : `files read: ${readFiles.join(", ")}`,
  ];
  const head = lines.filter((line) => line !== "").map(asLine);
  return [...head, ...listRequests(rows), "", cleanText(stripComposed(summary.summary))].join("\n");
}

function formatTokens(summary: SummaryEntry): string {
  if (summary.type !== "compaction") return "";
  const { tokensBefore, tokensAfter } = summary;
  return tokensBefore === undefined && tokensAfter === undefined
    ? ""
    : `tokens of the context: ${tokensBefore ?? "?"} before, ${tokensAfter ?? "?"} after`;
}

function formatTimes(rows: readonly OutlineRow[]): string {
  if (rows.length === 0) return "";
  // The clock of a session may run backwards.
  const times = rows.map(({ createdAtMs }) => createdAtMs);
  return `from ${formatTime(times.reduce((a, b) => Math.min(a, b)))} to ${formatTime(times.reduce((a, b) => Math.max(a, b)))}`;
}

function formatRoles(rows: readonly OutlineRow[]): string {
  const counts = new Map<string, number>();
  for (const { role, type } of rows) counts.set(role ?? type, (counts.get(role ?? type) ?? 0) + 1);
  return counts.size === 0 ? "" : `entries: ${[...counts].map(([role, count]) => `${count} ${role}`).join(", ")}`;
}

/** What the person asked in it, a line each: the table of contents. */
function listRequests(rows: readonly OutlineRow[]): readonly string[] {
  const asked = rows.filter(({ role }) => role === "user").map(({ id, preview }) => asLine(`- ${id}: ${preview}`));
  return asked.length === 0 ? [] : ["the user said:", ...asked];
}

/** The lists of the summary; where it has none of ours, what the entries themselves did. */
async function readFileLists(session: Session, { summary, rows }: SummarizedPart): Promise<FileLists> {
  const lists = fileListsOf(summary);
  const [first, last] = [rows[0], rows.at(-1)];
  if (lists.readFiles.length + lists.modifiedFiles.length > 0 || first === undefined || last === undefined) return lists;
  return fileLists(await session.fileOperations({ fromId: first.id, toId: last.id }));
}

function asLine(text: string): string {
  return shortLine(text, Number.POSITIVE_INFINITY);
}

// What the engine writes beside a summary; other programs and hooks may write anything under these names.
const worthSchema = z.object({
  method: z.enum(["normal", "strict", "extract", "marker", "hook"]).optional().catch(undefined),
  fidelity: z
    .object({ score: z.number(), total: z.number(), byRecallOnly: z.array(z.object({ kind: z.string(), text: z.string() })) })
    .optional()
    .catch(undefined),
});

const MADE_BY = {
  normal: "a model",
  strict: "a model, asked more strictly",
  extract: "an extract, without a model",
  marker: "nobody: a model failed, and this marks the place",
  hook: "a hook of the host",
} as const;

/** Who wrote a summary, in words. */
function describeAuthor(summary: SummaryEntry): string {
  const { method } = worthSchema.parse(summary);
  if (method !== undefined) return MADE_BY[method];
  return summary.fromHook === true ? MADE_BY.hook : "another program";
}

/** How many of the facts of its source a summary holds, and some of those that only recall gives; empty: not known. */
function formatFidelity(summary: SummaryEntry): string {
  const { fidelity } = worthSchema.parse(summary);
  if (fidelity === undefined || fidelity.total === 0) return "";
  const missing = fidelity.byRecallOnly.map(({ kind, text }) => `${kind} ${JSON.stringify(text)}`);
  const share = `fidelity: ${Math.round(fidelity.score * 100)} % of ${fidelity.total} facts found in the entries are in the summary`;
  return missing.length === 0 ? share : `${share}; only in the entries: ${missing.join(", ")}`;
}
