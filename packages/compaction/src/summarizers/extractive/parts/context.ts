import type { FactKind } from "../../../facts/fact.js";
import { oneLine } from "../../../text/one-line.js";
import { firstFirst, type Material, newestFirst, oldLines } from "../material.js";
import type { BlockName, Line } from "../outline.js";
import { safeLine } from "../safe-line.js";

const ITEM_CHARS = 120;

/** What the user said must be, must not be, or is always so: in their own words. */
export function ruleLines(material: Material): readonly Line[] {
  const rules = textsOf(material, "rule").map((text) => safeLine(text, material.limits.lineChars * 1.3));
  return newestFirst([...oldLines(material, "rules"), ...rules.reverse()], 5, 3);
}

/** Commands that did or checked something. */
export function commandLines(material: Material): readonly Line[] {
  return items(material, "commands", "command", 40);
}

/** Names that stand in backticks. */
export function nameLines(material: Material): readonly Line[] {
  return items(material, "names", "identifier", 45);
}

/** Numbers with their units. */
export function numberLines(material: Material): readonly Line[] {
  const numbers = textsOf(material, "number").map((text) => safeLine(text, ITEM_CHARS));
  return firstFirst([...numbers, ...oldLines(material, "numbers")], 48, 2);
}

function items(material: Material, name: BlockName, kind: FactKind, rank: number): readonly Line[] {
  const found = textsOf(material, kind).map((text) => `\`${oneLine(text.replaceAll("`", "'"), ITEM_CHARS)}\``);
  return firstFirst([...found, ...oldLines(material, name)], rank, 2);
}

function textsOf({ facts }: Material, kind: FactKind): string[] {
  return facts.filter((fact) => fact.kind === kind).map(({ text }) => text);
}
