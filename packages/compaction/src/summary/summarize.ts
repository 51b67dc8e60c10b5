import type { ContextMessage } from "@bough/session-core";
import { SummaryRejectedError } from "../errors/summarizer-errors.js";
import { extract } from "../extract/extract.js";
import { scoreFidelity } from "../extract/fidelity.js";
import { type Fact, findFacts } from "../extract/find-facts.js";
import type { PathItem } from "../plan/span.js";
import { selectFullContext, writeFull } from "./full-mode.js";
import { addMissingFacts, isUninformative, type ScoredPart } from "./missing-facts.js";
import { assertSmaller, buildSource, type FirstPrompt, type SummaryPart, type WrittenPart, writePart } from "./part.js";
import { extractMarkers, formatMarker, SPLIT_TURN_SEPARATOR } from "./prompt-texts.js";
import { writeShortSummary } from "./short-summary.js";
import { SummarizerClient } from "./summarizer-client.js";
import { collectMessages, lowerQuality, type SummaryDependencies, type SummaryJob, type WrittenSummary } from "./summary-job.js";

/**
 * Writes a summary, whatever happens to the model: full mode where it may be, then simple; a normal prompt, then a strict
 * one where the answer is rejected or not smaller than `maxTokens`; then what the setting `summary.onFailure` says. Without
 * candidates, or with the breaker open, no model is asked. Where the model writes more than there was (a short talk), the
 * extract is taken with `onFailure: "fail"` too. An answer that repeats the instructions, or says next to nothing of its
 * source after it was asked again, gives way to the extract whatever the setting.
 *
 * It writes nothing anywhere. Cancelled at any moment, it throws the signal's reason, when every call it made has settled.
 *
 * @throws the signal's reason; with `onFailure: "fail"` the last {SummaryRejectedError} or {SummarizerCallError}; in any
 *   case {SummaryRejectedError} `larger-than-source` where there is too little for a summary to be smaller.
 */
export async function summarize(given: SummaryJob, hands: SummaryDependencies = {}): Promise<WrittenSummary> {
  const job = given.kind === "branch" ? limitBranch(given) : given;
  job.signal?.throwIfAborted();
  const asker = new SummarizerClient(job, hands);
  const written = await writeSummary(asker);
  const facts = findFacts(collectSource(job));
  const { part, fidelity } = await checkFidelity(asker, await addMissingFacts(asker, written, facts), facts);
  const short = await writeShortSummary(asker, part.body);
  job.signal?.throwIfAborted();
  const { usage, requestId, calls, failures } = asker;
  return { ...part, shortSummary: short, usage, requestId, calls, failures, fidelity };
}

/**
 * An answer below the floor of fidelity is asked for once more, strictly (it may be terse, or in words of another language),
 * and then gives way to the extract, under every preset: the session must not be lost to an "OK".
 */
async function checkFidelity(asker: SummarizerClient, answer: ScoredPart, facts: readonly Fact[]): Promise<ScoredPart> {
  const { summary } = asker.job.settings;
  if (!isUninformative(answer, summary)) return answer;
  asker.recordFailure(new SummaryRejectedError("low-fidelity", answer.part.body));
  const again = answer.part.method === "normal" ? await retryStrictly(asker, facts) : null;
  if (again !== null && !isUninformative(again, summary)) return again;
  if (again !== null) asker.recordFailure(new SummaryRejectedError("low-fidelity", again.part.body));
  const part = writeMaskedExtract(asker);
  return { part, fidelity: scoreFidelity(facts, part.body) };
}

/** null: the call failed. */
async function retryStrictly(asker: SummarizerClient, facts: readonly Fact[]): Promise<ScoredPart | null> {
  try {
    const part = await writeSimple(asker, "strict");
    return { part, fidelity: scoreFidelity(facts, part.body) };
  } catch (error) {
    asker.recordFailure(error);
    return null;
  }
}

async function writeSummary(asker: SummarizerClient): Promise<WrittenPart> {
  const { job } = asker;
  if (job.skipModel || job.candidates.length === 0) return writeWithoutModel(asker);
  try {
    return (await tryFull(asker)) ?? (await writeSimple(asker));
  } catch (error) {
    asker.recordFailure(error);
    const reason = error instanceof SummaryRejectedError ? error.reason : null;
    if (reason === "echo") return writeMaskedExtract(asker);
    // The model did write, only not less than there was: a short talk is no failure of it, and its calls are paid for.
    if (job.settings.summary.onFailure === "fail" && reason !== "larger-than-source") throw error;
    return writeWithoutModel(asker);
  }
}

function writeWithoutModel(asker: SummarizerClient): WrittenPart {
  const { job } = asker;
  return job.settings.summary.onFailure === "marker" ? writeMarker(job) : writeMaskedExtract(asker);
}

function writeMaskedExtract(asker: SummarizerClient): WrittenPart {
  return writeExtract(asker.job, (text) => asker.maskSecrets(text));
}

/** null: full mode is off, or failed, and simple mode is next (row 121). */
async function tryFull(asker: SummarizerClient): Promise<WrittenPart | null> {
  const context = selectFullContext(asker.job);
  if (context === null) return null;
  try {
    return await writeFull(asker, context);
  } catch (error) {
    asker.recordFailure(error);
    return null;
  }
}

