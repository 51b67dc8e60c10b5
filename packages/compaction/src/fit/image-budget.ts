import type { AssistantBlock, ContentBlock, ContextMessage, ImageBlock, TextBlock } from "@bough/session-core";
import {
  type CountedMessage,
  type CountMessage,
  countSavedTokens,
  type FitStep,
  keepParts,
  type RequestParts,
  replaceParts,
} from "./request-parts.js";

/**
 * Keeps the newest images up to `imageBytes` of base64 and replaces every older one by a line of text. 0 keeps all
 * images. Linear.
 */
export function limitImages(parts: RequestParts, imageBytes: number, count: CountMessage): FitStep {
  if (imageBytes === 0) return keepParts(parts);
  const dropped = findImagesOverBudget(parts.messages, imageBytes);
  if (dropped.size === 0) return keepParts(parts);
  const changed = new Map<number, CountedMessage>();
  for (const [at, message] of parts.messages.entries()) {
    const lines = replaceImages(message, dropped);
    if (lines !== message) changed.set(at, { message: lines, tokens: count(lines) });
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
    for (const image of blocksOf(message).toReversed()) {
      if (image.type !== "image") continue;
      bytes += image.data.length;
      if (bytes > imageBytes) dropped.add(image);
    }
  }
  return dropped;
}

function blocksOf(message: ContextMessage): Blocks {
  return "content" in message && Array.isArray(message.content) ? message.content : [];
}

function replaceImages(message: ContextMessage, dropped: ReadonlySet<ImageBlock>): ContextMessage {
  if (!blocksOf(message).some((block) => block.type === "image" && dropped.has(block))) return message;
  const asLine = <B extends ContentBlock | AssistantBlock>(block: B): B | TextBlock =>
    block.type === "image" && dropped.has(block) ? { type: "text", text: `[${block.mimeType} left out of this request]` } : block;
  switch (message.role) {
    case "assistant":
      return { ...message, content: message.content.map(asLine) };
    case "user":
    case "custom":
    case "toolResult":
      return typeof message.content === "string" ? message : { ...message, content: message.content.map(asLine) };
    case "bashExecution":
    case "compactionSummary":
    case "branchSummary":
      return message;
  }
}
