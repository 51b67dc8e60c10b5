import { findFacts } from "../../facts/find-facts.js";
import { keyWords, shareOf } from "../../facts/text/key-words.js";
import type { SummarySource } from "../summarizer.js";
import { fitBlocks } from "./fit.js";
import { partLimits } from "./limits.js";
import type { Material } from "./material.js";
import { BLOCK_NAMES, type Blocks, type Line, MARKER } from "./outline.js";
import { commandLines, nameLines, numberLines } from "./parts/context.js";
import { earlierLines } from "./parts/earlier.js";
import { errorsLines } from "./parts/errors.js";
import { changedLines, readLines } from "./parts/files.js";
import { blockedLines, openLines } from "./parts/open-work.js";
import { goalLines, laterLines, latestLines, ruleLines } from "./parts/requests.js";
import { decisionLines, lastLines, nextLines } from "./parts/said.js";
import { doneLines } from "./parts/work.js";
import { quotable } from "./quotable.js";
import { readPrevious } from "./read-extract.js";
import { readStory } from "./read-story.js";
import { extractShort, isShort, sourceChars } from "./short-source.js";
import { takeGoal } from "./summary-goal.js";

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
