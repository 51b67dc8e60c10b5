import fc from "fast-check";
import stringWidth from "string-width";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { UNICODE_GLYPHS } from "../../src/terminal/glyphs.js";
import { graphemesOf } from "../../src/terminal/graphemes.js";
import { safe } from "../../src/terminal/safe.js";
import { displayWidth, loadExactWidths, padEnd, padStart, truncate } from "../../src/terminal/width.js";

beforeAll(loadExactWidths);

const characters = fc.oneof(
  fc.constantFrom(
    "a",
    " ",
    "é",
    "e\u0301",
    "日",
    "ー",
    "한",
    "👩‍👩‍👧",
    "👍🏽",
    "🇩🇪",
    "…",
    "│",
    "←",
    "␛",
    "ß",
    "я",
    "½",
    "©",
    "\u0301",
    "ｱ",
  ),
  fc.string({ unit: "grapheme", maxLength: 1 }),
);
const texts = fc.array(characters, { maxLength: 30 }).map((parts) => safe(parts.join("")));

describe("the width of a text", () => {
  test("counts wide characters twice and combining ones not at all", () => {
    expect(["abc", "日本", "e\u0301", "👩‍👩‍👧", "→"].map(displayWidth)).toEqual([3, 4, 1, 2, 1]);
  });

  test("equals that of string-width, also in the fast path", () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(displayWidth(text)).toBe(stringWidth(text));
      }),
    );
  });
});

test("every character that the fast path counts has the width that string-width gives it", () => {
  const differing: string[] = [];
  for (let code = 0x20; code <= 0xffff; code += 1) {
    const character = String.fromCharCode(code);
    if (safe(character) === character && displayWidth(character) !== stringWidth(character)) differing.push(code.toString(16));
  }
  expect(differing).toEqual([]);
});

test("the characters that screens are drawn with need no string-width", async () => {
  vi.resetModules();
  const { displayWidth: boundedWidth } = await import("../../src/terminal/width.js");
  const drawn = Object.values(UNICODE_GLYPHS).flatMap((glyph) => (typeof glyph === "boolean" ? [] : glyph));
  // Without string-width a character that is not in the table counts as two.
  expect(drawn.map(boundedWidth)).toEqual(drawn.map((glyph) => stringWidth(glyph)));
});

describe("cutting a text", () => {
  test("never exceeds the width, and keeps text that fits", () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 0, max: 40 }), (text, width) => {
        const cut = truncate(text, width);
        expect(displayWidth(cut)).toBeLessThanOrEqual(width);
        if (displayWidth(text) <= width) expect(cut).toBe(text);
      }),
    );
  });

  test("never splits a grapheme cluster", () => {
    expect(truncate("ab👩‍👩‍👧c", 4)).toBe("ab…");
    expect(truncate("日本語", 4)).toBe("日…");
  });

  test("pads to the displayed width", () => {
    expect([padEnd("日", 4), padStart("日", 4), padEnd("long", 2)]).toEqual(["日  ", "  日", "long"]);
  });
});

describe("a long text", () => {
  test("is divided between clusters, wherever these stand", () => {
    const family = "👩‍👩‍👧";
    for (let before = 230; before <= 260; before += 1) {
      const segments = [...graphemesOf(`${"ä".repeat(before)}${family}…`)].map(({ segment }) => segment);
      expect(segments.slice(before)).toEqual([family, "…"]);
    }
  });
});
