import { type Fidelity, scoreFidelity } from "../extract/fidelity.js";
import type { Fact } from "../extract/find-facts.js";
import type { CompactionSettings } from "../settings/settings.js";
import { assertSmaller, buildSource, type WrittenPart } from "./part.js";
import { MISSING_FACTS, SYSTEM_PROMPT } from "./prompt-texts.js";
import type { SummarizerClient } from "./summarizer-client.js";
import { collectMessages } from "./summary-job.js";
import { buildPrompt, type PartKind } from "./task-prompt.js";

/** A summary and its fidelity. */
export interface ScoredPart {
  readonly part: WrittenPart;
  readonly fidelity: Fidelity;
}

/**
 * If a model's summary lacks more facts than `summary.fidelity` allows, sends it once more with the missing facts, and
 * returns the better of both. The facts are quotes, so the source is not sent again and the call is small. If the call
 * fails, the first summary is returned.
 *
 * @throws only the signal's reason.
 */
export async function addMissingFacts(client: SummarizerClient, part: WrittenPart, facts: readonly Fact[]): Promise<ScoredPart> {
  const fidelity = scoreFidelity(facts, part.body);
  const wanted = client.job.settings.summary.fidelity;
  const byModel = part.method === "normal" || part.method === "strict";
  if (!byModel || fidelity.score >= wanted) return { part, fidelity };
  try {
    const body = await requestMissingFacts(client, part, fidelity);
    const again = scoreFidelity(facts, body);
    return again.score > fidelity.score ? { part: { ...part, body }, fidelity: again } : { part, fidelity };
  } catch (error) {
    client.recordFailure(error);
    return { part, fidelity };
  }
}

/** With fewer facts in the source, a good summary may contain none of them by chance. */
const LEAST_FACTS = 3;

/**
 * Whether a model's answer contains almost nothing of its source: "OK", a refusal in plain words, a summary of another
 * conversation. An answer with almost no text always counts as uninformative.
 */
export function isUninformative({ part, fidelity }: ScoredPart, { fidelityFloor }: CompactionSettings["summary"]): boolean {
  const byModel = part.method === "normal" || part.method === "strict";
  if (!byModel || fidelityFloor === 0) return false;
  if (countTextWidth(part.body) < LEAST_TEXT) return true;
  const named = Object.values(fidelity.inSummary).reduce((sum, count) => sum + count, 0);
  return fidelity.total >= LEAST_FACTS && named < LEAST_FACTS && fidelity.score < fidelityFloor;
}

/** The least letters and digits of a summary apart from its headings. A character of Chinese, Japanese or Korean counts twice. */
const LEAST_TEXT = 12;
const NO_TEXT = /^\s*(?:#.*|\*\*[^*]*\*\*:?|[-*+\d.)\s]*(?:\[[ x]\]\s*)?\(?none\)?\.?|(?:-{3,}|={3,}))\s*$/gim;
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

function countTextWidth(body: string): number {
  const said = body.replace(NO_TEXT, "").replace(/[^\p{L}\p{N}]/gu, "");
  return said.length + (said.match(DENSE)?.length ?? 0);
}

async function requestMissingFacts(client: SummarizerClient, part: WrittenPart, { byRecallOnly }: Fidelity): Promise<string> {
  const { job } = client;
  const about: PartKind = job.kind === "branch" ? "branch" : "history";
  const task = { text: MISSING_FACTS, needsTag: false };
  const missingFacts = byRecallOnly.map(({ kind, text }) => `- ${kind}: ${text.replace(/\s+/g, " ")}`);
  const messages = [...collectMessages(job.plan.summarize), ...collectMessages(job.plan.prefix)];
  const answer = await client.send({
    stage: "missing-facts",
    system: SYSTEM_PROMPT,
    prompt: buildPrompt(job, about, task, { conversation: null, previous: null, notes: part.body, missingFacts }),
    task: MISSING_FACTS,
    needsTag: false,
    source: buildSource(job, { about, messages, previous: part.body }),
  });
  assertSmaller(job, answer.body, job.maxTokens);
  return answer.body;
}
