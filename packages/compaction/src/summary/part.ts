import type { ContextMessage } from "@bough/session-core";
import { SummaryRejectedError } from "../errors/summarizer-errors.js";
import type { SummarySource } from "../summarizers/summarizer.js";
import { type Chunk, computeConversationBudget, computeInputBudget, cutToTokens, foldMessages } from "./fold.js";
import { SYSTEM_PROMPT } from "./prompt-texts.js";
import { type SerializedMessage, type SerializeOptions, serializeMessages } from "./serialize.js";
import type { SummarizerClient, SummaryPrompt, SummaryResponse } from "./summarizer-client.js";
import { computeOutputCap, getSummaryWindow, lowerQuality, type SummaryJob, type SummaryMethod } from "./summary-job.js";
import { buildNormalTask, buildPrompt, buildStrictTask, type PartKind, type PromptTask } from "./task-prompt.js";

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
  const answer = await foldMessages({
    messages,
    previous: part.previous,
    counter: job.counter,
    budget: (previous) => computeChunkBudget(job, part, previous),
    write: async (chunk, previous) => {
      const written = await writeChunk(client, { ...part, messages: selectSource(part, messages, chunk), previous }, chunk.text);
      method = lowerQuality(method, written.method);
      return written;
    },
  });
  return { body: answer.body, title: answer.title, method };
}

/** The serialize options of the settings, with the cut of tool results that depends on the context window. */
function buildSerializeOptions(job: SummaryJob): SerializeOptions {
  const { summary } = job.settings;
  if (summary.toolResultShare === 0) return summary;
  const mostTokens = Math.floor(summary.toolResultShare * getSummaryWindow(job));
  return { ...summary, cutResult: (text) => cutToTokens(text, mostTokens, job.counter) };
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

function toWrittenPart({ body, title, extracted }: SummaryResponse, method: SummaryMethod): WrittenPart {
  return { body, title, method: extracted ? "extract" : method };
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
