import { redact } from "@bough/formats/secrets";
import { type AssistantBlock, type ContentBlock, type ContextMessage, textOf } from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import { classifyTool } from "@bough/session-core/view";
import { bodyOf, withBody } from "@bough/session-core/wire";
import { EXTRACTIVE, SUMMARY_REQUEST } from "../arguments/shapes.js";
import type { Summarizer, SummaryRequest, SummarySource } from "../summarizers/summarizer.js";
import {
  BLOCK_NAMES,
  type BlockName,
  type Blocks,
  computeBlockLimits,
  type ExtractMaterial,
  fitBlocks,
  type Line,
  MARKER,
  parsePrevious,
  takeGoal,
  toSafeLine,
} from "./blocks.js";
import {
  listBlocked,
  listChangedFiles,
  listCommands,
  listEarlierSummaries,
  listErrors,
  listNames,
  listNumbers,
  listReadFiles,
} from "./context-lines.js";
import { findFacts } from "./facts.js";
import { collectKeywords, computeOverlap, extractProse, findRules } from "./prose.js";
import { readTimeline } from "./timeline.js";
import { findErrorLines } from "./tool-calls.js";
import {
  listDecisions,
  listDone,
  listGoal,
  listLastReply,
  listLaterRequests,
  listLatestRequest,
  listNextSteps,
  listOpenWork,
  listRules,
} from "./turn-lines.js";

const ABOUT: Readonly<Record<SummarySource["kind"], string>> = {
  history: "",
  "turn-prefix": " It covers the start of a turn, whose end is kept.",
  branch: " It covers a branch of the conversation that was left.",
};

/**
 * Writes a summary without a model, from the text of the source: requests, rules of the user, finished work, decisions,
 * errors and whether they were fixed, files, the last state and the next steps. At most `maxChars` UTF-16 code units and
 * smaller than the source; a source of a sentence or two is returned on one line. The first line marks it as an extract.
 *
 * Lines of a previous extract are carried over block by block, newest lines first. Any other previous summary is quoted
 * without its middle. An extract therefore does not grow over compactions, and the first goal is kept. Lines that match
 * `instructions` are chosen first. The results of calls decide what counts as done, decided or failed: see
 * docs/compaction.md. Secrets are masked, and paths are relative to the session's directory. Text of the source cannot
 * become a heading, open a code block or contain control characters. Deterministic; linear.
 */
export function extract(given: SummarySource, limit: { readonly maxChars: number }): string {
  if (isShortSource(given)) return extractShort(given, limit.maxChars);
  const source = prepareSource(given);
  const maxChars = Math.floor(Math.min(limit.maxChars, countSourceChars(given) - 1));
  const blocks = applyFocus(buildBlocks(collectMaterial(source, maxChars)), source.instructions);
  return fitBlocks(MARKER + ABOUT[source.kind], blocks, maxChars);
}

function collectMaterial({ messages, kind, previousSummary }: SummarySource, maxChars: number): ExtractMaterial {
  const timeline = readTimeline(messages);
  const { before, old } = parsePrevious(previousSummary ?? timeline.leadingSummary ?? "");
  const { goal, rest } = takeGoal(before);
  const second = previousSummary === null || timeline.leadingSummary === null ? [] : [timeline.leadingSummary];
  const earlier = [rest, ...second, ...timeline.summaries];
  return { timeline, facts: findFacts(messages), kind, old, earlier, goal, limits: computeBlockLimits(maxChars) };
}

function buildBlocks(material: ExtractMaterial): Blocks {
  return {
    goal: listGoal(material),
    requests: listLaterRequests(material),
    latest: listLatestRequest(material),
    earlier: listEarlierSummaries(material),
    rules: listRules(material),
    done: listDone(material),
    open: listOpenWork(material),
    blocked: listBlocked(material),
    decisions: listDecisions(material),
    errors: listErrors(material),
    changed: listChangedFiles(material),
    read: listReadFiles(material),
    last: listLastReply(material),
    next: listNextSteps(material),
    commands: listCommands(material),
    names: listNames(material),
    numbers: listNumbers(material),
  };
}

/** Factor on the rank of lines that match the user's focus. */
const FOCUS = 0.05;

function applyFocus(blocks: Blocks, instructions: string | null): Blocks {
  const wanted = collectKeywords(instructions ?? "");
  if (wanted.size === 0) return blocks;
  const near = ({ text, rank }: Line): Line => ({
    text,
    rank: rank > 2 && computeOverlap(wanted, collectKeywords(text)) > 0 ? 2 + rank * FOCUS : rank,
  });
  const focused: Record<BlockName, readonly Line[]> = { ...blocks };
  for (const name of BLOCK_NAMES) focused[name] = blocks[name].map(near);
  return focused;
}

