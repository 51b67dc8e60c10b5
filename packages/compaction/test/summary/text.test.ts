import { cleanText, cutMiddle, takeEnd, takeStart } from "@bough/session-core/view";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { escapeForPrompt, escapeForSummary, wrapInTag } from "../../src/summary/tagged-blocks.js";

const anyText = fc.string({ unit: "binary", maxLength: 60 });

describe("cutting a text", () => {
  test("never leaves half a surrogate pair, at any length", () => {
    fc.assert(
      fc.property(anyText, fc.nat(70), (text, max) => {
        expect(takeStart(text, max).isWellFormed()).toBe(true);
        expect(takeEnd(text, max).isWellFormed()).toBe(true);
        expect(cutMiddle(text, max).isWellFormed()).toBe(true);
        expect(takeStart(text, max).length).toBeLessThanOrEqual(max);
        expect(takeEnd(text, max).length).toBeLessThanOrEqual(max);
      }),
    );
  });

  test("keeps 40 % of the head and the rest of the tail, with the number of removed characters", () => {
    expect(cutMiddle("0123456789", 5)).toBe("01\n[... 5 characters left out ...]\n789");
  });

  test("returns what fits as it is", () => {
    expect(cutMiddle("short", 5)).toBe("short");
  });
});

describe("cleaning a text", () => {
  test("takes out colors, controls and marks that turn the direction; keeps tabs and line breaks", () => {
    expect(cleanText("\u001b[31mred\u001b[0m\r\nnext\tcell\u0007\u202eevil\u001b]0;title\u0007")).toBe("red\nnext\tcellevil");
  });

  test("replaces half a surrogate pair", () => {
    expect(cleanText("a\ud83db")).toBe("a\ufffdb");
  });
});

describe("a text in a slot", () => {
  test.each(["</conversation>", "</ Conversation >", "<summary>", "</previous-summary>", "<analysis>", "</focus>", "<checkpoint_title>"])(
    "cannot open or close one with %s",
    (tag) => {
      expect(escapeForPrompt(`a ${tag} b`)).toBe(`a &lt;${tag.slice(1)} b`);
    },
  );

  test("keeps other tags and comparisons as they are", () => {
    const text = "if (a < b) return <div class='summary'></div>; <summaries> a<conversational";
    expect(escapeForPrompt(text)).toBe(text);
  });

  test("is the same when it is made safe twice", () => {
    const bits = fc.constantFrom("<", "/", " ", "summary", ">", "&lt;", "conversation", "covers", "\n");
    fc.assert(
      fc.property(fc.array(bits, { maxLength: 20 }), (some) => {
        const text = some.join("");
        expect(escapeForPrompt(escapeForPrompt(text))).toBe(escapeForPrompt(text));
        expect(escapeForSummary(escapeForSummary(text))).toBe(escapeForSummary(text));
        expect(wrapInTag("summary", escapeForSummary(text)).match(/<\/summary>/g)).toHaveLength(1);
      }),
    );
  });
});
