import type { FoundSecret } from "./secret.js";
import { TOKEN_RULES } from "./token-rules.js";

/** The end of a line in a token: wrapped by a terminal, continued with a backslash, or two texts that code joins. */
const BREAK = String.raw`["']?[^\S\n]{0,3}[\\+.]?[^\S\n]{0,3}\r?\n[^\S\n]{0,40}(?:[+.][^\S\n]{0,3})?["']?`;
/** What goes on in the next line, and nothing else with it. */
const REST = String.raw`[A-Za-z0-9_.~+/=-]{4,400}(?=["'\x60]?[),;\]}]{0,3}[^\S\n]{0,3}(?:\n|$))`;
const PREFIXES = TOKEN_RULES.flatMap(({ hints }) => (hints instanceof RegExp ? [] : hints)).filter((hint) => hint.length >= 3);
const ESCAPED = /[.*+?^${}()|[\]\\/]/g;
const BROKEN = new RegExp(
  `(?<![A-Za-z0-9-])((?:${PREFIXES.map((prefix) => prefix.replace(ESCAPED, "\\$&")).join("|")})[A-Za-z0-9_.~+/=-]{2,400})(${BREAK})(${REST})`,
  "g",
);

/** Tokens of `TOKEN_RULES` that continue in the next line, except those that are whole before the end of their line (`found`). */
export function findBrokenTokens(text: string, found: readonly FoundSecret[]): readonly FoundSecret[] {
  if (!text.includes("\n")) return [];
  const broken: FoundSecret[] = [];
  for (const { 1: head = "", 2: gap = "", 3: rest = "", index } of text.matchAll(BROKEN)) {
    if (found.some(({ start, end }) => start < index + head.length && end > index)) continue;
    const joined = head + rest;
    for (const { kind, pattern } of TOKEN_RULES) {
      const match = joined.match(new RegExp(pattern.source))?.[0];
      if (match === undefined || !joined.startsWith(match) || match.length <= head.length || typeof kind !== "string") continue;
      broken.push({ start: index, end: index + gap.length + match.length, kind });
      break;
    }
  }
  return broken;
}
