import type { AssistantBlock, ContentBlock, ContextMessage, Entry, FileLists, Message, Usage } from "@bough/session-core";
import { asTyped, describeCall, describeFile, readableSummary, shareLine } from "@bough/session-core/view";
import { fieldLine, type Line, styled } from "../terminal/line.js";
import { toPrintedJson } from "../terminal/printed-json.js";
import { safeLines } from "../terminal/safe.js";
import { bytes, count, dollars } from "./numbers.js";

/** The kind of an entry, as shown on screen. */
export function entryKind(entry: Entry): string {
  switch (entry.type) {
    case "message":
      return roleName(asTyped(entry.message).role);
    case "compaction":
      return "compaction";
    case "branch_summary":
      return "branch summary";
    case "model_change":
      return "model change";
    case "thinking_level_change":
      return "thinking level change";
    case "context_edit":
      return "context edit";
    case "custom_message":
      return `custom message ${entry.customType}`;
    case "custom":
      return `custom ${entry.customType}`;
    case "foreign":
      return `foreign ${entry.originalType}`;
  }
}

/** An entry in full: its fields, then its text. */
export function entryLines(entry: Entry): readonly Line[] {
  switch (entry.type) {
    case "message":
      return [...messageFields(entry.message), ...messageLines(asTyped(entry.message))];
    case "compaction":
      return [
        fieldLine("first kept entry", entry.firstKeptEntryId ?? "none"),
        ...optionalField("tokens before", entry.tokensBefore),
        ...optionalField("tokens after", entry.tokensAfter),
        ...optionalField("trigger", entry.trigger),
        ...optionalField("instructions", entry.instructions),
        ...optionalField("title", entry.title),
        ...usageField(entry.usage),
        ...summaryLines(entry),
      ];
    case "branch_summary":
      return [fieldLine("branch tip", entry.fromId ?? "(unknown)"), ...usageField(entry.usage), ...summaryLines(entry)];
    case "model_change":
      return textLines(entry.provider === undefined ? entry.modelId : `${entry.provider}/${entry.modelId}`);
    case "thinking_level_change":
      return textLines(entry.thinkingLevel ?? "default");
    case "context_edit":
      return entry.replacement === null
        ? [fieldLine("omits", entry.targetId)]
        : [fieldLine("replaces", entry.targetId), ...contentOf(entry.replacement.content)];
    case "custom_message":
      return messageLines({ role: "custom", customType: entry.customType, content: entry.content });
    case "custom":
      return jsonLines(entry.data);
    case "foreign":
      return jsonLines(entry.raw);
  }
}

function contentOf(content: string | readonly unknown[]): readonly Line[] {
  return typeof content === "string" ? textLines(content) : jsonLines(content);
}

function messageFields(message: Extract<Entry, { type: "message" }>["message"]): readonly Line[] {
  switch (message.role) {
    case "assistant": {
      const { provider, model } = message;
      const named = [provider, model].filter((part) => part !== undefined).join("/");
      return [
        ...(named === "" ? [] : [fieldLine("model", named)]),
        ...usageField(message.usage),
        ...optionalField("stop reason", message.stopReason),
      ];
    }
    case "toolResult":
      return [...optionalField("tool", message.toolName), fieldLine("call", message.toolCallId)];
    case "bashExecution":
      return optionalField("exit code", message.exitCode ?? undefined);
    case "custom":
      return [fieldLine("kind", message.customType)];
    case "system":
    case "user":
      return [];
  }
}

function usageField(usage: Usage | undefined): readonly Line[] {
  if (usage === undefined) return [];
  const parts = [`${count(usage.input ?? 0)} in`, `${count(usage.output ?? 0)} out`];
  if ((usage.cacheRead ?? 0) > 0) parts.push(`${count(usage.cacheRead ?? 0)} from cache`);
  if ((usage.cacheWrite ?? 0) > 0) parts.push(`${count(usage.cacheWrite ?? 0)} to cache`);
  if (usage.cost?.total !== undefined) parts.push(dollars(usage.cost.total));
  return [fieldLine("tokens", parts.join(", "))];
}

