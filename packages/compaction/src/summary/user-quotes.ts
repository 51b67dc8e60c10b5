import type { ContextMessage } from "@bough/session-core";
import type { CompactionSettings } from "../settings/settings.js";
import { cleanText } from "../text/clean-text.js";
import { inSummary } from "./tagged-blocks.js";
import { headOf } from "./text/cut-text.js";

/** One message of the person, and how many before it are not there. */
export interface KeptWords {
  readonly text: string;
  readonly omittedBefore: number;
}

/** Stands at the end of a message that was cut; Copilot CLI's. */
const CUT = "...<truncated>...";

/** The person's messages among some, as they can stand in a summary. Images are named only. */
export function userWords(messages: readonly ContextMessage[]): readonly KeptWords[] {
  return messages.flatMap((message) => {
    if (message.role !== "user") return [];
    const { content } = message;
    const text =
      typeof content === "string" ? content : content.map((block) => (block.type === "text" ? block.text : "[image]")).join("\n");
    const safe = inSummary(cleanText(text)).trim();
    return safe === "" ? [] : [{ text: safe, omittedBefore: 0 }];
  });
}

/**
 * Which of the person's messages a summary carries: the newest within `newestShare` of both budgets, then the oldest within the
 * rest; the first of either that does not fit is cut. Order is kept. The rule is Copilot CLI's (row 51).
 */
export function selectWords(words: readonly KeptWords[], settings: CompactionSettings["userMessages"]): readonly KeptWords[] {
  const { maxChars, maxMessages, newestShare } = settings;
  const newestBudget = { chars: Math.floor(maxChars * newestShare), messages: Math.ceil(maxMessages * newestShare) };
  const newest = take(words.toReversed(), newestBudget).toReversed();
  const older = words.slice(0, words.length - newest.length);
  // What the newest did not need is the oldest's, so that nothing is left out that fits.
  const left = { chars: maxChars - charsOf(newest), messages: maxMessages - newest.length };
  const oldest = take(older, left);
  return withGap(words, oldest, newest);
}

interface Budget {
  readonly chars: number;
  readonly messages: number;
}

function take(words: readonly KeptWords[], { chars, messages }: Budget): readonly KeptWords[] {
  const taken: KeptWords[] = [];
  let left = chars;
  for (const one of words) {
    if (taken.length >= messages || left <= CUT.length) break;
    const fits = one.text.length <= left;
    taken.push(fits ? one : { ...one, text: headOf(one.text, left - CUT.length) + CUT });
    left -= one.text.length;
  }
  return taken;
}

function charsOf(words: readonly KeptWords[]): number {
  return words.reduce((sum, { text }) => sum + text.length, 0);
}

/** The two ends, with the number of what lies between them, and was left out before, at the seam. */
function withGap(words: readonly KeptWords[], oldest: readonly KeptWords[], newest: readonly KeptWords[]): readonly KeptWords[] {
  const between = words.slice(oldest.length, words.length - newest.length);
  const gap = between.length + between.reduce((sum, { omittedBefore }) => sum + omittedBefore, 0);
  const [first, ...rest] = newest;
  if (gap === 0 || first === undefined) return [...oldest, ...newest];
  return [...oldest, { ...first, omittedBefore: first.omittedBefore + gap }, ...rest];
}

/** The inside of the block. */
export function wordsText(words: readonly KeptWords[]): string {
  const intro = "The user's own messages, word for word, oldest first:";
  const lines = words.flatMap(({ text, omittedBefore }) => [
    ...(omittedBefore > 0 ? [`... ${omittedBefore} messages omitted ...`] : []),
    `<user-message>\n${text}\n</user-message>`,
  ]);
  return [intro, ...lines].join("\n");
}

const PART = /^\.\.\. (\d+) messages omitted \.\.\.$|^<user-message>\n([\s\S]*?)\n<\/user-message>$/gm;

/** Reads the inside of a block back. A text that was made safe cannot hold a tag of ours, so each part is found. */
export function readWords(text: string): readonly KeptWords[] {
  const words: KeptWords[] = [];
  let omittedBefore = 0;
  for (const [, omitted, said] of text.matchAll(PART)) {
    if (said === undefined) omittedBefore += Number(omitted);
    else {
      words.push({ text: said, omittedBefore });
      omittedBefore = 0;
    }
  }
  return words;
}
