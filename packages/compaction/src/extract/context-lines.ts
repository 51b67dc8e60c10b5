import { cleanText, shortLine } from "@bough/session-core/view";
import { type ExtractMaterial, getPreviousLines, isUnderline, type Line, MARKER, rankInOrder, toSafeLine } from "./blocks.js";
import { type FactKind, type FoundFact, mergeFileNames } from "./facts.js";
import { inlineCodeBlocks } from "./prose.js";
import { type CallOutcome, collectOutcomes, findLastRuns, findLastSuccesses, hasFailed, isFileMove, type Timeline } from "./timeline.js";
import { listTouchedFiles, normalizeErrorLine } from "./tool-calls.js";

const PATH_CHARS = 160;
const COUNTED = /^(.*?)(?: \((\d+) changes\))?$/;
/** A line that names several files of one folder. */
const FOLDER = /^(.+\/): (.+)$/;
const BETWEEN = ", ";
const PER_LINE = 8;

/** The changed files, those of a folder on one line, most changes first. */
export function listChangedFiles(material: ExtractMaterial): readonly Line[] {
  const folders = new Map<string, FoundFact[]>();
  for (const file of collectChangedFiles(material)) {
    const folder = file.text.includes(BETWEEN) ? file.text : file.text.slice(0, file.text.lastIndexOf("/") + 1);
    const same = folders.get(folder) ?? [];
    folders.set(folder, [...same, file]);
  }
  const lines = [...folders].flatMap(([folder, files]) => {
    if (files.length === 1 || folder === "") return files.map(formatCount);
    const names = files.map((file) => formatCount({ ...file, text: file.text.slice(folder.length) }));
    return splitIntoChunks(names).map((some) => `${folder}: ${some.join(BETWEEN)}`);
  });
  return rankInOrder(lines, 9, 3);
}

function formatCount({ text, strength }: FoundFact): string {
  return strength > 1 ? `${text} (${strength} changes)` : text;
}

function splitIntoChunks(names: readonly string[]): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(names.length / PER_LINE) }, (_one, at) => names.slice(at * PER_LINE, (at + 1) * PER_LINE));
}

function collectChangedFiles(material: ExtractMaterial): readonly FoundFact[] {
  return sortByChanges([...parsePreviousFiles(material), ...collectTouchedFiles(material, true)]);
}

/** The files that were only read, most reads first. */
export function listReadFiles(material: ExtractMaterial): readonly Line[] {
  const changed = new Set(collectChangedFiles(material).map(({ text }) => text));
  const found = [
    ...collectTouchedFiles(material, false),
    ...getPreviousLines(material, "read").map((line) => ({ text: stripBackticks(line), at: 0, strength: 1 })),
  ];
  const names = sortByChanges(found).filter(({ text }) => !changed.has(text));
  return rankInOrder(
    names.map(({ text }) => `\`${text}\``),
    34,
    3,
  );
}

/** From the calls that did not fail. */
function collectTouchedFiles({ timeline }: ExtractMaterial, changed: boolean): readonly FoundFact[] {
  return timeline.turns.flatMap(({ outcomes }) =>
    outcomes.flatMap(({ call, failed, at }) => {
      if (call === null || failed) return [];
      const files = listTouchedFiles(call).filter((file) => file.changed === changed);
      return files.map(({ path }) => ({ text: stripBackticks(toSafeLine(path, PATH_CHARS)), at, strength: 1 }));
    }),
  );
}

function parsePreviousFiles(material: ExtractMaterial): readonly FoundFact[] {
  const lines = getPreviousLines(material, "changed").flatMap((line) => {
    const [, folder, names] = FOLDER.exec(line) ?? [];
    return folder === undefined || names === undefined ? [line] : names.split(BETWEEN).map((name) => folder + name);
  });
  return lines.map((line) => {
    const [, text = line, count = "1"] = COUNTED.exec(line) ?? [];
    return { text, at: -1, strength: Number(count) };
  });
}

function sortByChanges(found: readonly FoundFact[]): readonly FoundFact[] {
  const files = new Map<string, FoundFact>();
  for (const { text, at, strength } of found) {
    const known = files.get(text);
    files.set(text, { text, at: Math.max(at, known?.at ?? -1), strength: strength + (known?.strength ?? 0) });
  }
  return [...mergeFileNames([...files.values()])].sort((a, b) => b.strength - a.strength || b.at - a.at);
}

