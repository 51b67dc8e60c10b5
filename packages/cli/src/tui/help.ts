import { wrapLine } from "../format/wrap.js";
import type { Glyphs } from "../terminal/glyphs.js";
import { type Line, styled } from "../terminal/line.js";
import { displayWidth } from "../terminal/width.js";
import { type KeyTable, keyName } from "./key-table.js";

/** A key table as help: headings, and each action with its keys; long explanations are wrapped (regression R185). */
export function helpLines<Action extends string>(keys: KeyTable<Action>, columns: number, glyphs: Glyphs): readonly Line[] {
  const named = keys.map((binding) => ({ ...binding, names: namesOf(binding.keys, glyphs.isAscii) }));
  const widest = Math.min(Math.max(...named.map(({ names }) => displayWidth(names))), Math.floor(columns / 3));
  const lines: Line[] = [];
  let group = "";
  for (const binding of named) {
    if (binding.group !== group) lines.push([styled("heading", binding.group)]);
    group = binding.group;
    const gap = " ".repeat(Math.max(widest - displayWidth(binding.names), 0) + 2);
    const [first = [], ...rest] = wrapLine([binding.help], Math.max(columns - widest - 6, 10));
    lines.push(["  ", styled("bold", binding.names), gap, ...first]);
    for (const line of rest) lines.push([" ".repeat(widest + 4), ...line]);
  }
  return lines;
}

function namesOf(keys: readonly string[], isAscii: boolean): string {
  return keys.length === 0 ? "(none)" : keys.map((key) => keyName(key, isAscii)).join(" ");
}
