import type { AssistantBlock, AssistantMessage, BranchSummaryPayload, CompactionPayload, Entry, Message } from "@bough/session-core";
import { asTyped, type ReplyStep, readableSummary, type Step } from "@bough/session-core/view";
import { isObject } from "@bough/session-core/wire";
import { bashSection, callSections, contentSections, folded, placeholderLines, quoted, strayResultSection } from "./call-section.js";
import { escapeMarkdown, fenceCode, toCodeSpan } from "./markdown-text.js";
import type { MarkdownWriter } from "./markdown-writer.js";
import { sanitizeMarkdown } from "./sanitize-markdown.js";

/** The sections of a step, each a block of Markdown to be separated by blank lines, after the line of the settings before it. */
export function stepSections(step: Step, writer: MarkdownWriter): readonly string[] {
  const sections = ownSections(step, writer);
  return sections.length === 0 ? [] : [...writer.takeSettings(), ...sections];
}

function ownSections(step: Step, writer: MarkdownWriter): readonly string[] {
  return step.kind === "reply" ? replySections(step, writer) : entrySections(step.entry, writer);
}

function entrySections(entry: Entry, writer: MarkdownWriter): readonly string[] {
  switch (entry.type) {
    case "message":
      return messageSections(asTyped(entry.message), entry.createdAtMs, writer);
    case "custom_message":
      return customSections(entry, writer);
    case "compaction":
      return aside(compactionSection(entry), writer);
    case "branch_summary":
      return aside(branchSummarySection(entry), writer);
    case "model_change":
      writer.note({ model: entry.provider === undefined ? entry.modelId : `${entry.provider}/${entry.modelId}` });
      return [];
    case "thinking_level_change":
      writer.note({ thinking: entry.thinkingLevel ?? "default" });
      return [];
    case "context_edit":
      return omitted("edit", writer);
    case "custom":
      return omitted("custom", writer);
    case "foreign":
      return omitted("foreign", writer);
  }
}

function aside(section: string, writer: MarkdownWriter): readonly string[] {
  writer.resetHeading();
  return [section];
}

function omitted(kind: "edit" | "custom" | "foreign" | "hidden" | "thinking", writer: MarkdownWriter): readonly string[] {
  writer.omitted.count(kind);
  return [];
}

function messageSections(message: Message, createdAtMs: number, writer: MarkdownWriter): readonly string[] {
  switch (message.role) {
    case "user":
      return [...writer.userHeading(createdAtMs), ...contentSections(message.content, writer)];
    case "assistant":
      return []; // a reply is a separate step
    case "toolResult":
      return [...writer.heading("Assistant", true), strayResultSection(message, writer)];
    case "bashExecution":
      return [...writer.userHeading(createdAtMs), bashSection(message, writer)];
    case "custom":
      return customSections(message, writer);
    case "system":
      return aside(systemSection(message.content, writer), writer);
  }
}

function systemSection(content: string | readonly { readonly text: string }[], writer: MarkdownWriter): string {
  const text = typeof content === "string" ? content : content.map((block) => block.text).join("\n");
  const { text: shown, missing } = writer.clipInput(text);
  return folded("Instructions of the agent", [fenceCode(shown, "md"), ...(missing === null ? [] : [`*… ${missing}*`])]);
}

type Custom = Pick<Extract<Message, { role: "custom" }>, "customType" | "content" | "display">;

function customSections(message: Custom, writer: MarkdownWriter): readonly string[] {
  if (message.display === false) return omitted("hidden", writer);
  return [...writer.heading(`Message: ${message.customType}`), ...contentSections(message.content, writer)];
}

function replySections(step: ReplyStep, writer: MarkdownWriter): readonly string[] {
  const used = new Map<string, number>();
  const blocks = step.message.content.flatMap((block) => replyBlock(block, step, used, writer));
  const sections = [...blocks, ...endingOf(step)];
  return sections.length === 0 ? [] : [...writer.heading("Assistant", true), ...sections];
}