function stripBackticks(text: string): string {
  return text.replaceAll("`", "");
}

const ITEM_CHARS = 120;

/** Commands that change or check something and whose last run succeeded, most runs first. */
export function listCommands(material: ExtractMaterial): readonly Line[] {
  const outcomes = collectOutcomes(material.timeline.turns);
  const times = new Map<string, number>();
  for (const { command } of outcomes) if (command !== null) times.set(command, (times.get(command) ?? 0) + 1);
  const well = [...findLastRuns(outcomes)].filter(([command, run]) => !hasFailed(run) && times.has(command)).map(([command]) => command);
  const commands = [
    ...well
      .reverse()
      .sort((a, b) => (times.get(b) ?? 0) - (times.get(a) ?? 0))
      .map(formatAsCode),
    ...getPreviousLines(material, "commands"),
  ];
  const places = commands.filter((line) => isFileMove(line.slice(1)));
  return [
    ...rankInOrder(
      commands.filter((line) => !places.includes(line)),
      12,
      2.5,
    ),
    ...rankInOrder(places, 28, 3),
  ];
}

/** Names in backticks. */
export function listNames(material: ExtractMaterial): readonly Line[] {
  return rankInOrder([...collectTexts(material, "identifier").map(formatAsCode), ...getPreviousLines(material, "names")], 30, 2);
}

/** Numbers with their units. */
export function listNumbers(material: ExtractMaterial): readonly Line[] {
  const numbers = collectTexts(material, "number").map((text) => toSafeLine(text, ITEM_CHARS));
  return rankInOrder([...numbers, ...getPreviousLines(material, "numbers")], 32, 2);
}

function formatAsCode(text: string): string {
  return `\`${shortLine(text.replaceAll("`", "'"), ITEM_CHARS)}\``;
}

function collectTexts({ facts }: ExtractMaterial, kind: FactKind): string[] {
  return facts.filter((fact) => fact.kind === kind).map(({ text }) => text);
}

const LINE_CHARS = 500;
/** Least length of a cut line. */
const LEAST = 40;
const CUT = "[... the middle of this summary is left out ...]";

/**
 * Summaries written by a model or another program, line by line, without their middle if they are too long. Their
 * headings become bold text, so that they are not parsed as headings of the extract.
 */
export function listEarlierSummaries(material: ExtractMaterial): readonly Line[] {
  const { earlier, limits } = material;
  const given = [...getPreviousLines(material, "earlier"), ...earlier.flatMap(splitSafeLines)];
  return cutMiddleLines(given, limits.earlierChars).map((text, at) => ({ text, rank: 10 + at / 100 }));
}

function splitSafeLines(summary: string): readonly string[] {
  return inlineCodeBlocks(cleanText(summary))
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith(MARKER) && !isUnderline(line) && !/^\s*(?:```|~~~)/.test(line))
    .map((line) => toSafeLine(withBoldHeading(line), LINE_CHARS))
    .filter((line) => line !== "");
}

/** A heading as bold text; other lines are returned as they are. Linear: one pattern for start and end takes cubic time. */
function withBoldHeading(line: string): string {
  const start = /^\s*#{1,6}\s+/.exec(line)?.[0];
  if (start === undefined) return line;
  let end = line.length;
  while (end > start.length && line.charAt(end - 1) === "#") end -= 1;
  return `**${line.slice(start.length, end).trimEnd()}**`;
}

function cutMiddleLines(lines: readonly string[], maxChars: number): readonly string[] {
  const all = lines.filter((line) => line !== CUT);
  if (countChars(all) <= maxChars) return lines;
  const half = (maxChars - CUT.length) / 2;
  const head = takeWithinChars(all, half);
  const tail = takeWithinChars(all.slice(head.length).reverse(), half).reverse();
  return [...head, CUT, ...tail];
}

function takeWithinChars(lines: readonly string[], maxChars: number): string[] {
  const taken: string[] = [];
  let left = maxChars;
  for (const line of lines) {
    const text = line.length + 1 <= left ? line : toSafeLine(line, Math.max(0, left - 1));
    if (text.length < Math.min(line.length, LEAST)) break;
    left -= text.length + 1;
    taken.push(text);
  }
  return taken;
}

function countChars(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0);
}

/** Lists the failures of the last turn that it did not fix, the latest first. Commands with the same error share a line. */
export function listBlocked({ timeline, limits }: ExtractMaterial): readonly Line[] {
  const commands = new Map<string, string[]>();
  for (const { command, errors } of [...findBlockedOutcomes(timeline)].reverse()) {
    const why = errors.length === 0 ? "no reason was given" : errors.join(" / ");
    commands.set(why, [...(commands.get(why) ?? []), `\`${command}\``]);
  }
  const lines = [...commands].map(([why, failing]) => `${failing.join(", ")} ${failing.length === 1 ? "fails" : "fail"}: ${why}`);
  return rankInOrder(
    lines.map((line) => toSafeLine(line, limits.lineChars * 2)),
    3,
    3,
  );
}

