import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { edit, editorOf, newer, older } from "../../src/prompt/editor.js";
import { anyText, key } from "./typing.js";

const SENT = ["first", "second\nline", "third"];

describe("the history of a prompt", () => {
  it("goes from the newest to the oldest entry and stays there", () => {
    let editor = editorOf("draft");
    const seen = [1, 2, 3, 4].map(() => {
      editor = older(editor, SENT);
      return editor.text;
    });
    expect(seen).toEqual(["third", "second\nline", "first", "first"]);
  });

  it("puts the cursor behind the entry", () => {
    expect(older(editorOf(), SENT).cursor).toBe(5);
  });

  it("has nothing newer than what is typed, and nothing at all when nothing was sent", () => {
    expect(newer(editorOf("draft"), SENT)).toEqual(editorOf("draft"));
    expect(older(editorOf("draft"), [])).toEqual(editorOf("draft"));
  });

  it("keeps an entry that was changed as the draft, if there was none", () => {
    const changed = edit(older(editorOf(), SENT), key("!"), 80) ?? editorOf();
    expect(newer(older(changed, SENT), SENT).text).toBe("third");
    expect(newer(newer(older(changed, SENT), SENT), SENT)).toMatchObject({ text: "third!", history: null });
  });

  it("keeps the draft that was typed when an entry is changed", () => {
    const changed = edit(older(editorOf("draft"), SENT), key("!"), 80) ?? editorOf();
    expect(newer(changed, SENT).text).toBe("draft");
  });

  it("comes back to the draft from wherever it went, with what was cut", () => {
    fc.assert(
      fc.property(anyText, fc.array(anyText), fc.array(fc.boolean()), (draft, sent, ways) => {
        const start = { ...editorOf(draft), killed: "cut" };
        let editor = start;
        for (const isOlder of ways) editor = isOlder ? older(editor, sent) : newer(editor, sent);
        for (const _ of sent) editor = newer(editor, sent);
        expect(editor).toEqual(start);
      }),
    );
  });
});
