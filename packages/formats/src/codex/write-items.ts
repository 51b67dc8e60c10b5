import type { AssistantBlock, AssistantMessage, BashExecutionMessage, ContentBlock, Message, ToolResultMessage } from "@bough/session-core";
import { describeFile } from "@bough/session-core/view";
import {
  branchSummaryText,
  isObject,
  type JsonObject,
  OPENAI_NAME_LENGTH,
  objectAt,
  parseJson,
  sanitizeToolName,
  stringAt,
  tryStringify,
  withoutUndefined,
} from "@bough/session-core/wire";
import { derivedId } from "../source/derived-id.js";

/** The form of a message in a rollout: items for the model, and events for the interface. */
export interface RolloutParts {
  readonly items: readonly JsonObject[];
  readonly events: readonly JsonObject[];
}

const NOTHING: RolloutParts = { items: [], events: [] };

/**
 * Returns the items of a message, and its events for the interface. A system message has none: it belongs to the session.
 * @param calls the item of each call so far, by its id: an output has the type that belongs to its call.
 */
export function toRolloutParts(message: Message, calls: ReadonlyMap<string, JsonObject>): RolloutParts {
  switch (message.role) {
    case "user":
      return toPrompt(message.content);
    case "assistant":
      return toReply(message);
    case "toolResult":
      return { items: [toOutputItem(message, calls.get(message.toolCallId))], events: [] };
    case "bashExecution":
      return message.excludeFromContext === true ? NOTHING : { items: [inputItem("user", toCommandText(message))], events: [] };
    case "custom":
      return toCustomItem(message.customType, message.content, message.details);
    case "system":
      return NOTHING;
  }
}

function toPrompt(content: string | readonly ContentBlock[]): RolloutParts {
  const item = inputItem("user", content);
  const text = typeof content === "string" ? content : content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  return { items: [item], events: [{ type: "user_message", message: text, images: [], local_images: [], text_elements: [] }] };
}

/** A command of the user as Codex writes it. */
function toCommandText({ command, output, exitCode }: BashExecutionMessage): string {
  const result = `${typeof exitCode === "number" ? `Exit code: ${exitCode}\n` : ""}Output:\n${output}`;
  return `<user_shell_command>\n<command>\n${command}\n</command>\n<result>\n${result}\n</result>\n</user_shell_command>`;
}

/** The customTypes that the reader gives, and other messages of programs: Codex has only the roles of the model for them. */
function toCustomItem(customType: string, content: string | readonly ContentBlock[], details: unknown): RolloutParts {
  if (customType === "codex.developer") return { items: [inputItem("developer", content)], events: [] };
  const sender = isObject(details) ? details : {};
  if (customType !== "codex.agent" || sender.author === undefined) return { items: [inputItem("user", content)], events: [] };
  return {
    items: [{ type: "agent_message", author: sender.author, recipient: sender.recipient, content: toParts(content, "input_text") }],
    events: [],
  };
}

/** The summary of a branch as the model reads it. */
export function toBranchSummaryItem(summary: string): JsonObject {
  return inputItem("user", branchSummaryText(summary));
}

/** A message of the role `user` or `developer`. */
export function inputItem(role: string, content: string | readonly ContentBlock[]): JsonObject {
  return { type: "message", role, content: toParts(content, "input_text") };
}

function toParts(content: string | readonly ContentBlock[], textType: string): readonly JsonObject[] {
  const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  return blocks.map((block) => toPart(block, textType));
}

function toPart(block: AssistantBlock, textType: string): JsonObject {
  switch (block.type) {
    case "text":
      return { type: textType, text: block.text };
    case "image":
      return { type: "input_image", image_url: `data:${block.mimeType};base64,${block.data}` };
    case "file":
      if (block.url !== undefined && block.mediaType.startsWith("image/")) return { type: "input_image", image_url: block.url };
      return { type: textType, text: `[${describeFile(block)}]` };
    case "foreign":
      return isObject(block.raw) && block.raw.type === block.originalType && isCodexPart(block.raw)
        ? block.raw
        : { type: textType, text: `[${block.originalType}]` };
    case "thinking":
    case "toolCall":
      return { type: textType, text: `[${block.type}]` };
  }
}

function isCodexPart({ type }: JsonObject): boolean {
  return type === "input_image" || type === "encrypted_content";
}

function toReply(message: AssistantMessage): RolloutParts {
  const items: JsonObject[] = [];
  const events: JsonObject[] = [];
  for (const block of message.content) {
    const item = toReplyItem(block, items.at(-1));
    if (item !== undefined) items.push(item);
    if (block.type === "text") events.push({ type: "agent_message", message: block.text });
    if (block.type === "thinking" && block.thinking !== "") events.push({ type: "agent_reasoning", text: block.thinking });
  }
  if (message.errorMessage !== undefined) events.push({ type: "error", message: message.errorMessage });
  return { items, events };
}

