import { rules } from "@bough/session-core/internals";
import { EXTRACTIVE, SUMMARY_REQUEST } from "../arguments/shapes.js";
import type { Summarizer, SummaryRequest, SummarySource } from "../summarizers/summarizer.js";
import { redact } from "../text/redact.js";
import { BLOCK_NAMES, type Blocks, fitBlocks, type Line, MARKER, safeLine } from "./blocks.js";
import { errorLines } from "./commands.js";
import { changedLines, commandLines, earlierLines, nameLines, numberLines, readLines } from "./context-lines.js";
import { findFacts } from "./find-facts.js";
import { type Material, partLimits, readPrevious, takeGoal } from "./material.js";
import { blockedLines, errorsLines, openLines } from "./open-work-lines.js";
import { keyWords, proseOf, shareOf } from "./prose.js";
import { readStory } from "./read-timeline.js";
import { decisionLines, doneLines, lastLines, nextLines } from "./reply-lines.js";
import { goalLines, laterLines, latestLines, ruleLines } from "./request-lines.js";
import { extractShort, isShort, quotable, sourceChars } from "./source.js";
import { rulesIn } from "./user-intent.js";

const ABOUT: Readonly<Record<SummarySource["kind"], string>> = {
  history: "",
  "turn-prefix": " It covers the start of a turn, whose end is kept.",
  branch: " It covers a branch of the conversation that was left.",
};

/**
 * A summary taken from the source itself, without a model: what was asked, the user's rules, what was done and decided,
 * errors and what became of them, files, where it stopped and what comes next, each in the words of the source. At most
 * `maxChars` UTF-16 code units and smaller than the source; only a source of a sentence or two is returned as it is, on
 * one line. Its first line says what it is.
 *
 * A previous extract is carried on block by block, newest lines first to have room; any other previous summary is quoted
 * without its middle. So an extract does not grow, however often it is brought up to date, and the first goal stays.
 * Lines that match `instructions` have room before others. What is done, decided or failed is told by what came of calls: see
 * docs/compaction.md. Secrets are masked, and paths are relative to the session's directory. Nothing of the source can become
 * a heading, open a code block or pass a control character on. Deterministic; cost is linear.
 */
export function extract(given: SummarySource, limit: { readonly maxChars: number }): string {
  if (isShort(given)) return extractShort(given, limit.maxChars);
  const source = quotable(given);
  const maxChars = Math.floor(Math.min(limit.maxChars, sourceChars(given) - 1));
  const blocks = focused(blocksOf(materialOf(source, maxChars)), source.instructions);
  return fitBlocks(MARKER + ABOUT[source.kind], blocks, maxChars);
}

function materialOf({ messages, kind, previousSummary }: SummarySource, maxChars: number): Material {
  const story = readStory(messages);
  const { before, old } = readPrevious(previousSummary ?? story.before ?? "");
  const { goal, rest } = takeGoal(before);
  const second = previousSummary === null || story.before === null ? [] : [story.before];
  const earlier = [rest, ...second, ...story.summaries];
  return { story, facts: findFacts(messages), kind, old, earlier, goal, limits: partLimits(maxChars) };
}

function blocksOf(material: Material): Blocks {
  return {
    goal: goalLines(material),
    requests: laterLines(material),
    latest: latestLines(material),
    earlier: earlierLines(material),
    rules: ruleLines(material),
    done: doneLines(material),
    open: openLines(material),
    blocked: blockedLines(material),
    decisions: decisionLines(material),
    errors: errorsLines(material),
    changed: changedLines(material),
    read: readLines(material),
    last: lastLines(material),
    next: nextLines(material),
    commands: commandLines(material),
    names: nameLines(material),
    numbers: numberLines(material),
  };
}

/** How much sooner a line has room that is about what the person asked to look at. */
const FOCUS = 0.05;

