import { describe, expect, it } from "vitest";
import { continueLine, createEditor, edit } from "../../src/prompt/editor.js";
import { loadExactWidths } from "../../src/terminal/width.js";
import { decodeSequence } from "../../src/tui/decode.js";
import { after, FAMILY, key, marked, shown } from "./typing.js";

await loadExactWidths();

describe("keys in an editor of several lines", () => {
  it.each([
    ["typing", "pl|n", ["a"], "pla|n"],
    ["a space that the terminal tells by its code only", "a|", ["space", "b"], "a b|"],
    ["alt+enter", "a|b", ["alt+enter"], "a\n|b"],
    ["shift+enter", "a|b", ["shift+enter"], "a\n|b"],
    ["ctrl+j", "a|b", ["ctrl+j"], "a\n|b"],
    ["backspace over a family", `a${FAMILY}|`, ["backspace"], "a|"],
    ["backspace over a line end", "a\n|b", ["backspace"], "a|b"],
    ["backspace at the beginning", "|b", ["backspace"], "|b"],
    ["delete of a family", `|${FAMILY}b`, ["delete"], "|b"],
    ["delete of a line end", "a|\nb", ["delete"], "a|b"],
    ["ctrl+d as delete", "|ab", ["ctrl+d"], "|b"],
    ["left over a line end", "a\n|b", ["left"], "a|\nb"],
    ["right over a line end", "a|\nb", ["right"], "a\n|b"],
    ["left over an accent", "e\u0301|", ["left"], "|e\u0301"],
    ["words to the left", "one two  |three", ["ctrl+left", "alt+b"], "|one two  three"],
    ["words to the right", "|one\n two", ["alt+right", "alt+f"], "one\n two|"],
    ["ctrl+w", "one two |three", ["ctrl+w"], "one |three"],
    ["alt+backspace", "one two|", ["alt+backspace"], "one |"],
    ["alt+d", "one| two three", ["alt+d"], "one| three"],
    ["ctrl+u to the beginning of the line", "a\nbc|d", ["ctrl+u"], "a\n|d"],
    ["ctrl+u at the beginning of a line", "a\n|d", ["ctrl+u"], "a|d"],
    ["ctrl+k to the end of the line", "a|bc\nd", ["ctrl+k"], "a|\nd"],
    ["ctrl+k at the end of a line", "a|\nd", ["ctrl+k"], "a|d"],
    ["ctrl+y after another key", "one |two", ["ctrl+k", "home", "ctrl+y"], "two|one "],
    ["cutting nothing keeps what was cut", "|two", ["ctrl+k", "ctrl+k", "ctrl+w", "ctrl+y"], "two|"],
    ["ctrl+home", "a\nb|c", ["ctrl+home"], "|a\nbc"],
    ["ctrl+end", "|a\nbc", ["ctrl+end"], "a\nbc|"],
    ["home of a wrapped row", "aaaa bbbb cc|cc", ["home"], "aaaa bbbb |cccc"],
    ["end of a wrapped row, before its space", "aa|aa bbbb cccc", ["end"], "aaaa bbbb| cccc"],
    ["end of the last row", "aaaa\nb|b", ["ctrl+e"], "aaaa\nbb|"],
    ["up through a short line, back to the column", "abcd\n\nabc|d", ["up", "up"], "abc|d\n\nabcd"],
    ["down to a wrapped row", "aa|aa bbbb cccc", ["down"], "aaaa bbbb cc|cc"],
    ["up between wide characters", "日本語\nabc|", ["up"], "日|本語\nabc"],
    ["a move to the side forgets the column", "abcd\na\nabc|d", ["up", "left", "up"], "|abcd\na\nabcd"],
  ])("%s", (_name, before, keys, expected) => {
    // The row has ten columns: nine for the text, one for the cursor.
    expect(after(before, 10, ...keys)).toBe(expected);
  });

  it.each(["enter", "escape", "tab", "shift+tab", "ctrl+c", "pageup", "f1", "toString"])("does not handle %s", (name) => {
    expect(edit(createEditor("text"), { kind: "key", key: name }, 80)).toBeUndefined();
  });

  it("does not handle ctrl+d in an empty text, up in the first row and down in the last one", () => {
    expect(edit(createEditor(), key("ctrl+d"), 80)).toBeUndefined();
    expect(edit(marked("a|\nb"), key("up"), 80)).toBeUndefined();
    expect(edit(marked("a\nb|"), key("down"), 80)).toBeUndefined();
  });

  it("keeps the lines of a paste, with four spaces for a tab", () => {
    expect(edit(marked("<|>"), { kind: "paste", text: "if\r\n\tx\rend\u001b" }, 80)).toMatchObject({
      text: "<if\n    x\nend\u001b>",
      cursor: 14,
    });
  });

  it("puts the cursor after an accent that joins with typed text", () => {
    expect(after("|\u0301", 80, "e")).toBe("e\u0301|");
  });

  it("works with the sequences that terminals send", () => {
    const sent = ["f", "o", "\u001b\r", "x", "\u001b[13;2u", "\n", "\u001b\u007f", "\u001b[32;1u"];
    const events = sent.flatMap(decodeSequence);
    expect(shown(events.reduce((now, event) => edit(now, event, 80) ?? now, createEditor()))).toBe("fo\n |");
  });

  it("moves in a line of 210,000 pasted characters", () => {
    const text = "日本 ".repeat(70_000);
    let editor = createEditor(text);
    for (const name of ["x", "up", "down", "backspace", "home", "end"]) editor = edit(editor, key(name), 80) ?? editor;
    expect(editor).toEqual(createEditor(text));
  });
});

describe("a line that is continued", () => {
  it("ends with a backslash before the cursor", () => {
    expect(continueLine(createEditor("one\\"))).toMatchObject({ text: "one\n", cursor: 4 });
  });

  it.each(["one|\\", "one\\ |", "one|", "|"])("is not %s", (text) => {
    expect(continueLine(marked(text))).toBeUndefined();
  });
});
