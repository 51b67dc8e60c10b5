import {
  type AssistantBlock,
  type AssistantMessage,
  assistantMessage,
  type EntryInput,
  type MessageFields,
  normalizeUsage,
  type ToolCallBlock,
  type Usage,
} from "@bough/session-core";
import { isObject, listIterations } from "@bough/session-core/wire";
import type { ModelMessage } from "ai";
import { callBlock, fileBlock, optionsMember, shownBlock, textBlock, thinkingBlock, thinkingFileBlock } from "./blocks.js";
import { type AiSdkStep, isStepPart, providerName, type StepPart } from "./step.js";
import { readStopReason } from "./stop-reason.js";
import { errorOutput, errorText, type ModelOutput, resultEntry } from "./tool-output.js";

/**
 * The entries of one step: the reply with its usage, stop reason, provider and model, then one result for each of its tool calls
 * that has run. Thinking, files, sources and provider metadata (signatures, ids of items) are kept. Pure.
 *
 * @throws {InvalidEntryError} `usage` has counts, but none of a known name.
 * @example
 * const { steps } = await generateText({ model, prompt });
 * await session.append(steps.flatMap((step) => stepEntries(step)));
 */
export function stepEntries(step: AiSdkStep): EntryInput[] {
  return entriesOfStep(step, undefined);
}

/** As `stepEntries`, with the error of a step that failed. A step that failed before it said anything has no entries. */
export function entriesOfStep(step: AiSdkStep, error: unknown): EntryInput[] {
  const parts = step.content.filter(isStepPart);
  const blocks = replyBlocks(parts);
  const { response, model } = step;
  const stopReason = readStopReason(step.finishReason, step.rawFinishReason) ?? "error";
  const isFailed = stopReason === "error" || stopReason === "overflow";
  if (isFailed && blocks.length === 0) return [];
  const fields = {
    provider: providerOf(providerName(model?.provider), blocks),
    model: response.modelId ?? model?.modelId,
    stopReason: isFailed ? "error" : stopReason,
    ...(isFailed && error !== undefined ? { errorMessage: messageOf(error) } : {}),
    ...(response.id === undefined ? {} : { responseId: response.id }),
    ...optionsMember(step.providerMetadata),
  };
  return [...replyEntries(blocks, fields, step.usage), ...resultEntries(parts, modelOutputs(response.messages ?? []))];
}

/**
 * The entries of a reply: its message. Where Anthropic's API compacted the conversation inside it, the SDK has a text part for the block: then
 * a compaction, with the block as far as the SDK has it, and the message of what the reply says around it. `usage`: as the SDK reports it.
 */
export function replyEntries(blocks: AssistantMessage["content"], fields: MessageFields<AssistantMessage>, usage?: object): EntryInput[] {
  const compactionIndex = blocks.findLastIndex(isCompactionText);
  const block = blocks[compactionIndex];
  if (block?.type !== "text")
    return [assistantMessage(blocks, { ...fields, ...(usage === undefined ? {} : { usage: normalizeUsage(usage) }) })];
  const { provider = "anthropic", model } = fields;
  const made = { provider, ...(model === undefined ? {} : { model }) };
  const used = usage === undefined ? {} : splitUsage(usage);
  const native = { ...made, items: [{ type: "compaction", content: block.text }], readable: true };
  const compaction = {
    ...{ type: "compaction" as const, summary: block.text, firstKeptEntryId: null, trigger: "provider", details: { native }, ...made },
    ...(used.compaction === undefined ? {} : { usage: used.compaction }),
  };
  const before = blocks.slice(0, compactionIndex).filter((one) => !isCompactionText(one));
  const after = blocks.slice(compactionIndex + 1);
  const last =
    after.length === 0 ? [] : [assistantMessage(after, { ...fields, ...(used.reply === undefined ? {} : { usage: used.reply }) })];
  return [...(before.length === 0 ? [] : [assistantMessage(before, made)]), compaction, ...last];
}

/** True for the text that `@ai-sdk/anthropic` makes of a compaction block. */
function isCompactionText(block: AssistantBlock): boolean {
  return block.type === "text" && block.text !== "" && block.providerOptions?.["anthropic"]?.["type"] === "compaction";
}

/** The usage of a compaction and of the reply that it is part of. The SDK adds them up, and has the server's own counts in `raw`. */
function splitUsage(usage: object): { readonly compaction?: Usage; readonly reply?: Usage } {
  const raw = "raw" in usage && isObject(usage.raw) ? usage.raw : undefined;
  const iterations = listIterations(raw);
  const own = iterations.find(({ type }) => type === "compaction");
  if (raw === undefined || own === undefined) return { reply: normalizeUsage(usage) };
  return { compaction: normalizeUsage(own), reply: normalizeUsage({ ...raw, iterations: iterations.filter((one) => one !== own) }) };
}

