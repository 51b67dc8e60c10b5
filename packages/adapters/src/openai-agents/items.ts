import { isDeepStrictEqual } from "node:util";
import {
  type AssistantBlock,
  type ContentBlock,
  type Entry,
  type EntryInput,
  type FileBlock,
  type ImageBlock,
  type Message,
  type TextBlock,
  textOf,
} from "@bough/session-core";
import {
  branchSummaryText,
  compactionSummaryText,
  isCompactionItem,
  isObject,
  type JsonObject,
  newEntryId,
  opaqueSummaryText,
  parseJsonObject,
  promptContent,
} from "@bough/session-core/wire";
import type { AgentInputItem } from "@openai/agents-core";

// An item of the Agents SDK becomes an entry that every program can read, and comes back as it was. The texts of the item are in the
// message; what the message has no place for (status, provider data, ids) is in the member `openaiAgents` of the entry.

type Block = ContentBlock | AssistantBlock;
/** A block that shows a part of an item. */
type Shown = TextBlock | ImageBlock | FileBlock;

/** The part of an item in its entry: the item without its texts; or the whole item, if the message does not hold them unchanged. */
type Kept = { readonly rest: JsonObject } | { readonly item: unknown };

/** A message, and what is left of the item without what the message says. */
interface Split {
  readonly message: Message;
  readonly rest: JsonObject;
}

/** Makes an entry of an item. Items of a kind that no message can show become `foreign` entries. */
function entryOf(given: AgentInputItem): EntryInput {
  const item = withoutUndefined(given);
  const split = isRecord(item) ? splitItem(item) : undefined;
  if (split === undefined) return { type: "foreign", originalType: originalTypeOf(item), raw: item, openaiAgents: { rest: {} } };
  const isWhole = isDeepStrictEqual(joinItem(split.message, split.rest), item);
  return { type: "message", message: split.message, openaiAgents: isWhole ? { rest: split.rest } : { item } };
}

/**
 * The entries of items. A compaction of the provider is a compaction entry with its item unchanged, which replaces what is before it;
 * of a whole history (`isWhole`) it keeps the items before it, which the provider kept too.
 */
export function entriesOf(items: readonly AgentInputItem[], isWhole: boolean): EntryInput[] {
  const at = items.findLastIndex(isCompactionItem);
  if (at === -1) return items.map(entryOf);
  const [before, after] = [items.slice(0, at).map(entryOf), items.slice(at + 1).map(entryOf)];
  const kept = isWhole ? before.map((entry) => ({ ...entry, id: entry.id ?? newEntryId() })) : [];
  return [
    ...(isWhole ? kept : before),
    compactionEntry(
      items[at],
      kept.map(({ id }) => id),
    ),
    ...after,
  ];
}

function compactionEntry(given: AgentInputItem | undefined, keptIds: readonly string[]): EntryInput {
  const item = withoutUndefined(given);
  const { id, encrypted_content, created_by } = isRecord(item) ? item : {};
  const native = {
    provider: "openai",
    items: [withoutUndefined({ type: "compaction", id, encrypted_content, created_by })],
    readable: false,
  };
  return {
    type: "compaction",
    summary: opaqueSummaryText("openai", []),
    firstKeptEntryId: keptIds[0] ?? null,
    ...(keptIds.length === 0 ? {} : { keptEntryIds: [...keptIds, null] }),
    trigger: "provider",
    details: { native },
    openaiAgents: { item },
  };
}

/**
 * The items of an entry: one for an entry of this adapter; for entries of other programs one for each text and each tool call; none for
 * entries that are not part of the history. `edited` is the message that a context edit put in the place of the entry's own.
 */
export function itemsOf(entry: Entry, edited?: Message): readonly unknown[] {
  if (entry.type === "compaction") {
    const kept = keptOf(entry);
    return [kept !== undefined && "item" in kept ? kept.item : userItem(compactionSummaryText(entry.summary))];
  }
  if (entry.type === "branch_summary") return [userItem(branchSummaryText(entry.summary))];
  if (entry.type === "custom_message") return [userItem(textOf(entry.content))];
  if (entry.type === "foreign") return isRecord(entry.raw) && "type" in entry.raw && keptOf(entry) !== undefined ? [entry.raw] : [];
  if (entry.type !== "message") return [];
  const message = edited ?? entry.message;
  const kept = keptOf(entry);
  if (kept === undefined) return plainItems(message);
  if ("rest" in kept) return [joinItem(message, kept.rest)];
  return edited === undefined ? [kept.item] : plainItems(message);
}

