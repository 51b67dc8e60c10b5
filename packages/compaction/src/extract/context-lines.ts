import { cleanText } from "../text/clean-text.js";
import { oneLine } from "../text/one-line.js";
import { isUnderline, type Line, MARKER, safeLine } from "./blocks.js";
import { touchedFiles } from "./file-paths.js";
import { type FactKind, type Found, oneNamePerFile } from "./find-facts.js";
import { firstFirst, type Material, oldLines } from "./material.js";
import { lastRuns, movesFiles, outcomesOf, wentWrong } from "./timeline.js";

const PATH_CHARS = 160;
const COUNTED = /^(.*?)(?: \((\d+) changes\))?$/;
/** A line that names several files of one folder. */
const FOLDER = /^(.+\/): (.+)$/;
const BETWEEN = ", ";
const PER_LINE = 8;

/** The files that were changed, those of a folder on one line, those with the most changes first. */
export function changedLines(material: Material): readonly Line[] {
  const folders = new Map<string, Found[]>();
  for (const file of changedFiles(material)) {
    const folder = file.text.includes(BETWEEN) ? file.text : file.text.slice(0, file.text.lastIndexOf("/") + 1);
    const same = folders.get(folder) ?? [];
    folders.set(folder, [...same, file]);
  }
  const lines = [...folders].flatMap(([folder, files]) => {
    if (files.length === 1 || folder === "") return files.map(counted);
    const names = files.map((file) => counted({ ...file, text: file.text.slice(folder.length) }));
    return chunks(names).map((some) => `${folder}: ${some.join(BETWEEN)}`);
  });
  return firstFirst(lines, 9, 3);
}

function counted({ text, strength }: Found): string {
  return strength > 1 ? `${text} (${strength} changes)` : text;
}

function chunks(names: readonly string[]): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(names.length / PER_LINE) }, (_one, at) => names.slice(at * PER_LINE, (at + 1) * PER_LINE));
}

function changedFiles(material: Material): readonly Found[] {
  return mostFirst([...carried(material), ...touched(material, true)]);
}

/** The files that were only read, those read most often first. */
export function readLines(material: Material): readonly Line[] {
  const changed = new Set(changedFiles(material).map(({ text }) => text));
  const found = [...touched(material, false), ...oldLines(material, "read").map((line) => ({ text: bare(line), at: 0, strength: 1 }))];
  const names = mostFirst(found).filter(({ text }) => !changed.has(text));
  return firstFirst(
    names.map(({ text }) => `\`${text}\``),
    34,
    3,
  );
}

/** By the calls that did not fail. */
function touched({ story }: Material, changed: boolean): readonly Found[] {
  return story.turns.flatMap(({ outcomes }) =>
    outcomes.flatMap(({ call, failed, at }) => {
      if (call === null || failed) return [];
      const files = touchedFiles(call).filter((file) => file.changed === changed);
      return files.map(({ path }) => ({ text: bare(safeLine(path, PATH_CHARS)), at, strength: 1 }));
    }),
  );
}

function carried(material: Material): readonly Found[] {
  const lines = oldLines(material, "changed").flatMap((line) => {
    const [, folder, names] = FOLDER.exec(line) ?? [];
    return folder === undefined || names === undefined ? [line] : names.split(BETWEEN).map((name) => folder + name);
  });
  return lines.map((line) => {
    const [, text = line, count = "1"] = COUNTED.exec(line) ?? [];
    return { text, at: -1, strength: Number(count) };
  });
}

function mostFirst(found: readonly Found[]): readonly Found[] {
  const files = new Map<string, Found>();
  for (const { text, at, strength } of found) {
    const known = files.get(text);
    files.set(text, { text, at: Math.max(at, known?.at ?? -1), strength: strength + (known?.strength ?? 0) });
  }
  return [...oneNamePerFile([...files.values()])].sort((a, b) => b.strength - a.strength || b.at - a.at);
}

function bare(text: string): string {
  return text.replaceAll("`", "");
}

const ITEM_CHARS = 120;

/** Commands that did or checked something and whose last run went well, those that ran most often first. */
export function commandLines(material: Material): readonly Line[] {
  const outcomes = outcomesOf(material.story.turns);
  const times = new Map<string, number>();
  for (const { command } of outcomes) if (command !== null) times.set(command, (times.get(command) ?? 0) + 1);
  const well = [...lastRuns(outcomes)].filter(([command, run]) => !wentWrong(run) && times.has(command)).map(([command]) => command);
  const found = [
    ...well
      .reverse()
      .sort((a, b) => (times.get(b) ?? 0) - (times.get(a) ?? 0))
      .map(inCode),
    ...oldLines(material, "commands"),
  ];
  const places = found.filter((line) => movesFiles(line.slice(1)));
  return [
    ...firstFirst(
      found.filter((line) => !places.includes(line)),
      12,
      2.5,
    ),
    ...firstFirst(places, 28, 3),
  ];
}

/** Names that stand in backticks. */
export function nameLines(material: Material): readonly Line[] {
  return firstFirst([...textsOf(material, "identifier").map(inCode), ...oldLines(material, "names")], 30, 2);
}

/** Numbers with their units. */
export function numberLines(material: Material): readonly Line[] {
  const numbers = textsOf(material, "number").map((text) => safeLine(text, ITEM_CHARS));
  return firstFirst([...numbers, ...oldLines(material, "numbers")], 32, 2);
}

function inCode(text: string): string {
  return `\`${oneLine(text.replaceAll("`", "'"), ITEM_CHARS)}\``;
}

function textsOf({ facts }: Material, kind: FactKind): string[] {
  return facts.filter((fact) => fact.kind === kind).map(({ text }) => text);
}

const LINE_CHARS = 500;
/** A line cut shorter than this says nothing. */
const LEAST = 40;
const CUT = "[... the middle of this summary is left out ...]";

/**
 * Summaries that a model or a program wrote, line by line and without their middle where they are too long. Their headings
 * become bold, so that they cannot be taken for ours.
 */
export function earlierLines(material: Material): readonly Line[] {
  const { earlier, limits } = material;
  const given = [...oldLines(material, "earlier"), ...earlier.flatMap(linesOf)];
  return withoutMiddle(given, limits.earlierChars).map((text, at) => ({ text, rank: 10 + at / 100 }));
}

function linesOf(summary: string): readonly string[] {
  return cleanText(summary)
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith(MARKER) && !isUnderline(line) && !/^\s*(?:```|~~~)/.test(line))
    .map((line) => safeLine(line.replace(/^\s*#{1,6}\s+(.*?)\s*#*$/, "**$1**"), LINE_CHARS))
    .filter((line) => line !== "");
}

function withoutMiddle(lines: readonly string[], maxChars: number): readonly string[] {
  const all = lines.filter((line) => line !== CUT);
  if (sizeOf(all) <= maxChars) return lines;
  const half = (maxChars - CUT.length) / 2;
  const head = take(all, half);
  const tail = take(all.slice(head.length).reverse(), half).reverse();
  return [...head, CUT, ...tail];
}

function take(lines: readonly string[], maxChars: number): string[] {
  const taken: string[] = [];
  let left = maxChars;
  for (const line of lines) {
    const text = line.length + 1 <= left ? line : safeLine(line, Math.max(0, left - 1));
    if (text.length < Math.min(line.length, LEAST)) break;
    left -= text.length + 1;
    taken.push(text);
  }
  return taken;
}

function sizeOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0);
}
