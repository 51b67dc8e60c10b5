import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createEditor, edit } from "../../src/prompt/editor.js";
import { loadExactWidths } from "../../src/terminal/width.js";
import { anyEvent, anyText, isBetween, key, plainText } from "./typing.js";

await loadExactWidths();

describe("any keys in an editor of several lines", () => {
  it("never puts the cursor inside a character", () => {
    fc.assert(
      fc.property(anyText, fc.array(anyEvent, { maxLength: 15 }), fc.integer({ min: 1, max: 20 }), (start, events, width) => {
        let editor = createEditor(start);
        for (const event of events) {
          editor = edit(editor, event, width) ?? editor;
          expect(isBetween(editor.text, editor.cursor)).toBe(true);
        }
      }),
    );
  });

  it("inserts the cut text by ctrl+y", () => {
    const cuts = fc.constantFrom("ctrl+u", "ctrl+k", "ctrl+w", "alt+d");
    fc.assert(
      fc.property(anyText, fc.array(anyEvent, { maxLength: 8 }), cuts, (start, events, name) => {
        const before = events.reduce((now, event) => edit(now, event, 12) ?? now, createEditor(start));
        const cut = edit(before, key(name), 12) ?? before;
        // What came together may have become one character; the text cannot come back between its parts.
        const place = name === "ctrl+u" || name === "ctrl+w" ? before.cursor - (before.text.length - cut.text.length) : before.cursor;
        fc.pre(cut.text !== before.text && cut.cursor === place);
        expect(edit(cut, key("ctrl+y"), 12)?.text).toBe(before.text);
      }),
    );
  });

  it("returns to its column after as many steps down as up", () => {
    fc.assert(
      fc.property(plainText, fc.integer({ min: 12, max: 24 }), (start, width) => {
        const from = createEditor(start);
        const up = edit(from, key("up"), width);
        fc.pre(up !== undefined);
        if (up !== undefined) expect(edit(up, key("down"), width)?.cursor).toBe(from.cursor);
      }),
    );
  });
});
