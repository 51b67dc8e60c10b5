import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { completed, completionsOf } from "../../src/prompt/completion.js";
import { continues, type Editor, edit, editorOf } from "../../src/prompt/editor.js";
import { editorView, rowWidth } from "../../src/prompt/editor-view.js";
import { newer, older } from "../../src/prompt/history.js";
import { safe } from "../../src/terminal/safe.js";
import { displayWidth, loadExactWidths } from "../../src/terminal/width.js";

await loadExactWidths();

const WIDTH = 20;
const FAMILY = "👩‍👩‍👧";

/** A text with a `|` where the cursor stands, as an editor, and back. */
function at(marked: string): Editor {
  const cursor = marked.indexOf("|");
  return { ...editorOf(marked.replace("|", "")), cursor };
}

function marked({ text, cursor }: Editor): string {
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}

/** The editor after some keys, by name; a single character is typed. */
function after(editor: Editor, ...keys: readonly string[]): Editor {
  return keys.reduce((now, key) => edit(now, { kind: "key", key, ...([...key].length === 1 ? { text: key } : {}) }, WIDTH) ?? now, editor);
}

describe("editing several lines", () => {
  it.each<[string, readonly string[], string]>([
    ["a|c", ["b"], "ab|c"],
    ["a|", ["alt+enter", "b"], "a\nb|"],
    ["a|", ["ctrl+j"], "a\n|"],
    ["a\n|b", ["backspace"], "a|b"],
    [`a${FAMILY}|b`, ["backspace"], "a|b"],
    [`a|${FAMILY}b`, ["delete"], "a|b"],
    [`a${FAMILY}|`, ["left"], `a|${FAMILY}`],
    ["one two|", ["ctrl+left"], "one |two"],
    ["|one two", ["alt+f"], "one| two"],
    ["one two|", ["ctrl+w", "x"], "one x|"],
    ["one two|", ["ctrl+w", "home", "ctrl+y"], "two|one "],
    ["a\nbc|d\ne", ["ctrl+u"], "a\n|d\ne"],
    ["a\nbc|d\ne", ["ctrl+k"], "a\nbc|\ne"],
    ["a\nbc|d\ne", ["home"], "a\n|bcd\ne"],
    ["a\nbc|d\ne", ["end"], "a\nbcd|\ne"],
    ["abcd\ne|", ["up"], "a|bcd\ne"],
    ["abcd|\ne\nabcd", ["down", "down"], "abcd\ne\nabcd|"],
    ["12345678901234567890 next|", ["up"], "12345|678901234567890 next"],
  ])("%j, then %j, is %j", (start, keys, end) => {
    expect(marked(after(at(start), ...keys))).toBe(end);
  });

  it("says where a key leads out of the text", () => {
    expect(edit(at("a|b\nc"), { kind: "key", key: "up" }, WIDTH)).toBeUndefined();
    expect(edit(at("ab\n|c"), { kind: "key", key: "down" }, WIDTH)).toBeUndefined();
    expect(edit(at("a|"), { kind: "key", key: "enter" }, WIDTH)).toBeUndefined();
  });

  it("takes many lines that are pasted as they are", () => {
    expect(edit(at("a|"), { kind: "paste", text: "b\n\tc\n" }, WIDTH)?.text).toBe("ab\n    c\n");
  });

  it("goes on behind a backslash", () => {
    expect(continues(at("first\\|"))?.text).toBe("first\n");
    expect(continues(at("fir\\|st"))).toBeUndefined();
    expect(continues(at("first|"))).toBeUndefined();
  });
});

describe("the history", () => {
  const sent = ["one", "two"];

  it("comes back from the newest, and returns to what was being typed", () => {
    const up = older(older(older(editorOf("draft"), sent), sent), sent);
    expect(up.text).toBe("one");
    const down = newer(newer(up, sent), sent);
    expect(down).toMatchObject({ text: "draft", history: null });
    expect(newer(down, sent).text).toBe("draft");
  });
});

describe("completion", () => {
  const commands = [
    { name: "tree", args: "", help: "the tree" },
    { name: "thinking", args: "[level]", help: "how hard" },
    { name: "export", args: "[file]", help: "writes" },
  ];

  it("offers what begins so, then what contains it", () => {
    expect(completionsOf("/t", 2, { commands }).map(({ shown }) => shown)).toEqual(["/tree", "/thinking [level]", "/export [file]"]);
  });

  it("offers nothing for messages, for a second word, or in the middle of one", () => {
    expect([
      completionsOf("tree", 4, { commands }),
      completionsOf("/tree x", 7, { commands }),
      completionsOf("/tree", 2, { commands }),
    ]).toEqual([[], [], []]);
  });

  it("leaves a space behind a command that takes something", () => {
    const [first] = completionsOf("/thi", 4, { commands });
    expect(first === undefined ? "" : marked(completed(editorOf("/thi"), first))).toBe("/thinking |");
  });
});

describe("any text", () => {
  const piece = fc.constantFrom("a", " ", "word", "日本", "e\u0301", FAMILY, "\n", "\u202e", "\u001b[2J", "\t", "x".repeat(30));
  const texts = fc.array(piece, { maxLength: 14 }).map((parts) => parts.join(""));
  const keys = fc.constantFrom(
    "left",
    "right",
    "up",
    "down",
    "home",
    "end",
    "backspace",
    "delete",
    "ctrl+w",
    "alt+d",
    "ctrl+u",
    "ctrl+k",
    "ctrl+y",
    "alt+enter",
  );

  it("keeps the cursor between characters and in sight, and every row within the width", () => {
    fc.assert(
      fc.property(
        texts,
        fc.array(fc.oneof(keys, piece), { maxLength: 20 }),
        fc.integer({ min: 4, max: 40 }),
        fc.integer({ min: 1, max: 6 }),
        (text, edits, width, rows) => {
          let editor = editorOf(text);
          for (const one of edits) {
            const isKey = /^(ctrl|alt)\+|^(left|right|up|down|home|end|backspace|delete)$/.test(one);
            const event = isKey ? ({ kind: "key", key: one } as const) : ({ kind: "paste", text: one } as const);
            editor = edit(editor, event, rowWidth(width)) ?? editor;
            const stops = [...Array.from(new Intl.Segmenter().segment(editor.text), ({ index }) => index), editor.text.length];
            expect(stops).toContain(editor.cursor);
            const view = editorView(editor, width, rows);
            expect(view.lines.length).toBeLessThanOrEqual(rows);
            expect(view.lines[view.cursor.row]).toBeDefined();
            expect(view.cursor.column).toBeLessThan(width);
            for (const line of view.lines)
              for (const part of line) expect(displayWidth(safe(String(part)))).toBeLessThanOrEqual(Math.max(width, 10));
          }
        },
      ),
    );
  });
});
