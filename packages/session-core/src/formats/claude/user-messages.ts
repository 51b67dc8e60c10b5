import { type JsonObject, objectAt, without } from "../../source/narrow.js";
import { contentBlock, contentOf } from "./blocks.js";
import { type InjectedKind, injectedKind, isReminderBlock, META, QUEUED, spokenText } from "./injected.js";
import { isResultBlock, queuedPrompt, resultBlocks } from "./record-kind.js";

/** The name of the tool behind a call; undefined when the file does not have the call. */
export type ToolNames = (toolCallId: string) => string | undefined;

/**
 * The messages of one `user` record (or of a queued prompt): its tool results first, one message each, because they
 * must follow their calls; then what stands next to them (regression R66). Reminders of the program among the blocks
 * become a message of their own, after the other one: so what a person said reads as they said it, and it begins the
 * turn that the reminders belong to. At least one.
 */
export function userMessages(record: JsonObject, toolNames: ToolNames): readonly JsonObject[] {
  const queued = queuedPrompt(record);
  if (queued !== undefined) return [queuedMessage(record, queued)];
  const content = objectAt(record, "message")?.content;
  const results = resultMessages(record, content, toolNames);
  const rest = Array.isArray(content) ? content.filter((block) => !isResultBlock(block)) : content;
  const isEmpty = Array.isArray(rest) && rest.length === 0;
  return results.length > 0 && isEmpty ? results : [...results, ...spokenMessages(record, rest)];
}

function queuedMessage(record: JsonObject, prompt: unknown): JsonObject {
  const message = custom(injectedKind({}, spokenText(prompt)) ?? QUEUED, contentOf(prompt));
  const details = without(objectAt(record, "attachment") ?? {}, ["type", "prompt"]);
  return Object.keys(details).length === 0 ? message : { ...message, details };
}

function resultMessages(record: JsonObject, content: unknown, toolNames: ToolNames): readonly JsonObject[] {
  return resultBlocks(content).map((block, at) => {
    const toolCallId = String(block.tool_use_id);
    const toolName = toolNames(toolCallId);
    // The record has one structured result, whatever the number of its blocks.
    const details = at === 0 ? record.toolUseResult : undefined;
    return {
      role: "toolResult",
      toolCallId,
      ...(toolName === undefined ? {} : { toolName }),
      content: contentOf(block.content),
      isError: block.is_error === true,
      ...(details === undefined ? {} : { details }),
    };
  });
}

function spokenMessages(record: JsonObject, content: unknown): readonly JsonObject[] {
  const kind = injectedKind(record, spokenText(content));
  if (!Array.isArray(content) || kind === META) return [spoken(kind, contentOf(content))];
  const reminders = content.filter(isReminderBlock);
  const said = content.filter((block) => !isReminderBlock(block));
  const remarks = reminders.length === 0 ? [] : [spoken(META, reminders.map(contentBlock))];
  return said.length === 0 && remarks.length > 0 ? remarks : [spoken(kind, said.map(contentBlock)), ...remarks];
}

function spoken(kind: InjectedKind | undefined, content: string | readonly JsonObject[]): JsonObject {
  return kind === undefined ? { role: "user", content } : custom(kind, content);
}

function custom({ customType, display }: InjectedKind, content: string | readonly JsonObject[]): JsonObject {
  return { role: "custom", customType, display, content };
}
