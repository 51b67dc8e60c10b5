import type { ContextMessage, NativeCompaction, SessionContext } from "@bough/session-core";
import { isSummary, shortLine } from "@bough/session-core/view";
import { SummaryRejectedError } from "../errors/summarizer-errors.js";
import { extract } from "../extract/extract.js";
import { type Fact, type Fidelity, findFacts, scoreFidelity } from "../extract/facts.js";
import type { PathItem } from "../plan/span.js";
import type { CompactionSettings } from "../settings/settings.js";
import type { CallDependencies } from "../summarizers/call.js";
import { isNativeSummarizer } from "../summarizers/native.js";
import type { Summarizer, SummaryReply } from "../summarizers/summarizer.js";
import { messageTokens } from "../tokens/message-tokens.js";
import {
  assertSmaller,
  buildSerializeOptions,
  buildSource,
  type FirstPrompt,
  type SummaryPart,
  selectFullContext,
  type WrittenPart,
  writeFull,
  writePart,
} from "./part.js";
import { buildPrompt, countFormTokens, type PartKind, serializeMessages } from "./prompt.js";
import {
  extractMarkers,
  FOCUS_OF_PROVIDER,
  formatMarker,
  MISSING_FACTS,
  SHORT_SUMMARY,
  SPLIT_TURN_SEPARATOR,
  SYSTEM_PROMPT,
} from "./prompt-texts.js";
import {
  collectMessages,
  collectSource,
  lowerQuality,
  SummarizerClient,
  type SummaryJob,
  type WrittenSummary,
} from "./summarizer-client.js";

/**
 * Writes a summary. Lets the provider compact the conversation itself if a summarizer can. Otherwise tries full mode if possible, then simple
 * mode; in each the normal prompt, then the strict one if the answer is rejected or not smaller than `maxTokens`. If all fail,
 * `summary.onFailure` decides. Without candidates, or with the breaker open, no model is called.
 *
 * The extract replaces the answer regardless of `onFailure` in three cases: the answer is larger than the source (a short
 * conversation), it repeats the instructions, or it contains almost nothing of the source, also after a second request.
 *
 * Writes nothing to the store. When aborted, throws the signal's reason after every running call has settled.
 *
 * @throws the signal's reason; with `onFailure: "fail"` the last {SummaryRejectedError} or {SummarizerCallError}; always
 * {SummaryRejectedError} `larger-than-source` if no summary can be smaller than the source.
 */
export async function summarize(given: SummaryJob, dependencies: CallDependencies = {}): Promise<WrittenSummary> {
  const { natives, others: candidates } = splitCandidates(given.candidates);
  const job = { ...(given.kind === "branch" ? limitBranch(given) : given), candidates };
  job.signal?.throwIfAborted();
  const client = new SummarizerClient(job, dependencies);
  const native = await writeNative(client, natives);
  if (native !== null) return describeNative(client, native);
  const written = await writeSummary(client);
  const facts = findFacts(collectSource(job));
  const checked = await checkFidelity(client, await addMissingFacts(client, written, facts), facts);
  const { fidelity } = checked;
  const { repeat: _repeat, ...part } = checked.part;
  const short = await writeShortSummary(client, part.body);
  job.signal?.throwIfAborted();
  const { usage, requestId, calls, failures } = client;
  return { ...part, shortSummary: short, usage, requestId, calls, failures, fidelity };
}

/** The summary of a provider's own compaction: its text; of one that nothing else can read, the extract, and no further call. */
function describeNative(client: SummarizerClient, { native, text }: NativeSummary): WrittenSummary {
  const body = text === null ? writeMaskedExtract(client).body : client.maskSecrets(text);
  const fidelity = scoreFidelity(findFacts(collectSource(client.job)), body);
  const { usage, requestId, calls, failures } = client;
  const shared = { usage, requestId, calls, failures, fidelity, native };
  return { body, title: null, method: "native", shortSummary: takeFirstSentence(body), ...shared };
}

/**
 * Repeats the request with the strict prompt if the answer is below the floor of fidelity (it may be terse or in another
 * language), then uses the extract, with any preset: an "OK" must not replace the session.
 */
async function checkFidelity(client: SummarizerClient, answer: ScoredPart, facts: readonly Fact[]): Promise<ScoredPart> {
  const { summary } = client.job.settings;
  if (!isUninformative(answer, summary)) return answer;
  client.recordFailure(new SummaryRejectedError("low-fidelity", answer.part.body));
  const again = answer.part.method === "normal" ? await retryStrictly(client, answer, facts) : null;
  if (again !== null && !isUninformative(again, summary)) return again;
  if (again !== null) client.recordFailure(new SummaryRejectedError("low-fidelity", again.part.body));
  const part = writeMaskedExtract(client);
  return { part, fidelity: scoreFidelity(facts, part.body) };
}

