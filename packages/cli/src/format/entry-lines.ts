import type { Entry, FileLists, Usage } from "@bough/session-core";
import { type Line, styled } from "../terminal/line.js";
import { jsonLines, messageLines, roleName, textLines } from "./message-lines.js";
import { count, dollars } from "./numbers.js";

/** What kind of entry it is, in words. */
export function entryKind(entry: Entry): string {
  switch (entry.type) {
    case "message":
      return roleName(entry.message.role);
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

/** An entry in full, for reading: what is known beside its text, then the text. */
export function entryLines(entry: Entry): readonly Line[] {
  switch (entry.type) {
    case "message":
      return [...messageFacts(entry.message), ...messageLines(entry.message)];
    case "compaction":
      return [
        fact("kept from", entry.firstKeptEntryId ?? "nothing kept"),
        ...optionalFact("tokens before", entry.tokensBefore),
        ...optionalFact("tokens after", entry.tokensAfter),
        ...optionalFact("trigger", entry.trigger),
        ...optionalFact("instructions", entry.instructions),
        ...optionalFact("title", entry.title),
        ...usageFact(entry.usage),
        ...summaryLines(entry),
      ];
    case "branch_summary":
      return [fact("of the branch that ends at", entry.fromId ?? "(unknown)"), ...usageFact(entry.usage), ...summaryLines(entry)];
    case "model_change":
      return textLines(entry.provider === undefined ? entry.modelId : `${entry.provider}/${entry.modelId}`);
    case "thinking_level_change":
      return textLines(entry.thinkingLevel ?? "default");
    case "context_edit":
      return entry.replacement === null
        ? [fact("omits", entry.targetId)]
        : [fact("replaces", entry.targetId), ...contentOf(entry.replacement.content)];
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

function messageFacts(message: Extract<Entry, { type: "message" }>["message"]): readonly Line[] {
  switch (message.role) {
    case "assistant": {
      const { provider, model } = message;
      const named = [provider, model].filter((part) => part !== undefined).join("/");
      return [
        ...(named === "" ? [] : [fact("model", named)]),
        ...usageFact(message.usage),
        ...optionalFact("stopped because", message.stopReason),
      ];
    }
    case "toolResult":
      return [...optionalFact("tool", message.toolName), fact("answers", message.toolCallId)];
    case "bashExecution":
      return optionalFact("exit code", message.exitCode ?? undefined);
    case "custom":
      return [fact("kind", message.customType)];
    case "system":
    case "user":
      return [];
  }
}

function usageFact(usage: Usage | undefined): readonly Line[] {
  if (usage === undefined) return [];
  const parts = [`${count(usage.input ?? 0)} in`, `${count(usage.output ?? 0)} out`];
  if ((usage.cacheRead ?? 0) > 0) parts.push(`${count(usage.cacheRead ?? 0)} from cache`);
  if ((usage.cacheWrite ?? 0) > 0) parts.push(`${count(usage.cacheWrite ?? 0)} to cache`);
  if (usage.cost?.total !== undefined) parts.push(dollars(usage.cost.total));
  return [fact("tokens", parts.join(", "))];
}

function summaryLines(entry: { readonly summary: string; readonly details?: unknown }): readonly Line[] {
  const lists = isFileLists(entry.details) ? entry.details : undefined;
  return [
    ...optionalFact("files read", lists?.readFiles.join(", ") || undefined),
    ...optionalFact("files modified", lists?.modifiedFiles.join(", ") || undefined),
    ...textLines(entry.summary),
  ];
}

/** A hook may have put anything there. */
function isFileLists(details: unknown): details is FileLists {
  if (typeof details !== "object" || details === null || !("readFiles" in details) || !("modifiedFiles" in details)) return false;
  return Array.isArray(details.readFiles) && Array.isArray(details.modifiedFiles);
}

function fact(name: string, value: string | number): Line {
  return [styled("dim", `${name}: `), String(value)];
}

function optionalFact(name: string, value: string | number | undefined): readonly Line[] {
  return value === undefined ? [] : [fact(name, value)];
}
