import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createEditor, edit, showNewer, showOlder } from "../../src/prompt/editor.js";
import { anyText, key } from "./typing.js";

const SENT = ["first", "second\nline", "third"];

describe("the history of a prompt", () => {
  it("goes from the newest to the oldest entry and stays there", () => {
    let editor = createEditor("draft");
    const seen = [1, 2, 3, 4].map(() => {
      editor = showOlder(editor, SENT);
      return editor.text;
    });
    expect(seen).toEqual(["third", "second\nline", "first", "first"]);
  });

  it("puts the cursor at the end of the entry", () => {
    expect(showOlder(createEditor(), SENT).cursor).toBe(5);
  });

  it("has nothing newer than the draft, and nothing if it is empty", () => {
    expect(showNewer(createEditor("draft"), SENT)).toEqual(createEditor("draft"));
    expect(showOlder(createEditor("draft"), [])).toEqual(createEditor("draft"));
  });

  it("keeps an entry that was changed as the draft, if there was none", () => {
    const changed = edit(showOlder(createEditor(), SENT), key("!"), 80) ?? createEditor();
    expect(showNewer(showOlder(changed, SENT), SENT).text).toBe("third");
    expect(showNewer(showNewer(showOlder(changed, SENT), SENT), SENT)).toMatchObject({ text: "third!", history: null });
  });

  it("keeps the draft that was typed when an entry is changed", () => {
    const changed = edit(showOlder(createEditor("draft"), SENT), key("!"), 80) ?? createEditor();
    expect(showNewer(changed, SENT).text).toBe("draft");
  });

  it("returns to the draft from any entry, and keeps the cut text", () => {
    fc.assert(
      fc.property(anyText, fc.array(anyText), fc.array(fc.boolean()), (draft, sent, ways) => {
        const start = { ...createEditor(draft), killed: "cut" };
        let editor = start;
        for (const isOlder of ways) editor = isOlder ? showOlder(editor, sent) : showNewer(editor, sent);
        for (const _ of sent) editor = showNewer(editor, sent);
        expect(editor).toEqual(start);
      }),
    );
  });
});
