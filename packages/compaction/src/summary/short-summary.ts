import { shortLine } from "@bough/session-core/view";
import { buildPrompt } from "./prompt.js";
import { SHORT_SUMMARY, SYSTEM_PROMPT } from "./prompt-texts.js";
import type { SummarizerClient } from "./summarizer-client.js";

/** Longest short summary, in UTF-16 code units. */
const MAX_CHARS = 200;

/** Share of the output cap, if there is one. */
const OUTPUT_SHARE = 0.2;

/**
 * One line for screens: written by a model if `summary.shortSummary` is set and a model may be called, else the first
 * sentence of the summary. If the call fails, the first sentence is returned.
 *
 * @throws only the signal's reason.
 */
export async function writeShortSummary(client: SummarizerClient, body: string): Promise<string> {
  const { job } = client;
  if (!job.settings.summary.shortSummary || job.skipModel || job.candidates.length === 0) return takeFirstSentence(body);
  try {
    const prompt = buildPrompt(
      { ...job, instructions: null, hook: {} },
      "history",
      { text: SHORT_SUMMARY, needsTag: false },
      { conversation: null, previous: null, notes: body },
    );
    const answer = await client.send({
      stage: "short-summary",
      system: SYSTEM_PROMPT,
      prompt,
      task: SHORT_SUMMARY,
      needsTag: false,
      outputShare: OUTPUT_SHARE,
    });
    return answer.extracted ? takeFirstSentence(body) : plainLine(answer.body);
  } catch (error) {
    client.recordFailure(error);
    return takeFirstSentence(body);
  }
}

/** Lines without a statement: headings, labels, tags, rules, fences and the marker of an extract. */
const NO_SENTENCE = /^(?:#|<[^>]*>$|[-*_=`~]{3,}|\*\*[^*]*\*\*:?$|[^.!?]{1,60}:$|\(none\)|none\.?$|\[?extracted mechanically)/i;

const MARKS = /^(?:[-*+>]\s+|\d+[.)]\s+|\[[ xX]\]\s+)+/;

/**
 * The first sentence of a summary without markup, on one line of at most 200 characters; empty if there is none.
 *
 * @example
 * takeFirstSentence("## Goal\nMend the parser. It fails on tabs."); // "Mend the parser."
 */
export function takeFirstSentence(body: string): string {
  for (const line of body.split("\n")) {
    const said = line.trim().replace(MARKS, "");
    if (said === "" || NO_SENTENCE.test(said)) continue;
    const end = /[.!?](?=\s|$)|[。！？]/.exec(said);
    return plainLine(end === null ? said : said.slice(0, end.index + 1));
  }
  return plainLine(body);
}

function plainLine(text: string): string {
  return shortLine(text.replace(/[*`]{1,3}/g, ""), MAX_CHARS);
}
