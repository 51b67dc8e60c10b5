import { graphemesOf } from "../terminal/graphemes.js";
import { safe } from "../terminal/safe.js";
import { displayWidth, truncate } from "../terminal/width.js";
import type { TerminalEvent } from "./screen.js";

/** A line of text that is being typed. `cursor` is an offset in UTF-16 code units, never inside a character. */
export interface Field {
  readonly text: string;
  readonly cursor: number;
}

/** What is longer was not meant for one line; finding its characters would take seconds. */
const MOST_PASTED = 2_000;

/** A field with the cursor behind its text. */
export function newField(text = ""): Field {
  return { text, cursor: text.length };
}

/** The offsets between the characters of a text as a person sees them, its end included. */
function stops(text: string): readonly number[] {
  return [...Array.from(graphemesOf(text), ({ index }) => index), text.length];
}

const before = (text: string, cursor: number) => stops(text).findLast((stop) => stop < cursor) ?? 0;
const after = (text: string, cursor: number) => stops(text).find((stop) => stop > cursor) ?? text.length;
const wordBefore = (text: string, cursor: number) => text.slice(0, cursor).search(/\S+\s*$/u);
const wordAfter = (text: string, cursor: number) => cursor + (/^\s*\S+/u.exec(text.slice(cursor))?.[0].length ?? text.length - cursor);

const KEYS: Readonly<Record<string, (field: Field) => Field>> = {
  left: ({ text, cursor }) => ({ text, cursor: before(text, cursor) }),
  right: ({ text, cursor }) => ({ text, cursor: after(text, cursor) }),
  home: ({ text }) => ({ text, cursor: 0 }),
  end: ({ text }) => newField(text),
  backspace: ({ text, cursor }) => cut(text, before(text, cursor), cursor),
  delete: ({ text, cursor }) => cut(text, cursor, after(text, cursor)),
  "ctrl+left": ({ text, cursor }) => ({ text, cursor: Math.max(wordBefore(text, cursor), 0) }),
  "ctrl+right": ({ text, cursor }) => ({ text, cursor: wordAfter(text, cursor) }),
  "ctrl+w": ({ text, cursor }) => cut(text, Math.max(wordBefore(text, cursor), 0), cursor),
  "ctrl+u": ({ text, cursor }) => cut(text, 0, cursor),
  "ctrl+k": ({ text, cursor }) => cut(text, cursor, text.length),
};

const SAME: Readonly<Record<string, string>> = {
  "ctrl+b": "left",
  "ctrl+f": "right",
  "ctrl+a": "home",
  "ctrl+e": "end",
  "alt+b": "ctrl+left",
  "alt+left": "ctrl+left",
  "alt+f": "ctrl+right",
  "alt+right": "ctrl+right",
  "alt+backspace": "ctrl+w",
};

/**
 * The field after an event; undefined: the event is not about it. Pasted lines become one line.
 *
 * @example
 * editField(fieldOf("plan"), { kind: "key", key: "s", text: "s" }); // { text: "plans", cursor: 5 }
 */
export function editField(field: Field, event: TerminalEvent): Field | undefined {
  if (event.kind === "resize") return undefined;
  if (event.kind === "paste")
    return inserted(
      field,
      event.text
        .slice(0, MOST_PASTED)
        .toWellFormed()
        .replace(/\s*\n\s*/g, " "),
    );
  if (event.text !== undefined) return inserted(field, event.text);
  return KEYS[SAME[event.key] ?? event.key]?.(field);
}

function inserted({ text, cursor }: Field, more: string): Field {
  return { text: text.slice(0, cursor) + more + text.slice(cursor), cursor: cursor + more.length };
}

function cut(text: string, from: number, to: number): Field {
  return { text: text.slice(0, from) + text.slice(to), cursor: from };
}

/** The part of a field that fits `width` columns, and where the cursor stands in it. The cursor is always in it. */
export function visibleField({ text, cursor }: Field, width: number): { readonly text: string; readonly column: number } {
  let from = 0;
  const all = stops(text);
  const fits = () => displayWidth(safe(text.slice(from, cursor))) < width;
  for (let at = 1; from < cursor && !fits(); at += 1) from = all[at] ?? cursor;
  const left = safe(text.slice(from, cursor));
  const room = width - displayWidth(left);
  return { text: left + truncate(safe(text.slice(cursor)), Math.max(room, 0), ""), column: displayWidth(left) };
}
