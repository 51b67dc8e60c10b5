import { redact } from "@bough/formats/secrets";
import { BoughError, type ContextMessage, type NativeCompaction, type SessionContext, type Usage } from "@bough/session-core";
import { cleanText, takeStart } from "@bough/session-core/view";
import { type RejectedBecause, SummaryRejectedError } from "../errors/summarizer-errors.js";
import { type Fidelity, findFacts, scoreFidelity } from "../extract/facts.js";
import type { Trigger } from "../plan/plan-compaction.js";
import type { PathItem } from "../plan/span.js";
import type { CompactionSettings } from "../settings/settings.js";
import { type CallDependencies, callSummarizer } from "../summarizers/call.js";
import type { Summarizer, SummaryReply, SummarySource } from "../summarizers/summarizer.js";
import type { TokenCounter } from "../tokens/token-counter.js";

/** Everything needed to write one summary. */
export interface SummaryJob {
  readonly kind: "compaction" | "branch";
  /** The trigger, passed on to summarizers. */
  readonly trigger: Trigger | "branch";
  /** The items to summarize. `prefix`: the start of a turn whose end is kept; empty for a branch. */
  readonly plan: { readonly summarize: readonly PathItem[]; readonly prefix: readonly PathItem[] };
  /** The body of the current summary, without file lists and notes (`stripComposed`). */
  readonly previousSummary: string | null;
  /** The user's focus for the summary. */
  readonly instructions: string | null;
  /** The session's directory; the extract writes paths relative to it. Without it paths stay as they are. */
  readonly cwd?: string | null | undefined;
  /** The instructions replace the prompt instead of adding a focus. */
  readonly replaceInstructions?: boolean | undefined;
  /** The result of the hook `compacting`: a prompt that replaces the default, and lines of context. */
  readonly hook: { readonly prompt?: string | undefined; readonly context?: readonly string[] | undefined };
  readonly settings: CompactionSettings;
  readonly counter: TokenCounter;
  /** Context window of the session's model; `summary.windowTokens` overrides it. */
  readonly windowTokens: number;
  /** Tokens reserved for the next turn (`limitsOf`). */
  readonly reserveTokens: number;
  /** Tried in order. Empty: the extract is used at once. */
  readonly candidates: readonly Summarizer[];
  /** The live request, if full mode is possible, with its tokens (system and tools included) and the limit of its provider. */
  readonly full: { readonly context: SessionContext; readonly usedTokens: number; readonly limitTokens: number } | null;
  /** Set after an overflow, because the live request would overflow again. Mode `full` ignores it. */
  readonly forceSimple: boolean;
  /** The breaker is open: no model is called. */
  readonly skipModel: boolean;
  readonly model: { readonly provider?: string | undefined; readonly modelId: string } | null;
  /** The body must have fewer tokens than this: those of the messages it replaces. */
  readonly maxTokens: number;
  /** The wanted size of the body, in tokens. A longer one is accepted and cut later. undefined: no wish. */
  readonly wantedTokens?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** `chars`: the characters of the running answer received so far. */
  readonly onProgress?: ((progress: { readonly stage: SummaryStage; readonly chars: number }) => void) | undefined;
}

/** The purpose of a call; shown in progress. */
type SummaryStage = "full" | "history" | "turn-prefix" | "branch" | "missing-facts" | "short-summary";

/** A written summary, before it is composed with file lists and notes. */
export interface WrittenSummary {
  readonly body: string;
  /** null: the prompt did not ask for one. */
  readonly title: string | null;
  /** One line of at most 200 characters, for screens. */
  readonly shortSummary: string;
  readonly method: SummaryMethod;
  /** The sum over all calls that reported usage. */
  readonly usage: Usage | undefined;
  /** The provider's id of the last answer that had one. */
  readonly requestId: string | undefined;
  /** The number of calls of a summarizer, retries included. */
  readonly calls: number;
  readonly failures: readonly SummaryFailure[];
  /** Counts of the facts found in the source, and of those in the body. */
  readonly fidelity: Fidelity;
  /** The provider's own compaction. */
  readonly native?: NativeCompaction | undefined;
}

