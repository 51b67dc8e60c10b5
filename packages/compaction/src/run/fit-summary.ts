import { SummaryRejectedError } from "../errors/summarizer-errors.js";
import { composeSummary, type SummaryParts } from "../summary/compose.js";
import { cutToTokens } from "../summary/part.js";
import { messageTokens } from "../tokens/message-tokens.js";
import type { ContextState } from "./context-state.js";

/** The text of a summary, and its tokens as a message of the context. */
interface FittedSummary {
  readonly summary: string;
  readonly tokens: number;
}

/**
 * Composes a summary of at most `limits.summaryTokens` that has fewer tokens than `bound`, which is what it replaces. The
 * optional parts are left out step by step (host state, user messages and head; then the note of what is covered; then
 * the prompt and file lists); the file lists remain in the entry's `details`. A body that is still too long loses its middle.
 *
 * @throws {SummaryRejectedError} `larger-than-source`: even the body alone has at least `bound` tokens.
 */
export function fitSummary(given: SummaryParts, state: ContextState, bound: number): FittedSummary {
  const { summaryTokens } = state.limits;
  const { counter } = state.meter;
  const parts = limitQuotedParts(given, summaryTokens);
  const steps = [parts, ...withFewerParts(parts)];
  for (const step of steps) {
    const whole = compose(step, state);
    const addedTokens = whole.tokens - counter.count(step.body);
    const isTooLong = whole.tokens > summaryTokens;
    // The body keeps at least half of the limit: while other parts take more than that, leave out the next one.
    if (isTooLong && addedTokens > summaryTokens / 2 && step !== steps.at(-1)) continue;
    const body = isTooLong ? cutToTokens(step.body, Math.max(1, summaryTokens - addedTokens), counter) : step.body;
    const fitted = isTooLong ? compose({ ...step, body }, state) : whole;
    if (fitted.tokens < bound) return fitted;
  }
  throw new SummaryRejectedError("larger-than-source", parts.body);
}

function compose(parts: SummaryParts, { meter, model }: ContextState): FittedSummary {
  const summary = composeSummary(parts);
  return { summary, tokens: messageTokens(meter.counter, { role: "compactionSummary", summary }, model) };
}

function withFewerParts(parts: SummaryParts): readonly SummaryParts[] {
  const { settings } = parts;
  const noQuotes = { ...settings, userMessages: { ...settings.userMessages, enabled: false }, keep: { ...settings.keep, head: false } };
  const bodyOnly = { ...noQuotes, summary: { ...settings.summary, fileLists: false, keepGoing: "never" as const } };
  return [
    { ...parts, host: null, settings: noQuotes },
    { ...parts, host: null, covers: null, settings: noQuotes },
    { ...parts, host: null, covers: null, prompt: null, settings: bodyOnly },
  ];
}

/** Characters (UTF-16 code units) of a token, at least, and tokens of a path with its line break, at most, in usual text. */
const CHARS_PER_TOKEN = 3;
const TOKENS_PER_PATH = 16;

/** Limits the parts that repeat content of the session, so that in a small window they leave room for the body. */
function limitQuotedParts(parts: SummaryParts, summaryTokens: number): SummaryParts {
  const chars = (share: number) => Math.floor(share * summaryTokens * CHARS_PER_TOKEN);
  const { keep, userMessages } = parts.settings;
  return {
    ...parts,
    mostPaths: Math.floor((0.2 * summaryTokens) / TOKENS_PER_PATH),
    settings: {
      ...parts.settings,
      keep: { ...keep, headChars: Math.min(keep.headChars, chars(0.2)) },
      userMessages: { ...userMessages, maxChars: Math.min(userMessages.maxChars, chars(0.4)) },
    },
  };
}
