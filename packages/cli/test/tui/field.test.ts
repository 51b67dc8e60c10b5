import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { displayWidth, loadExactWidths } from "../../src/terminal/width.js";
import { decodeSequence } from "../../src/tui/decode.js";
import { editField, type Field, newField, visibleField } from "../../src/tui/field.js";

await loadExactWidths();

/** A field after some keys, by name; a single character is typed. */
function after(field: Field, ...keys: readonly string[]): Field {
  return keys.reduce((now, key) => editField(now, { kind: "key", key, ...([...key].length === 1 ? { text: key } : {}) }) ?? now, field);
}

const FAMILY = "👩‍👩‍👧";

describe("a field of one line", () => {
  it("inserts characters at the cursor", () => {
    expect(after(newField("plan"), "left", "left", "X")).toEqual({ text: "plXan", cursor: 3 });
  });

  it("puts the cursor after an accent that joins with typed text", () => {
    expect(after({ text: "\u0301x", cursor: 0 }, "e")).toEqual({ text: "e\u0301x", cursor: 2 });
  });

  it("deletes one grapheme cluster, on either side", () => {
    expect(after(newField(`a${FAMILY}`), "backspace").text).toBe("a");
    expect(after({ text: `${FAMILY}b`, cursor: 0 }, "delete").text).toBe("b");
  });

  it("moves and deletes by words", () => {
    expect(after(newField("one two  three"), "ctrl+left", "ctrl+left")).toMatchObject({ cursor: 4 });
    expect(after(newField("one two  three"), "ctrl+w").text).toBe("one two  ");
    expect(after({ text: "one two", cursor: 0 }, "alt+f")).toMatchObject({ cursor: 3 });
  });

  it("joins pasted lines", () => {
    expect(editField(newField("a "), { kind: "paste", text: "b\n  c\nd" })?.text).toBe("a b c d");
  });

  it("ignores keys that do not edit text", () => {
    expect(editField(newField("a"), { kind: "key", key: "up" })).toBeUndefined();
    expect(editField(newField("a"), { kind: "key", key: "enter" })).toBeUndefined();
  });

  it("never puts the cursor inside a grapheme cluster, and always shows it within the width", () => {
    const keys = fc.constantFrom(
      "left",
      "right",
      "home",
      "end",
      "backspace",
      "delete",
      "ctrl+w",
      "ctrl+left",
      "ctrl+right",
      "ctrl+k",
      "ctrl+u",
    );
    const text = fc
      .array(fc.constantFrom("a", " ", "日", "e\u0301", FAMILY, "\u202e", "שלום"), { maxLength: 12 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(
        text,
        fc.array(
          fc.oneof(
            keys,
            text.filter((one) => one !== ""),
          ),
          { maxLength: 12 },
        ),
        fc.integer({ min: 3, max: 30 }),
        (start, edits, width) => {
          let field = newField(start);
          for (const edit of edits) {
            field = editField(field, { kind: "key", key: edit, ...(/^[a-z+]{3,}$/.test(edit) ? {} : { text: edit }) }) ?? field;
            const stops = [...Array.from(new Intl.Segmenter().segment(field.text), ({ index }) => index), field.text.length];
            expect(stops).toContain(field.cursor);
            const shown = visibleField(field, width);
            expect(displayWidth(shown.text)).toBeLessThanOrEqual(width);
            expect(shown.column).toBeLessThan(width);
          }
        },
      ),
    );
  });
});

describe("typing as a terminal sends it", () => {
  it("arrives in the field unchanged", () => {
    const events = ["f", "i", "\u001b[D", "x", "\u001b[3~"].flatMap(decodeSequence);
    expect(events.reduce((field, event) => editField(field, event) ?? field, newField())).toEqual({ text: "fx", cursor: 2 });
  });
});
