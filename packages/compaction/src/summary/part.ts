import { bindsThinking, type ContextMessage, type SessionContext } from "@bough/session-core";
import { cutMiddle, takeStart } from "@bough/session-core/view";
import { stripThinking } from "@bough/session-core/wire";
import { SummarizerCallError, SummaryRejectedError } from "../errors/summarizer-errors.js";
import type { SummarySource } from "../summarizers/summarizer.js";
import type { TokenCounter } from "../tokens/token-counter.js";
import {
  buildNormalTask,
  buildPrompt,
  buildStrictTask,
  MESSAGE_SEPARATOR,
  type PartKind,
  type PromptTask,
  type SerializedMessage,
  type SerializeOptions,
  serializeMessages,
} from "./prompt.js";
import { buildFullPreface, IN_SUMMARY_TAGS, NO_TOOLS, SYSTEM_PROMPT } from "./prompt-texts.js";
import {
  collectSource,
  computeOutputCap,
  getSummaryWindow,
  lowerQuality,
  type SummarizerClient,
  type SummaryJob,
  type SummaryMethod,
  type SummaryPrompt,
  type SummaryResponse,
} from "./summarizer-client.js";

/** A part of a session that is summarized on its own. */
export interface SummaryPart {
  readonly about: PartKind;
  readonly messages: readonly ContextMessage[];
  readonly previous: string | null;
  /** The summary must have fewer tokens than this. */
  readonly maxTokens: number;
  /** The first prompt to send; default `normal`. */
  readonly from?: FirstPrompt | undefined;
}

/** `normal`: the normal prompt, then the strict one if its answer is rejected. `strict`: only the strict one. */
export type FirstPrompt = "normal" | "strict";

/** The summary of a part. */
export interface WrittenPart {
  readonly body: string;
  readonly title: string | null;
  readonly method: SummaryMethod;
  /** Writes the last piece again with the strict prompt, from the notes on the earlier pieces. undefined: it was not written in pieces. */
  readonly repeat?: (() => Promise<WrittenPart>) | undefined;
}

/** The most that the summary so far may take of a call's input, so that old notes leave room for new messages. */
const PREVIOUS_SHARE = 1 / 3;

/** The answer for a turn prefix may have half of the output cap. */
const PREFIX_OUTPUT_SHARE = 0.5;

/**
 * Writes the summary of a part, in chunks if it is larger than the summarizer's context window. A call whose answer is
 * rejected, or is not smaller than the part's bound, is repeated once with the strict prompt.
 *
 * @throws {SummaryRejectedError} the strict answer was rejected too; {SummarizerCallError}; the signal's reason.
 */
export async function writePart(client: SummarizerClient, part: SummaryPart): Promise<WrittenPart> {
  const { job } = client;
  const messages = serializeMessages(part.messages, buildSerializeOptions(job));
  let method: SummaryMethod = "normal";
  let last: (() => Promise<WrittenPart>) | undefined;
  const answer = await foldMessages({
    messages,
    previous: part.previous,
    counter: job.counter,
    budget: (previous) => computeChunkBudget(job, part, previous),
    write: async (chunk, previous) => {
      const piece = { ...part, messages: selectSource(part, messages, chunk), previous };
      const written = await writeChunk(client, piece, chunk.text);
      method = lowerQuality(method, written.method);
      last = () => writeChunk(client, { ...piece, from: "strict" }, chunk.text);
      return written;
    },
  });
  return { body: answer.body, title: answer.title, method, repeat: last };
}

/** Sends the normal prompt, then the strict one. */
async function writeChunk(client: SummarizerClient, part: SummaryPart, conversation: string): Promise<WrittenPart> {
  const answer = part.from === "strict" ? null : await tryNormalPrompt(client, part, conversation);
  if (answer !== null) return toWrittenPart(answer, "normal");
  return toWrittenPart(await sendChunk(client, part, buildStrictTask(part.about, toMaxWords(part.maxTokens)), conversation), "strict");
}

/** null: the answer was rejected. */
async function tryNormalPrompt(client: SummarizerClient, part: SummaryPart, conversation: string): Promise<SummaryResponse | null> {
  try {
    return await sendChunk(client, part, buildNormalTask(client.job, part.about, part.previous !== null), conversation);
  } catch (error) {
    if (!(error instanceof SummaryRejectedError)) throw error;
    client.recordFailure(error);
    return null;
  }
}

async function sendChunk(client: SummarizerClient, part: SummaryPart, task: PromptTask, conversation: string): Promise<SummaryResponse> {
  const answer = await client.send(buildChunkPrompt(client.job, part, task, conversation));
  assertSmaller(client.job, answer.body, part.maxTokens);
  return answer;
}

