import { type ContextMessage, textOf } from "@bough/session-core";
import { redact } from "../../text/redact.js";
import type { SummarySource } from "../summarizer.js";
import { safeLine } from "./safe-line.js";

/** A source of fewer characters is as short as any summary of it. */
const SHORT = 300;

/** Characters of everything a source says: texts, calls with their arguments, output, summaries. Thoughts are not summarised. */
export function sourceChars({ messages, previousSummary }: SummarySource): number {
  return messages.reduce((sum, message) => sum + charsOf(message), previousSummary?.length ?? 0);
}

/** Whether there is so little that it is its own summary. */
export function isShort(source: SummarySource): boolean {
  return sourceChars(source) < SHORT;
}

/** All that a short source says, on one line, each message behind who said it; secrets are masked. */
export function extractShort({ messages, previousSummary, redact: masks }: SummarySource, maxChars: number): string {
  const said = messages.flatMap((message) => {
    const text = saidBy(message);
    return text.trim() === "" ? [] : [messages.length === 1 ? text : `${WHO[message.role]}: ${text}`];
  });
  const text = [...(previousSummary === null ? [] : [previousSummary]), ...said].join(" ");
  return safeLine(masks === false ? text : redact(text), maxChars);
}

const WHO: Readonly<Record<ContextMessage["role"], string>> = {
  user: "User",
  assistant: "Assistant",
  toolResult: "Result",
  bashExecution: "Command",
  custom: "Context",
  compactionSummary: "Before",
  branchSummary: "Branch",
};

function charsOf(message: ContextMessage): number {
  if (message.role !== "assistant") return saidBy(message).length;
  return message.content.reduce(
    (sum, block) => sum + (block.type === "toolCall" ? JSON.stringify(block.arguments).length : 0),
    saidBy(message).length,
  );
}

function saidBy(message: ContextMessage): string {
  switch (message.role) {
    case "user":
    case "custom":
    case "toolResult":
    case "assistant":
      return textOf(message.content);
    case "bashExecution":
      return `${message.command} ${message.output}`;
    case "compactionSummary":
    case "branchSummary":
      return message.summary;
  }
}