/** The failed last runs of commands in the last turn. */
function findBlockedOutcomes({ turns }: Timeline): ReadonlySet<CallOutcome> {
  return new Set([...findLastRuns(turns.at(-1)?.outcomes ?? []).values()].filter(hasFailed));
}

const FIXED = "Fixed: ";
const OPEN = "Not seen fixed: ";
const OPEN_RANK = 16;
const FIXED_RANK = 20;
/** The command of an open error, in a line of a previous extract. */
const OLD_OPEN = /^(?:Not seen fixed: )?(`([^`]+)`(?: fails)?: .*)$/;

/**
 * The errors, each once: fixed if the same command succeeded later, else not seen fixed. A failed edit is omitted if the
 * file was edited later, and so are errors listed under "Blocked".
 */
export function listErrors(material: ExtractMaterial): readonly Line[] {
  const wellAt = findLastSuccesses(material.timeline.turns);
  const turns = material.timeline.turns.length;
  const old = updatePreviousErrors(material, wellAt).map((text) => ({ text, age: turns }));
  const lines = new Map([...old, ...listMetErrors(material, wellAt)].map((line) => [line.text, line]));
  // Fixed errors are less important than open ones, and old ones less than new ones.
  return [...lines.values()].map(({ text, age }) => ({ text, rank: (text.startsWith(FIXED) ? FIXED_RANK : OPEN_RANK) + age / 3 }));
}

interface MetError {
  readonly text: string;
  /** In turns. */
  readonly age: number;
}

function listMetErrors({ timeline, limits }: ExtractMaterial, wellAt: ReadonlyMap<string, number>): readonly MetError[] {
  const blocked = findBlockedOutcomes(timeline);
  const errors = new Map<string, MetError>();
  for (const [index, { outcomes }] of timeline.turns.entries()) {
    for (const outcome of outcomes) {
      const line = outcome.errors[0];
      const fate = decideFate(outcome, wellAt);
      if (line === undefined || fate === null || blocked.has(outcome)) continue;
      const where = outcome.command === null ? (outcome.call?.name ?? "") : `\`${outcome.command}\``;
      // Deleted first, so that the order is that of the last occurrence.
      errors.delete(normalizeErrorLine(line));
      const text = toSafeLine(`${fate}${where}: ${line}`, Math.floor(limits.lineChars * 1.5));
      errors.set(normalizeErrorLine(line), { text, age: timeline.turns.length - 1 - index });
    }
  }
  return [...errors.values()];
}

/** null: omitted. */
function decideFate(outcome: CallOutcome, wellAt: ReadonlyMap<string, number>): typeof FIXED | typeof OPEN | null {
  const { command, call, at } = outcome;
  if (!hasFailed(outcome) || (command !== null && isFileMove(command))) return null;
  if (command !== null) return (wellAt.get(command) ?? -1) > at ? FIXED : OPEN;
  const files = call === null ? [] : listTouchedFiles(call);
  return files.length === 0 || files.some(({ path }) => (wellAt.get(path) ?? -1) > at) ? null : OPEN;
}

/** Marks the open errors of the previous extract as fixed if their command succeeded since. */
function updatePreviousErrors(material: ExtractMaterial, wellAt: ReadonlyMap<string, number>): readonly string[] {
  const known = [...getPreviousLines(material, "errors"), ...getPreviousLines(material, "blocked")];
  return known.map((line) => {
    const [, what = "", command = ""] = OLD_OPEN.exec(line) ?? [];
    if (what === "") return line;
    return (wellAt.has(command) ? FIXED : OPEN) + what.replace("` fails: ", "`: ");
  });
}
