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
 * Keeps the newest images up to `imageBytes` of base64; from the first that does not fit on, each older one becomes a
 * line of text. VS Code's image budget, co-cli's way with old images. 0 keeps all. Linear.
 */
export function limitImages(parts: RequestParts, imageBytes: number, count: CountMessage): FitStep {
  if (imageBytes === 0) return keepParts(parts);
  const gone = findImagesOverBudget(parts.messages, imageBytes);
  if (gone.size === 0) return keepParts(parts);
  const changed = new Map<number, CountedMessage>();
  for (const [at, message] of parts.messages.entries()) {
    const lines = replaceImages(message, gone);
    if (lines !== message) changed.set(at, { message: lines, tokens: count(lines) });
  }
  const bytes = [...gone].reduce((total, { data }) => total + data.length, 0);
  const change = { kind: "images", images: gone.size, bytes, tokens: countSavedTokens(parts, changed) } as const;
  return { parts: replaceParts(parts, changed), changes: [change] };
}

type Blocks = readonly (ContentBlock | AssistantBlock)[];

/** The images that have no place in the budget. */
function findImagesOverBudget(messages: readonly ContextMessage[], imageBytes: number): ReadonlySet<ImageBlock> {
  const gone = new Set<ImageBlock>();
  let bytes = 0;
  for (const message of messages.toReversed()) {
    for (const image of blocksOf(message).toReversed()) {
      if (image.type !== "image") continue;
      bytes += image.data.length;
      if (bytes > imageBytes) gone.add(image);
    }
  }
  return gone;
}

function blocksOf(message: ContextMessage): Blocks {
  return "content" in message && Array.isArray(message.content) ? message.content : [];
}

function replaceImages(message: ContextMessage, gone: ReadonlySet<ImageBlock>): ContextMessage {
  if (!blocksOf(message).some((block) => block.type === "image" && gone.has(block))) return message;
  const asLine = <B extends ContentBlock | AssistantBlock>(block: B): B | TextBlock =>
    block.type === "image" && gone.has(block) ? { type: "text", text: `[${block.mimeType} left out of this request]` } : block;
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
