import type { FactKind } from "../../../facts/fact.js";
import { oneLine } from "../../../text/one-line.js";
import { firstFirst, type Material, oldLines } from "../material.js";
import type { Line } from "../outline.js";
import { lastRuns, movesFiles, outcomesOf, wentWrong } from "../runs.js";
import { safeLine } from "../safe-line.js";

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
