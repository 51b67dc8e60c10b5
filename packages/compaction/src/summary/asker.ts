import type { Usage } from "@bough/session-core";
import { BoughError, type SessionContext } from "@bough/session-core";
import { SummaryRejectedError } from "../errors/summarizer-errors.js";
import { judgeFidelity } from "../facts/fidelity.js";
import { findFacts } from "../facts/find-facts.js";
import { callSummarizer } from "../summarizers/call.js";
import type { Summarizer, SummaryReply, SummarySource } from "../summarizers/summarizer.js";
import { redact } from "../text/redact.js";
import { outputCap, type SummaryHands, type SummaryJob, type SummaryStage } from "./job.js";
import { type ReadReply, readSummaryReply } from "./read-reply.js";
import { addUsage } from "./usage.js";
import type { SummaryFailure } from "./written-summary.js";

/** One thing to ask. */
export interface Question {
  readonly stage: SummaryStage;
  readonly system: string;
  readonly prompt: string;
  /** What the prompt asks for, without the conversation: an answer that repeats it is none. */
  readonly task: string;
  readonly needsTag: boolean;
  readonly source?: SummarySource | undefined;
  /** Full mode: the live request that goes before the prompt. */
  readonly context?: SessionContext | undefined;
  /** Share of the cap of an answer, where there is one; default 1. */
  readonly outputShare?: number | undefined;
}

/** What came back. `extracted`: the summariser was an extract, whatever it was asked. */
export interface Answer extends ReadReply {
  readonly extracted: boolean;
}

/** Shorter lines say too little to be taken for a copy. */
const LEAST_LINE = 20;
const ECHO_SHARE = 0.5;
/** Headings, labels, tags and bold titles, which an answer repeats because the form asks for them. */
const HEADING = /^(?:#|<\/?[\w-]+>$|\*\*[^*]*\*\*:?$)|:$/;

/** Whether at least half of an answer's lines, headings apart, are lines of the instructions, word for word. Linear. */
function isEcho(body: string, instructions: string): boolean {
  const said = linesOf(body).filter(isStatement);
  const known = new Set(linesOf(instructions));
  return said.length > 0 && said.filter((line) => known.has(line)).length >= ECHO_SHARE * said.length;
}

function linesOf(text: string): readonly string[] {
  return text.split("\n").map((line) => line.trim());
}

function isStatement(line: string): boolean {
  return line.length >= LEAST_LINE && !HEADING.test(line);
}

/**
 * The one door to the summarisers of a job: every prompt goes out and every answer comes in through it, so that secrets are
 * masked on both ways (regression R129). Only full mode's live request goes as it is: its provider has read it already.
 * It counts calls and usage, and remembers what failed.
 */
export class Asker {
  calls = 0;
  usage: Usage | undefined;
  /** Of the last answer that told one. */
  requestId: string | undefined;
  readonly failures: SummaryFailure[] = [];
  readonly #candidates: readonly Summarizer[];

  constructor(
    readonly job: SummaryJob,
    readonly hands: SummaryHands,
  ) {
    this.#candidates = job.candidates.map(
      (candidate): Summarizer =>
        (request) => {
          this.calls += 1;
          return candidate(request);
        },
    );
  }

  /**
   * @throws the signal's reason; {SummaryRejectedError}; {SummarizerCallError}
   */
  async ask(question: Question): Promise<Answer> {
    const { settings, signal } = this.job;
    signal?.throwIfAborted();
    const reply = await callSummarizer(this.#candidates, this.#request(question), settings.summary, this.hands);
    signal?.throwIfAborted();
    this.requestId = reply.requestId ?? this.requestId;
    this.usage = addUsage(this.usage, reply.usage);
    const answer = this.#read(reply, question.needsTag);
    if (isEcho(answer.body, `${question.system}\n${question.task}`) && !this.#saysEnough(answer.body, question))
      throw new SummaryRejectedError("echo", answer.body);
    return answer;
  }

  /** Facts of the source in lines that the prompt does not have make a summary, however much of the form stands between them. */
  #saysEnough(body: string, { prompt, source }: Question): boolean {
    const known = new Set(linesOf(prompt));
    const own = linesOf(body).filter((line) => !known.has(line));
    const { score, total } = judgeFidelity(findFacts(source?.messages ?? []), own.join("\n"));
    return total > 0 && score > 0 && score >= this.job.settings.summary.fidelityFloor;
  }

  /** Notes a failure that another way may mend; throws it on where the job was cancelled. */
  failed(error: unknown): void {
    this.job.signal?.throwIfAborted();
    const message = error instanceof Error ? error.message : String(error);
    const reason = error instanceof SummaryRejectedError ? { reason: error.reason } : {};
    this.failures.push({ code: error instanceof BoughError ? error.code : "UNKNOWN", message, ...reason });
  }

  /** A text with its secrets masked, where the setting asks for it. */
  masked(text: string): string {
    return this.job.settings.summary.redact ? redact(text) : text;
  }

  #request({ stage, system, prompt, source, context, outputShare = 1 }: Question) {
    const { signal, onProgress } = this.job;
    const cap = outputCap(this.job);
    let chars = 0;
    const onText = (piece: string): void => {
      chars += piece.length;
      onProgress?.({ stage, chars });
    };
    onProgress?.({ stage, chars });
    return {
      trigger: this.job.trigger,
      system,
      prompt: this.masked(prompt),
      maxOutputTokens: cap === undefined ? undefined : Math.max(1, Math.floor(cap * outputShare)),
      temperature: this.job.settings.summary.temperature ?? undefined,
      signal,
      source,
      onText: onProgress === undefined ? undefined : onText,
      ...(context === undefined ? {} : { context, messages: context.messages }),
    };
  }

  #read(reply: SummaryReply, needsTag: boolean): Answer {
    const extracted = reply.extracted === true;
    const { body, title } = readSummaryReply(reply.text, { needsTag: needsTag && !extracted });
    return { body: this.masked(body), title: title === null ? null : this.masked(title), extracted };
  }
}
