import type { ContextMessage } from "@bough/session-core";
import { cleanText, takeStart } from "@bough/session-core/view";
import type { CompactionSettings } from "../settings/settings.js";
import { escapeForSummary } from "./tagged-blocks.js";

/** One user message, quoted word for word, and the number of omitted messages before it. */
interface UserQuote {
  readonly text: string;
  readonly omittedBefore: number;
}

/** Ends a quote that was cut, in the form of Copilot CLI. */
const CUT = "...<truncated>...";

/** Quotes the user messages among some messages, escaped for a summary. Images are named only. */
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
 * Selects the quotes that a summary contains: the newest within `newestShare` of both budgets, then the oldest within the
 * rest. The first one that does not fit is cut. Order is kept.
 */
export function selectQuotes(quotes: readonly UserQuote[], settings: CompactionSettings["userMessages"]): readonly UserQuote[] {
  const { maxChars, maxMessages, newestShare } = settings;
  const newestBudget = { chars: Math.floor(maxChars * newestShare), messages: Math.ceil(maxMessages * newestShare) };
  const newest = takeWithinBudget(quotes.toReversed(), newestBudget).toReversed();
  const older = quotes.slice(0, quotes.length - newest.length);
  // The oldest quotes get the budget that the newest do not use.
  const left = { chars: maxChars - countChars(newest), messages: maxMessages - newest.length };
  const oldest = takeWithinBudget(older, left);
  return joinEnds(quotes, oldest, newest);
}

interface Budget {
  readonly chars: number;
  readonly messages: number;
}

function takeWithinBudget(quotes: readonly UserQuote[], { chars, messages }: Budget): readonly UserQuote[] {
  const taken: UserQuote[] = [];
  let left = chars;
  for (const one of quotes) {
    if (taken.length >= messages || left <= CUT.length) break;
    const fits = one.text.length <= left;
    taken.push(fits ? one : { ...one, text: takeStart(one.text, left - CUT.length) + CUT });
    left -= one.text.length;
  }
  return taken;
}

function countChars(quotes: readonly UserQuote[]): number {
  return quotes.reduce((sum, { text }) => sum + text.length, 0);
}

/** Joins the oldest and the newest quotes, and stores the number of omitted ones at the gap. */
function joinEnds(quotes: readonly UserQuote[], oldest: readonly UserQuote[], newest: readonly UserQuote[]): readonly UserQuote[] {
  const between = quotes.slice(oldest.length, quotes.length - newest.length);
  const gap = between.length + between.reduce((sum, { omittedBefore }) => sum + omittedBefore, 0);
  const [first, ...rest] = newest;
  if (gap === 0 || first === undefined) return [...oldest, ...newest];
  return [...oldest, { ...first, omittedBefore: first.omittedBefore + gap }, ...rest];
}

/** The content of the block `user-messages`. */
export function formatQuotes(quotes: readonly UserQuote[]): string {
  const intro = "The user's own messages, word for word, oldest first:";
  const lines = quotes.flatMap(({ text, omittedBefore }) => [
    ...(omittedBefore > 0 ? [`... ${omittedBefore} messages omitted ...`] : []),
    `<user-message>\n${text}\n</user-message>`,
  ]);
  return [intro, ...lines].join("\n");
}

const PART = /^\.\.\. (\d+) messages omitted \.\.\.$|^<user-message>\n([\s\S]*?)\n<\/user-message>$/gm;

/** Parses the content of the block. Quotes are escaped, so they cannot contain its tags. */
export function parseQuotes(text: string): readonly UserQuote[] {
  const quotes: UserQuote[] = [];
  let omittedBefore = 0;
  for (const [, omitted, quote] of text.matchAll(PART)) {
    if (quote === undefined) omittedBefore += Number(omitted);
    else {
      quotes.push({ text: quote, omittedBefore });
      omittedBefore = 0;
    }
  }
  return quotes;
}