function focused(blocks: Blocks, instructions: string | null): Blocks {
  const wanted = keyWords(instructions ?? "");
  if (wanted.size === 0) return blocks;
  const near = ({ text, rank }: Line): Line => ({ text, rank: rank > 2 && shareOf(wanted, keyWords(text)) > 0 ? 2 + rank * FOCUS : rank });
  return Object.fromEntries(BLOCK_NAMES.map((name) => [name, blocks[name].map(near)])) as unknown as Blocks;
}

/** Read in a few minutes; more would be a copy. In UTF-16 code units. */
const MOST_CHARS = 8_000;
const LEAST_CHARS = 600;
/** At most this share of the source. */
const SHARE = 0.25;
/** So many characters has a token of dense text. */
const CHARS_PER_TOKEN = 3;

/**
 * A summariser that needs no model: it takes goal, rules, progress, decisions, errors, files, last state and next steps from
 * the messages themselves, in their own words (`extract`). What a person without an API key gets.
 *
 * `maxChars`: upper bound of what it writes, in UTF-16 code units; default: a quarter of the source, 8,000 at most, 600
 * at least, and what `maxOutputTokens` allows at three characters a token. It never fails; called without a source it
 * extracts from the prompt. Throws the signal's reason where that was aborted before.
 *
 * @example
 * const { text } = await extractiveSummarizer()({ system: "", prompt: "", source });
 */
export function extractiveSummarizer(options: { readonly maxChars?: number | undefined } = {}): Summarizer {
  rules.checkArgument("options", options, EXTRACTIVE);
  return async (request) => {
    rules.checkArgument("request", request, SUMMARY_REQUEST);
    request.signal?.throwIfAborted();
    const { maxOutputTokens = MOST_CHARS, source } = request;
    const mostTokens = Math.min(maxOutputTokens, source?.wantedTokens ?? MOST_CHARS);
    const maxChars = Math.min(options.maxChars ?? defaultChars(request), mostTokens * CHARS_PER_TOKEN);
    const text = request.source === undefined ? extractPrompt(request.prompt, maxChars) : extract(request.source, { maxChars });
    request.onText?.(text);
    return { text, extracted: true };
  };
}

function defaultChars({ source, prompt }: SummaryRequest): number {
  const given = source === undefined ? prompt.length : sourceChars(source);
  return Math.floor(Math.min(MOST_CHARS, Math.max(LEAST_CHARS, given * SHARE)));
}

const LINE_CHARS = 240;
const CONVERSATION = /<conversation>\n([\s\S]*?)\n<\/conversation>/;

/**
 * An extract of a text that is all there is to go by: its first lines, the rules and errors in it, and its last lines, at
 * most `maxChars` UTF-16 code units. Where a conversation stands in its tag, only of that. Secrets are masked. Linear.
 */
export function extractPrompt(prompt: string, maxChars: number): string {
  const text = redact(CONVERSATION.exec(prompt)?.[1] ?? prompt);
  const lines = proseOf(text)
    .split("\n")
    .map((line) => safeLine(line, LINE_CHARS))
    .filter((line) => line !== "");
  const telling = [...rulesIn(proseOf(text)), ...errorLines(text, false)].map((line) => safeLine(line, LINE_CHARS));
  const room = Math.max(0, maxChars - MARKER.length - 2);
  const head = take(lines, room * 0.3);
  const kept = take([...new Set(telling)], room * 0.25);
  const tail = take(lines.slice(head.length).reverse(), room * 0.4).reverse();
  const body = [...head, ...kept.filter((line) => !head.includes(line) && !tail.includes(line)), ...tail];
  return body.length === 0 ? safeLine(text, maxChars) : [MARKER, "", ...body.map((line) => `- ${line}`)].join("\n");
}

function take(lines: readonly string[], maxChars: number): string[] {
  const taken: string[] = [];
  let left = maxChars;
  for (const line of lines) {
    left -= line.length + 3;
    if (left < 0) break;
    taken.push(line);
  }
  return taken;
}
