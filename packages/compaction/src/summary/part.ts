import type { ContextMessage } from "@bough/session-core";
import { SummaryRejectedError } from "../errors/summarizer-errors.js";
import type { SummarySource } from "../summarizers/summarizer.js";
import { type Chunk, computeConversationBudget, computeInputBudget, cutToTokens, foldMessages } from "./fold.js";
import { SYSTEM_PROMPT } from "./prompt-texts.js";
import { type SerializedMessage, type SerializeOptions, serializeMessages } from "./serialize.js";
import type { SummarizerClient, SummaryPrompt, SummaryResponse } from "./summarizer-client.js";
import { computeOutputCap, getSummaryWindow, lowerQuality, type SummaryJob, type SummaryMethod } from "./summary-job.js";
import { buildNormalTask, buildPrompt, buildStrictTask, type PartKind, type PromptTask } from "./task-prompt.js";

/** One part of a session that gets a summary of its own. */
export interface SummaryPart {
  readonly about: PartKind;
  readonly messages: readonly ContextMessage[];
  readonly previous: string | null;
  /** The summary must have fewer tokens than this. */
  readonly maxTokens: number;
  /** The prompt that is used first. Default `normal`. */
  readonly from?: FirstPrompt | undefined;
}

/** A normal prompt, and a strict one where its answer is rejected; or the strict one at once. */
export type FirstPrompt = "normal" | "strict";

/** A part's summary. */
export interface WrittenPart {
  readonly body: string;
  readonly title: string | null;
  readonly method: SummaryMethod;
}

/** A summary so far may take at most this share of what a call may read; else old notes would crowd out what is new. */
const PREVIOUS_SHARE = 1 / 3;
/** Answer of a prefix: half the cap, as oh-my-pi has it. */
const PREFIX_OUTPUT_SHARE = 0.5;

/**
 * Writes the summary of a part, folded where it is larger than the summariser's window. A call whose answer is rejected or
 * not smaller than the part's bound is made once more, with the strict prompt.
 *
 * @throws {SummaryRejectedError} the strict answer was none either; {SummarizerCallError}; the signal's reason.
 */
export async function writePart(asker: SummarizerClient, part: SummaryPart): Promise<WrittenPart> {
  const { job } = asker;
  const messages = serializeMessages(part.messages, buildSerializeOptions(job));
  let method: SummaryMethod = "normal";
  const answer = await foldMessages({
    messages,
    previous: part.previous,
    counter: job.counter,
    budget: (previous) => computeChunkBudget(job, part, previous),
    write: async (piece, previous) => {
      const written = await writeChunk(asker, { ...part, messages: selectSource(part, messages, piece), previous }, piece.text);
      method = lowerQuality(method, written.method);
      return written;
    },
  });
  return { body: answer.body, title: answer.title, method };
}

/** What the settings let a summariser read; its window is known here. */
function buildSerializeOptions(job: SummaryJob): SerializeOptions {
  const { summary } = job.settings;
  if (summary.toolResultShare === 0) return summary;
  const mostTokens = Math.floor(summary.toolResultShare * getSummaryWindow(job));
  return { ...summary, cutResult: (text) => cutToTokens(text, mostTokens, job.counter) };
}

/** Normal, then strict. */
async function writeChunk(asker: SummarizerClient, part: SummaryPart, conversation: string): Promise<WrittenPart> {
  const answer = part.from === "strict" ? null : await tryNormalPrompt(asker, part, conversation);
  if (answer !== null) return toWrittenPart(answer, "normal");
  return toWrittenPart(await sendChunk(asker, part, buildStrictTask(part.about, toMaxWords(part.maxTokens)), conversation), "strict");
}

/** null: the answer was rejected. */
async function tryNormalPrompt(asker: SummarizerClient, part: SummaryPart, conversation: string): Promise<SummaryResponse | null> {
  try {
    return await sendChunk(asker, part, buildNormalTask(asker.job, part.about, part.previous !== null), conversation);
  } catch (error) {
    if (!(error instanceof SummaryRejectedError)) throw error;
    asker.recordFailure(error);
    return null;
  }
}

function toWrittenPart({ body, title, extracted }: SummaryResponse, method: SummaryMethod): WrittenPart {
  return { body, title, method: extracted ? "extract" : method };
}

async function sendChunk(asker: SummarizerClient, part: SummaryPart, task: PromptTask, conversation: string): Promise<SummaryResponse> {
  const answer = await asker.send(buildChunkPrompt(asker.job, part, task, conversation));
  assertSmaller(asker.job, answer.body, part.maxTokens);
  return answer;
}

/** @throws {SummaryRejectedError} the text is not smaller than what it is to replace. */
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

/** What a summariser without a model reads. */
export function buildSource(
  { instructions, wantedTokens, cwd, settings }: Pick<SummaryJob, "instructions" | "wantedTokens" | "cwd" | "settings">,
  part: Omit<SummaryPart, "maxTokens">,
): SummarySource {
  const { messages, about: kind, previous: previousSummary } = part;
  return { messages, kind, previousSummary, instructions, wantedTokens, cwd, redact: settings.summary.redact };
}

/** The messages of a piece, those that say nothing among them. */
function selectSource(part: SummaryPart, serialised: readonly SerializedMessage[], { from, to }: Chunk): readonly ContextMessage[] {
  const start = from === 0 ? 0 : (serialised[from]?.at ?? 0);
  return part.messages.slice(start, serialised[to]?.at ?? part.messages.length);
}

/** Tokens that the conversation may take in a prompt with this summary in it. */
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

/** A hard size for the strict prompt: about half of the bound, as a token is about three quarters of an English word. */
function toMaxWords(maxTokens: number): number {
  return Math.max(20, Math.min(500, Math.floor(maxTokens * 0.375)));
}
