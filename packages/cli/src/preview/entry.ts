import type { Entry, SearchMatch, SessionId, Usage } from "@bough/session-core";
import { createQueryFinder, readableSummary } from "@bough/session-core/internals";
import { z } from "zod";
import { entryKind, summaryFiles } from "../format/entry-lines.js";
import { count, counted, dollars } from "../format/numbers.js";
import { dateTime } from "../format/time.js";
import { forceWidth, wrapLine } from "../format/wrap.js";
import { type Glyphs, UNICODE_GLYPHS } from "../terminal/glyphs.js";
import { type Line, type Span, styled } from "../terminal/line.js";
import { markdownLines } from "./markdown.js";
import { findPlaces, type MarkedPlace } from "./marks.js";
import { contentPreview, messagePreview } from "./message.js";
import { describeStoredFidelity } from "./stored-fidelity.js";
import { fieldLines, TextBudget } from "./text-budget.js";
import { jsonBlock } from "./tool-call.js";

/** An entry and what is shown with it. */
interface PreviewSubject {
  readonly entry: Entry;
  /** Named in the command that prints a long entry in full. */
  readonly sessionId?: SessionId | undefined;
  readonly label?: string | null | undefined;
  /** Tokens of the entry in a context. */
  readonly tokens?: number | null | undefined;
}

/**
 * Draws an entry for a pane: its fields, an empty line, then its text (Markdown rendered, edits as diffs, tool output verbatim).
 * Each line fits `width` columns (at least 2). Draws at most 2,000 lines of the first 120,000 characters, then a note with
 * the number of lines left out and the command that prints all. Never throws for an entry of the store. Call
 * `loadExactWidths` first.
 */
export function entryPreview(subject: PreviewSubject, width: number, glyphs: Glyphs = UNICODE_GLYPHS): readonly Line[] {
  const budget = new TextBudget(width);
  const { entry, sessionId } = subject;
  const body = bodyLines(entry, budget, glyphs);
  const lines = [...headerLines(subject, width), ...(body.length === 0 ? wrapLine([styled("dim", "(empty)")], width) : body)];
  const command = `bough show ${sessionId ?? "SESSION"} ${entry.id}`;
  return budget.truncate(lines, command).flatMap((line) => forceWidth(line, width));
}

/** The lines of a preview, and where the words of a search stand in them. */
export interface MarkedPreview {
  readonly lines: readonly Line[];
  readonly places: readonly MarkedPlace[];
}

/**
 * The preview of an entry, with the places of the words in its text, but not in its fields. `words` are the arguments of
 * `createQueryFinder`; null: nothing is marked. `before`: lines that are drawn above, without marks.
 */
export function markedPreview(
  subject: PreviewSubject,
  width: number,
  glyphs: Glyphs,
  words: { readonly query: string; readonly matched: SearchMatch } | null,
  before: readonly Line[] = [],
): MarkedPreview {
  const own = entryPreview(subject, width, glyphs);
  const lines = [...before, ...own];
  if (words === null) return { lines, places: [] };
  // The first empty line ends the fields.
  const text = Math.max(
    own.findIndex(({ length }) => length === 0),
    0,
  );
  return { lines, places: findPlaces(lines, before.length + text, createQueryFinder(words.query, words.matched)) };
}

function headerLines({ entry, label, tokens }: PreviewSubject, width: number): readonly Line[] {
  return [
    ...wrapLine([kindSpan(entry), styled("dim", `  ${entry.id}  ${dateTime(entry.createdAtMs)}`)], width),
    ...(label === null || label === undefined ? [] : fieldLines("label", label, width, "label")),
    ...(tokens === null || tokens === undefined ? [] : fieldLines("tokens in context", count(tokens), width)),
    ...messageFields(entry, width),
    ...(isSummary(entry) ? [] : [[]]),
  ];
}

function isSummary(entry: Entry): boolean {
  return entry.type === "compaction" || entry.type === "branch_summary";
}

function kindSpan(entry: Entry): Span {
  const kind = entryKind(entry);
  if (isSummary(entry)) return styled("summary", kind);
  return styled(kind === "user" || kind === "assistant" ? kind : "bold", kind);
}

function messageFields(entry: Entry, width: number): readonly Line[] {
  const field = (name: string, value: FieldValue) => optionalFieldLines(name, value, width);
  if (entry.type === "compaction" || entry.type === "branch_summary") return field("usage", usageText(entry.usage));
  if (entry.type !== "message") return [];
  const { message } = entry;
  switch (message.role) {
    case "assistant":
      return [
        ...field("model", [message.provider, message.model].filter((part) => part !== undefined).join("/")),
        ...field("usage", usageText(message.usage)),
        ...field("stop reason", message.stopReason),
      ];
    case "toolResult":
      return field("tool", message.toolName);
    case "bashExecution":
      return [...field("exit code", message.exitCode), ...(message.excludeFromContext === true ? field("in context", "no") : [])];
    case "custom":
      return field("kind", message.customType);
    case "system":
    case "user":
      return [];
  }
}

type FieldValue = string | number | null | undefined;

/** The lines of a field; none if it has no value. */
function optionalFieldLines(name: string, value: FieldValue, width: number): readonly Line[] {
  return value === undefined || value === null || value === "" ? [] : fieldLines(name, value, width);
}