function originalTypeOf(item: unknown): string {
  return isRecord(item) && typeof item["type"] === "string" ? item["type"] : "unknown";
}

function keptOf(entry: Entry): Kept | undefined {
  const kept = "openaiAgents" in entry ? entry.openaiAgents : undefined;
  if (!isRecord(kept)) return undefined;
  if (isRecord(kept["rest"])) return { rest: kept["rest"] };
  return "item" in kept ? { item: kept["item"] } : undefined;
}

function splitItem(item: JsonObject): Split | undefined {
  const { role, type } = item;
  if (role === "user" || role === "assistant" || role === "system") return splitMessage(role, item);
  if (type === "function_call") return splitCall(item);
  if (type === "function_call_result") return splitResult(item);
  if (type === "reasoning") return splitReasoning(item);
  return undefined;
}

function splitMessage(role: "user" | "assistant" | "system", { content, ...rest }: JsonObject): Split {
  const parts = typeof content === "string" || !Array.isArray(content) ? undefined : content;
  const blocks = (parts ?? [content]).map(blockOfPart);
  const message = messageOf(role, typeof content === "string" ? content : blocks, blocks);
  if (parts !== undefined) return { message, rest: { ...rest, content: parts.map(emptied) } };
  return { message, rest: typeof content === "string" ? rest : { ...rest, content } };
}

/** A reply has blocks also where its item has a text; instructions have a text only. */
function messageOf(role: "user" | "assistant" | "system", content: string | Shown[], blocks: Shown[]): Message {
  if (role === "assistant") return { role, content: blocks };
  return role === "system" ? { role, content: textOf(blocks) } : { role, content };
}

function splitCall({ callId, name, arguments: given, ...rest }: JsonObject): Split {
  const text = typeof given === "string" ? given : "";
  // A model can call a tool with arguments that are no JSON; the item keeps them.
  const parsed = parseJsonObject(text);
  const block = { type: "toolCall" as const, id: String(callId), name: String(name), arguments: parsed ?? { arguments: text } };
  const isExact = parsed !== undefined && JSON.stringify(parsed) === text;
  return { message: { role: "assistant", content: [block] }, rest: isExact ? rest : { ...rest, arguments: given } };
}

function splitResult({ callId, name, output, ...rest }: JsonObject): Split {
  const head = {
    role: "toolResult" as const,
    toolCallId: String(callId),
    toolName: String(name),
    isError: rest["status"] === "incomplete",
  };
  if (typeof output === "string") return { message: { ...head, content: output }, rest };
  if (!Array.isArray(output)) return { message: { ...head, content: [blockOfPart(output)] }, rest: { ...rest, output: emptied(output) } };
  return { message: { ...head, content: output.map(blockOfPart) }, rest: { ...rest, output: output.map(emptied) } };
}

function splitReasoning(item: JsonObject): Split {
  const texts = [item["rawContent"], item["content"]].find((parts) => Array.isArray(parts) && parts.length > 0);
  const thinking = Array.isArray(texts) ? texts.map(textOfPart).join("\n") : "";
  return { message: { role: "assistant", content: [{ type: "thinking", thinking }] }, rest: item };
}

/** The reverse of `splitItem`. */
function joinItem(message: Message, rest: JsonObject): JsonObject {
  if (message.role === "toolResult") {
    const { toolCallId: callId, toolName: name } = message;
    return { ...rest, callId, name, output: joinParts(rest["output"], message.content) };
  }
  if (rest["type"] === "reasoning") return rest;
  if (message.role === "assistant" && rest["type"] === "function_call") {
    const call = Array.isArray(message.content) ? message.content.find((block) => block.type === "toolCall") : undefined;
    if (call === undefined) return rest;
    return { ...rest, callId: call.id, name: call.name, arguments: rest["arguments"] ?? JSON.stringify(call.arguments) };
  }
  if (message.role === "bashExecution") return rest;
  return { ...rest, content: joinParts(rest["content"], message.content) };
}