function replyBlock(block: AssistantBlock, step: ReplyStep, used: Map<string, number>, writer: MarkdownWriter): readonly string[] {
  switch (block.type) {
    case "text":
      return [sanitizeMarkdown(block.text)].filter((text) => text !== "");
    case "thinking":
      if (!writer.thinking) return omitted("thinking", writer);
      return block.redacted === true || block.thinking.trim() === ""
        ? ["*[hidden thought]*"]
        : [folded("Thinking", [sanitizeMarkdown(block.thinking)])];
    case "toolCall": {
      const nth = used.get(block.id) ?? 0;
      used.set(block.id, nth + 1);
      return callSections(block, step.results.get(block.id)?.[nth], isStopped(step.message), writer);
    }
    case "image":
    case "file":
    case "foreign":
      return placeholderLines(block, writer);
  }
}

/** Whether the end of a reply says why calls have no results. */
function isStopped({ stopReason, errorMessage }: AssistantMessage): boolean {
  return stopReason === "aborted" || stopReason === "error" || errorMessage !== undefined;
}

// Some programs record no stop reason; their replies count as complete.
function endingOf({ message }: ReplyStep): readonly string[] {
  const detail =
    message.errorMessage === undefined || message.errorMessage.trim() === "" ? "" : `: ${escapeMarkdown(message.errorMessage)}`;
  if (message.stopReason === "aborted") return ["*The reply was stopped before it was finished.*"];
  if (message.stopReason === "error" || detail !== "") return [`*The reply failed${detail}*`];
  return message.stopReason === "length" ? ["*The reply was cut off at the model's limit.*"] : [];
}

/** The summary of a compaction, with a title that states what it replaces. */
function compactionSection(payload: CompactionPayload): string {
  const { tokensBefore, tokensAfter } = payload;
  const size = tokensBefore === undefined ? "" : ` (${tokensBefore.toLocaleString("en-US")} tokens`;
  const sizes = size === "" ? "" : tokensAfter === undefined ? `${size})` : `${size} → ${tokensAfter.toLocaleString("en-US")})`;
  return summaryQuote(`**Compaction** — summary of the conversation before this point${sizes}. The model went on from it.`, payload);
}

/** The summary of an abandoned branch, with a title. */
function branchSummarySection(payload: BranchSummaryPayload): string {
  return summaryQuote("**Branch summary** — what happened on another branch.", payload);
}

function summaryQuote(title: string, payload: { readonly summary: string; readonly details?: unknown }): string {
  const { text, files } = splitFileBlocks(readableSummary(payload.summary));
  const blocks = [
    title,
    sanitizeMarkdown(text),
    fileList("Modified files", payload.details, "modifiedFiles", files.get("modified-files")),
    fileList("Read files", payload.details, "readFiles", files.get("read-files")),
  ];
  return quoted(blocks.filter((block) => block !== "").join("\n\n"));
}

const FILE_BLOCK = /\n?<(modified-files|read-files)>\n([^<]*)\n?<\/\1>/g;

/** A summary without the blocks of file names for the model, and these names. */
function splitFileBlocks(summary: string): { readonly text: string; readonly files: ReadonlyMap<string, readonly string[]> } {
  const files = new Map<string, readonly string[]>();
  const text = summary.replace(FILE_BLOCK, (_whole, name: string, names: string) => {
    files.set(
      name,
      names
        .split("\n")
        .map((line) => line.trim().replace(/^[-*] /, ""))
        .filter((line) => line !== ""),
    );
    return "";
  });
  return { text, files };
}

// `details` may have any shape: hooks write it.
function fileList(title: string, details: unknown, key: string, named: readonly string[] = []): string {
  const files = isObject(details) ? details[key] : undefined;
  const listed = Array.isArray(files) ? files.filter((file): file is string => typeof file === "string" && file.trim() !== "") : [];
  const paths = [...new Set(listed.length === 0 ? named : listed)];
  return paths.length === 0 ? "" : `**${title}:** ${paths.map(toCodeSpan).join(", ")}`;
}