/**
 * Repeats with the strict prompt what wrote the answer: of a summary in pieces the last one, with the notes on the earlier ones;
 * of one in full mode the whole, in simple mode. null: the call failed.
 */
async function retryStrictly(
  client: SummarizerClient,
  { part: { repeat } }: ScoredPart,
  facts: readonly Fact[],
): Promise<ScoredPart | null> {
  try {
    const part = await (repeat === undefined ? writeSimple(client, "strict") : repeat());
    return { part, fidelity: scoreFidelity(facts, part.body) };
  } catch (error) {
    client.recordFailure(error);
    return null;
  }
}

async function writeSummary(client: SummarizerClient): Promise<WrittenPart> {
  const { job } = client;
  if (job.skipModel || job.candidates.length === 0) return writeWithoutModel(client);
  // Every answer in the form would be rejected as larger than its source, and its calls would be paid for.
  if (isTooSmallForForm(job)) return writeMaskedExtract(client);
  try {
    return (await tryFull(client)) ?? (await writeSimple(client));
  } catch (error) {
    client.recordFailure(error);
    const reason = error instanceof SummaryRejectedError ? error.reason : null;
    if (reason === "echo") return writeMaskedExtract(client);
    // The model did answer: a short conversation is no failure, and the calls are paid for.
    if (job.settings.summary.onFailure === "fail" && reason !== "larger-than-source") throw error;
    return writeWithoutModel(client);
  }
}

/** True if the sections of the summary alone are larger than the text that it replaces. A prompt of the host has no known form. */
function isTooSmallForForm(job: SummaryJob): boolean {
  const about = job.plan.summarize.length === 0 && job.previousSummary === null ? "turn-prefix" : "history";
  return job.kind === "compaction" && job.maxTokens < countFormTokens(job, about);
}

function writeWithoutModel(client: SummarizerClient): WrittenPart {
  const { job } = client;
  return job.settings.summary.onFailure === "marker" ? writeMarker(job) : writeMaskedExtract(client);
}

function writeMaskedExtract(client: SummarizerClient): WrittenPart {
  return writeExtract(client.job, (text) => client.maskSecrets(text));
}

/** null: full mode is not possible or failed, and simple mode follows. */
async function tryFull(client: SummarizerClient): Promise<WrittenPart | null> {
  const context = selectFullContext(client.job);
  if (context === null) return null;
  try {
    return await writeFull(client, context);
  } catch (error) {
    client.recordFailure(error);
    return null;
  }
}

async function writeSimple(client: SummarizerClient, from: FirstPrompt = "normal"): Promise<WrittenPart> {
  const { job } = client;
  const [first, second] = splitIntoParts(job).map((part): SummaryPart => ({ ...part, from }));
  if (first === undefined) throw new RangeError("a summary was asked of no messages");
  if (second === undefined) return writePart(client, first);
  const [history, prefix] = await writeBoth(client, first, second);
  const joined = joinParts(job, history, prefix);
  return { ...joined, repeat: async () => joinParts(job, await repeatPart(history), await repeatPart(prefix)) };
}

function joinParts(job: SummaryJob, history: WrittenPart, prefix: WrittenPart): WrittenPart {
  const body = history.body + SPLIT_TURN_SEPARATOR + prefix.body;
  assertSmaller(job, body, job.maxTokens);
  return { body, title: history.title ?? prefix.title, method: lowerQuality(history.method, prefix.method) };
}

async function repeatPart(part: WrittenPart): Promise<WrittenPart> {
  return part.repeat === undefined ? part : part.repeat();
}

/** The history and the start of a split turn, or one of them if the other is empty. Both together are within the bound. */
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

async function writeBoth(client: SummarizerClient, first: SummaryPart, second: SummaryPart): Promise<readonly [WrittenPart, WrittenPart]> {
  // Parallel calls can hit rate limits, so they run one after the other by default.
  if (client.job.settings.summary.splitTurns === "sequential") return [await writePart(client, first), await writePart(client, second)];
  const [history, prefix] = await Promise.allSettled([writePart(client, first), writePart(client, second)]);
  if (history.status === "rejected") throw history.reason;
  if (prefix.status === "rejected") throw prefix.reason;
  return [history.value, prefix.value];
}

/** The part of a branch that fits the summarizer's window. Items count as they are serialized, so a cut result counts as cut. */
function limitBranch(job: SummaryJob): SummaryJob {
  const { plan, settings, windowTokens } = job;
  const counted = countSerialized(job, plan.summarize);
  const newest = selectNewest(counted, settings.summary.windowTokens ?? windowTokens, settings.branch.reserveTokens);
  return { ...job, plan: { summarize: plan.summarize.slice(plan.summarize.length - newest.length), prefix: plan.prefix } };
}

