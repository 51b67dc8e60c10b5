import { type FileLists, fileLists, type OutlineRow, type Session } from "@bough/session-core";
import { cleanText, shortLine } from "@bough/session-core/view";
import * as z from "zod";
import { fileListsOf } from "../plan/span.js";
import { stripComposed } from "../summary/compose.js";
import { formatTime } from "./entry-text.js";
import { ALL_IN_CONTEXT } from "./search-hidden.js";
import { getTitle, readSummarizedPath, type SummarizedPart, type SummaryEntry } from "./summarized.js";

/** Lists all summaries of the path, one a line, or describes one of them (by number or id) with its range. */
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
  return joinLines(`${summary.id}: ${what}, ${formatTime(summary.createdAtMs)}, ${formatRange(summary, rows)}: ${getTitle(summary)}`);
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
  const head = lines.filter((line) => line !== "").map(joinLines);
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
  // Clocks may go backwards within a session.
  const times = rows.map(({ createdAtMs }) => createdAtMs);
  return `from ${formatTime(times.reduce((a, b) => Math.min(a, b)))} to ${formatTime(times.reduce((a, b) => Math.max(a, b)))}`;
}

function formatRoles(rows: readonly OutlineRow[]): string {
  const counts = new Map<string, number>();
  for (const { role, type } of rows) counts.set(role ?? type, (counts.get(role ?? type) ?? 0) + 1);
  return counts.size === 0 ? "" : `entries: ${[...counts].map(([role, count]) => `${count} ${role}`).join(", ")}`;
}

/** The user's requests in the range, one a line. */
function listRequests(rows: readonly OutlineRow[]): readonly string[] {
  const asked = rows.filter(({ role }) => role === "user").map(({ id, preview }) => joinLines(`- ${id}: ${preview}`));
  return asked.length === 0 ? [] : ["the user asked:", ...asked, ...explainCut(rows)];
}

/** The most entries that one call reads. */
const READ_AT_ONCE = 50;

/** The calls that read the requests of which only the beginning is shown. */
function explainCut(rows: readonly OutlineRow[]): readonly string[] {
  const cut = rows.filter(({ role, preview }) => role === "user" && preview.endsWith("…")).map(({ id }) => id);
  const calls = Array.from({ length: Math.ceil(cut.length / READ_AT_ONCE) }, (_, at) =>
    cut.slice(at * READ_AT_ONCE, (at + 1) * READ_AT_ONCE),
  );
  return calls.map((ids) => `cut ones in full: recall_expand ${JSON.stringify({ entries: ids })}`);
}

/** The file lists of the summary; if it has none, those of the covered entries. */
async function readFileLists(session: Session, { summary, rows }: SummarizedPart): Promise<FileLists> {
  const lists = fileListsOf(summary);
  const [first, last] = [rows[0], rows.at(-1)];
  if (lists.readFiles.length + lists.modifiedFiles.length > 0 || first === undefined || last === undefined) return lists;
  return fileLists(await session.fileOperations({ fromId: first.id, toId: last.id }));
}

function joinLines(text: string): string {
  return shortLine(text, Number.POSITIVE_INFINITY);
}

// Fields that the compactor stores with a summary. Other programs and hooks may store anything under these names.
const storedFieldsSchema = z.object({
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
  marker: "a fixed text, because the model failed",
  hook: "a hook of the host",
} as const;

/** Describes who wrote a summary. */
function describeAuthor(summary: SummaryEntry): string {
  const { method } = storedFieldsSchema.parse(summary);
  if (method !== undefined) return MADE_BY[method];
  return summary.fromHook === true ? MADE_BY.hook : "another program";
}

/** Formats the number of facts of its source that a summary contains, and some missing ones; empty: unknown. */
function formatFidelity(summary: SummaryEntry): string {
  const { fidelity } = storedFieldsSchema.parse(summary);
  if (fidelity === undefined || fidelity.total === 0) return "";
  const missing = fidelity.byRecallOnly.map(({ kind, text }) => `${kind} ${JSON.stringify(text)}`);
  const share = `fidelity: ${Math.round(fidelity.score * 100)} % of ${fidelity.total} facts found in the entries are in the summary`;
  return missing.length === 0 ? share : `${share}; only in the entries: ${missing.join(", ")}`;
}
