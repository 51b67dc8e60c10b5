import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createEditor, edit } from "../../src/prompt/editor.js";
import { editorView } from "../../src/prompt/editor-view.js";
import { lineWidth, textOfLine } from "../../src/terminal/line.js";
import { safe } from "../../src/terminal/safe.js";
import { loadExactWidths } from "../../src/terminal/width.js";
import { anyEvent, anyText, key, marked, plainText } from "./typing.js";

await loadExactWidths();

/** The lines of a text with a marked cursor, and the cursor in them. */
function drawn(text: string, width: number, mostRows = 20) {
  const { lines, cursor } = editorView(marked(text), width, mostRows);
  return { lines: lines.map(textOfLine), cursor: [cursor.row, cursor.column] };
}

describe("an editor as it is drawn", () => {
  it.each([
    ["nothing", "|", [""], [0, 0]],
    ["lines as they were typed", "a\n\nb|", ["a", "", "b"], [2, 1]],
    ["an empty last line", "a\n|", ["a", ""], [1, 0]],
    ["lines broken between words", "aaaa bbbb cc|", ["aaaa bbbb ", "cc"], [1, 2]],
    ["a word that is longer than a row", "abcdefghijkl|", ["abcdefghi", "jkl"], [1, 3]],
    ["a full row, with the cursor in the free column", "abcdefghi|", ["abcdefghi"], [0, 9]],
    ["the cursor in the next row after the space at a break", "abcdefghi |", ["abcdefghi ", ""], [1, 0]],
    ["more spaces at a break", "abcdefghi   |", ["abcdefghi ", "  "], [1, 2]],
    ["wide characters, broken anywhere", "ab 日本語日本|", ["ab 日本語", "日本"], [1, 4]],
    ["a control character by its sign", "a\u001b[2J|b", ["a␛[2Jb"], [0, 5]],
    ["a mark of direction by its number, never split", "ab\u202e|c", ["ab", "\\u{202e}c"], [1, 8]],
  ])("shows %s", (_name, text, lines, cursor) => {
    expect(drawn(text, 10)).toEqual({ lines, cursor });
  });

  it.each([
    ["the beginning", "|1\n2\n3\n4\n5\n6", 4, ["1", "2", "3", "… 3 more lines"], [0, 0]],
    ["the middle", "1\n2\n3\n4|\n5\n6\n7", 4, ["… 2 more lines", "3", "4", "… 3 more lines"], [2, 1]],
    ["the end", "1\n2\n3\n4\n5\n6|", 4, ["… 3 more lines", "4", "5", "6"], [3, 1]],
    ["the rows before the cursor, if there are two", "1\n2\n3|\n4", 2, ["2", "3"], [1, 1]],
    ["the cursor's row, if there is one", "1\n2|\n3\n4", 1, ["2"], [0, 1]],
  ])("shows %s when there is no room for all", (_name, text, most, lines, cursor) => {
    expect(drawn(text, 20, most)).toEqual({ lines, cursor });
  });

  it("draws at most the rows it has, always with the row of the cursor", () => {
    fc.assert(
      fc.property(
        anyText,
        fc.array(anyEvent, { maxLength: 8 }),
        fc.integer({ min: 1, max: 24 }),
        fc.integer({ min: 1, max: 8 }),
        (start, events, width, mostRows) => {
          const editor = events.reduce((now, event) => edit(now, event, width) ?? now, createEditor(start));
          const { lines, cursor } = editorView(editor, width, mostRows);
          expect(lines.length).toBeLessThanOrEqual(mostRows);
          for (const line of lines) expect(lineWidth(line)).toBeLessThanOrEqual(width);
          expect(cursor.column).toBeLessThan(width);
          expect(cursor.column).toBeGreaterThanOrEqual(0);
          expect(lines[cursor.row]?.some((piece) => typeof piece !== "string")).toBe(false);
        },
      ),
    );
  });

  it("draws the whole text, nothing lost at the breaks", () => {
    fc.assert(
      fc.property(plainText, fc.integer({ min: 12, max: 24 }), (text, width) => {
        const editor = createEditor(text);
        const { lines } = editorView(editor, width, 1_000);
        expect(lines.map(textOfLine).join("")).toBe(editor.text.split("\n").map(safe).join(""));
      }),
    );
  });

  it("visits every row on the way up, one at a time", () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 2, max: 20 }), (text, width) => {
        let editor = createEditor(text);
        let { row } = editorView(editor, width, 1_000).cursor;
        for (let next = edit(editor, key("up"), width); next !== undefined; next = edit(editor, key("up"), width)) {
          editor = next;
          row -= 1;
          expect(editorView(editor, width, 1_000).cursor.row).toBe(row);
        }
        expect(row).toBe(0);
      }),
    );
  });
});
