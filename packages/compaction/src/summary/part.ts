import type { ContextMessage } from "@bough/session-core";
import { SummaryRejectedError } from "../errors/summarizer-errors.js";
import type { SummarySource } from "../summarizers/summarizer.js";
import { conversationBudget, cutToTokens, fold, inputBudget, type Piece } from "./fold.js";
import { SYSTEM_PROMPT } from "./prompt-texts.js";
import { type SerialisedMessage, type SerialiseOptions, serialise } from "./serialize.js";
import type { Answer, Asker, Question } from "./summarizer-client.js";
import { lowerQuality, outputCap, type SummaryJob, type SummaryMethod, summaryWindow } from "./summary-job.js";
import { type About, normalTask, promptText, strictTask, type Task } from "./task-prompt.js";

/** One part of a session that gets a summary of its own. */
export interface Part {
  readonly about: About;
  readonly messages: readonly ContextMessage[];
  readonly previous: string | null;
  /** The summary must have fewer tokens than this. */
  readonly maxTokens: number;
  /** The prompt that is used first. Default `normal`. */
  readonly from?: AskFrom | undefined;
}

/** A normal prompt, and a strict one where its answer is rejected; or the strict one at once. */
export type AskFrom = "normal" | "strict";

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
export async function writePart(asker: Asker, part: Part): Promise<WrittenPart> {
  const { job } = asker;
  const messages = serialise(part.messages, serialiseOptions(job));
  let method: SummaryMethod = "normal";
  const answer = await fold({
    messages,
    previous: part.previous,
    counter: job.counter,
    budget: (previous) => roomBeside(job, part, previous),
    write: async (piece, previous) => {
      const written = await writePiece(asker, { ...part, messages: sourceOf(part, messages, piece), previous }, piece.text);
      method = lowerQuality(method, written.method);
      return written;
    },
  });
  return { body: answer.body, title: answer.title, method };
}

/** What the settings let a summariser read; its window is known here. */
function serialiseOptions(job: SummaryJob): SerialiseOptions {
  const { summary } = job.settings;
  if (summary.toolResultShare === 0) return summary;
  const mostTokens = Math.floor(summary.toolResultShare * summaryWindow(job));
  return { ...summary, cutResult: (text) => cutToTokens(text, mostTokens, job.counter) };
}

/** Normal, then strict. */
async function writePiece(asker: Asker, part: Part, conversation: string): Promise<WrittenPart> {
  const answer = part.from === "strict" ? null : await askNormally(asker, part, conversation);
  if (answer !== null) return methodOf(answer, "normal");
  return methodOf(await askPiece(asker, part, strictTask(part.about, maxWords(part.maxTokens)), conversation), "strict");
}

/** null: the answer was rejected. */
async function askNormally(asker: Asker, part: Part, conversation: string): Promise<Answer | null> {
  try {
    return await askPiece(asker, part, normalTask(asker.job, part.about, part.previous !== null), conversation);
  } catch (error) {
    if (!(error instanceof SummaryRejectedError)) throw error;
    asker.failed(error);
    return null;
  }
}

function methodOf({ body, title, extracted }: Answer, method: SummaryMethod): WrittenPart {
  return { body, title, method: extracted ? "extract" : method };
}

async function askPiece(asker: Asker, part: Part, task: Task, conversation: string): Promise<Answer> {
  const answer = await asker.ask(questionOf(asker.job, part, task, conversation));
  assertSmaller(asker.job, answer.body, part.maxTokens);
  return answer;
}

/** @throws {SummaryRejectedError} the text is not smaller than what it is to replace. */
export function assertSmaller({ counter }: Pick<SummaryJob, "counter">, text: string, maxTokens: number): void {
  if (counter.count(text) >= maxTokens) throw new SummaryRejectedError("larger-than-source", text);
}

function questionOf(job: SummaryJob, part: Part, task: Task, conversation: string): Question {
  return {
    stage: part.about,
    system: SYSTEM_PROMPT,
    prompt: promptText(job, part.about, task, { conversation, previous: bounded(job, part.previous) }),
    task: task.text,
    needsTag: task.needsTag,
    outputShare: part.about === "turn-prefix" ? PREFIX_OUTPUT_SHARE : 1,
    source: summarySource(job, part),
  };
}

/** What a summariser without a model reads. */
export function summarySource(
  { instructions, wantedTokens, cwd, settings }: Pick<SummaryJob, "instructions" | "wantedTokens" | "cwd" | "settings">,
  part: Omit<Part, "maxTokens">,
): SummarySource {
  const { messages, about: kind, previous: previousSummary } = part;
  return { messages, kind, previousSummary, instructions, wantedTokens, cwd, redact: settings.summary.redact };
}

/** The messages of a piece, those that say nothing among them. */
function sourceOf(part: Part, serialised: readonly SerialisedMessage[], { from, to }: Piece): readonly ContextMessage[] {
  const start = from === 0 ? 0 : (serialised[from]?.at ?? 0);
  return part.messages.slice(start, serialised[to]?.at ?? part.messages.length);
}

/** Tokens that the conversation may take in a prompt with this summary in it. */
function roomBeside(job: SummaryJob, part: Part, previous: string | null): number {
  const task = normalTask(job, part.about, previous !== null);
  const frame = promptText(job, part.about, task, { conversation: "", previous: bounded(job, previous) });
  return conversationBudget(budgetOf(job), job.counter.count(SYSTEM_PROMPT) + job.counter.count(frame));
}

function bounded(job: SummaryJob, previous: string | null): string | null {
  return previous === null ? null : cutToTokens(previous, Math.floor(budgetOf(job) * PREVIOUS_SHARE), job.counter);
}

function budgetOf(job: SummaryJob): number {
  const windowTokens = summaryWindow(job);
  const { inputShare } = job.settings.summary;
  return inputBudget({ windowTokens, inputShare, maxOutputTokens: outputCap(job) });
}

/** A hard size for the strict prompt: about half of the bound, as a token is about three quarters of an English word. */
function maxWords(maxTokens: number): number {
  return Math.max(20, Math.min(500, Math.floor(maxTokens * 0.375)));
}
