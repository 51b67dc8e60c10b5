import { CALL_TOKENS, MESSAGE_TOKENS } from "../../tokens/message-tokens.js";
import type { PruneReason } from "./prune-plan.js";

/** Longest name of a file in a placeholder, in UTF-16 code units. */
export const SHOWN_PATH_CHARS = 80;

/** What a result is pruned for; `file`: which file was read again (one line, no longer than `SHOWN_PATH_CHARS`). */
export type Pruned = { readonly because: Exclude<PruneReason, "superseded"> } | { readonly because: "superseded"; readonly file: string };

/**
 * What stands in place of a result of so many tokens: pi's and oh-my-pi's line, which says besides where the same is found.
 *
 * @example
 * placeholder({ because: "age" }, 1_200); // "[Output truncated - 1200 tokens]"
 */
export function placeholder(pruned: Pruned, tokens: number): string {
  const where = whereElse(pruned);
  return `[Output truncated - ${tokens} tokens${where === null ? "" : `; ${where}`}]`;
}

function whereElse(pruned: Pruned): string | null {
  switch (pruned.because) {
    case "age":
      return null;
    case "superseded":
      return `a later read has ${pruned.file}`;
    case "duplicate":
      return "a later result is the same";
    case "useless":
      return "its tool marked it as useless";
  }
}

/** Whether a text is such a line, of this program or of pi. */
export function isPlaceholder(text: string): boolean {
  return text.length < 200 && /^\[Output truncated - \d+ tokens(; [^\n]*)?\]$/.test(text);
}

/**
 * Tokens that a placeholder has at most, with the frame of its message: no tokenizer is loaded for a line. Plain ASCII is
 * two characters a token or better; anything else may be a token a byte.
 */
export function placeholderTokens(text: string): number {
  const bytes = Buffer.byteLength(text);
  const wide = text.match(/[^\x20-\x7e]/gu)?.join("") ?? "";
  const wideBytes = Buffer.byteLength(wide);
  return MESSAGE_TOKENS + CALL_TOKENS + Math.ceil((bytes - wideBytes) / 2) + wideBytes;
}