/** @throws {SummaryRejectedError} the text is not smaller than what it replaces. */
export function assertSmaller({ counter }: Pick<SummaryJob, "counter">, text: string, maxTokens: number): void {
  if (counter.count(text) >= maxTokens) throw new SummaryRejectedError("larger-than-source", text);
}

/** The serialize options of the settings, with the cut of tool results that depends on the context window. */
export function buildSerializeOptions(job: SummaryJob): SerializeOptions {
  const { summary } = job.settings;
  if (summary.toolResultShare === 0) return summary;
  const mostTokens = Math.floor(summary.toolResultShare * getSummaryWindow(job));
  return { ...summary, cutResult: (text) => cutToTokens(text, mostTokens, job.counter) };
}

function toWrittenPart({ body, title, extracted }: SummaryResponse, method: SummaryMethod): WrittenPart {
  return { body, title, method: extracted ? "extract" : method };
}

function buildChunkPrompt(job: SummaryJob, part: SummaryPart, task: PromptTask, conversation: string): SummaryPrompt {
  return {
    stage: part.about,
    system: SYSTEM_PROMPT,
    prompt: buildPrompt(job, part.about, task, { conversation, previous: boundPrevious(job, part.previous) }),
    task: task.text,
    needsTag: task.needsTag,
    outputShare: part.about === "turn-prefix" ? PREFIX_OUTPUT_SHARE : 1,
    source: buildSource(job, part),
  };
}

/** The source for summarizers that use no model. */
export function buildSource(
  { instructions, wantedTokens, cwd, settings }: Pick<SummaryJob, "instructions" | "wantedTokens" | "cwd" | "settings">,
  part: Omit<SummaryPart, "maxTokens">,
): SummarySource {
  const { messages, about: kind, previous: previousSummary } = part;
  return { messages, kind, previousSummary, instructions, wantedTokens, cwd, redact: settings.summary.redact };
}

/** The messages of a chunk, including those without text. */
function selectSource(part: SummaryPart, serialized: readonly SerializedMessage[], { from, to }: Chunk): readonly ContextMessage[] {
  const start = from === 0 ? 0 : (serialized[from]?.at ?? 0);
  return part.messages.slice(start, serialized[to]?.at ?? part.messages.length);
}

/** Tokens available for the conversation in a prompt that contains this summary. */
function computeChunkBudget(job: SummaryJob, part: SummaryPart, previous: string | null): number {
  const task = buildNormalTask(job, part.about, previous !== null);
  const frame = buildPrompt(job, part.about, task, { conversation: "", previous: boundPrevious(job, previous) });
  return computeConversationBudget(computePromptBudget(job), job.counter.count(SYSTEM_PROMPT) + job.counter.count(frame));
}

function boundPrevious(job: SummaryJob, previous: string | null): string | null {
  return previous === null ? null : cutToTokens(previous, Math.floor(computePromptBudget(job) * PREVIOUS_SHARE), job.counter);
}

function computePromptBudget(job: SummaryJob): number {
  const windowTokens = getSummaryWindow(job);
  const { inputShare } = job.settings.summary;
  return computeInputBudget({ windowTokens, inputShare, maxOutputTokens: computeOutputCap(job) });
}

/** The word limit of the strict prompt: about half of the bound, as a token is about three quarters of an English word. */
function toMaxWords(maxTokens: number): number {
  return Math.max(20, Math.min(500, Math.floor(maxTokens * 0.375)));
}

/** Consecutive messages that one call summarizes. */
export interface Chunk {
  readonly text: string;
  readonly tokens: number;
  /** The range of serialized messages: from `from` to before `to`. */
  readonly from: number;
  readonly to: number;
}

/** A conversation to summarize in chunks, and how a chunk is written. `Response.body` is the summary so far. */
interface FoldTask<Response extends { readonly body: string }> {
  readonly messages: readonly SerializedMessage[];
  readonly previous: string | null;
  readonly counter: TokenCounter;
  /** Tokens available for the conversation in the next call, whose prompt also contains this summary. */
  readonly budget: (previous: string | null) => number;
  readonly write: (chunk: Chunk, previous: string | null) => Promise<Response>;
}

/** The most overflows of one conversation. Each halves the chunk, so the last is 1/64 of the first. */
const MAX_OVERFLOWS = 6;

/** Replaces a conversation without text. */
const NOTHING_SAID = "(no text)";

/**
 * Summarizes a conversation that may be larger than the summarizer's context window, chunk by chunk: each call updates
 * the summary of the earlier chunks. Chunks end between messages. A chunk that the provider rejects as too long is halved
 * and tried again; a single message that is too long loses its middle. Each message is in exactly one answered chunk.
 *
 * @throws what `write` throws, except overflows that a smaller chunk avoids.
 */
