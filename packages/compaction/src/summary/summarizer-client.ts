import { redact } from "@bough/formats/secrets";
import { BoughError, type SessionContext, type Usage } from "@bough/session-core";
import { cleanText, takeStart } from "@bough/session-core/view";
import { SummaryRejectedError } from "../errors/summarizer-errors.js";
import { scoreFidelity } from "../extract/fidelity.js";
import { findFacts } from "../extract/find-facts.js";
import { callSummarizer } from "../summarizers/call.js";
import type { Summarizer, SummaryReply, SummarySource } from "../summarizers/summarizer.js";
import { computeOutputCap, type SummaryDependencies, type SummaryFailure, type SummaryJob, type SummaryStage } from "./summary-job.js";

/** A prompt for a summarizer. */
export interface SummaryPrompt {
  readonly stage: SummaryStage;
  readonly system: string;
  readonly prompt: string;
  /** The task without the conversation: an answer that repeats it is rejected. */
  readonly task: string;
  readonly needsTag: boolean;
  readonly source?: SummarySource | undefined;
  /** Full mode: the live request that precedes the prompt. */
  readonly context?: SessionContext | undefined;
  /** Share of the output cap, if there is one; default 1. */
  readonly outputShare?: number | undefined;
}

/** A parsed answer. `extracted`: the summarizer is the extract, which ignores the prompt. */
export interface SummaryResponse extends ParsedReply {
  readonly extracted: boolean;
}

/** The parts of a model's reply. */
interface ParsedReply {
  readonly body: string;
  /** Two to six words, if the prompt asked for a title (`<checkpoint_title>`). */
  readonly title: string | null;
}

/**
 * Sends all prompts of a job to its summarizers. Masks secrets in prompts and answers, except in the live request of full
 * mode, which the provider has already received. Counts calls and usage and records failures.
 */
export class SummarizerClient {
  readonly job: SummaryJob;
  calls = 0;
  usage: Usage | undefined;
  /** The provider's id of the last answer that had one. */
  requestId: string | undefined;
  readonly failures: SummaryFailure[] = [];
  readonly #dependencies: SummaryDependencies;
  readonly #candidates: readonly Summarizer[];

  constructor(job: SummaryJob, dependencies: SummaryDependencies) {
    this.job = job;
    this.#dependencies = dependencies;
    this.#candidates = job.candidates.map(
      (candidate): Summarizer =>
        (request) => {
          this.calls += 1;
          return candidate(request);
        },
    );
  }

  /**
   * Sends a prompt to the first candidate that answers.
   *
   * @throws the signal's reason; {SummaryRejectedError}; {SummarizerCallError}
   */
  async send(prompt: SummaryPrompt): Promise<SummaryResponse> {
    const { settings, signal } = this.job;
    signal?.throwIfAborted();
    const reply = await callSummarizer(this.#candidates, this.#buildRequest(prompt), settings.summary, this.#dependencies);
    signal?.throwIfAborted();
    this.requestId = reply.requestId ?? this.requestId;
    this.usage = addUsage(this.usage, reply.usage);
    const response = this.#parse(reply, prompt.needsTag);
    if (isEcho(response.body, `${prompt.system}\n${prompt.task}`) && !this.#hasOwnFacts(response.body, prompt))
      throw new SummaryRejectedError("echo", response.body);
    return response;
  }

  /** An answer that repeats the form is still a summary if its own lines contain facts of the source. */
  #hasOwnFacts(body: string, { prompt, source }: SummaryPrompt): boolean {
    const known = new Set(splitLines(prompt));
    const own = splitLines(body).filter((line) => !known.has(line));
    const { score, total } = scoreFidelity(findFacts(source?.messages ?? []), own.join("\n"));
    return total > 0 && score > 0 && score >= this.job.settings.summary.fidelityFloor;
  }

  /** Records a failure after which another attempt follows; rethrows it if the job was aborted. */
  recordFailure(error: unknown): void {
    this.job.signal?.throwIfAborted();
    const message = error instanceof Error ? error.message : String(error);
    const reason = error instanceof SummaryRejectedError ? { reason: error.reason } : {};
    this.failures.push({ code: error instanceof BoughError ? error.code : "UNKNOWN", message, ...reason });
  }

  /** Masks the secrets in a text if `summary.redact` is set. */
  maskSecrets(text: string): string {
    return this.job.settings.summary.redact ? redact(text) : text;
  }

  #buildRequest({ stage, system, prompt, source, context, outputShare = 1 }: SummaryPrompt) {
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

  #parse(reply: SummaryReply, needsTag: boolean): SummaryResponse {
    const extracted = reply.extracted === true;
    const { body, title } = parseSummaryReply(reply.text, { needsTag: needsTag && !extracted });
    return { body: this.maskSecrets(body), title: title === null ? null : this.maskSecrets(title), extracted };
  }
}