/** The method that wrote a summary: the provider itself, normal prompt, strict prompt, extract, or a fixed text that marks the missing summary. */
export type SummaryMethod = "native" | "normal" | "strict" | "extract" | "marker";

/** A failure that did not stop the summary. */
export interface SummaryFailure {
  /** The code of the error, such as `SUMMARY_REJECTED`; `UNKNOWN` for errors of other libraries. */
  readonly code: string;
  readonly message: string;
  /** The reason why an answer was rejected, if it was. */
  readonly reason?: RejectedBecause | undefined;
}

/** The messages of some items, in order. */
export function collectMessages(items: readonly PathItem[]): readonly ContextMessage[] {
  return items.flatMap(({ messages }) => messages);
}

/** All messages that a job summarizes, in order. */
export function collectSource({ plan }: Pick<SummaryJob, "plan">): readonly ContextMessage[] {
  return collectMessages([...plan.summarize, ...plan.prefix]);
}

/** The cap of a share: the reserve of a large window is too large for a summary. */
const LARGEST_SHARE_TOKENS = 16_384;

/** The most tokens of an answer; undefined: the model's own limit, because a fixed cap cuts off models that think first. */
export function computeOutputCap({
  settings: { summary },
  reserveTokens,
}: Pick<SummaryJob, "settings" | "reserveTokens">): number | undefined {
  if (summary.maxOutputTokens !== null) return summary.maxOutputTokens;
  if (summary.maxOutputShare === null) return undefined;
  return Math.max(1, Math.min(LARGEST_SHARE_TOKENS, Math.floor(summary.maxOutputShare * reserveTokens)));
}

/** Context window of the model that writes the summary, in tokens. */
export function getSummaryWindow({ settings, windowTokens }: SummaryJob): number {
  return settings.summary.windowTokens ?? windowTokens;
}

/** Fallback order, best quality first. */
const QUALITY_RANK: Readonly<Record<SummaryMethod, number>> = { native: 0, normal: 1, strict: 2, extract: 3, marker: 4 };

/** The lower quality of two methods, for a summary of two parts. */
export function lowerQuality(a: SummaryMethod, b: SummaryMethod): SummaryMethod {
  return QUALITY_RANK[a] >= QUALITY_RANK[b] ? a : b;
}

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
  readonly #dependencies: CallDependencies;
  readonly #candidates: readonly Summarizer[];

  constructor(job: SummaryJob, dependencies: CallDependencies) {
    this.job = job;
    this.#dependencies = dependencies;
    this.#candidates = job.candidates.map((candidate) => this.#counted(candidate));
  }

  #counted(candidate: Summarizer): Summarizer {
    return (request) => {
      this.calls += 1;
      return candidate(request);
    };
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

  /**
   * Lets the first of `candidates` that succeeds compact a request at its provider. `instructions`: the prompt; empty: the provider's own.
   *
   * @throws as `send`.
   */
  async sendNative(candidates: readonly Summarizer[], context: SessionContext, instructions: string): Promise<SummaryReply> {
    const { settings, signal, trigger } = this.job;
    signal?.throwIfAborted();
    const counted = candidates.map((candidate) => this.#counted(candidate));
    const maxOutputTokens = computeOutputCap(this.job);
    const request = { trigger, system: context.system ?? "", prompt: this.maskSecrets(instructions), context, maxOutputTokens, signal };
    const reply = await callSummarizer(counted, request, settings.summary, this.#dependencies);
    signal?.throwIfAborted();
    this.requestId = reply.requestId ?? this.requestId;
    this.usage = addUsage(this.usage, reply.usage);
    return reply;
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

const FENCE = /^(`{3,}(?!`)|~{3,}(?!~))(.*)$/;

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
