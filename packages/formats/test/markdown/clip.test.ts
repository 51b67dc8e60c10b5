import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clipText } from "../../src/markdown/markdown-writer.js";

const LIMIT = { lines: 2, characters: 10 };

describe("a text that is shown in part", () => {
  test("is whole when it fits", () => {
    expect(clipText("a\nb\n", LIMIT)).toEqual({ text: "a\nb", missing: null });
  });

  test("says how many lines and characters are missing", () => {
    expect(clipText("a\nb\nc\nd", LIMIT)).toEqual({ text: "a\nb", missing: "2 more lines, 4 more characters" });
    expect(clipText("x".repeat(1210), LIMIT)).toEqual({ text: "x".repeat(10), missing: "1,200 more characters" });
  });

  test("never ends inside a surrogate pair", () => {
    expect(clipText("123456789😀😀", LIMIT).text).toBe("123456789");
    fc.assert(fc.property(fc.string({ unit: "grapheme" }), (given) => clipText(given, LIMIT).text.isWellFormed()));
  });

  test("is all of it without a limit", () => {
    expect(clipText("a\nb\nc", null)).toEqual({ text: "a\nb\nc", missing: null });
  });
});
