import type { ContextMessage } from "@bough/session-core";
import type { CompactionSettings } from "../settings/settings.js";
import { cleanText } from "../text/clean-text.js";
import { escapeForSummary } from "./tagged-blocks.js";
import { headOf } from "./text/cut-text.js";

/** One message of the person, and how many before it are not there. */
interface UserQuote {
  readonly text: string;
  readonly omittedBefore: number;
}

/** Stands at the end of a message that was cut; Copilot CLI's. */
const CUT = "...<truncated>...";

/** The person's messages among some, as they can stand in a summary. Images are named only. */
export function collectQuotes(messages: readonly ContextMessage[]): readonly UserQuote[] {
  return messages.flatMap((message) => {
    if (message.role !== "user") return [];
    const { content } = message;
    const text =
      typeof content === "string" ? content : content.map((block) => (block.type === "text" ? block.text : "[image]")).join("\n");
    const safe = escapeForSummary(cleanText(text)).trim();
    return safe === "" ? [] : [{ text: safe, omittedBefore: 0 }];
  });
}

/**
 * Which of the person's messages a summary carries: the newest within `newestShare` of both budgets, then the oldest within the
 * rest; the first of either that does not fit is cut. Order is kept. The rule is Copilot CLI's (row 51).
 */
export function selectQuotes(words: readonly UserQuote[], settings: CompactionSettings["userMessages"]): readonly UserQuote[] {
  const { maxChars, maxMessages, newestShare } = settings;
  const newestBudget = { chars: Math.floor(maxChars * newestShare), messages: Math.ceil(maxMessages * newestShare) };
  const newest = takeWithinBudget(words.toReversed(), newestBudget).toReversed();
  const older = words.slice(0, words.length - newest.length);
  // What the newest did not need is the oldest's, so that nothing is left out that fits.
  const left = { chars: maxChars - countChars(newest), messages: maxMessages - newest.length };
  const oldest = takeWithinBudget(older, left);
  return joinEnds(words, oldest, newest);
}

interface Budget {
  readonly chars: number;
  readonly messages: number;
}

function takeWithinBudget(words: readonly UserQuote[], { chars, messages }: Budget): readonly UserQuote[] {
  const taken: UserQuote[] = [];
  let left = chars;
  for (const one of words) {
    if (taken.length >= messages || left <= CUT.length) break;
    const fits = one.text.length <= left;
    taken.push(fits ? one : { ...one, text: headOf(one.text, left - CUT.length) + CUT });
    left -= one.text.length;
  }
  return taken;
}

function countChars(words: readonly UserQuote[]): number {
  return words.reduce((sum, { text }) => sum + text.length, 0);
}

/** The two ends, with the number of what lies between them, and was left out before, at the seam. */
function joinEnds(words: readonly UserQuote[], oldest: readonly UserQuote[], newest: readonly UserQuote[]): readonly UserQuote[] {
  const between = words.slice(oldest.length, words.length - newest.length);
  const gap = between.length + between.reduce((sum, { omittedBefore }) => sum + omittedBefore, 0);
  const [first, ...rest] = newest;
  if (gap === 0 || first === undefined) return [...oldest, ...newest];
  return [...oldest, { ...first, omittedBefore: first.omittedBefore + gap }, ...rest];
}

/** The inside of the block. */
export function formatQuotes(words: readonly UserQuote[]): string {
  const intro = "The user's own messages, word for word, oldest first:";
  const lines = words.flatMap(({ text, omittedBefore }) => [
    ...(omittedBefore > 0 ? [`... ${omittedBefore} messages omitted ...`] : []),
    `<user-message>\n${text}\n</user-message>`,
  ]);
  return [intro, ...lines].join("\n");
}

const PART = /^\.\.\. (\d+) messages omitted \.\.\.$|^<user-message>\n([\s\S]*?)\n<\/user-message>$/gm;

/** Reads the inside of a block back. A text that was made safe cannot hold a tag of ours, so each part is found. */
export function parseQuotes(text: string): readonly UserQuote[] {
  const words: UserQuote[] = [];
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
