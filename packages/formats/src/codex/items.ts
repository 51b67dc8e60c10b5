import {
  isCompactionItem,
  isObject,
  type JsonObject,
  objectAt,
  opaqueSummaryText,
  parseArguments,
  stringAt,
  toDataBlock,
  toForeignBlock,
  tryStringify,
  without,
  withoutUndefined,
} from "@bough/session-core/wire";
import { compactionPayload, type KeptEntries, resultPayload } from "../source/payloads.js";

/** The blocks of a reply that an item of the model gives; undefined: the item belongs to no reply, or has not the shape of its type. */
export function toReplyBlocks(item: JsonObject): readonly JsonObject[] | undefined {
  switch (item.type) {
    case "message":
      return item.role === "assistant" ? toTextBlocks(item) : undefined;
    case "reasoning":
      return toThinkingBlocks(item);
    case "function_call":
      return toCallBlocks(item, stringAt(item, "name"), parseArguments(item.arguments));
    case "custom_tool_call":
      return toCallBlocks(item, stringAt(item, "name"), { input: item.input ?? "" }, { custom: true });
    case "local_shell_call":
      return toCallBlocks(item, "local_shell", objectAt(item, "action") ?? {});
    case "tool_search_call":
      return toCallBlocks(item, "tool_search", parseArguments(item.arguments), { toolSearch: true });
    // OpenAI runs these tools itself: the item is the call and its result.
    case "web_search_call":
      return [toForeignBlock(item)];
    case "image_generation_call":
      return [toGeneratedImage(item)];
  }
  return undefined;
}

function toTextBlocks(item: JsonObject): readonly JsonObject[] | undefined {
  const options = optionsOf(item, { phase: stringAt(item, "phase") });
  return toContentBlocks(item.content)?.map((block) => (block.type === "text" ? { ...block, ...options } : block));
}

/** A block for each part of the summary and of the content, at least one. The encrypted content is kept with the first one. */
function toThinkingBlocks(item: JsonObject): readonly JsonObject[] {
  const texts = [...textsOf(item.summary), ...textsOf(item.content)];
  const encrypted = { reasoningEncryptedContent: stringAt(item, "encrypted_content") };
  return (texts.length === 0 ? [""] : texts).map((thinking, at) => ({
    type: "thinking",
    thinking,
    ...optionsOf(item, at === 0 ? encrypted : {}),
  }));
}

function textsOf(parts: unknown): readonly string[] {
  return Array.isArray(parts) ? parts.flatMap((part: unknown) => (isObject(part) ? (stringAt(part, "text") ?? []) : [])) : [];
}

/** `more`: members from which an export restores an item that is no `function_call`. */
function toCallBlocks(
  item: JsonObject,
  name: string | undefined,
  args: JsonObject,
  more: JsonObject = {},
): readonly JsonObject[] | undefined {
  const id = stringAt(item, "call_id") ?? stringAt(item, "id");
  if (id === undefined || id === "" || name === undefined) return undefined;
  return [{ type: "toolCall", id, name, arguments: args, ...optionsOf(item, { namespace: stringAt(item, "namespace"), ...more }) }];
}

function toGeneratedImage(item: JsonObject): JsonObject {
  const [image] = toDataBlock(`data:image/png;base64,${stringAt(item, "result") ?? ""}`);
  if (image?.type !== "image" || image.data === "") return toForeignBlock(item);
  return { ...image, ...optionsOf(item, { revisedPrompt: stringAt(item, "revised_prompt") }) };
}

/** Returns the data that OpenAI expects back with a block, under the names of the AI SDK and of `fromOpenAiResponses`. */
function optionsOf(item: JsonObject, more: JsonObject): JsonObject {
  const openai = withoutUndefined({ itemId: stringAt(item, "id"), ...more });
  return Object.keys(openai).length === 0 ? {} : { providerOptions: { openai } };
}

/** The blocks of a content: texts, images, and other parts as foreign blocks. undefined: it is no content. */
export function toContentBlocks(content: unknown): readonly JsonObject[] | undefined {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.flatMap(toContentBlock) : undefined;
}

function toContentBlock(part: unknown): readonly JsonObject[] {
  if (!isObject(part)) return [toForeignBlock(part)];
  const text = stringAt(part, "text");
  if (text !== undefined) return [{ type: "text", text }];
  const refusal = stringAt(part, "refusal");
  if (refusal !== undefined) return [{ type: "text", text: refusal, providerOptions: { openai: { refusal: true } } }];
  const url = stringAt(part, "image_url") ?? stringAt(objectAt(part, "image_url") ?? {}, "url");
  const images = url === undefined ? [] : toDataBlock(url);
  return images.length > 0 ? images : [toForeignBlock(part)];
}

