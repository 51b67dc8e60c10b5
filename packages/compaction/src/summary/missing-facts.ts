import { type Fidelity, scoreFidelity } from "../extract/fidelity.js";
import type { Fact } from "../extract/find-facts.js";
import type { CompactionSettings } from "../settings/settings.js";
import { assertSmaller, buildSource, type WrittenPart } from "./part.js";
import { MISSING_FACTS, SYSTEM_PROMPT } from "./prompt-texts.js";
import type { SummarizerClient } from "./summarizer-client.js";
import { collectMessages } from "./summary-job.js";
import { buildPrompt, type PartKind } from "./task-prompt.js";

/** A summary and how many of the facts are in it. */
export interface ScoredPart {
  readonly part: WrittenPart;
  readonly fidelity: Fidelity;
}

/**
 * Where a model's summary lacks too many facts (setting `summary.fidelity`), asks it once more with the missing ones named,
 * and takes the better of the two. The facts are quotations from the source, so the source need not be read again and
 * the call is small. A call that fails leaves the first summary as it is.
 *
 * @throws the signal's reason only.
 */
export async function addMissingFacts(asker: SummarizerClient, part: WrittenPart, facts: readonly Fact[]): Promise<ScoredPart> {
  const fidelity = scoreFidelity(facts, part.body);
  const wanted = asker.job.settings.summary.fidelity;
  const byModel = part.method === "normal" || part.method === "strict";
  if (!byModel || fidelity.score >= wanted) return { part, fidelity };
  try {
    const body = await requestMissingFacts(asker, part, fidelity);
    const again = scoreFidelity(facts, body);
    return again.score > fidelity.score ? { part: { ...part, body }, fidelity: again } : { part, fidelity };
  } catch (error) {
    asker.recordFailure(error);
    return { part, fidelity };
  }
}

/** With fewer facts a good summary may happen to have none of them; one that has as many does say something. */
const LEAST_FACTS = 3;

/**
 * Whether a model's answer says next to nothing of its source: an OK, a refusal in plain words, another conversation's
 * summary. An answer with hardly any text in it is judged so whatever the source has.
 */
export function isUninformative({ part, fidelity }: ScoredPart, { fidelityFloor }: CompactionSettings["summary"]): boolean {
  const byModel = part.method === "normal" || part.method === "strict";
  if (!byModel || fidelityFloor === 0) return false;
  if (countTextWidth(part.body) < LEAST_TEXT) return true;
  const named = Object.values(fidelity.inSummary).reduce((sum, count) => sum + count, 0);
  return fidelity.total >= LEAST_FACTS && named < LEAST_FACTS && fidelity.score < fidelityFloor;
}

/** Letters and digits that a summary has at least beyond its headings. A letter of a script without alphabet says as much as two. */
const LEAST_TEXT = 12;
const NO_TEXT = /^\s*(?:#.*|\*\*[^*]*\*\*:?|[-*+\d.)\s]*(?:\[[ x]\]\s*)?\(?none\)?\.?|(?:-{3,}|={3,}))\s*$/gim;
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

function countTextWidth(body: string): number {
  const said = body.replace(NO_TEXT, "").replace(/[^\p{L}\p{N}]/gu, "");
  return said.length + (said.match(DENSE)?.length ?? 0);
}

async function requestMissingFacts(asker: SummarizerClient, part: WrittenPart, { byRecallOnly }: Fidelity): Promise<string> {
  const { job } = asker;
  const about: PartKind = job.kind === "branch" ? "branch" : "history";
  const task = { text: MISSING_FACTS, needsTag: false };
  const missingFacts = byRecallOnly.map(({ kind, text }) => `- ${kind}: ${text.replace(/\s+/g, " ")}`);
  const messages = [...collectMessages(job.plan.summarize), ...collectMessages(job.plan.prefix)];
  const answer = await asker.send({
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