/** The items with the tokens of their serialized messages. */
function countSerialized(job: SummaryJob, items: readonly PathItem[]): readonly PathItem[] {
  const itemOfMessage = items.flatMap(({ messages }, at) => messages.map(() => at));
  const tokens = items.map(() => 0);
  for (const { at, text } of serializeMessages(collectMessages(items), buildSerializeOptions(job))) {
    const item = itemOfMessage[at];
    if (item !== undefined) tokens[item] = (tokens[item] ?? 0) + job.counter.count(text);
  }
  return items.map((item, at) => ({ ...item, tokens: tokens[at] ?? 0 }));
}

/** Largest extract, in characters; a longer one would be a copy of the source. */
const MAX_CHARS = 8_000;
/** A shorter extract is of no use. */
const MIN_CHARS = 40;

/**
 * The extract of a whole job, halved until it is smaller than what it replaces.
 *
 * @throws {SummaryRejectedError} `larger-than-source`: the source is too small for a smaller extract.
 */
function writeExtract(job: SummaryJob, masked: (text: string) => string): WrittenPart {
  const messages = collectSource(job);
  const source = buildSource(job, { about: job.kind === "branch" ? "branch" : "history", messages, previous: job.previousSummary });
  const { counter, maxTokens: replaced, wantedTokens = replaced } = job;
  const maxTokens = Math.min(replaced, wantedTokens);
  // A token has at least two characters in dense text, and seldom more than four in any.
  let maxChars = Math.min(MAX_CHARS, Math.max(MIN_CHARS, maxTokens * 3));
  for (; maxChars >= MIN_CHARS; maxChars = Math.floor(maxChars / 2)) {
    const body = masked(extract(source, { maxChars }).trim());
    if (body !== "" && counter.count(body) < maxTokens) return { body, title: null, method: "extract" };
  }
  throw new SummaryRejectedError("larger-than-source");
}

/** A fixed text with the number of missing messages. @throws {SummaryRejectedError} it is not smaller than the source. */
function writeMarker(job: SummaryJob): WrittenPart {
  // The earlier summary is kept, and its markers are merged into the new one.
  const { rest, messages } = extractMarkers(job.previousSummary ?? "");
  const marker = formatMarker(messages + collectSource(job).length);
  const carried = rest === "" ? marker : `${rest}\n\n${marker}`;
  const body = job.counter.count(carried) < job.maxTokens ? carried : marker;
  assertSmaller(job, body, job.maxTokens);
  return { body, title: null, method: "marker" };
}

/** While less than this share of the budget is used, an earlier summary that does not fit is included whole. */
const NEARLY_FULL = 0.9;

/**
 * The newest items of a branch within `windowTokens` less `reserveTokens`, oldest first; at least one. If the first item
 * that does not fit is an earlier summary, it is included while less than 90 % of the budget is used. If the reserve
 * takes more than half of the window, half of the window is the budget.
 */
export function selectNewest(items: readonly PathItem[], windowTokens: number, reserveTokens: number): readonly PathItem[] {
  const budget = Math.max(Math.floor(windowTokens / 2), windowTokens - reserveTokens);
  let used = 0;
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at];
    if (item === undefined) continue;
    if (used + item.tokens > budget && used > 0) {
      return items.slice(isSummary(item) && used < budget * NEARLY_FULL ? at : at + 1);
    }
    used += item.tokens;
  }
  return items;
}

