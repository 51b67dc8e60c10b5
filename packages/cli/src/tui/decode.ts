import { graphemesOf } from "../terminal/graphemes.js";
import { PASTE_END, PASTE_START } from "./input.js";
import type { KeyEvent, MouseEvent, TerminalEvent } from "./screen.js";

const ESC = "\u001b";

/** SGR mouse reports: button with bits for modifiers, column and row counted from 1, press or release. */
const MOUSE = /^\u001b\[<(\d+);(\d+);(\d+)([Mm])$/;
const CSI = /^\[([\d;:]*)([A-Za-z~])$/;
const SS3 = /^O([A-Za-z])$/;

/** The events of a sequence, as `SequenceSplitter` gives it, in order. A sequence without a known key has none. */
export function decodeSequence(sequence: string): readonly TerminalEvent[] {
  if (!sequence.startsWith(ESC)) return decodeText(sequence);
  if (sequence.startsWith(PASTE_START)) return [pasteEvent(sequence.slice(PASTE_START.length, -PASTE_END.length))];
  if (MOUSE.test(sequence)) return decodeMouse(sequence);
  const key = decodeEscape(sequence);
  return key === undefined ? [] : [key];
}

/** The bits for Shift, Alt and Ctrl. */
const MODIFIERS = 4 | 8 | 16;

/** The left button and the wheel; releases, motions and other buttons are dropped. */
function decodeMouse(sequence: string): readonly TerminalEvent[] {
  const [, button = "", column = "", row = "", final] = MOUSE.exec(sequence) ?? [];
  const action = final === "M" ? MOUSE_ACTIONS[Number(button) & ~MODIFIERS] : undefined;
  return action === undefined
    ? []
    : [{ kind: "mouse", action, column: Math.max(Number(column) - 1, 0), row: Math.max(Number(row) - 1, 0) }];
}

const MOUSE_ACTIONS: Readonly<Record<number, MouseEvent["action"]>> = { 0: "press", 64: "wheelUp", 65: "wheelDown" };

function pasteEvent(text: string): TerminalEvent {
  return { kind: "paste", text: text.replace(/\r\n|\r/g, "\n") };
}

/** Maximum characters typed between two reads: a longer text is a paste by a terminal without bracketed paste. */
const MAX_TYPED = 1_000;

/** A text of several characters is type-ahead that arrived in one chunk. */
function decodeText(text: string): readonly TerminalEvent[] {
  if (text.length === 1) return [characterKey(text)];
  if (text.length > MAX_TYPED) return [pasteEvent(text)];
  const events: KeyEvent[] = [];
  for (const { segment } of graphemesOf(text)) {
    // The only segment of several control characters is "\r\n".
    if (segment.length > 1 && segment < " ") for (const one of segment) events.push(characterKey(one));
    else events.push(characterKey(segment));
  }
  return events.length === 1 ? events : events.map((event) => ({ ...event, isBurst: true }));
}

function characterKey(text: string): KeyEvent {
  const code = text.charCodeAt(0);
  if (text === " ") return { kind: "key", key: "space", text };
  const named = NAMED_CODES[code];
  if (text.length === 1 && named !== undefined) return { kind: "key", key: named };
  if (code >= 0x20) return { kind: "key", key: text, text };
  return { kind: "key", key: code === 0 ? "ctrl+space" : `ctrl+${String.fromCharCode(code + 0x60)}` };
}

function decodeEscape(sequence: string): KeyEvent | undefined {
  // Some terminals send Alt as an escape character before the sequence of the key.
  const isAlt = sequence.startsWith(`${ESC}${ESC}`) && sequence.length > 2;
  const rest = sequence.slice(isAlt ? 2 : 1);
  if (rest === "" || rest === ESC) return { kind: "key", key: "escape" };
  const csi = CSI.exec(rest);
  if (csi !== null) return keyEvent(csiKey(csi[1] ?? "", csi[2] ?? ""), isAlt);
  const ss3 = SS3.exec(rest);
  if (ss3 !== null) return keyEvent(ss3Key(ss3[1] ?? ""), isAlt);
  // Unknown keys, and replies of the terminal, of which a key of the keyboard is one character.
  if (/^(?:[[O].|[\]P]..)/s.test(rest)) return undefined;
  return { kind: "key", key: `alt+${characterKey(rest).key}` };
}

function keyEvent(key: string | undefined, isAlt: boolean): KeyEvent | undefined {
  if (key === undefined) return undefined;
  const text = [...key].length === 1 ? key : undefined;
  return isAlt ? { kind: "key", key: `alt+${key}` } : { kind: "key", key, ...(text === undefined ? {} : { text }) };
}

function ss3Key(letter: string): string | undefined {
  const key = LETTER_KEYS[letter];
  return key !== undefined && letter > "Z" ? `ctrl+${key}` : key;
}

function csiKey(parameters: string, final: string): string | undefined {
  const [first = "", second = "", third = ""] = parameters.split(";").map((part) => part.split(":")[0] ?? "");
  if (final === "u") return codePointKey(Number(first), second);
  if (final === "~" && first === "27") return codePointKey(Number(third), second);
  const key = final === "~" ? NUMBER_KEYS[first] : LETTER_KEYS[final];
  if (key === undefined || key === "shift+tab") return key;
  return final !== "~" && final > "Z" ? `shift+${key}` : `${modifierPrefix(second)}${key}`;
}

/** A key that is sent as a code point (CSI u of kitty, modifyOtherKeys of xterm). */
function codePointKey(code: number, modifier: string): string | undefined {
  const key = NAMED_CODES[code] ?? (code > 0x20 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined);
  const prefix = modifierPrefix(modifier);
  // A capital letter is named without `shift+`.
  return key === undefined ? undefined : key.length === 1 && prefix === "shift+" ? key.toUpperCase() : `${prefix}${key}`;
}

/** The modifiers in a CSI parameter. The bits of caps lock and num lock are ignored. */
function modifierPrefix(parameter: string): string {
  const bits = Math.max(Number(parameter || "1") - 1, 0);
  return `${bits & 4 ? "ctrl+" : ""}${bits & 2 ? "alt+" : ""}${bits & 1 ? "shift+" : ""}`;
}

// Sequences of keys that type nothing. Sources: xterm's ctlseqs; terminfo; rxvt and the Linux console where they differ.

/** Final letters of `ESC [ … X` and `ESC O X`. */
const LETTER_KEYS: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  E: "clear",
  F: "end",
  H: "home",
  M: "enter",
  P: "f1",
  Q: "f2",
  R: "f3",
  S: "f4",
  Z: "shift+tab",
  // rxvt: small letters with Shift (`ESC [`) or Ctrl (`ESC O`).
  a: "up",
  b: "down",
  c: "right",
  d: "left",
};

/** Numbers of `ESC [ N ~`. */
const NUMBER_KEYS: Readonly<Record<string, string>> = {
  1: "home",
  2: "insert",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
  11: "f1",
  12: "f2",
  13: "f3",
  14: "f4",
  15: "f5",
  17: "f6",
  18: "f7",
  19: "f8",
  20: "f9",
  21: "f10",
  23: "f11",
  24: "f12",
};

/** Code points that have a name rather than a character. */
const NAMED_CODES: Readonly<Record<number, string>> = {
  8: "backspace",
  9: "tab",
  13: "enter",
  27: "escape",
  32: "space",
  127: "backspace",
};

/** Maximum time between the two presses of a double click, which are on one cell, in milliseconds. */
const DOUBLE_MS = 400;

/** Finds double clicks. */
export class Clicks {
  #last: { readonly column: number; readonly row: number; readonly atMs: number } | undefined;

  /** The event, with `isDouble` for the second of two presses. The third press begins anew. */
  count(event: MouseEvent, atMs: number): MouseEvent {
    if (event.action !== "press") return event;
    const { column, row } = event;
    const last = this.#last;
    const isDouble = last !== undefined && last.column === column && last.row === row && atMs - last.atMs <= DOUBLE_MS;
    this.#last = isDouble ? undefined : { column, row, atMs };
    return isDouble ? { ...event, isDouble } : event;
  }
}