/** Largest extract, in UTF-16 code units. */
const MAX_CHARS = 8_000;
const MIN_CHARS = 600;
/** Largest share of the source. */
const SHARE = 0.25;
/** Characters of a token in dense text. */
const CHARS_PER_TOKEN = 3;

/**
 * A summarizer without a model (`extract`), used when no API key is configured.
 *
 * `maxChars`: upper bound of the summary, in UTF-16 code units. Default: a quarter of the source, at least 600, at most
 * 8,000, and at most three characters for each of `maxOutputTokens`. Never fails; without a source it extracts from the
 * prompt. Throws the signal's reason if it was aborted before.
 *
 * @example
 * const { text } = await extractiveSummarizer()({ system: "", prompt: "", source });
 */
export function extractiveSummarizer(options: { readonly maxChars?: number | undefined } = {}): Summarizer {
  rules.checkArgument("options", options, EXTRACTIVE);
  return async (request) => {
    rules.checkArgument("request", request, SUMMARY_REQUEST);
    request.signal?.throwIfAborted();
    const { maxOutputTokens = MAX_CHARS, source } = request;
    const mostTokens = Math.min(maxOutputTokens, source?.wantedTokens ?? MAX_CHARS);
    const maxChars = Math.min(options.maxChars ?? defaultChars(request), mostTokens * CHARS_PER_TOKEN);
    const text = request.source === undefined ? extractPrompt(request.prompt, maxChars) : extract(request.source, { maxChars });
    request.onText?.(text);
    return { text, extracted: true };
  };
}

function defaultChars({ source, prompt }: SummaryRequest): number {
  const given = source === undefined ? prompt.length : countSourceChars(source);
  return Math.floor(Math.min(MAX_CHARS, Math.max(MIN_CHARS, given * SHARE)));
}

const LINE_CHARS = 240;
const CONVERSATION = /<conversation>\n([\s\S]*?)\n<\/conversation>/;

/**
 * Extracts from a text instead of messages: its first lines, the rules and errors in it, and its last lines, at most
 * `maxChars` UTF-16 code units. If it has a `<conversation>` tag, only that is read. Secrets are masked. Linear.
 */
function extractPrompt(prompt: string, maxChars: number): string {
  const text = redact(CONVERSATION.exec(prompt)?.[1] ?? prompt);
  const lines = extractProse(text)
    .split("\n")
    .map((line) => toSafeLine(line, LINE_CHARS))
    .filter((line) => line !== "");
  const telling = [...findRules(extractProse(text)), ...findErrorLines(text, false)].map((line) => toSafeLine(line, LINE_CHARS));
  const room = Math.max(0, maxChars - MARKER.length - 2);
  const head = takeWithinChars(lines, room * 0.3);
  const kept = takeWithinChars([...new Set(telling)], room * 0.25);
  const tail = takeWithinChars(lines.slice(head.length).reverse(), room * 0.4).reverse();
  const body = [...head, ...kept.filter((line) => !head.includes(line) && !tail.includes(line)), ...tail];
  return body.length === 0 ? toSafeLine(text, maxChars) : [MARKER, "", ...body.map((line) => `- ${line}`)].join("\n");
}

function takeWithinChars(lines: readonly string[], maxChars: number): string[] {
  const taken: string[] = [];
  let left = maxChars;
  for (const line of lines) {
    left -= line.length + 3;
    if (left < 0) break;
    taken.push(line);
  }
  return taken;
}

type Rewrite = (text: string) => string;

/**
 * Prepares a source for quoting: masks secrets unless `redact` is false, and makes paths relative to the session's
 * directory. This happens before any text is cut, because half a key is not recognized. User messages keep their paths,
 * because they are quoted word for word. Results of calls that run no command are changed only if they failed; otherwise
 * they are not read. Linear.
 */
function prepareSource(source: SummarySource): SummarySource {
  const masked: Rewrite = source.redact === false ? (text) => text : redact;
  const relative = makePathsRelativeTo(source.cwd ?? null);
  const writer = new SourceWriter(masked, relative);
  const messages = source.messages.map((message) => writer.write(message));
  return { ...source, messages, previousSummary: source.previousSummary === null ? null : masked(source.previousSummary) };
}

/** Rewrites messages in order, because the handling of a result depends on its call. */
class SourceWriter {
  readonly #unusedResults = new Set<string>();
  readonly #mask: Rewrite;
  readonly #makeRelative: Rewrite;
  readonly #rewriteAll: Rewrite;

  constructor(mask: Rewrite, makeRelative: Rewrite) {
    this.#mask = mask;
    this.#makeRelative = makeRelative;
    this.#rewriteAll = (text) => mask(makeRelative(text));
  }