/** The output of a tool as a payload; undefined: the item has no id of a call. `toolName`: that of the call, if it is known. */
export function toResultPayload(item: JsonObject, toolName: string | undefined, details: JsonObject = {}): JsonObject | undefined {
  const toolCallId = stringAt(item, "call_id");
  if (toolCallId === undefined) return undefined;
  const { content, isError, more } = item.type === "tool_search_output" ? toFoundTools(item) : toOutput(item.output);
  return resultPayload({ toolCallId, toolName, content, isError: isError || details.success === false, details: { ...more, ...details } });
}

interface ToolOutput {
  readonly content: string | readonly JsonObject[];
  readonly isError: boolean;
  /** Members that are not part of the text. */
  readonly more?: JsonObject | undefined;
}

function toFoundTools(item: JsonObject): ToolOutput {
  const more = without(item, ["type", "call_id", "id", "tools"]);
  return { content: tryStringify(item.tools) ?? "", isError: item.status === "failed", more };
}

function toOutput(output: unknown): ToolOutput {
  if (typeof output === "string") return toTextOutput(output);
  if (Array.isArray(output)) {
    const content = toContentBlocks(output) ?? [];
    return { content, isError: isFailure(typeof content[0]?.text === "string" ? content[0].text : "") };
  }
  if (!isObject(output)) return { content: output === undefined || output === null ? "" : (tryStringify(output) ?? ""), isError: false };
  if (output.content === undefined) return { content: toContentBlocks([output]) ?? [], isError: false };
  const inner = toOutput(output.content);
  return { ...inner, isError: inner.isError || output.success === false };
}

/** The shell of early versions wrote its output as JSON text: `{"output":"…","metadata":{"exit_code":0,"duration_seconds":0.1}}`. */
function toTextOutput(text: string): ToolOutput {
  const wrapped = text.startsWith('{"output":') && text.includes('"metadata":') ? parseArguments(text) : {};
  const output = stringAt(wrapped, "output");
  const metadata = objectAt(wrapped, "metadata");
  const isWrapped = output !== undefined && metadata !== undefined && Object.keys(wrapped).length === 2;
  if (!isWrapped) return { content: text, isError: isFailure(text) };
  return { content: output, isError: typeof metadata.exit_code === "number" && metadata.exit_code !== 0, more: { metadata } };
}

/** The number of characters of an output that are searched for its exit code, which is at the beginning. */
const EXIT_CODE_CHARS = 300;

function isFailure(text: string): boolean {
  const code = /^(?:Exit code:|Process exited with code) (-?\d+)$/m.exec(text.slice(0, EXIT_CODE_CHARS))?.[1];
  return code !== undefined && Number(code) !== 0;
}

/** The text that Codex writes before a summary, for the model that reads it. */
const SUMMARY_OPENING = /^Another language model started to solve this problem and produced a summary[^\n]*:\n/;

/** Splits the message of a compaction into the text that Codex writes before the summary, and the summary. */
export function summaryIn(message: string): { readonly opening: string | undefined; readonly summary: string } {
  const [opening] = SUMMARY_OPENING.exec(message) ?? [];
  return { opening, summary: message.slice(opening?.length ?? 0) };
}

/** The facts of a compaction that a rollout has outside its record. */
interface CompactionFacts {
  readonly tokensBefore: number | undefined;
  readonly usage: JsonObject | undefined;
  /** The items of the reply that is the summary. */
  readonly reply: readonly JsonObject[] | undefined;
  readonly kept: KeptEntries;
  /** The model in use, which wrote an encrypted summary. */
  readonly model: { readonly provider?: string; readonly model?: string };
}

/**
 * The payload of a compaction. The list of items that replaced the history is in the details, with the reply that is the summary. Where
 * OpenAI wrote the summary, encrypted, its item is `native`, and a note is the summary.
 */
export function toCompaction(message: string, compacted: JsonObject, facts: CompactionFacts): JsonObject {
  const { tokensBefore, usage, reply, kept, model } = facts;
  const { opening, summary } = summaryIn(message);
  const native = toNative(compacted, model);
  const details = withoutUndefined({ opening, reply, ...without(compacted, ["message"]), native });
  const readable = summary === "" && native !== undefined ? opaqueSummaryText(native.provider, []) : summary;
  const known = Object.keys(details).length === 0 ? undefined : details;
  return compactionPayload({ summary: readable, kept, tokensBefore, usage, details: known });
}

function toNative({ replacement_history: list }: JsonObject, { provider = "openai", model }: CompactionFacts["model"]) {
  const items = Array.isArray(list) ? list.filter(isCompactionItem) : [];
  return items.length === 0 ? undefined : { provider, ...withoutUndefined({ model }), items, readable: false };
}

const OUTPUTS: ReadonlySet<unknown> = new Set([
  ...["function_call_output", "custom_tool_call_output", "tool_search_output", "mcp_tool_call_output"],
]);

export function isOutput({ type }: JsonObject): boolean {
  return OUTPUTS.has(type);
}