/** A summary and its fidelity. */
interface ScoredPart {
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
async function addMissingFacts(client: SummarizerClient, part: WrittenPart, facts: readonly Fact[]): Promise<ScoredPart> {
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
const MIN_FACTS = 3;

/**
 * True if a model's answer contains almost nothing of its source: "OK", a refusal in plain words, a summary of another
 * conversation. An answer with almost no text always counts as uninformative.
 */
function isUninformative({ part, fidelity }: ScoredPart, { fidelityFloor }: CompactionSettings["summary"]): boolean {
  const byModel = part.method === "normal" || part.method === "strict";
  if (!byModel || fidelityFloor === 0) return false;
  if (countTextWidth(part.body) < MIN_TEXT) return true;
  const named = Object.values(fidelity.inSummary).reduce((sum, count) => sum + count, 0);
  return fidelity.total >= MIN_FACTS && named < MIN_FACTS && fidelity.score < fidelityFloor;
}

/** The least letters and digits of a summary apart from its headings. A character of Chinese, Japanese or Korean counts twice. */
const MIN_TEXT = 12;
/** A line without text; of a trimmed line, because a run of spaces or empty lines would be read again from each of them. */
const NO_TEXT = /^(?:#.*|\*\*[^*]*\*\*:?|[-*+\d.)\s]*(?:\[[ x]\]\s*)?\(?none\)?\.?|-{3,}|={3,})$/i;
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

function countTextWidth(body: string): number {
  const lines = body.split("\n").filter((line) => !NO_TEXT.test(line.trim()));
  const said = lines.join("\n").replace(/[^\p{L}\p{N}]/gu, "");
  return said.length + (said.match(DENSE)?.length ?? 0);
}

async function requestMissingFacts(client: SummarizerClient, part: WrittenPart, { byRecallOnly }: Fidelity): Promise<string> {
  const { job } = client;
  const about: PartKind = job.kind === "branch" ? "branch" : "history";
  const task = { text: MISSING_FACTS, needsTag: false };
  const missingFacts = byRecallOnly.map(({ kind, text }) => `- ${kind}: ${text.replace(/\s+/g, " ")}`);
  const messages = collectSource(job);
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

/** Longest short summary, in UTF-16 code units. */
const SHORT_SUMMARY_CHARS = 200;

/** Share of the output cap, if there is one. */
const OUTPUT_SHARE = 0.2;

/**
 * One line for screens: written by a model if `summary.shortSummary` is set and a model may be called, else the first
 * sentence of the summary. If the call fails, the first sentence is returned.
 *
 * @throws only the signal's reason.
 */
async function writeShortSummary(client: SummarizerClient, body: string): Promise<string> {
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
  return shortLine(text.replace(/[*`]{1,3}/g, ""), SHORT_SUMMARY_CHARS);
}

/** A compaction that the provider wrote. `text`: its summary; null: nothing but the provider can read it. */
interface NativeSummary {
  readonly native: NativeCompaction;
  readonly text: string | null;
}

/**
 * Lets the provider compact what a job replaces. null: no summarizer of the job can, the job's messages are not the start of the last
 * request, or all calls failed.
 *
 * @throws the signal's reason; with `onFailure: "fail"` the failure, if no other summarizer follows.
 */
async function writeNative(client: SummarizerClient, candidates: readonly Summarizer[]): Promise<NativeSummary | null> {
  const { job } = client;
  const context = candidates.length === 0 || job.skipModel ? null : selectReplaced(job);
  if (context === null) return null;
  try {
    return checkSize(
      job,
      await client.sendNative(candidates, context, job.instructions === null ? "" : FOCUS_OF_PROVIDER + job.instructions),
    );
  } catch (error) {
    client.recordFailure(error);
    if (job.candidates.length === 0 && job.settings.summary.onFailure === "fail") throw error;
    return null;
  }
}

/** Splits the candidates of a job: those that compact at the provider, and those that write a summary from a prompt. */
function splitCandidates(candidates: readonly Summarizer[]): {
  readonly natives: readonly Summarizer[];
  readonly others: readonly Summarizer[];
} {
  return { natives: candidates.filter(isNativeSummarizer), others: candidates.filter((one) => !isNativeSummarizer(one)) };
}

/**
 * The start of the live request that a compaction replaces, byte for byte as it was sent; null: its messages are not the start of it, or
 * some are missing. The kept messages follow it without a change, so what is bound to their prefix stays valid.
 */
function selectReplaced({ full, plan, kind, model, previousSummary }: SummaryJob): SessionContext | null {
  if (full === null || kind === "branch") return null;
  const { context } = full;
  const covered = new Set([...plan.summarize, ...plan.prefix].filter(({ messages }) => messages.length > 0).map(({ id }) => id));
  const inForce = context.compaction?.entryId;
  if (previousSummary !== null && (inForce === undefined || context.entries[0] !== inForce)) return null;
  const end = context.entries.findLastIndex((id) => covered.has(id)) + 1;
  const entries = context.entries.slice(0, end);
  const shown = new Set(entries);
  if (end === 0 || ![...covered].every((id) => shown.has(id)) || !entries.every((id) => covered.has(id) || id === inForce)) return null;
  const asked = model === null ? context.model : { provider: model.provider, modelId: model.modelId };
  return { ...context, model: asked, messages: context.messages.slice(0, end), entries };
}

/** @throws {SummaryRejectedError} the compaction has as many tokens as what it replaces. */
function checkSize({ counter, maxTokens, model }: SummaryJob, { text, native }: SummaryReply): NativeSummary {
  if (native === undefined) throw new SummaryRejectedError("not-a-text");
  const tokens = messageTokens(counter, { role: "compactionSummary", summary: native.readable ? text : "", native }, model);
  if (tokens >= maxTokens) throw new SummaryRejectedError("larger-than-source", text);
  return { native, text: native.readable ? text : null };
}
