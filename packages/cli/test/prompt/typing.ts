import fc from "fast-check";
import { createEditor, type Editor, edit } from "../../src/prompt/editor.js";
import type { TerminalEvent } from "../../src/tui/screen.js";

export const FAMILY = "👩‍👩‍👧";

/** A key by its name; a single character is typed. */
export function key(name: string): TerminalEvent {
  return { kind: "key", key: name, ...([...name].length === 1 ? { text: name } : {}) };
}

/** An editor of a text in which `|` marks the cursor. */
export function marked(text: string): Editor {
  const cursor = text.indexOf("|");
  return { ...createEditor(text.replace("|", "")), cursor };
}

/** The text of an editor with its cursor marked. */
export function shown({ text, cursor }: Editor): string {
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}

/** What a text with a marked cursor becomes by some keys; a key that is not about text fails. */
export function after(text: string, width: number, ...keys: readonly string[]): string {
  return shown(
    keys.reduce((now, name) => {
      const next = edit(now, key(name), width);
      if (next === undefined) throw new Error(`${name} is not about the text ${shown(now)}`);
      return next;
    }, marked(text)),
  );
}

/** Whether a cursor is between two characters of a text. */
export function isBetween(text: string, cursor: number): boolean {
  return cursor === text.length || Array.from(new Intl.Segmenter().segment(text), ({ index }) => index).includes(cursor);
}

/** Texts with what is hard to measure or to cut in them. */
export const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom("a", "word", " ", "  ", "\n", "日本", "e\u0301", "\u0301", FAMILY, "\u200d", "🇩🇪", "🇫", "한", "ᄀ", "ᅡ", "שלום"),
      fc.constantFrom("\u202e", "\u001b[31m", "\t", "\r", "\u0000", "\ufe0f", "\ud83d", "👍🏽", "🏽", "क्षि"),
    ),
    { maxLength: 20 },
  )
  .map((parts) => parts.join(""));

const KEYS =
  "left right up down home end backspace delete ctrl+d ctrl+u ctrl+k ctrl+w alt+d ctrl+y ctrl+j ctrl+left ctrl+right ctrl+home ctrl+end space";

/** Anything a person may do to an editor. */
export const anyEvent: fc.Arbitrary<TerminalEvent> = fc.oneof(
  fc.constantFrom(...KEYS.split(" ")).map(key),
  fc.constantFrom("a", "\u0301", "日", "👩", "🇫", "\u200d").map((text): TerminalEvent => ({ kind: "key", key: text, text })),
  anyText.map((text): TerminalEvent => ({ kind: "paste", text })),
);

/** Texts of whole characters, each of them narrow enough for a row of twelve columns. */
export const plainText = fc
  .array(
    fc.constantFrom(
      "a",
      "word",
      " ",
      "  ",
      "\n",
      "日本",
      "e\u0301",
      FAMILY,
      "🇩🇪",
      "한",
      "שלום",
      "\u202e",
      "\u001b[31m",
      "\t",
      "👍🏽",
      "क्षि",
    ),
    {
      maxLength: 20,
    },
  )
  .map((parts) => parts.join(""));
