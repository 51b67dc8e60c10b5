import type { AssistantBlock } from "../../entry/block.js";
import type { Entry } from "../../entry/entry.js";
import type { Message } from "../../entry/message.js";
import { authoredText } from "./authored-text.js";
import { bashSection, callSection, folded, strayResultSection } from "./call-section.js";
import { contentSections, notedBlock } from "./content.js";
import { fenced } from "./fence.js";
import type { Scribe } from "./scribe.js";
import type { ReplyStep, Step } from "./step.js";
import { branchSummarySection, compactionSection } from "./summary-section.js";
import { escapedLine } from "./visible.js";

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
