import { wrapLine } from "../format/wrap.js";
import type { Glyphs } from "../terminal/glyphs.js";
import { type Line, styled } from "../terminal/line.js";
import { displayWidth } from "../terminal/width.js";

/** What a screen can be told by keys: for each action its keys and how it is explained. Data. */
export interface KeyBinding<Action extends string> {
  readonly action: Action;
  /** Names as in `KeyEvent.key`; the first is the one that help shows first. */
  readonly keys: readonly string[];
  readonly help: string;
  /** The heading it stands under in help. */
  readonly group: string;
}

/** The bindings of one screen, in the order in which help shows them. */
export type KeyTable<Action extends string> = readonly KeyBinding<Action>[];

/** The action that a key means; undefined: none. */
export function actionOf<Action extends string>(table: KeyTable<Action>, key: string): Action | undefined {
  return table.find(({ keys }) => keys.includes(key))?.action;
}

/** What a config file says about keys: actions with the keys they have instead. */
export type KeyOverrides = Readonly<Record<string, readonly string[]>>;

/**
 * The table with a person's own keys. A key that was chosen for one action is taken from every other one.
 *
 * @example
 * rebound(NAVIGATOR_KEYS, { fold: ["h"] });
 */
export function rebindKeys<Action extends string>(table: KeyTable<Action>, choices: KeyOverrides): KeyTable<Action> {
  const taken = new Set(table.flatMap(({ action }) => choices[action] ?? []));
  return table.map((binding) => {
    const chosen = choices[binding.action];
    return { ...binding, keys: chosen ?? binding.keys.filter((key) => !taken.has(key)) };
  });
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

/** A key as people call it: `Ctrl-D`, `Alt-←`, `PgDn` (regression R192). */
export function keyName(key: string, ascii = false): string {
  const parts = /^(ctrl\+)?(alt\+)?(shift\+)?(.+)$/s.exec(key);
  const [, ctrl, alt, shift, base = key] = parts ?? [];
  const named = (ascii ? ASCII_NAMES : NAMES)[base] ?? (ctrl !== undefined ? base.toUpperCase() : base);
  return `${ctrl === undefined ? "" : "Ctrl-"}${alt === undefined ? "" : "Alt-"}${shift === undefined ? "" : "Shift-"}${named}`;
}

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