/** Fills the parts of an item from the blocks of its message. A message with another number of blocks replaces the parts by its texts. */
function joinParts(parts: unknown, content: string | readonly Block[]): unknown {
  const blocks: readonly Block[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  if (parts === undefined) return textOf(blocks);
  if (!Array.isArray(parts)) return filled(parts, blocks[0]);
  if (parts.length === blocks.length) return parts.map((part, at) => filled(part, blocks[at]));
  const part = parts.find((one) => textMemberOf(one) !== undefined) ?? { type: "input_text", text: "" };
  return blocks.filter((block) => block.type === "text").map((block) => filled(part, block));
}

/** The items of a message that another program wrote. Thinking is left out: its signature belongs to another provider. */
function plainItems(message: Message): readonly unknown[] {
  if (message.role === "system") return [{ role: "system", content: textOf(message.content) }];
  if (message.role === "assistant") return message.content.flatMap(plainReplyItem);
  const content = promptContent(message);
  if (content === null) return [];
  if (message.role !== "toolResult") return [userItem(textOf(content))];
  const { toolCallId: callId, toolName: name = "" } = message;
  return [{ type: "function_call_result", callId, name, status: "completed", output: textOf(content) }];
}

function plainReplyItem(block: AssistantBlock): readonly unknown[] {
  if (block.type === "text")
    return [{ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: block.text }] }];
  if (block.type !== "toolCall") return [];
  return [{ type: "function_call", callId: block.id, name: block.name, status: "completed", arguments: JSON.stringify(block.arguments) }];
}

function userItem(text: string): unknown {
  return { type: "message", role: "user", content: text };
}

const TEXT_MEMBERS = ["text", "refusal", "transcript"] as const;
const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+);base64,([A-Za-z0-9+/]*={0,2})$/;
/** The members of a part that hold content as a data URL. */
const DATA_MEMBERS = ["image", "file", "audio"] as const;

function textMemberOf(part: unknown): (typeof TEXT_MEMBERS)[number] | undefined {
  return isRecord(part) ? TEXT_MEMBERS.find((member) => typeof part[member] === "string") : undefined;
}

/** The content of a part that has it as a data URL. */
function dataOf(part: unknown): { readonly member: string; readonly mediaType: string; readonly data: string } | undefined {
  if (!isRecord(part)) return undefined;
  for (const member of DATA_MEMBERS) {
    const given = part[member];
    const [, mediaType, data] = typeof given === "string" ? (DATA_URL.exec(given) ?? []) : [];
    if (mediaType !== undefined && data !== undefined) return { member, mediaType, data };
  }
  return undefined;
}

/** The block of a message that shows a part. */
function blockOfPart(part: unknown): Shown {
  const content = dataOf(part);
  if (content === undefined) return { type: "text", text: textOfPart(part) };
  const { mediaType, data } = content;
  if (mediaType.startsWith("image/")) return { type: "image", mimeType: mediaType, data };
  const filename = isRecord(part) && typeof part["filename"] === "string" ? { filename: part["filename"] } : {};
  return { type: "file", mediaType, data, ...filename };
}

function textOfPart(part: unknown): string {
  const member = textMemberOf(part);
  if (member !== undefined && isRecord(part)) return String(part[member]);
  return typeof part === "string" ? part : `[${isRecord(part) ? String(part["type"] ?? "data") : "data"}]`;
}

/** The part without what its block holds. An empty text marks the member that the block fills. */
function emptied(part: unknown): unknown {
  const member = dataOf(part)?.member ?? textMemberOf(part);
  return member !== undefined && isRecord(part) ? { ...part, [member]: "" } : part;
}

/** The reverse of `emptied`. */
function filled(part: unknown, block: Block | undefined): unknown {
  if (!isRecord(part) || block === undefined) return part;
  if (block.type === "image" || block.type === "file") {
    const member = DATA_MEMBERS.find((name) => part[name] === "");
    const mediaType = block.type === "image" ? block.mimeType : block.mediaType;
    return member === undefined ? part : { ...part, [member]: `data:${mediaType};base64,${block.data ?? ""}` };
  }
  const member = textMemberOf(part);
  return member !== undefined && block.type === "text" ? { ...part, [member]: block.text } : part;
}

function isRecord(value: unknown): value is JsonObject {
  return isObject(value) && !(value instanceof Uint8Array);
}

/** A copy without members that are undefined, as JSON would have it. Bytes stay. */
function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => [name, withoutUndefined(member)]),
  );
}
