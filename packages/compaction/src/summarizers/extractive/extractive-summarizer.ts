import { rules } from "@bough/session-core/internals";
import { EXTRACTIVE, SUMMARY_REQUEST } from "../../arguments/shapes.js";
import type { Summarizer, SummaryRequest } from "../summarizer.js";
import { extract } from "./extract.js";
import { extractPrompt } from "./extract-prompt.js";
import { sourceChars } from "./short-source.js";

/** Read in a few minutes; more would be a copy. In UTF-16 code units. */
const MOST_CHARS = 8_000;
const LEAST_CHARS = 600;
/** At most this share of the source. */
const SHARE = 0.25;
/** So many characters has a token of dense text. */
const CHARS_PER_TOKEN = 3;

/**
 * A summariser that needs no model: it takes goal, rules, progress, decisions, errors, files, last state and next steps from
 * the messages themselves, in their own words (`extract`). What a person without an API key gets.
 *
 * `maxChars`: upper bound of what it writes, in UTF-16 code units; default: a quarter of the source, 8,000 at most, 600
 * at least, and what `maxOutputTokens` allows at three characters a token. It never fails; called without a source it
 * extracts from the prompt. Throws the signal's reason where that was aborted before.
 *
 * @example
 * const { text } = await extractiveSummarizer()({ system: "", prompt: "", source });
 */
export function extractiveSummarizer(options: { readonly maxChars?: number | undefined } = {}): Summarizer {
  rules.checkArgument("options", options, EXTRACTIVE);
  return async (request) => {
    rules.checkArgument("request", request, SUMMARY_REQUEST);
    request.signal?.throwIfAborted();
    const { maxOutputTokens = MOST_CHARS, source } = request;
    const mostTokens = Math.min(maxOutputTokens, source?.wantedTokens ?? MOST_CHARS);
    const maxChars = Math.min(options.maxChars ?? defaultChars(request), mostTokens * CHARS_PER_TOKEN);
    const text = request.source === undefined ? extractPrompt(request.prompt, maxChars) : extract(request.source, { maxChars });
    request.onText?.(text);
    return { text, extracted: true };
  };
}

function defaultChars({ source, prompt }: SummaryRequest): number {
  const given = source === undefined ? prompt.length : sourceChars(source);
  return Math.floor(Math.min(MOST_CHARS, Math.max(LEAST_CHARS, given * SHARE)));
}