function summaryLines(entry: { readonly summary: string; readonly details?: unknown }): readonly Line[] {
  const { readFiles, modifiedFiles } = summaryFiles(entry.details);
  return [
    ...optionalField("files read", readFiles.join(", ") || undefined),
    ...optionalField("files modified", modifiedFiles.join(", ") || undefined),
    ...textLines(readableSummary(entry.summary)),
  ];
}

/** The file lists in the details of a summary. Details may have any shape if a hook wrote them. */
export function summaryFiles(details: unknown): FileLists {
  if (typeof details !== "object" || details === null) return { readFiles: [], modifiedFiles: [] };
  return {
    readFiles: "readFiles" in details ? stringsIn(details.readFiles) : [],
    modifiedFiles: "modifiedFiles" in details ? stringsIn(details.modifiedFiles) : [],
  };
}

function stringsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

function optionalField(name: string, value: string | number | undefined): readonly Line[] {
  return value === undefined ? [] : [fieldLine(name, String(value))];
}

/** The name of a role on screen. */
export function roleName(role: (Message | ContextMessage)["role"]): string {
  switch (role) {
    case "toolResult":
      return "tool result";
    case "bashExecution":
      return "command";
    case "compactionSummary":
      return "compaction summary";
    case "branchSummary":
      return "branch summary";
    case "system":
    case "user":
    case "assistant":
    case "custom":
      return role;
  }
}

/** The lines of a text. */
export function textLines(text: string): readonly Line[] {
  return text === "" ? [] : safeLines(text).map((line) => [line]);
}

/** A value as indented JSON. */
function jsonLines(value: unknown): readonly Line[] {
  return textLines(toPrintedJson(value) ?? "");
}

/** The content of a message in full. */
export function messageLines(message: Message | ContextMessage): readonly Line[] {
  switch (message.role) {
    case "user":
    case "custom":
    case "system":
      return contentLines(message.content);
    case "toolResult":
      return message.isError ? [[styled("error", "(error)")], ...contentLines(message.content)] : contentLines(message.content);
    case "assistant":
      return [...contentLines(message.content), ...(message.errorMessage === undefined ? [] : [[styled("error", message.errorMessage)]])];
    case "bashExecution":
      return [[styled("bold", `$ ${message.command}`)], ...textLines(message.output)];
    case "compactionSummary":
    case "branchSummary":
      return textLines(message.summary);
  }
}

function contentLines(content: string | readonly (ContentBlock | AssistantBlock)[]): readonly Line[] {
  return typeof content === "string" ? textLines(content) : content.flatMap(blockLines);
}

/** The widest line of a tool call; its arguments follow it in full. */
const CALL_WIDTH = 100;

function blockLines(block: ContentBlock | AssistantBlock): readonly Line[] {
  switch (block.type) {
    case "text":
      return textLines(block.text);
    case "thinking":
      return [[styled("dim", "(thinking)")], ...safeLines(block.thinking).map((line) => [styled("dim", line)])];
    case "toolCall":
      return [
        [styled("bold", shareLine("", [describeCall(block)], CALL_WIDTH))],
        [styled("dim", `call ${block.id}`)],
        ...jsonLines(block.arguments),
      ];
    case "image":
      return [[styled("dim", `[image ${block.mimeType}, ${bytes(Math.floor((block.data.length * 3) / 4))}]`)]];
    case "file": {
      const size = block.data === undefined ? "" : `, ${bytes(Math.floor((block.data.length * 3) / 4))}`;
      return [[styled("dim", `[file ${describeFile(block)}${size}]`)]];
    }
    case "foreign":
      return [[styled("dim", `[${block.originalType}]`)], ...jsonLines(block.raw)];
  }
}