  write(message: ContextMessage): ContextMessage {
    if (message.role === "assistant") return { ...message, content: message.content.map((block) => this.#block(block)) };
    if (message.role === "toolResult" && !message.isError && this.#unusedResults.has(message.toolCallId)) return message;
    const written = withBody(message, rewriteContent(bodyOf(message), message.role === "user" ? this.#mask : this.#rewriteAll));
    return written.role === "bashExecution" ? { ...written, command: this.#rewriteAll(written.command) } : written;
  }

  #block(block: AssistantBlock): AssistantBlock {
    if (block.type === "text") return { ...block, text: this.#rewriteAll(block.text) };
    if (block.type !== "toolCall") return block;
    const runs = classifyTool(block.name) === "command";
    if (!runs) this.#unusedResults.add(block.id);
    // Of text written to files only paths are used.
    const rewrite: Rewrite = (text) => (runs || text.length <= ARGUMENT_CHARS ? this.#rewriteAll(text) : this.#makeRelative(text));
    return { ...block, arguments: rewriteMembers(block.arguments, rewrite, ARGUMENTS_DEPTH) };
  }
}

const ARGUMENT_CHARS = 1_000;
/** Depth at which arguments contain paths, commands or todo lists. */
const ARGUMENTS_DEPTH = 3;

type Content = string | readonly ContentBlock[];

function rewriteContent(content: Content, rewrite: Rewrite): Content {
  if (typeof content === "string") return rewrite(content);
  return content.map((block) => (block.type === "text" ? { ...block, text: rewrite(block.text) } : block));
}

function rewriteMembers(given: object, rewrite: Rewrite, depth: number): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, rewriteArgument(value, rewrite, depth - 1)]));
}

function rewriteArgument(value: unknown, rewrite: Rewrite, depth: number): unknown {
  if (typeof value === "string") return rewrite(value);
  if (typeof value !== "object" || value === null || depth <= 0) return value;
  return Array.isArray(value) ? value.map((one) => rewriteArgument(one, rewrite, depth - 1)) : rewriteMembers(value, rewrite, depth);
}

/** A shorter source is its own summary. */
const SHORT = 300;

/** The characters of a source: texts, calls with their arguments, output, summaries. Thinking is not counted. */
export function countSourceChars({ messages, previousSummary }: SummarySource): number {
  return messages.reduce((sum, message) => sum + countChars(message), previousSummary?.length ?? 0);
}

/** True if the source is so short that it is its own summary. */
function isShortSource(source: SummarySource): boolean {
  return countSourceChars(source) < SHORT;
}

/** The text of a short source on one line, with the role of each message; secrets are masked. */
function extractShort({ messages, previousSummary, redact: masks }: SummarySource, maxChars: number): string {
  const texts = messages.flatMap((message) => {
    const text = readMessageText(message);
    return text.trim() === "" ? [] : [messages.length === 1 ? text : `${WHO[message.role]}: ${text}`];
  });
  const text = [...(previousSummary === null ? [] : [previousSummary]), ...texts].join(" ");
  return toSafeLine(masks === false ? text : redact(text), maxChars);
}

const WHO: Readonly<Record<ContextMessage["role"], string>> = {
  user: "User",
  assistant: "Assistant",
  toolResult: "Result",
  bashExecution: "Command",
  custom: "Context",
  compactionSummary: "Before",
  branchSummary: "Branch",
};

function countChars(message: ContextMessage): number {
  if (message.role !== "assistant") return readMessageText(message).length;
  return message.content.reduce(
    (sum, block) => sum + (block.type === "toolCall" ? JSON.stringify(block.arguments).length : 0),
    readMessageText(message).length,
  );
}

function readMessageText(message: ContextMessage): string {
  const text = textOf(bodyOf(message));
  return message.role === "bashExecution" ? `${message.command} ${text}` : text;
}

const SPECIAL = /[.*+?^${}()|[\]\\]/g;

/**
 * Returns a function that makes the paths in a text relative to a directory. For `/home/ada/app`, the path
 * `/home/ada/app/src/a.ts` becomes `src/a.ts`, also after `file://`, and the directory itself becomes `.`;
 * `/home/ada/app-old/a.ts` stays. Both kinds of slashes match. For null, an empty directory or a root, texts stay as they
 * are. Linear.
 *
 * @example
 * makePathsRelativeTo("/home/ada/app")("see /home/ada/app/src/a.ts"); // "see src/a.ts"
 */
export function makePathsRelativeTo(directory: string | null): (text: string) => string {
  const parts = (directory ?? "").replace(/[\\/]+$/, "").split(/[\\/]/);
  if (parts.length < 2) return (text) => text;
  const whole = parts.map((part) => part.replace(SPECIAL, "\\$&")).join(String.raw`[\\/]`);
  const path = new RegExp(String.raw`(?<![\w.~\\/-])(?:file:\/\/)?${whole}(?:([\\/])(?=[^\s"'${"`"},;:()\]}<>])|(?![\w-]|\.\w))`, "g");
  return (text) => text.replace(path, (_found, slash: string | undefined) => (slash === undefined ? "." : ""));
}
