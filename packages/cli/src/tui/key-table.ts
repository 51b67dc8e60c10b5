import { count } from "@bough/session-core/view";
import { wrapLine } from "../format/wrap.js";
import type { Glyphs } from "../terminal/glyphs.js";
import { type Line, lineWidth, styled } from "../terminal/line.js";
import { displayWidth } from "../terminal/width.js";
import { type FrameLine, padFrame, plainLine, type Size } from "./screen.js";

/** The keys of one action of a screen, and its help. */
interface KeyBinding<Action extends string> {
  readonly action: Action;
  /** Names as in `KeyEvent.key`, in the order in which help shows them. */
  readonly keys: readonly string[];
  readonly help: string;
  /** Its heading in help. */
  readonly group: string;
}

/** The bindings of one screen, in the order in which help shows them. */
export type KeyTable<Action extends string> = readonly KeyBinding<Action>[];

/** The action of a key; undefined: none. */
export function actionOf<Action extends string>(table: KeyTable<Action>, key: string): Action | undefined {
  return table.find(({ keys }) => keys.includes(key))?.action;
}

/** The setting `keys` of one screen: actions with the keys that replace their default keys. */
export type KeyOverrides = Readonly<Record<string, readonly string[]>>;

/**
 * The table with the user's own keys. A key that is set for one action is removed from all other actions.
 *
 * @example
 * rebindKeys(NAVIGATOR_KEYS, { fold: ["h"] });
 */
export function rebindKeys<Action extends string>(table: KeyTable<Action>, overrides: KeyOverrides): KeyTable<Action> {
  const taken = new Set(table.flatMap(({ action }) => overrides[action] ?? []));
  return table.map((binding) => {
    const keys = overrides[binding.action];
    return { ...binding, keys: keys ?? binding.keys.filter((key) => !taken.has(key)) };
  });
}

/** The first key of an action as it is printed; empty: it has none. */
export function firstKeyName<Action extends string>(table: KeyTable<Action>, action: Action, isAscii: boolean): string {
  const key = table.find((binding) => binding.action === action)?.keys[0];
  return key === undefined ? "" : keyName(key, isAscii);
}

/** Actions of a screen with what their keys do, the most important one first. */
export type ActionHints<Action extends string> = readonly (readonly [action: Action, text: string])[];

/** As many key hints as fit; those of actions without a key are left out. */
export function hintLine(hints: readonly (readonly [key: string, text: string])[], columns: number): Line {
  const line: Line[number][] = [];
  for (const [key, text] of hints) {
    if (key === "") continue;
    const next = [line.length === 0 ? "" : "  ", styled("bold", key), styled("dim", ` ${text}`)];
    if (lineWidth([...line, ...next]) > columns) break;
    line.push(...next);
  }
  return line;
}

/** The hints of actions with their keys in the table. */
export function hintsOf<Action extends string>(table: KeyTable<Action>, hints: ActionHints<Action>, isAscii: boolean) {
  return hints.map(([action, text]) => [firstKeyName(table, action, isAscii), text] as const);
}

/** The rows of a help screen between its heading and its last line. */
export function helpRows({ rows }: Size): number {
  return Math.max(rows - 2, 1);
}

/** A help screen: the heading, its lines from `top` on, and how many more there are before `end`. */
export function helpScreen(heading: string, lines: readonly Line[], top: number, size: Size, end: string): readonly FrameLine[] {
  const room = helpRows(size);
  const below = lines.length - top - room;
  return [
    plainLine(styled("heading", heading)),
    ...padFrame(
      lines.slice(top, top + room).map((line) => plainLine(...line)),
      room,
    ),
    plainLine(styled("dim", `${below > 0 ? `${count(below)} more below; ` : ""}${end}`)),
  ];
}

/** A key table as help: group headings, and each action after its keys; long explanations are wrapped. */
export function helpLines<Action extends string>(keys: KeyTable<Action>, columns: number, glyphs: Glyphs): readonly Line[] {
  const named = keys.map((binding) => ({ ...binding, names: keyNames(binding.keys, glyphs.isAscii) }));
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

function keyNames(keys: readonly string[], isAscii: boolean): string {
  return keys.length === 0 ? "(none)" : keys.map((key) => keyName(key, isAscii)).join(" ");
}

const NAMES: Readonly<Record<string, string>> = {
  up: "↑",
  down: "↓",
  left: "←",
  right: "→",
  pageup: "PgUp",
  pagedown: "PgDn",
  escape: "Esc",
  enter: "Enter",
  space: "Space",
  tab: "Tab",
  backspace: "Backspace",
  delete: "Del",
  home: "Home",
  end: "End",
};

const ASCII_NAMES: Readonly<Record<string, string>> = { ...NAMES, up: "Up", down: "Down", left: "Left", right: "Right" };

/** A key as it is printed on screen: `Ctrl-D`, `Alt-←`, `PgDn`. */
export function keyName(key: string, isAscii = false): string {
  const parts = /^(ctrl\+)?(alt\+)?(shift\+)?(.+)$/s.exec(key);
  const [, ctrl, alt, shift, base = key] = parts ?? [];
  const isUpper = ctrl !== undefined || /^f\d+$/.test(base);
  const named = (isAscii ? ASCII_NAMES : NAMES)[base] ?? (isUpper ? base.toUpperCase() : base);
  return `${ctrl === undefined ? "" : "Ctrl-"}${alt === undefined ? "" : "Alt-"}${shift === undefined ? "" : "Shift-"}${named}`;
}
