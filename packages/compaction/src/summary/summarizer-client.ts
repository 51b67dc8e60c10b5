import { BoughError, type SessionContext, type Usage } from "@bough/session-core";
import { SummaryRejectedError } from "../errors/summarizer-errors.js";
import { scoreFidelity } from "../extract/fidelity.js";
import { findFacts } from "../extract/find-facts.js";
import { callSummarizer } from "../summarizers/call.js";
import type { Summarizer, SummaryReply, SummarySource } from "../summarizers/summarizer.js";
import { cleanText } from "../text/clean-text.js";
import { redact } from "../text/redact.js";
import { computeOutputCap, type SummaryDependencies, type SummaryFailure, type SummaryJob, type SummaryStage } from "./summary-job.js";
import { headOf } from "./text/cut-text.js";

/** One thing to ask. */
export interface SummaryPrompt {
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
export interface SummaryResponse extends ParsedReply {
  readonly extracted: boolean;
}

/** Shorter lines say too little to be taken for a copy. */
const LEAST_LINE = 20;
const ECHO_SHARE = 0.5;
/** Headings, labels, tags and bold titles, which an answer repeats because the form asks for them. */
const HEADING = /^(?:#|<\/?[\w-]+>$|\*\*[^*]*\*\*:?$)|:$/;

/** Whether at least half of an answer's lines, headings apart, are lines of the instructions, word for word. Linear. */
function isEcho(body: string, instructions: string): boolean {
  const said = splitLines(body).filter(isStatement);
  const known = new Set(splitLines(instructions));
  return said.length > 0 && said.filter((line) => known.has(line)).length >= ECHO_SHARE * said.length;
}

function splitLines(text: string): readonly string[] {
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
export class SummarizerClient {
  calls = 0;
  usage: Usage | undefined;
  /** Of the last answer that told one. */
  requestId: string | undefined;
  readonly failures: SummaryFailure[] = [];
  readonly #candidates: readonly Summarizer[];

  constructor(
    readonly job: SummaryJob,
    readonly dependencies: SummaryDependencies,
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
  async send(question: SummaryPrompt): Promise<SummaryResponse> {
    const { settings, signal } = this.job;
    signal?.throwIfAborted();
    const reply = await callSummarizer(this.#candidates, this.#request(question), settings.summary, this.dependencies);
    signal?.throwIfAborted();
    this.requestId = reply.requestId ?? this.requestId;
    this.usage = addUsage(this.usage, reply.usage);
    const answer = this.#read(reply, question.needsTag);
    if (isEcho(answer.body, `${question.system}\n${question.task}`) && !this.#saysEnough(answer.body, question))
      throw new SummaryRejectedError("echo", answer.body);
    return answer;
  }

  /** Facts of the source in lines that the prompt does not have make a summary, however much of the form stands between them. */
  #saysEnough(body: string, { prompt, source }: SummaryPrompt): boolean {
    const known = new Set(splitLines(prompt));
    const own = splitLines(body).filter((line) => !known.has(line));
    const { score, total } = scoreFidelity(findFacts(source?.messages ?? []), own.join("\n"));
    return total > 0 && score > 0 && score >= this.job.settings.summary.fidelityFloor;
  }

  /** Notes a failure that another way may mend; throws it on where the job was cancelled. */
  recordFailure(error: unknown): void {
    this.job.signal?.throwIfAborted();
    const message = error instanceof Error ? error.message : String(error);
    const reason = error instanceof SummaryRejectedError ? { reason: error.reason } : {};
    this.failures.push({ code: error instanceof BoughError ? error.code : "UNKNOWN", message, ...reason });
  }

  /** A text with its secrets masked, where the setting asks for it. */
  maskSecrets(text: string): string {
    return this.job.settings.summary.redact ? redact(text) : text;
  }

  #request({ stage, system, prompt, source, context, outputShare = 1 }: SummaryPrompt) {
    const { signal, onProgress } = this.job;
    const cap = computeOutputCap(this.job);
    let chars = 0;
    const onText = (piece: string): void => {
      chars += piece.length;
      onProgress?.({ stage, chars });
    };
    onProgress?.({ stage, chars });
    return {
      trigger: this.job.trigger,
      system,
      prompt: this.maskSecrets(prompt),
      maxOutputTokens: cap === undefined ? undefined : Math.max(1, Math.floor(cap * outputShare)),
      temperature: this.job.settings.summary.temperature ?? undefined,
      signal,
      source,
      onText: onProgress === undefined ? undefined : onText,
      ...(context === undefined ? {} : { context, messages: context.messages }),
    };
  }

  #read(reply: SummaryReply, needsTag: boolean): SummaryResponse {
    const extracted = reply.extracted === true;
    const { body, title } = parseSummaryReply(reply.text, { needsTag: needsTag && !extracted });
    return { body: this.maskSecrets(body), title: title === null ? null : this.maskSecrets(title), extracted };
  }
}

/** What a model's reply says. */
interface ParsedReply {
  readonly body: string;
  /** Two to six words, where the prompt asked for them (Copilot CLI's `<checkpoint_title>`). */
  readonly title: string | null;
}

/** How long a title may be, in UTF-16 code units: it becomes part of a file's name. */
const MAX_TITLE_CHARS = 80;

/**
 * The summary in a reply: without the model's analysis, a code fence around the whole, and control characters. A `<summary>`
 * that was opened and never closed reaches to the end (VS Code's rule). Pure, linear.
 *
 * @throws {SummaryRejectedError} `no-summary-tag`: `needsTag` and there is none; `empty`: nothing is left.
 */
export function parseSummaryReply(text: string, { needsTag }: { readonly needsTag: boolean }): ParsedReply {
  const said = stripAnalysis(stripFence(cleanText(text).trim()));
  const titled = takeTitle(said);
  const inner = readSummaryTag(titled.rest, needsTag);
  if (inner === null) throw new SummaryRejectedError("no-summary-tag", text);
  const body = stripFence(inner.trim());
  if (body === "") throw new SummaryRejectedError("empty", text);
  return { body, title: titled.title };
}

const FENCE = /^(`{3,}|~{3,})(.*)$/;

/** A text without the fence that is its first and last line; a fence that closes earlier belongs to the text. */
function stripFence(text: string): string {
  const lines = text.split("\n");
  return lines.length > 1 && findFenceEnd(lines) === lines.length - 1 ? lines.slice(1, -1).join("\n").trim() : text;
}

/** The line that closes the fence of the first one; -1: there is none. Inside, a fence with a language opens one more. */
function findFenceEnd(lines: readonly string[]): number {
  const mark = FENCE.exec(lines[0] ?? "")?.[1];
  if (mark === undefined) return -1;
  let depth = 0;
  for (const [at, line] of lines.entries()) {
    const fence = FENCE.exec(line);
    if (fence === null || fence[1] !== mark) continue;
    depth += at === 0 || fence[2]?.trim() !== "" ? 1 : -1;
    if (depth === 0) return at;
  }
  return -1;
}

function stripAnalysis(text: string): string {
  const open = /^\s*<analysis>/i.exec(text);
  if (open === null) return text;
  const close = /<\/analysis>/i.exec(text);
  if (close !== null) return text.slice(close.index + close[0].length).trim();
  const summary = /^[ \t]*<summary>/im.exec(text);
  return summary === null ? "" : text.slice(summary.index).trim();
}

function takeTitle(text: string): { readonly title: string | null; readonly rest: string } {
  const open = /<checkpoint_title>/i.exec(text);
  if (open === null) return { title: null, rest: text };
  const after = open.index + open[0].length;
  const close = /<\/checkpoint_title>/i.exec(text.slice(after));
  // Without its end, the title is the rest of the line.
  const endOfLine = text.indexOf("\n", after);
  const inner = close?.index ?? (endOfLine === -1 ? text.length : endOfLine) - after;
  const title = headOf(
    text
      .slice(after, after + inner)
      .replace(/\s+/g, " ")
      .trim(),
    MAX_TITLE_CHARS,
  ).trim();
  const rest = text.slice(0, open.index) + text.slice(after + inner + (close?.[0].length ?? 0));
  return { title: title === "" ? null : title, rest: rest.trim() };
}

/** What stands in `<summary>`; the whole where none is needed and the reply does not start with one; null: there is none. */
function readSummaryTag(text: string, needsTag: boolean): string | null {
  const open = /^[ \t]*<summary>/im.exec(text) ?? (needsTag ? /<summary>/i.exec(text) : null);
  if (open === null) return needsTag ? null : text;
  // A reply that needs no tag and speaks of one further down is whole.
  if (!needsTag && open.index > 0) return text;
  const from = open.index + open[0].length;
  const close = text.toLowerCase().lastIndexOf("</summary>");
  return text.slice(from, close >= from ? close : text.length);
}

const COUNTS = ["input", "output", "cacheRead", "cacheWrite", "totalTokens"] as const;

/** Two usages as one. A figure that neither tells is not told; cost in US dollars. */
function addUsage(a: Usage | undefined, b: Usage | undefined): Usage | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const sum: Usage = {};
  for (const key of COUNTS) {
    if (a[key] !== undefined || b[key] !== undefined) sum[key] = (a[key] ?? 0) + (b[key] ?? 0);
  }
  if (a.cost?.total !== undefined || b.cost?.total !== undefined) sum.cost = { total: (a.cost?.total ?? 0) + (b.cost?.total ?? 0) };
  return sum;
}