function usageText(usage: Usage | undefined): string {
  if (usage === undefined) return "";
  const parts = [`${count(usage.input ?? 0)} in`, `${count(usage.output ?? 0)} out`];
  if ((usage.cacheRead ?? 0) > 0) parts.push(`${count(usage.cacheRead ?? 0)} from cache`);
  if ((usage.cacheWrite ?? 0) > 0) parts.push(`${count(usage.cacheWrite ?? 0)} to cache`);
  if (usage.cost?.total !== undefined) parts.push(dollars(usage.cost.total));
  return parts.join(", ");
}

function bodyLines(entry: Entry, budget: TextBudget, glyphs: Glyphs): readonly Line[] {
  const { width } = budget;
  switch (entry.type) {
    case "message":
      return messagePreview(entry.message, budget, glyphs);
    case "compaction":
    case "branch_summary":
      return summaryLines(entry, budget, glyphs);
    case "model_change":
      return fieldLines("from here on", entry.provider === undefined ? entry.modelId : `${entry.provider}/${entry.modelId}`, width);
    case "thinking_level_change":
      return fieldLines("from here on", entry.thinkingLevel ?? "the model's default", width);
    case "context_edit":
      return entry.replacement === null
        ? fieldLines("leaves out of the context", entry.targetId, width)
        : [
            ...fieldLines("replaces in the context", entry.targetId, width),
            [],
            ...replacementLines(entry.replacement.content, budget, glyphs),
          ];
    case "custom_message":
      return contentPreview(entry.content, "markdown", budget, glyphs);
    case "custom":
      return jsonBlock(entry.data, budget);
    case "foreign":
      return jsonBlock(entry.raw, budget);
  }
}

const textBlocksSchema = z.array(z.object({ type: z.literal("text"), text: z.string() }));

/** A replacement may hold any content: text blocks are drawn as Markdown, anything else as JSON. */
function replacementLines(content: string | readonly unknown[], budget: TextBudget, glyphs: Glyphs): readonly Line[] {
  if (typeof content === "string") return contentPreview(content, "markdown", budget, glyphs);
  const texts = textBlocksSchema.safeParse(content);
  return texts.success ? contentPreview(texts.data, "markdown", budget, glyphs) : jsonBlock(content, budget);
}

// Fields that @bough/compaction adds to the schema of summaries. Other programs write summaries without them or with other
// values, so each field is parsed by itself.
const engineFieldsSchema = z.object({
  covers: z
    .looseObject({
      fromEntryId: z.string(),
      toEntryId: z.string(),
      entries: z.number().optional().catch(undefined),
      messages: z.number().optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
  method: z.string().optional().catch(undefined),
  fidelity: z.unknown().optional(),
});

/** Draws a compaction or a branch summary: range, tokens, fidelity, files, then its text. */
function summaryLines(
  entry: Extract<Entry, { type: "compaction" | "branch_summary" }>,
  budget: TextBudget,
  glyphs: Glyphs,
): readonly Line[] {
  const text = markdownLines(budget.take(readableSummary(entry.summary)), budget.width, glyphs);
  return [...summaryFields(entry, budget.width, glyphs), [], ...(text.length > 0 ? text : [["(no text)"]])];
}

function summaryFields(entry: Extract<Entry, { type: "compaction" | "branch_summary" }>, width: number, { to }: Glyphs): readonly Line[] {
  const { covers, method, fidelity } = engineFieldsSchema.parse(entry);
  const field = (name: string, value: FieldValue) => optionalFieldLines(name, value, width);
  const { readFiles, modifiedFiles } = summaryFiles(entry.details);
  return [
    ...(entry.type === "compaction" ? compactionFields(entry, to, field) : field("branch tip", entry.fromId ?? "(unknown)")),
    ...field("covers", covers === undefined ? undefined : coverageText(covers, to)),
    ...field("written as", method),
    ...field("fidelity", describeStoredFidelity(fidelity)),
    ...field("files read", readFiles.join(", ")),
    ...field("files modified", modifiedFiles.join(", ")),
  ];
}

type DrawField = (name: string, value: FieldValue) => readonly Line[];

function compactionFields(entry: Extract<Entry, { type: "compaction" }>, to: string, field: DrawField): readonly Line[] {
  const { tokensBefore, tokensAfter } = entry;
  const tokens =
    tokensBefore === undefined && tokensAfter === undefined ? "" : `${tokenText(tokensBefore)} ${to} ${tokenText(tokensAfter)}`;
  return [
    ...field("title", entry.title),
    ...field("first kept entry", entry.firstKeptEntryId ?? "none"),
    ...field("tokens", tokens),
    ...field("trigger", entry.trigger),
    ...field("instructions", entry.instructions),
  ];
}

function tokenText(tokens: number | undefined): string {
  return tokens === undefined ? "?" : count(tokens);
}

function coverageText(covers: NonNullable<z.output<typeof engineFieldsSchema>["covers"]>, to: string): string {
  const { entries, messages, fromEntryId, toEntryId } = covers;
  const figures = [
    ...(entries === undefined ? [] : [counted(entries, "entry", "entries")]),
    ...(messages === undefined ? [] : [counted(messages, "message")]),
  ];
  return `${figures.join(", ")}${figures.length > 0 ? ", " : ""}${fromEntryId} ${to} ${toEntryId}`;
}