/** The item of a block; undefined: it was added to the item before, or only the interface shows it. */
function toReplyItem(block: AssistantBlock, before: JsonObject | undefined): JsonObject | undefined {
  const openai = objectAt(objectAt({ options: block.providerOptions }, "options") ?? {}, "openai") ?? {};
  const id = stringAt(openai, "itemId");
  switch (block.type) {
    case "thinking":
      return toReasoning(block.thinking, id, stringAt(openai, "reasoningEncryptedContent"), before);
    case "toolCall":
      return toCall(block, openai);
    case "foreign":
      return isObject(block.raw) && RUN_BY_OPENAI.has(block.raw.type)
        ? block.raw
        : outputItem(toPart(block, "output_text"), undefined, openai);
    case "text":
    case "image":
    case "file":
      return addTo(before, toPart(block, "output_text"), id) ? undefined : outputItem(toPart(block, "output_text"), id, openai);
  }
}

/** Items of tools that OpenAI runs, which are kept unchanged. */
const RUN_BY_OPENAI: ReadonlySet<unknown> = new Set(["web_search_call", "image_generation_call"]);

/** Reasoning is valid only with its encrypted content: that of other providers is shown, and not sent. */
function toReasoning(
  text: string,
  id: string | undefined,
  encrypted: string | undefined,
  before: JsonObject | undefined,
): JsonObject | undefined {
  const part = text === "" ? [] : [{ type: "summary_text", text }];
  if (encrypted !== undefined) return { type: "reasoning", ...withoutUndefined({ id }), summary: part, encrypted_content: encrypted };
  if (before?.type === "reasoning" && before.id === id && Array.isArray(before.summary)) before.summary.push(...part);
  return undefined;
}

/** Adds a part to the message before it if it is of the same item. */
function addTo(before: JsonObject | undefined, part: JsonObject, id: string | undefined): boolean {
  if (id === undefined || before?.type !== "message" || before.id !== id || !Array.isArray(before.content)) return false;
  before.content.push(part);
  return true;
}

function outputItem(part: JsonObject, id: string | undefined, openai: JsonObject): JsonObject {
  const phase = stringAt(openai, "phase");
  return { type: "message", ...withoutUndefined({ id }), role: "assistant", content: [part], ...withoutUndefined({ phase }) };
}

type Call = Extract<AssistantBlock, { type: "toolCall" }>;

function toCall({ id, name, arguments: args }: Call, openai: JsonObject): JsonObject {
  const more = withoutUndefined({ id: stringAt(openai, "itemId"), namespace: stringAt(openai, "namespace") });
  const call_id = toCallId(id);
  const { input, unreadable } = args;
  if (name === "local_shell" && args["type"] === "exec")
    return { type: "local_shell_call", ...more, call_id, status: "completed", action: args };
  if (typeof input === "string" && (openai.custom === true || name === "apply_patch"))
    return { type: "custom_tool_call", ...more, status: "completed", call_id, name, input };
  if (name === "tool_search" && openai.toolSearch === true)
    return { type: "tool_search_call", ...more, call_id, status: "completed", execution: "client", arguments: args };
  const text = typeof unreadable === "string" ? unreadable : (tryStringify(args) ?? "{}");
  return { type: "function_call", ...more, name: sanitizeToolName(name, OPENAI_NAME_LENGTH), arguments: text, call_id };
}

/** The id of a call as the Responses API accepts it: at most 64 letters, digits, `_` and `-`. Any other id is replaced by a hash. */
function toCallId(id: string): string {
  return /^[\w-]{1,64}$/.test(id) ? id : `call_${derivedId(id)}`;
}

function toOutputItem(message: ToolResultMessage, call: JsonObject | undefined): JsonObject {
  const { toolCallId, content, details } = message;
  const call_id = toCallId(toolCallId);
  const more = isObject(details) ? details : {};
  const output = typeof content === "string" ? toOutputText(content, more) : toParts(content, "input_text");
  if (call?.type === "custom_tool_call") return { type: "custom_tool_call_output", call_id, output };
  if (call?.type !== "tool_search_call") return { type: "function_call_output", call_id, output };
  const tools = parseJson(typeof content === "string" ? content : "");
  return {
    type: "tool_search_output",
    call_id,
    status: "completed",
    execution: "client",
    ...more,
    tools: Array.isArray(tools) ? tools : [],
  };
}

/** The shell of early versions wrote the exit code beside its output, as JSON text. */
function toOutputText(output: string, details: JsonObject): string {
  const metadata = objectAt(details, "metadata");
  return metadata?.exit_code === undefined ? output : (tryStringify({ output, metadata }) ?? output);
}
