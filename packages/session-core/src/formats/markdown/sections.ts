import type { BranchSummaryPayload, CompactionPayload, Entry } from "../../entry/entry.js";
import type { AssistantBlock, Message } from "../../entry/message.js";
import { authoredText } from "./authored-text.js";
import { bashSection, callSection, contentSections, folded, notedBlock, strayResultSection } from "./call-section.js";
import { codeSpan, escapedLine, fenced } from "./markdown-text.js";
import type { Scribe } from "./markdown-writer.js";
import type { ReplyStep, Step } from "./step.js";

/** The sections of a step, each a block of Markdown that stands between blank lines. */
export function stepSections(step: Step, scribe: Scribe): readonly string[] {
  return step.kind === "reply" ? replySections(step, scribe) : entrySections(step.entry, scribe);
}

function entrySections(entry: Entry, scribe: Scribe): readonly string[] {
  switch (entry.type) {
    case "message":
      return messageSections(entry.message, scribe);
    case "custom_message":
      return customSections(entry, scribe);
    case "compaction":
      return aside(compactionSection(entry), scribe);
    case "branch_summary":
      return aside(branchSummarySection(entry), scribe);
    case "model_change":
      return [`*Model: ${escapedLine(entry.provider === undefined ? entry.modelId : `${entry.provider}/${entry.modelId}`)}*`];
    case "thinking_level_change":
      return [`*Thinking level: ${escapedLine(entry.thinkingLevel ?? "default")}*`];
    case "context_edit":
      return omitted("edit", scribe);
    case "custom":
      return omitted("custom", scribe);
    case "foreign":
      return omitted("foreign", scribe);
  }
}

function aside(section: string, scribe: Scribe): readonly string[] {
  scribe.interrupt();
  return [section];
}

function omitted(kind: "edit" | "custom" | "foreign" | "hidden" | "thinking", scribe: Scribe): readonly string[] {
  scribe.omitted.count(kind);
  return [];
}

function messageSections(message: Message, scribe: Scribe): readonly string[] {
  switch (message.role) {
    case "user":
      return [...scribe.heading("User"), ...contentSections(message.content, scribe)];
    case "assistant":
      return []; // a reply is a step of its own
    case "toolResult":
      return [...scribe.heading("Assistant", true), strayResultSection(message, scribe)];
    case "bashExecution":
      return [...scribe.heading("User"), bashSection(message, scribe)];
    case "custom":
      return customSections(message, scribe);
    case "system":
      return aside(systemSection(message.content, scribe), scribe);
  }
}

function systemSection(content: string | readonly { readonly text: string }[], scribe: Scribe): string {
  const text = typeof content === "string" ? content : content.map((block) => block.text).join("\n");
  const { text: shown, missing } = scribe.input(text);
  return folded("Instructions of the agent", [fenced(shown, "md"), ...(missing === null ? [] : [`*… ${missing}*`])]);
}

type Custom = Pick<Extract<Message, { role: "custom" }>, "customType" | "content" | "display">;

function customSections(message: Custom, scribe: Scribe): readonly string[] {
  if (message.display === false) return omitted("hidden", scribe);
  return [...scribe.heading(`Message: ${message.customType}`), ...contentSections(message.content, scribe)];
}

function replySections(step: ReplyStep, scribe: Scribe): readonly string[] {
  const used = new Map<string, number>();
  const blocks = step.message.content.flatMap((block) => replyBlock(block, step, used, scribe));
  const sections = [...blocks, ...endingOf(step)];
  return sections.length === 0 ? [] : [...scribe.heading("Assistant", true), ...sections];
}

function replyBlock(block: AssistantBlock, step: ReplyStep, used: Map<string, number>, scribe: Scribe): readonly string[] {
  switch (block.type) {
    case "text":
      return [authoredText(block.text)].filter((text) => text !== "");
    case "thinking":
      if (!scribe.thinking) return omitted("thinking", scribe);
      return block.redacted === true || block.thinking.trim() === ""
        ? ["*[hidden thought]*"]
        : [folded("Thinking", [authoredText(block.thinking)])];
    case "toolCall": {
      const nth = used.get(block.id) ?? 0;
      used.set(block.id, nth + 1);
      return [callSection(block, step.results.get(block.id)?.[nth], scribe)];
    }
    case "image":
    case "foreign":
      return notedBlock(block, scribe);
  }
}

// A reply without a reason to stop comes from a program that records none; it is taken as finished.
function endingOf({ message }: ReplyStep): readonly string[] {
  const detail = message.errorMessage === undefined || message.errorMessage.trim() === "" ? "" : `: ${escapedLine(message.errorMessage)}`;
  if (message.stopReason === "aborted") return ["*The reply was stopped before it was finished.*"];
  if (message.stopReason === "error" || detail !== "") return [`*The reply failed${detail}*`];
  return message.stopReason === "length" ? ["*The reply was cut off at the model's limit.*"] : [];
}

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
