import type { BranchSummaryPayload, CompactionPayload, Entry } from "../../entry/entry.js";
import { isObject } from "../../entry/json.js";
import type { AssistantBlock, Message } from "../../entry/message.js";
import { asTyped } from "../../entry/typed-text.js";
import { bashSection, callSection, contentSections, folded, placeholderLines, strayResultSection } from "./call-section.js";
import { escapeMarkdown, fenceCode, toCodeSpan } from "./markdown-text.js";
import type { MarkdownWriter } from "./markdown-writer.js";
import { sanitizeMarkdown } from "./sanitize-markdown.js";
import type { ReplyStep, Step } from "./step.js";

/** The sections of a step, each a block of Markdown to be separated by blank lines. */
export function stepSections(step: Step, writer: MarkdownWriter): readonly string[] {
  return step.kind === "reply" ? replySections(step, writer) : entrySections(step.entry, writer);
}

function entrySections(entry: Entry, writer: MarkdownWriter): readonly string[] {
  switch (entry.type) {
    case "message":
      return messageSections(asTyped(entry.message), writer);
    case "custom_message":
      return customSections(entry, writer);
    case "compaction":
      return aside(compactionSection(entry), writer);
    case "branch_summary":
      return aside(branchSummarySection(entry), writer);
    case "model_change":
      return [`*Model: ${escapeMarkdown(entry.provider === undefined ? entry.modelId : `${entry.provider}/${entry.modelId}`)}*`];
    case "thinking_level_change":
      return [`*Thinking level: ${escapeMarkdown(entry.thinkingLevel ?? "default")}*`];
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

function messageSections(message: Message, writer: MarkdownWriter): readonly string[] {
  switch (message.role) {
    case "user":
      return [...writer.heading("User"), ...contentSections(message.content, writer)];
    case "assistant":
      return []; // a reply is a separate step
    case "toolResult":
      return [...writer.heading("Assistant", true), strayResultSection(message, writer)];
    case "bashExecution":
      return [...writer.heading("User"), bashSection(message, writer)];
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
      return [callSection(block, step.results.get(block.id)?.[nth], writer)];
    }
    case "image":
    case "file":
    case "foreign":
      return placeholderLines(block, writer);
  }
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

/** The summary of an abandoned branch, with a title that names the branch. */
function branchSummarySection(payload: BranchSummaryPayload): string {
  const from = payload.fromId === null ? "" : ` (left at ${toCodeSpan(payload.fromId)})`;
  return summaryQuote(`**Branch summary** — what happened on another branch${from}.`, payload);
}

function summaryQuote(title: string, payload: { readonly summary: string; readonly details?: unknown }): string {
  const text = sanitizeMarkdown(payload.summary);
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

// `details` may have any shape: hooks write it.
function fileList(title: string, details: unknown, key: string): string {
  const files = isObject(details) ? details[key] : undefined;
  const paths = Array.isArray(files) ? files.filter((file): file is string => typeof file === "string" && file.trim() !== "") : [];
  return paths.length === 0 ? "" : `**${title}:** ${paths.map(toCodeSpan).join(", ")}`;
}
