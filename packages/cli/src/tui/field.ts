import { graphemeAfter, graphemeBefore, graphemesOf, snapToGrapheme, wordAfter, wordBefore } from "../terminal/graphemes.js";
import { safe } from "../terminal/safe.js";
import { displayWidth, truncate } from "../terminal/width.js";
import type { TerminalEvent } from "./screen.js";

/** A text field of one line. `cursor` is an offset in UTF-16 code units, never inside a grapheme cluster. */
export interface Field {
  readonly text: string;
  readonly cursor: number;
}

/** A field with the cursor at the end of its text. */
export function newField(text = ""): Field {
  return { text, cursor: text.length };
}

/** Longer pastes are cut, in UTF-16 code units: segmenting them into graphemes at each key would take seconds. */
const MAX_PASTED = 2_000;

/**
 * The field after an event; undefined: the field has no use for the event. Pasted lines become one line.
 *
 * @example
 * editField(newField("plan"), { kind: "key", key: "s", text: "s" }); // { text: "plans", cursor: 5 }
 */
export function editField(field: Field, event: TerminalEvent): Field | undefined {
  if (event.kind === "resize" || event.kind === "mouse") return undefined;
  if (event.kind === "paste") {
    const text = event.text.slice(0, MAX_PASTED).toWellFormed();
    return replaceRange(field.text, field.cursor, field.cursor, text.replace(/\s*\n\s*/g, " "));
  }
  if (event.text !== undefined) return replaceRange(field.text, field.cursor, field.cursor, event.text);
  return KEYS[EDIT_ALIASES[event.key] ?? event.key]?.(field);
}

/** The part of a field that fits `width` columns, and the column of the cursor, which is always inside this part. */
export function visibleField({ text, cursor }: Field, width: number): { readonly text: string; readonly column: number } {
  let from = cursor;
  // From the cursor back, so that the cost grows with the width and not with the square of the text.
  for (const { index } of [...graphemesOf(text.slice(0, cursor))].reverse()) {
    if (displayWidth(safe(text.slice(index, cursor))) >= width) break;
    from = index;
  }
  const left = safe(text.slice(from, cursor));
  const room = width - displayWidth(left);
  return { text: left + truncate(safe(text.slice(cursor)), Math.max(room, 0), ""), column: displayWidth(left) };
}

const KEYS: Readonly<Record<string, (field: Field) => Field>> = {
  left: ({ text, cursor }) => ({ text, cursor: graphemeBefore(text, cursor) }),
  right: ({ text, cursor }) => ({ text, cursor: graphemeAfter(text, cursor) }),
  home: ({ text }) => ({ text, cursor: 0 }),
  end: ({ text }) => newField(text),
  backspace: ({ text, cursor }) => replaceRange(text, graphemeBefore(text, cursor), cursor),
  delete: ({ text, cursor }) => replaceRange(text, cursor, graphemeAfter(text, cursor)),
  "ctrl+left": ({ text, cursor }) => ({ text, cursor: wordBefore(text, cursor) }),
  "ctrl+right": ({ text, cursor }) => ({ text, cursor: wordAfter(text, cursor) }),
  "ctrl+w": ({ text, cursor }) => replaceRange(text, wordBefore(text, cursor), cursor),
  "ctrl+u": ({ text, cursor }) => replaceRange(text, 0, cursor),
  "ctrl+k": ({ text, cursor }) => replaceRange(text, cursor, text.length),
};

/** Further keys of the same actions, as readline and macOS bind them; the prompt has them too. */
export const EDIT_ALIASES: Readonly<Record<string, string>> = {
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

/** Replaces a range. Neighboring characters may join to one grapheme; the cursor is put after it. */
function replaceRange(text: string, from: number, to: number, by = ""): Field {
  const replaced = text.slice(0, from) + by + text.slice(to);
  return { text: replaced, cursor: snapToGrapheme(replaced, from + by.length) };
}
