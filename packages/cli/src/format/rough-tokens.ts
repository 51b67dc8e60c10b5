import type { AssistantBlock, ContextMessage } from "@bough/session-core";
import { bodyOf } from "@bough/session-core/wire";

/** Tokens of a message's role and separators. */
const MESSAGE_OVERHEAD = 4;

/** Tokens of an image of usual size; they do not depend on the size of its base64. */
const IMAGE = 1500;

/** Tokens of a page of a PDF, and the characters of base64 that a page usually has; other files count as pages too. */
const PAGE = 3000;
const PAGE_CHARS = 66_000;

/** Runs without words: base64, hashes, minified code. */
const UNBROKEN = /[A-Za-z0-9+/=_-]{80,}/g;

const CJK = /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]|[\u{20000}-\u{3ffff}]/gu;

/**
 * Estimates the tokens of a text without the tables of a tokenizer: 4 characters per token; 2 in unbroken runs and in scripts other
 * than Latin; 1 in CJK. Characters ÷ 4 alone would be three times too low for base64 and Chinese.
 */
export function roughTokens(text: string): number {
  const unbroken = lengthOf(text.match(UNBROKEN));
  const cjk = text.match(CJK)?.length ?? 0;
  const other = lengthOf(text.match(/[\u0370-\u2e7f]+/g));
  return Math.ceil(unbroken / 2 + cjk + other / 2 + (text.length - unbroken - cjk - other) / 4);
}

function lengthOf(matches: readonly string[] | null): number {
  return (matches ?? []).reduce((sum, { length }) => sum + length, 0);
}

/** Estimates the tokens of a message: texts, thinking, calls and results, 1,500 per image, 3,000 per 50 kB of a file, and 4 for itself. */
export function roughMessageTokens(message: ContextMessage): number {
  return MESSAGE_OVERHEAD + contentTokens(message);
}

function contentTokens(message: ContextMessage): number {
  if (message.role === "bashExecution" && message.excludeFromContext === true) return 0;
  const body = bodyOf(message);
  const command = message.role === "bashExecution" ? roughTokens(message.command) : 0;
  return command + (typeof body === "string" ? roughTokens(body) : body.reduce((sum, block) => sum + blockTokens(block), 0));
}

function blockTokens(block: AssistantBlock): number {
  switch (block.type) {
    case "text":
      return roughTokens(block.text);
    case "thinking":
      return roughTokens(block.thinking);
    case "toolCall":
      return roughTokens(block.name) + roughTokens(JSON.stringify(block.arguments));
    case "image":
      return IMAGE;
    case "file":
      return Math.max(1, Math.ceil((block.data?.length ?? 0) / PAGE_CHARS)) * PAGE;
    case "foreign":
      return 0;
  }
}
