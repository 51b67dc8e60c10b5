import { SummaryRejectedError } from "../errors/summarizer-errors.js";
import { extract } from "../summarizers/extractive/extract.js";
import { messagesOf, type SummaryJob } from "./job.js";
import { assertSmaller, summarySource, type WrittenPart } from "./part.js";
import { markerText, takeMarkers } from "./prompts/shared.js";

/** An extract is worth reading up to about here, in characters; more would be a copy. */
const MAX_CHARS = 8_000;
/** Below this no extract says anything. */
const MIN_CHARS = 40;

/**
 * The deterministic extract of a whole job, halved until it is smaller than what it replaces.
 *
 * @throws {SummaryRejectedError} `larger-than-source`: there is so little that nothing smaller can stand for it.
 */
export function writeExtract(job: SummaryJob, masked: (text: string) => string): WrittenPart {
  const messages = [...messagesOf(job.plan.summarize), ...messagesOf(job.plan.prefix)];
  const source = summarySource(job, { about: job.kind === "branch" ? "branch" : "history", messages, previous: job.previousSummary });
  const { counter, maxTokens: replaced, wantedTokens = replaced } = job;
  const maxTokens = Math.min(replaced, wantedTokens);
  // A token is seldom less than two characters where text is dense, and seldom more than four where it is not.
  let maxChars = Math.min(MAX_CHARS, Math.max(MIN_CHARS, maxTokens * 3));
  for (; maxChars >= MIN_CHARS; maxChars = Math.floor(maxChars / 2)) {
    const body = masked(extract(source, { maxChars }).trim());
    if (body !== "" && counter.count(body) < maxTokens) return { body, title: null, method: "extract" };
  }
  throw new SummaryRejectedError("larger-than-source");
}

/** A fixed line that says how much is missing. @throws {SummaryRejectedError} even that is not smaller. */
export function writeMarker(job: SummaryJob): WrittenPart {
  // What an earlier summary knew is not given up; its markers become one with ours.
  const { rest, messages } = takeMarkers(job.previousSummary ?? "");
  const marker = markerText(messages + messagesOf(job.plan.summarize).length + messagesOf(job.plan.prefix).length);
  const carried = rest === "" ? marker : `${rest}\n\n${marker}`;
  const body = job.counter.count(carried) < job.maxTokens ? carried : marker;
  assertSmaller(job, body, job.maxTokens);
  return { body, title: null, method: "marker" };
}
