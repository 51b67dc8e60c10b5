import { touchedFiles } from "../../../facts/kinds/file-paths.js";
import { type Found, oneNamePerFile } from "../../../facts/one-name-per-file.js";
import { firstFirst, type Material, oldLines } from "../material.js";
import type { Line } from "../outline.js";
import { safeLine } from "../safe-line.js";

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
