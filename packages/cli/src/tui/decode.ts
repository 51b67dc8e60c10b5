import { graphemesOf } from "../terminal/graphemes.js";
import type { KeyEvent, TerminalEvent } from "./screen.js";

const ESC = "\u001b";
const PASTE_START = `${ESC}[200~`;
const PASTE_END = `${ESC}[201~`;

const CSI = /^\[([\d;:]*)([A-Za-z~])$/;
const SS3 = /^O([A-Za-z])$/;

/**
 * Turns what a terminal sends into events. Ink's own hook cannot be used for this: it takes Delete for Backspace and
 * knows no pastes. Hand it one sequence at a time, as Ink's parser cuts them; it remembers only a paste that goes on.
 */
export class InputDecoder {
  #pasted: string[] | undefined;

  /** The events of a sequence, in order. Sequences that mean no key are dropped. */
  decode(sequence: string): readonly TerminalEvent[] {
    if (sequence === PASTE_START) {
      this.#pasted = [];
      return [];
    }
    if (this.#pasted !== undefined) return this.#paste(sequence, this.#pasted);
    if (!sequence.startsWith(ESC)) return typed(sequence);
    const key = escaped(sequence);
    return key === undefined ? [] : [key];
  }

  #paste(sequence: string, pasted: string[]): readonly TerminalEvent[] {
    if (sequence !== PASTE_END) {
      pasted.push(sequence);
      return [];
    }
    this.#pasted = undefined;
    return [{ kind: "paste", text: pasted.join("").replace(/\r\n|\r/g, "\n") }];
  }
}

/** More than anybody types between two looks: a paste of a terminal that puts no brackets around it. */
const MOST_TYPED = 1_000;

/** What was typed faster than it was read comes in one piece. */
function typed(text: string): readonly TerminalEvent[] {
  if (text.length === 1) return [character(text)];
  if (text.length > MOST_TYPED) return [{ kind: "paste", text: text.replace(/\r\n|\r/g, "\n") }];
  const events: KeyEvent[] = [];
  for (const { segment } of graphemesOf(text)) {
    // A segment of control characters is "\r\n" only.
    if (segment.length > 1 && segment < " ") for (const one of segment) events.push(character(one));
    else events.push(character(segment));
  }
  return events.length === 1 ? events : events.map((event) => ({ ...event, isBurst: true }));
}

function character(text: string): KeyEvent {
  const code = text.charCodeAt(0);
  if (text === " ") return { kind: "key", key: "space", text };
  const named = NAMED_CODES[code];
  if (text.length === 1 && named !== undefined) return { kind: "key", key: named };
  if (code >= 0x20) return { kind: "key", key: text, text };
  return { kind: "key", key: code === 0 ? "ctrl+space" : `ctrl+${String.fromCharCode(code + 0x60)}` };
}

function escaped(sequence: string): KeyEvent | undefined {
  // Two escapes before a sequence: Alt, as some terminals send it.
  const isAlt = sequence.startsWith(`${ESC}${ESC}`) && sequence.length > 2;
  const rest = sequence.slice(isAlt ? 2 : 1);
  if (rest === "" || rest === ESC) return { kind: "key", key: "escape" };
  const csi = CSI.exec(rest);
  if (csi !== null) return named(csiKey(csi[1] ?? "", csi[2] ?? ""), isAlt);
  const ss3 = SS3.exec(rest);
  if (ss3 !== null) return named(ss3Key(ss3[1] ?? ""), isAlt);
  if (/^[[O]./s.test(rest)) return undefined;
  return { kind: "key", key: `alt+${character(rest).key}` };
}

function named(key: string | undefined, isAlt: boolean): KeyEvent | undefined {
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
  if (final === "u") return coded(Number(first), second);
  if (final === "~" && first === "27") return coded(Number(third), second);
  const key = final === "~" ? NUMBER_KEYS[first] : LETTER_KEYS[final];
  if (key === undefined || key === "shift+tab") return key;
  return final !== "~" && final > "Z" ? `shift+${key}` : `${modifiers(second)}${key}`;
}

/** A key that the terminal tells by its code point (CSI u of kitty, modifyOtherKeys of xterm). */
function coded(code: number, modifier: string): string | undefined {
  const key = NAMED_CODES[code] ?? (code > 0x20 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined);
  const before = modifiers(modifier);
  // Shift is in the letter itself.
  return key === undefined ? undefined : key.length === 1 && before === "shift+" ? key.toUpperCase() : `${before}${key}`;
}

/** Caps and num lock are bits of their own and say nothing here (regression R188). */
function modifiers(parameter: string): string {
  const bits = Math.max(Number(parameter || "1") - 1, 0);
  return `${bits & 4 ? "ctrl+" : ""}${bits & 2 ? "alt+" : ""}${bits & 1 ? "shift+" : ""}`;
}

// Data: what terminals send for keys that type nothing. Source: xterm's ctlseqs, and rxvt and the Linux console where
// they differ; the same keys as in terminfo.

/** Final letters of `ESC [ … X` and `ESC O X`. */
export const LETTER_KEYS: Readonly<Record<string, string>> = {
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
export const NUMBER_KEYS: Readonly<Record<string, string>> = {
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
export const NAMED_CODES: Readonly<Record<number, string>> = {
  8: "backspace",
  9: "tab",
  13: "enter",
  27: "escape",
  32: "space",
  127: "backspace",
};
