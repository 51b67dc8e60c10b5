import { type Entry, EntryNotFoundError } from "@bough/session-core";
import {
  asTyped,
  betterTitle,
  type Cost,
  costLine,
  groupSteps,
  joinTextBlocks,
  oneLine,
  PriceList,
  previewOf,
  rankTitle,
  type Step,
  sumCosts,
} from "@bough/session-core/view";
import { describeSecrets, type SecretCount } from "../secrets/secret.js";
import { contentsSections } from "./contents.js";
import { escapeMarkdown, toCodeSpan } from "./markdown-text.js";
import { type MarkdownDocument, type MarkdownOptions, MarkdownWriter, Omissions } from "./markdown-writer.js";
import { stepSections } from "./sections.js";

/** The number of steps that are searched for a request to use as the title, if the session has none. */
const MAX_STEPS_BEFORE_TITLE = 50;

/**
 * Writes a branch as a Markdown document, in pieces.
 *
 * Messages are below `## User` and `## Assistant`, in their own Markdown without HTML and without links that run a program. Tool
 * calls are folded with their results, labels are headings, and the last line lists what was omitted. The branch is read while
 * it is written, so memory does not grow with its length.
 *
 * @throws {EntryNotFoundError} `from` or `to` is not on the branch; of `from`, before anything was written.
 * @example
 * for await (const piece of markdownOf(document, { toolOutput: "full" })) file.write(piece);
 */
export async function* markdownOf(document: MarkdownDocument, options: MarkdownOptions = {}): AsyncGenerator<string> {
  const omitted = new Omissions();
  const writer = new MarkdownWriter(options, omitted, document);
  let waiting: string[] | null = [];
  let steps = 0;
  let title: string | null = null;
  const prices = options.prices ?? new PriceList();
  let cost: Cost | null = null;
  for await (const step of groupSteps(selectRange(document, options, omitted))) {
    cost = sumCosts([cost, prices.costOfStep(step)]);
    const sections = [...labelSections(step, document), ...stepSections(step, writer)];
    if (waiting === null) {
      yield* addBlankLines(sections);
      continue;
    }
    waiting.push(...sections);
    title = betterTitle(title, chooseTitle(document, step.kind === "entry" ? step.entry : undefined));
    steps += 1;
    if (!isGoodTitle(document, title) && steps < MAX_STEPS_BEFORE_TITLE) continue;
    yield* addBlankLines([...openingSections(document, title), ...waiting]);
    waiting = null;
  }
  title ??= chooseTitle(document, undefined);
  if (waiting !== null) yield* addBlankLines([...openingSections(document, title), ...waiting]);
  yield* addBlankLines(writer.takeSettings());
  yield* [
    "---\n\n",
    `${omitted.line()}\n`,
    ...(cost === null ? [] : [`\n*${costLine(cost)}*\n`]),
    ...secretsLine(document.maskedSecrets?.() ?? []),
  ];
}

/**
 * The sections of a session that a call started, to be shown below the call: with names of speakers in place of headings. The whole
 * session is held.
 */
export async function subagentSectionsOf(document: MarkdownDocument, options: MarkdownOptions = {}): Promise<readonly string[]> {
  const omitted = new Omissions();
  const writer = new MarkdownWriter(options, omitted, document, true);
  const sections: string[] = [];
  for await (const step of groupSteps(selectRange(document, {}, omitted))) sections.push(...stepSections(step, writer));
  return omitted.isEmpty ? sections : [...sections, omitted.line()];
}

function secretsLine(counts: readonly SecretCount[]): readonly string[] {
  return counts.length === 0 ? [] : [`\n*${describeSecrets(counts, "masked")}.*\n`];
}

function labelSections(step: Step, document: MarkdownDocument): readonly string[] {
  return step.entryIds.flatMap((id) => {
    const label = escapeMarkdown(document.labels.get(id) ?? "");
    return label === "" ? [] : [`**Label: ${label}**`];
  });
}

function* addBlankLines(sections: readonly string[]): Generator<string> {
  for (const section of sections) yield `${section}\n\n`;
}

/** The longest title taken from a message, in code points. */
const TITLE_LENGTH = 80;

/** True if a title is the session's own or a request: a later request replaces a slash command or "thank you" as the title. */
function isGoodTitle({ session }: MarkdownDocument, title: string | null): boolean {
  return title !== null && ((session.title ?? "").trim() !== "" || rankTitle(title) === BEST_TITLE);
}

const BEST_TITLE = 3;

/** The document's title: of the session, or from a user message. null: neither. */
function chooseTitle(document: MarkdownDocument, entry: Entry | undefined): string | null {
  const title = document.session.title?.trim() ?? "";
  if (title !== "") return title;
  if (entry?.type !== "message") return null;
  const message = asTyped(entry.message);
  if (message.role !== "user") return null;
  // The first paragraph: the text after it is often a listing or a log.
  const [first = ""] = joinTextBlocks(message.content)
    .trimStart()
    .split(/\n\s*\n/, 1);
  const paragraph = oneLine(first);
  const words = [...(paragraph === "" ? previewOf(entry) : paragraph)];
  if (words.length === 0) return null;
  return words.length > TITLE_LENGTH
    ? `${words
        .slice(0, TITLE_LENGTH - 1)
        .join("")
        .trimEnd()}…`
    : words.join("");
}

/** The first lines: title, date, model, folder and session id. */
function openingSections(document: MarkdownDocument, title: string | null): readonly string[] {
  const { session, model } = document;
  const facts = [
    dayOf(session.createdAtMs),
    model === null ? "" : escapeMarkdown(model),
    toCodeSpan(session.cwd ?? ""),
    `session ${toCodeSpan(session.id)}`,
  ];
  return [
    `# ${escapeMarkdown(title ?? `Session ${session.id}`)}`,
    facts.filter((fact) => fact !== "").join(" · "),
    ...contentsSections(document.contents ?? []),
  ];
}

/** The date in UTC; empty for an invalid time. */
function dayOf(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? "" : date.toISOString().slice(0, 10);
}

/**
 * The entries from `from` to `to`, inclusive. One entry after `to` is read, to detect that the document ends early.
 *
 * @throws {EntryNotFoundError} an end of the range is not on the branch, or `to` comes before `from`.
 */
async function* selectRange(document: MarkdownDocument, options: MarkdownOptions, omitted: Omissions): AsyncGenerator<Entry> {
  const { from, to } = options;
  let isInRange = from === undefined;
  let hasEnded = false;
  for await (const entry of document.entries) {
    if (hasEnded) return omitted.endsEarly();
    isInRange ||= entry.id === from;
    hasEnded = entry.id === to;
    if (isInRange) yield entry;
    else if (hasEnded) break;
    else omitted.count("earlier");
  }
  if (!isInRange && from !== undefined) throw new EntryNotFoundError(document.session.id, from);
  if (!hasEnded && to !== undefined) throw new EntryNotFoundError(document.session.id, to);
}