export async function foldMessages<Response extends { readonly body: string }>(task: FoldTask<Response>): Promise<Response> {
  const sizes = task.messages.map(({ text }) => task.counter.count(text) + 1);
  let previous = task.previous;
  let cap = Number.POSITIVE_INFINITY;
  let overflows = 0;
  for (let from = 0; ; ) {
    const chunk = takeChunk(task, sizes, from, Math.min(cap, task.budget(previous)));
    try {
      const response = await task.write(chunk, previous);
      if (chunk.to >= task.messages.length) return response;
      previous = response.body;
      from = chunk.to;
    } catch (error) {
      overflows += 1;
      if (!isOverflow(error) || overflows > MAX_OVERFLOWS || chunk.tokens <= 1) throw error;
      cap = Math.floor(chunk.tokens / 2);
    }
  }
}

/** The next chunk: as many messages as fit, at least one. `sizes`: tokens of each message. */
function takeChunk(
  { messages, counter }: Pick<FoldTask<never>, "messages" | "counter">,
  sizes: readonly number[],
  from: number,
  budget: number,
): Chunk {
  let tokens = sizes[from] ?? 0;
  let to = Math.min(from + 1, messages.length);
  if (tokens > budget) {
    const whole = messages[from]?.text ?? "";
    // If not even the marker of a cut fits, the start of the text is sent, so that no message is skipped silently.
    const text = cutToTokens(whole, budget, counter) || takeStart(whole, Math.max(1, budget));
    return { text, tokens: counter.count(text), from, to };
  }
  while (to < messages.length && tokens + (sizes[to] ?? 0) <= budget) {
    tokens += sizes[to] ?? 0;
    to += 1;
  }
  const texts = messages.slice(from, to).map(({ text }) => text);
  return { text: texts.length === 0 ? NOTHING_SAID : texts.join(MESSAGE_SEPARATOR), tokens, from, to };
}

function isOverflow(error: unknown): boolean {
  return error instanceof SummarizerCallError && error.failure === "overflow";
}

/** Margin for the rest of a summarizer's input, and the usual cap of an answer (80 % of the margin); tokens, as in oh-my-pi. */
const MARGIN_TOKENS = 16_384;

const USUAL_OUTPUT_TOKENS = Math.floor(0.8 * MARGIN_TOKENS);

/** Neither takes more than this share of the context window, so that a small window has room for input. */
const MAX_WINDOW_SHARE = 0.15;

/** At least this share of the remaining tokens is for the conversation, however long the prompt is. */
const MIN_FOR_CONVERSATION = 0.25;

/** The bounds of a summarizer's input, in tokens. */
interface InputBounds {
  readonly windowTokens: number;
  readonly inputShare: number;
  /** undefined: the usual cap. */
  readonly maxOutputTokens: number | undefined;
}

/**
 * The tokens of one call's input, prompt included: `floor(inputShare × window) − output − 16,384`. In windows below
 * 109,227 tokens, output and margin are shares of the window.
 *
 * @example
 * computeInputBudget({ windowTokens: 200_000, inputShare: 0.8, maxOutputTokens: 4_000 }); // 139616
 */
export function computeInputBudget({ windowTokens, inputShare, maxOutputTokens = USUAL_OUTPUT_TOKENS }: InputBounds): number {
  const most = Math.floor(MAX_WINDOW_SHARE * windowTokens);
  return Math.max(1, Math.floor(inputShare * windowTokens) - Math.min(maxOutputTokens, most) - Math.min(MARGIN_TOKENS, most));
}

/** The tokens of an input budget that are left for the conversation if the rest of the prompt takes `frameTokens`. */
export function computeConversationBudget(budget: number, frameTokens: number): number {
  return Math.max(1, Math.floor(budget * MIN_FOR_CONVERSATION), budget - frameTokens);
}

/** Removes so much of a text's middle that it has at most `maxTokens`. Counts the text a few times, each linear. */
export function cutToTokens(text: string, maxTokens: number, counter: TokenCounter): string {
  let chars = text.length;
  let short = text;
  for (let tokens = counter.count(text); tokens > maxTokens && chars > 0; tokens = counter.count(short)) {
    // Shrinks each time, so the loop ends even if the marker alone has more than `maxTokens`.
    chars = Math.floor(chars * Math.min(0.9, maxTokens / tokens));
    short = chars === 0 ? "" : cutMiddle(text, chars);
  }
  return short;
}

/** Tokens reserved for the answer if no larger cap is set: this share of the window, at most `ANSWER_TOKENS`. */
const ANSWER_SHARE = 0.05;
const ANSWER_TOKENS = 4_096;

