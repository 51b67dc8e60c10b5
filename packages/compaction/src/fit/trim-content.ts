import type { AssistantBlock, ContentBlock, ContextMessage, ImageBlock, ToolResultMessage } from "@bough/session-core";
import { takeStart } from "@bough/session-core/view";
import { bodyOf, withBody } from "@bough/session-core/wire";
import { cutMarker, cutMessage } from "./cut-message.js";
import {
  type CountedMessage,
  type CountMessage,
  type CutMemo,
  countSavedTokens,
  type FitStep,
  keepParts,
  type RequestParts,
  replaceParts,
} from "./request-parts.js";

// Room for the marker and a first word.
const MIN_CHARS = 80;

/**
 * Cuts tool results to their first `trimChars` UTF-16 code units, a line with the number of removed characters included.
 * Results of the newest reply stay whole, because the model has not read them yet. Tool name and call id stay; a result
 * in JSON is measured and cut as JSON text. 0 disables; a value below 80 counts as 80. Linear.
 */
export function trimResults(parts: RequestParts, trimChars: number, count: CountMessage, cuts: CutMemo): FitStep {
  if (trimChars === 0) return keepParts(parts);
  const changed = new Map<number, CountedMessage>();
  const newestReply = parts.messages.findLastIndex(({ role }) => role === "assistant");
  for (const [at, message] of parts.messages.entries()) {
    if (at >= newestReply) break;
    if (message.role !== "toolResult") continue;
    const trimmed = cuts.get(message, `trim ${trimChars}`, () => {
      const now = trimResult(message, Math.max(MIN_CHARS, trimChars));
      return { message: now, tokens: now === message ? (parts.tokens[at] ?? 0) : count(now) };
    });
    if (trimmed.message !== message) changed.set(at, trimmed);
  }
  if (changed.size === 0) return keepParts(parts);
  const change = { kind: "trimmed", results: changed.size, tokens: countSavedTokens(parts, changed) } as const;
  return { parts: replaceParts(parts, changed), changes: [change] };
}

function trimResult(message: ToolResultMessage, chars: number): ToolResultMessage {
  const { content } = message;
  const text = typeof content === "string" ? content : content.flatMap(blockText).join("\n");
  if (text.length <= chars) return message;
  const head = takeStart(text, chars - cutMarker(text.length, 0).length - 1);
  const trimmed = `${head}\n${cutMarker(text.length - head.length, 0)}`;
  if (typeof content === "string") return { ...message, content: trimmed };
  return { ...message, content: [{ type: "text", text: trimmed }, ...content.filter(({ type }) => type === "image" || type === "file")] };
}

function blockText(block: ContentBlock): readonly string[] {
  switch (block.type) {
    case "text":
      return [block.text];
    case "foreign":
      return [JSON.stringify(block.raw) ?? ""];
    case "image":
    case "file":
      return [];
  }
}

/** The most tokens of one tool result. */
interface ResultCap {
  /** 0: no cap. */
  readonly capTokens: number;
  readonly headShare: number;
}

/**
 * Removes the middle of each tool result, and of each output of a command that the user ran, that is over the cap, also
 * in a request that fits. Linear.
 */
export function capResults(parts: RequestParts, { capTokens, headShare }: ResultCap, count: CountMessage, cuts: CutMemo): FitStep {
  if (capTokens <= 0) return keepParts(parts);
  const changed = new Map<number, CountedMessage>();
  for (const [at, message] of parts.messages.entries()) {
    const tokens = parts.tokens[at] ?? 0;
    if ((message.role !== "toolResult" && message.role !== "bashExecution") || tokens <= capTokens) continue;
    const cut = cuts.get(message, `cap ${capTokens} ${headShare}`, () =>
      cutMessage({ message, tokens }, { budgetTokens: capTokens, headShare, count }),
    );
    if (cut.message !== message) changed.set(at, cut);
  }
  if (changed.size === 0) return keepParts(parts);
  const change = { kind: "cut-tool-results", results: changed.size, tokens: countSavedTokens(parts, changed) } as const;
  return { parts: replaceParts(parts, changed), changes: [change] };
}

/**
 * Keeps the newest images up to `imageBytes` of base64 and replaces every older one by a line of text. 0 keeps all
 * images. Linear.
 */
export function limitImages(parts: RequestParts, imageBytes: number, count: CountMessage, cuts: CutMemo): FitStep {
  if (imageBytes === 0) return keepParts(parts);
  const dropped = findImagesOverBudget(parts.messages, imageBytes);
  if (dropped.size === 0) return keepParts(parts);
  const changed = new Map<number, CountedMessage>();
  for (const [index, message] of parts.messages.entries()) {
    const images = listBlocks(message).filter((block) => block.type === "image" && dropped.has(block)).length;
    if (images === 0) continue;
    // The dropped images of a message are its oldest ones, so their number says which.
    const lines = cuts.get(message, `images ${images}`, () => {
      const now = replaceImages(message, dropped);
      return { message: now, tokens: count(now) };
    });
    changed.set(index, lines);
  }
  const bytes = [...dropped].reduce((total, { data }) => total + data.length, 0);
  const change = { kind: "images", images: dropped.size, bytes, tokens: countSavedTokens(parts, changed) } as const;
  return { parts: replaceParts(parts, changed), changes: [change] };
}

type Blocks = readonly (ContentBlock | AssistantBlock)[];

/** The images beyond the budget, counted from the newest. */
function findImagesOverBudget(messages: readonly ContextMessage[], imageBytes: number): ReadonlySet<ImageBlock> {
  const dropped = new Set<ImageBlock>();
  let bytes = 0;
  for (const message of messages.toReversed()) {
    for (const image of listBlocks(message).toReversed()) {
      if (image.type !== "image") continue;
      bytes += image.data.length;
      if (bytes > imageBytes) dropped.add(image);
    }
  }
  return dropped;
}

function listBlocks(message: ContextMessage): Blocks {
  const body = bodyOf(message);
  return typeof body === "string" ? [] : body;
}

function replaceImages(message: ContextMessage, dropped: ReadonlySet<ImageBlock>): ContextMessage {
  const body = bodyOf(message);
  if (typeof body === "string") return message;
  return withBody(
    message,
    body.map((block) =>
      block.type === "image" && dropped.has(block) ? { type: "text", text: `[${block.mimeType} left out of this request]` } : block,
    ),
  );
}