/** A result of `generateText` or of an agent. */
export interface AiSdkResult {
  readonly steps: readonly AiSdkStep[];
  /** Of version 7. */
  readonly responseMessages?: AiSdkStep["response"]["messages"];
}

/** The entries of a whole result of `generateText` or of an agent: those of each of its steps. */
export function resultEntriesOf({ steps, responseMessages = steps[0]?.response.messages }: AiSdkResult): EntryInput[] {
  return [...approvedResults(responseMessages), ...steps.flatMap((step) => stepEntries(step))];
}

/**
 * The results of approved calls of an earlier reply. The SDK runs them before the first step, and puts their message in front of those
 * of the result; version 6 also in front of those of the step.
 */
export function approvedResults(messages: StepMessages = []): EntryInput[] {
  const reply = messages.findIndex(({ role }) => role !== "tool");
  return toolResultParts(messages.slice(0, Math.max(0, reply))).map(({ toolCallId, toolName, output, providerOptions }) =>
    resultEntry({ toolCallId, toolName, output, providerMetadata: providerOptions }),
  );
}

/** The provider, or `anthropic` if the blocks are signed by it. */
export function providerOf(provider: string | undefined, blocks: readonly AssistantBlock[]): string | undefined {
  return provider ?? (blocks.some((block) => block.type === "thinking" && block.thinkingSignature !== undefined) ? "anthropic" : undefined);
}

/** The blocks of a reply, in the order of its parts. */
export function replyBlocks(parts: readonly StepPart[]): AssistantMessage["content"] {
  const approvals = new Map(
    parts.flatMap((part) => (part.type === "tool-approval-request" ? [[part.toolCall.toolCallId, part] as const] : [])),
  );
  return parts.flatMap((part) => replyBlock(part)).map((block) => withApproval(block, approvals));
}

function replyBlock(part: StepPart): readonly AssistantBlock[] {
  switch (part.type) {
    case "text":
      return part.text === "" && part.providerMetadata === undefined ? [] : [textBlock(part.text, part.providerMetadata)];
    case "reasoning":
      return part.text === "" && part.providerMetadata === undefined ? [] : [thinkingBlock(part.text, part.providerMetadata)];
    case "file":
      return [fileBlock(part.file.base64, part.file.mediaType, { metadata: part.providerMetadata })];
    case "reasoning-file":
      return [thinkingFileBlock(part.file.base64, part.file.mediaType, part.providerMetadata)];
    case "custom":
    case "source":
      return [shownBlock(part)];
    case "tool-call":
      return [callBlock(part)];
    default:
      return [];
  }
}

type Approvals = ReadonlyMap<string, { readonly approvalId: string; readonly signature?: string }>;

function withApproval(block: AssistantBlock, approvals: Approvals): AssistantBlock {
  const asked = block.type === "toolCall" ? approvals.get(block.id) : undefined;
  if (asked === undefined) return block;
  const { approvalId: id, signature } = asked;
  return { ...block, approval: { id, ...(signature === undefined ? {} : { signature }) } };
}

/** The entries of the results among the parts of a step. */
export function resultEntries(parts: readonly StepPart[], outputs: ReadonlyMap<string, ModelOutput> = new Map()): EntryInput[] {
  return parts.flatMap((part) => {
    if (part.type !== "tool-result" && part.type !== "tool-error") return [];
    const { toolCallId, toolName, providerExecuted, providerMetadata } = part;
    const known = outputs.get(toolCallId);
    const shared = { toolCallId, toolName, providerExecuted, providerMetadata };
    if (part.type === "tool-error") return [resultEntry({ ...shared, output: known ?? errorOutput(part.error) })];
    return part.preliminary === true ? [] : [resultEntry({ ...shared, output: known, raw: { value: part.output } })];
  });
}

/** Returns the form of each result that the model reads, by the id of its call: it may differ from the value that the tool returns. */
function modelOutputs(messages: StepMessages): ReadonlyMap<string, ModelOutput> {
  return new Map(toolResultParts(messages).map(({ toolCallId, output }) => [toolCallId, output]));
}

type StepMessages = NonNullable<AiSdkStep["response"]["messages"]>;

function toolResultParts(messages: StepMessages) {
  return messages.flatMap(({ content }) => (Array.isArray(content) ? content.filter(isToolResultPart) : []));
}

type ToolContent = Extract<ModelMessage, { role: "tool" }>["content"][number];

function isToolResultPart(part: unknown): part is Extract<ToolContent, { type: "tool-result" }> {
  return isObject(part) && part["type"] === "tool-result" && typeof part["toolCallId"] === "string" && isObject(part["output"]);
}

/** The calls among the blocks. */
export function callsOf(blocks: readonly AssistantBlock[]): ToolCallBlock[] {
  return blocks.filter((block) => block.type === "toolCall");
}

/** The message of an error, of at most 2,000 characters. */
export function messageOf(error: unknown): string {
  return errorText(error).slice(0, 2_000);
}