/**
 * The live request of a job that can be summarized in full mode; null: simple mode. A request that lacks one of the
 * messages to be summarized, because it came later or was dropped to fit, cannot be used: the message would be lost. Nor
 * can one that exceeds the context window together with the instruction and its answer.
 */
export function selectFullContext(job: SummaryJob): SessionContext | null {
  const { full, settings, forceSimple, kind, plan, previousSummary } = job;
  if (full === null || kind === "branch") return null;
  const { mode } = settings.summary;
  if (mode === "simple" || (mode === "auto" && forceSimple)) return null;
  const shown = new Set(full.context.entries);
  const { compaction } = full.context;
  if (previousSummary !== null && (compaction === null || !shown.has(compaction.entryId))) return null;
  const covered = [...plan.summarize, ...plan.prefix].filter(({ messages }) => messages.length > 0);
  if (!covered.every(({ id }) => shown.has(id)) || !isWithinWindow(job, full)) return null;
  return stripToolCalls(full.context, settings.summary.stripTools);
}

function isWithinWindow(job: SummaryJob, { usedTokens, limitTokens }: NonNullable<SummaryJob["full"]>): boolean {
  const answerTokens = computeOutputCap(job) ?? Math.min(ANSWER_TOKENS, Math.floor(ANSWER_SHARE * limitTokens));
  return usedTokens + job.counter.count(buildFullPrompt(job, 0)) + answerTokens <= limitTokens;
}

/**
 * The last request without the calls of some tools and their results, because Anthropic rejects a client's tool_search
 * pairs. The same object if there are none, so that the provider's cached prefix stays valid.
 */
function stripToolCalls(context: SessionContext, names: readonly string[]): SessionContext {
  const removed = new Set<string>();
  const messages: ContextMessage[] = [];
  const entries: string[] = [];
  for (const [at, message] of context.messages.entries()) {
    const left = stripCalls(message, names, removed);
    if (left === null) continue;
    messages.push(left);
    entries.push(context.entries[at] ?? "");
  }
  // Compares messages, not ids: a removed id may also belong to a call that stays.
  const isWhole = messages.length === context.messages.length && messages.every((message, at) => message === context.messages[at]);
  if (isWhole) return context;
  // Thinking behind a removed call would be rejected by a model that binds it to its prefix.
  return { ...context, messages: bindsThinking(context.model) ? messages.map(stripThinking) : messages, entries };
}

/** null: nothing of the message is left. `removed`: the ids of the calls removed so far. */
function stripCalls(message: ContextMessage, names: readonly string[], removed: Set<string>): ContextMessage | null {
  if (message.role === "toolResult") return removed.has(message.toolCallId) ? null : message;
  if (message.role !== "assistant") return message;
  const content = message.content.filter((block) => {
    if (block.type !== "toolCall") return true;
    // A later reply may reuse an id.
    if (names.includes(block.name)) removed.add(block.id);
    else removed.delete(block.id);
    return !removed.has(block.id);
  });
  if (content.length === message.content.length) return message;
  // A reply of thinking blocks alone is invalid.
  return content.every(({ type }) => type === "thinking") ? null : { ...message, content };
}

/**
 * Sends the live conversation, which the provider has cached, with one more instruction. The answer is in `<summary>`.
 * The previous summary is part of the conversation.
 *
 * @throws as `SummarizerClient.send`; {SummaryRejectedError} also if the answer is not smaller than the messages it
 * replaces.
 */
export async function writeFull(client: SummarizerClient, context: SessionContext): Promise<WrittenPart> {
  const { job } = client;
  const messages = collectSource(job);
  const answer = await client.send({
    stage: "full",
    system: context.system ?? "",
    prompt: buildFullPrompt(job, Math.max(0, context.messages.length - messages.length - (context.compaction === null ? 0 : 1))),
    task: buildFullPrompt(job, 0),
    needsTag: true,
    context,
    source: buildSource(job, { about: "history", messages, previous: job.previousSummary }),
  });
  assertSmaller(job, answer.body, job.maxTokens);
  return { body: answer.body, title: answer.title, method: answer.extracted ? "extract" : "normal" };
}

function buildFullPrompt(job: SummaryJob, keptMessages: number): string {
  const task = buildNormalTask(job, "history", false);
  const words = [task.text, task.needsTag ? null : IN_SUMMARY_TAGS, NO_TOOLS].filter((part) => part !== null).join("\n\n");
  const asked = buildPrompt(job, "history", { text: words, needsTag: true }, { conversation: null, previous: null });
  return `${buildFullPreface(keptMessages)}\n\n${asked}`;
}