async function writeSimple(asker: SummarizerClient, from: FirstPrompt = "normal"): Promise<WrittenPart> {
  const { job } = asker;
  const [first, second] = splitIntoParts(job).map((part): SummaryPart => ({ ...part, from }));
  if (first === undefined) throw new RangeError("a summary was asked of no messages");
  if (second === undefined) return writePart(asker, first);
  const [history, prefix] = await writeBoth(asker, first, second);
  const body = history.body + SPLIT_TURN_SEPARATOR + prefix.body;
  assertSmaller(job, body, job.maxTokens);
  return { body, title: history.title ?? prefix.title, method: lowerQuality(history.method, prefix.method) };
}

/** The history and the start of a split turn; one alone where the other is empty. Together they are smaller than the bound. */
function splitIntoParts(job: SummaryJob): readonly SummaryPart[] {
  const about = job.kind === "branch" ? "branch" : "history";
  const history = placePreviousSummary(job, collectMessages(job.plan.summarize));
  const prefix = collectMessages(job.plan.prefix);
  const hasHistory = history.messages.length > 0 || history.previous !== null;
  const hasBoth = hasHistory && prefix.length > 0;
  const separatorTokens = hasBoth ? job.counter.count(SPLIT_TURN_SEPARATOR) + 2 : 0;
  const maxTokens = hasBoth ? Math.max(1, Math.floor((job.maxTokens - separatorTokens) / 2)) : job.maxTokens;
  const parts: SummaryPart[] = hasHistory ? [{ about, ...history, maxTokens }] : [];
  if (prefix.length > 0) parts.push({ about: "turn-prefix", messages: prefix, previous: null, maxTokens });
  return parts;
}

/** The previous summary in its own slot, or as the first message (setting `summary.update`). */
function placePreviousSummary(
  { previousSummary, settings }: SummaryJob,
  messages: readonly ContextMessage[],
): Pick<SummaryPart, "messages" | "previous"> {
  if (previousSummary === null || settings.summary.update) return { messages, previous: previousSummary };
  return { messages: [{ role: "compactionSummary", summary: previousSummary }, ...messages], previous: null };
}

async function writeBoth(asker: SummarizerClient, first: SummaryPart, second: SummaryPart): Promise<readonly [WrittenPart, WrittenPart]> {
  // Parallel calls meet rate limits (regression R123), so one after the other unless the setting says otherwise.
  if (asker.job.settings.summary.splitTurns === "sequential") return [await writePart(asker, first), await writePart(asker, second)];
  const [history, prefix] = await Promise.allSettled([writePart(asker, first), writePart(asker, second)]);
  if (history.status === "rejected") throw history.reason;
  if (prefix.status === "rejected") throw prefix.reason;
  return [history.value, prefix.value];
}

function collectSource({ plan }: SummaryJob): readonly ContextMessage[] {
  return [...collectMessages(plan.summarize), ...collectMessages(plan.prefix)];
}

function limitBranch(job: SummaryJob): SummaryJob {
  const { windowTokens, settings } = job;
  const summarize = selectNewest(job.plan.summarize, settings.summary.windowTokens ?? windowTokens, settings.branch.reserveTokens);
  return { ...job, plan: { summarize, prefix: job.plan.prefix } };
}

/** An extract is worth reading up to about here, in characters; more would be a copy. */
const MAX_CHARS = 8_000;
/** Below this no extract says anything. */
const MIN_CHARS = 40;

/**
 * The deterministic extract of a whole job, halved until it is smaller than what it replaces.
 *
 * @throws {SummaryRejectedError} `larger-than-source`: there is so little that nothing smaller can stand for it.
 */
function writeExtract(job: SummaryJob, masked: (text: string) => string): WrittenPart {
  const messages = [...collectMessages(job.plan.summarize), ...collectMessages(job.plan.prefix)];
  const source = buildSource(job, { about: job.kind === "branch" ? "branch" : "history", messages, previous: job.previousSummary });
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
function writeMarker(job: SummaryJob): WrittenPart {
  // What an earlier summary knew is not given up; its markers become one with ours.
  const { rest, messages } = extractMarkers(job.previousSummary ?? "");
  const marker = formatMarker(messages + collectMessages(job.plan.summarize).length + collectMessages(job.plan.prefix).length);
  const carried = rest === "" ? marker : `${rest}\n\n${marker}`;
  const body = job.counter.count(carried) < job.maxTokens ? carried : marker;
  assertSmaller(job, body, job.maxTokens);
  return { body, title: null, method: "marker" };
}

/** Up to this share of the budget, a summary further back is still taken in whole (pi's rule): it stands for much. */
const NEARLY_FULL = 0.9;

/**
 * The newest items of a branch that fit into `windowTokens` less `reserveTokens`, oldest first; at least one. Where a
 * summary of something earlier is the one that does not fit, it comes along while less than 90 % is used. In a
 * window that the reserve would fill, half the window counts. The rule is pi's (row 144).
 */
export function selectNewest(items: readonly PathItem[], windowTokens: number, reserveTokens: number): readonly PathItem[] {
  const budget = Math.max(Math.floor(windowTokens / 2), windowTokens - reserveTokens);
  let used = 0;
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at];
    if (item === undefined) continue;
    if (used + item.tokens > budget && used > 0) {
      const isSummary = item.type === "compaction" || item.type === "branch_summary";
      return items.slice(isSummary && used < budget * NEARLY_FULL ? at : at + 1);
    }
    used += item.tokens;
  }
  return items;
}