/** Shorter lines are not counted as copies. */
const MIN_LINE = 20;

const ECHO_SHARE = 0.5;

/** Headings, labels, tags and bold titles, which an answer repeats because the form requires them. */
const HEADING = /^(?:#|<\/?[\w-]+>$|\*\*[^*]*\*\*:?$)|:$/;

/** True if at least half of an answer's lines, without headings, are lines of the instructions. Linear. */
function isEcho(body: string, instructions: string): boolean {
  const statements = splitLines(body).filter(isStatement);
  const known = new Set(splitLines(instructions));
  return statements.length > 0 && statements.filter((line) => known.has(line)).length >= ECHO_SHARE * statements.length;
}

function splitLines(text: string): readonly string[] {
  return text.split("\n").map((line) => line.trim());
}

function isStatement(line: string): boolean {
  return line.length >= MIN_LINE && !HEADING.test(line);
}

/** Longest title, in UTF-16 code units; it becomes part of a file name. */
const MAX_TITLE_CHARS = 80;

/**
 * Reads the summary in a reply: without the model's analysis, without a code fence around the whole, without control
 * characters. A `<summary>` that is not closed reaches to the end. Pure, linear.
 *
 * @throws {SummaryRejectedError} `no-summary-tag`: `needsTag` is set and there is none; `empty`: nothing is left.
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

/** Removes a fence that is the first and last line; a fence that closes earlier belongs to the text. */
function stripFence(text: string): string {
  const lines = text.split("\n");
  return lines.length > 1 && findFenceEnd(lines) === lines.length - 1 ? lines.slice(1, -1).join("\n").trim() : text;
}

/** Index of the line that closes the fence of the first line, -1 for none. A fence with a language opens a nested one. */
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
  // Without a closing tag, the title ends with the line.
  const endOfLine = text.indexOf("\n", after);
  const inner = close?.index ?? (endOfLine === -1 ? text.length : endOfLine) - after;
  const title = takeStart(
    text
      .slice(after, after + inner)
      .replace(/\s+/g, " ")
      .trim(),
    MAX_TITLE_CHARS,
  ).trim();
  const rest = text.slice(0, open.index) + text.slice(after + inner + (close?.[0].length ?? 0));
  return { title: title === "" ? null : title, rest: rest.trim() };
}

/** The text in `<summary>`. If no tag is needed and the reply does not start with one: the whole reply. null: no tag. */
function readSummaryTag(text: string, needsTag: boolean): string | null {
  const open = /^[ \t]*<summary>/im.exec(text) ?? (needsTag ? /<summary>/i.exec(text) : null);
  if (open === null) return needsTag ? null : text;
  // A tag further down in a reply that needs none is part of the text.
  if (!needsTag && open.index > 0) return text;
  const from = open.index + open[0].length;
  const close = text.toLowerCase().lastIndexOf("</summary>");
  return text.slice(from, close >= from ? close : text.length);
}

const COUNTS = ["input", "output", "cacheRead", "cacheWrite", "totalTokens"] as const;

/** Adds two usages. A figure that both lack stays undefined; cost in US dollars. */
function addUsage(a: Usage | undefined, b: Usage | undefined): Usage | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const sum: Usage = {};
  for (const key of COUNTS) {
    if (a[key] !== undefined || b[key] !== undefined) sum[key] = (a[key] ?? 0) + (b[key] ?? 0);
  }
  if (a.cost?.total !== undefined || b.cost?.total !== undefined) sum.cost = { total: (a.cost?.total ?? 0) + (b.cost?.total ?? 0) };
  return sum;
}
