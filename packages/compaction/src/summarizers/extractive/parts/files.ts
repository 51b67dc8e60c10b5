import { touchedFiles } from "../../../facts/kinds/file-paths.js";
import { type Found, oneNamePerFile } from "../../../facts/one-name-per-file.js";
import { firstFirst, type Material, oldLines } from "../material.js";
import type { Line } from "../outline.js";
import { safeLine } from "../safe-line.js";

const PATH_CHARS = 160;
const COUNTED = /^(.*) \((\d+) changes\)$/;

/** The files that were changed, those with the most changes first. */
export function changedLines(material: Material): readonly Line[] {
  const found = mostFirst([...carried(material), ...touched(material, true)]);
  const lines = found.map(({ text, strength }) => (strength > 1 ? `${text} (${strength} changes)` : text));
  return firstFirst(lines, 9, 3);
}

/** The files that were only read, those read most often first. */
export function readLines(material: Material): readonly Line[] {
  const changed = new Set(mostFirst([...carried(material), ...touched(material, true)]).map(({ text }) => text));
  const found = [...touched(material, false), ...oldLines(material, "read").map((line) => ({ text: bare(line), at: 0, strength: 1 }))];
  const names = mostFirst(found).filter(({ text }) => !changed.has(text));
  return firstFirst(
    names.map(({ text }) => `\`${text}\``),
    60,
    5,
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
  return oldLines(material, "changed").map((line) => {
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
