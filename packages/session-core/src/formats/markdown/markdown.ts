import type { MarkdownDocument, MarkdownOptions } from "./markdown-document.js";
import { Omissions } from "./omissions.js";
import { openingSections, titleFrom } from "./opening.js";
import { entriesInRange } from "./range.js";
import { Scribe } from "./scribe.js";
import { stepSections } from "./sections.js";
import { type Step, stepsOf } from "./step.js";
import { escapedLine } from "./visible.js";

/** How many steps are looked through for the words that make a title, where the session has none. */
const MAX_STEPS_BEFORE_TITLE = 50;

/**
 * One branch as a Markdown document that a person would send to a colleague, in pieces that follow each other.
 *
 * Messages stand under `## User` and `## Assistant` in the Markdown of their authors, made harmless (no HTML, no
 * links that run a program); calls are folded with what they gave; labels are headings; the last line says what was
 * left out. The branch is read as it is written: memory does not grow with its length.
 *
 * @throws {EntryNotFoundError} `from` or `to` is not on the branch; of `from`, before anything was written.
 * @example
 * for await (const piece of markdownOf(document, { toolOutput: "full" })) file.write(piece);
 */
export async function* markdownOf(document: MarkdownDocument, options: MarkdownOptions = {}): AsyncGenerator<string> {
  const omitted = new Omissions();
  const scribe = new Scribe(options, omitted);
  let waiting: string[] | null = [];
  let steps = 0;
  for await (const step of stepsOf(entriesInRange(document, options, omitted))) {
    const sections = [...labelSections(step, document, scribe), ...stepSections(step, scribe)];
    if (waiting === null) {
      yield* separated(sections);
      continue;
    }
    waiting.push(...sections);
    const title = titleFrom(document, step.kind === "entry" ? step.entry : undefined);
    if (title === null && ++steps < MAX_STEPS_BEFORE_TITLE) continue;
    yield* separated([...openingSections(document, title), ...waiting]);
    waiting = null;
  }
  if (waiting !== null) yield* separated([...openingSections(document, titleFrom(document, undefined)), ...waiting]);
  yield* ["---\n\n", `${omitted.line()}\n`];
}

function labelSections(step: Step, document: MarkdownDocument, scribe: Scribe): readonly string[] {
  return step.entryIds.flatMap((id) => {
    const label = document.labels.get(id);
    if (label === undefined || escapedLine(label) === "") return [];
    scribe.interrupt();
    return [`## Label: ${escapedLine(label)}`];
  });
}

function* separated(sections: readonly string[]): Generator<string> {
  for (const section of sections) yield `${section}\n\n`;
}
