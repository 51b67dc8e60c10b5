import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { safe, safeJson, safeLines } from "../../src/terminal/safe.js";

const HOSTILE = /[\u0000-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/u;

describe("text that goes to a terminal", () => {
  test("shows control characters as their pictures", () => {
    expect(safe("a\u001b[31mb\u0007\n\u007f")).toBe("a␛[31mb␇␊␡");
  });

  test.each([
    ["C1 control sequence introducer", "\u009b31m", "\\u{9b}31m"],
    ["right-to-left override", "a\u202eb", "a\\u{202e}b"],
    ["isolates", "\u2066x\u2069", "\\u{2066}x\\u{2069}"],
    ["zero-width space", "pay\u200bpal", "pay\\u{200b}pal"],
    ["line separator", "a\u2028b", "a\\u{2028}b"],
    ["tag characters", "a\u{e0041}", "a\\u{e0041}"],
    ["byte order mark", "\ufeffa", "\\u{feff}a"],
    ["a joiner between Latin letters", "a\u200db", "a\\u{200d}b"],
  ])("shows the number of a %s", (_, given, shown) => {
    expect(safe(given)).toBe(shown);
  });

  test("shows every character that is invisible by itself", () => {
    const invisible = Array.from({ length: 0x110000 }, (_, code) => code).filter(
      (code) =>
        !(code >= 0xd800 && code <= 0xdfff) && /^(?![\ufe00-\ufe0f])\p{Default_Ignorable_Code_Point}$/u.test(String.fromCodePoint(code)),
    );
    for (const code of invisible) expect(safe(`a${String.fromCodePoint(code)}b`)).toBe(`a\\u{${code.toString(16)}}b`);
  });

  test("replaces halves of surrogate pairs", () => {
    expect(safe("a\ud800b")).toBe("a\ufffdb");
  });

  test("leaves emoji sequences, accents and scripts with joiners alone", () => {
    for (const text of ["👩‍👩‍👧", "e\u0301", "می‌خواهم", "क्‍ष", "日本語", "🏳️‍🌈", "👍🏽"]) expect(safe(text)).toBe(text);
  });

  test("never passes control characters, for any text, and is idempotent", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
        expect(safe(text)).not.toMatch(HOSTILE);
        expect(safe(safe(text))).toBe(safe(text));
      }),
    );
  });

  test("keeps lines apart and turns tabs into spaces", () => {
    expect(safeLines("a\tb\r\nc\u001b\nd")).toEqual(["a    b", "c␛", "d"]);
  });
});

describe("JSON that goes to a terminal", () => {
  test("parses to the same value, without control characters", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
        const json = safeJson(JSON.stringify({ text }, null, 2));
        expect(JSON.parse(json)).toEqual({ text });
        expect(json.replaceAll("\n", "")).not.toMatch(HOSTILE);
      }),
    );
  });
});
