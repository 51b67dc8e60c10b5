import { wrapLine } from "../format/wrap.js";
import { type Line, styled } from "../terminal/line.js";
import { displayWidth, padEnd } from "../terminal/width.js";
import { keyName } from "../tui/key-table.js";
import type { PickerModel } from "./model.js";

/** Columns that the names of the keys may take. */
const MOST_NAMES = 24;

const IN_FIELD =
  "In the search field letters type; the arrows, PgUp, PgDn, Enter and Tab act as in the list, and Esc leaves it. What was found stays until it is left again.";

/** The keys as they are bound now, in groups; lines that are too long are wrapped (regression R185). */
export function helpLines({ settings, size }: Pick<PickerModel, "settings" | "size">): readonly Line[] {
  const ascii = settings.glyphs.arrow === "<-";
  const named = settings.keys
    .filter(({ keys }) => keys.length > 0)
    .map(({ keys, help, group }) => ({ names: keys.map((key) => keyName(key, ascii)).join(" "), help, group }));
  const widest = Math.min(
    MOST_NAMES,
    named.reduce((most, { names }) => Math.max(most, displayWidth(names)), 0),
  );
  const lines: Line[] = [];
  let group = "";
  for (const one of named) {
    if (one.group !== group) lines.push([styled("heading", one.group)]);
    group = one.group;
    for (const line of keyLines(one.names, one.help, widest, size.columns)) lines.push(line);
  }
  return [...lines, [], ...wrapLine([styled("dim", IN_FIELD)], Math.max(size.columns - 1, 1))];
}

function keyLines(names: string, help: string, width: number, columns: number): readonly Line[] {
  const wrapped = wrapLine([help], Math.max(columns - width - 5, 8));
  return wrapped.map((line, at) => ["  ", styled("bold", padEnd(at === 0 ? names : "", width)), "  ", ...line]);
}

/** Rows of a screen that the help has: one is its title, one says how to leave. */
export function helpRoom({ size }: Pick<PickerModel, "size">): number {
  return Math.max(1, size.rows - 2);
}
