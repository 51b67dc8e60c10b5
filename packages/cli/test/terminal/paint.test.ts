import { describe, expect, test } from "vitest";
import { glyphsFor } from "../../src/terminal/glyphs.js";
import { fitLine, lineWidth, paintLine, styled, textOfLine, wantsColor } from "../../src/terminal/line.js";

describe("colors", () => {
  test.each([
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: "1" }, true, false],
    [{ NO_COLOR: "" }, true, true],
    [{ FORCE_COLOR: "1" }, false, true],
    [{ FORCE_COLOR: "0" }, true, false],
    [{ FORCE_COLOR: "1", NO_COLOR: "1" }, true, true],
    [{ TERM: "dumb" }, true, false],
  ])("with %j on a terminal (%s): %s", (env, isTerminal, color) => {
    expect(wantsColor(env, isTerminal)).toBe(color);
  });

  test("are put around text that cannot end or change them", () => {
    expect(paintLine([styled("error", "a\u001b[0mb")], true)).toBe("\u001b[31ma␛[0mb\u001b[39m");
    expect(paintLine([styled("error", "a"), "b"], false)).toBe("ab");
  });
});

describe("glyphs", () => {
  test.each([
    [{ BOUGH_ASCII: "1", LANG: "en_US.UTF-8" }, "|- "],
    [{ LANG: "C" }, "|- "],
    [{ LC_ALL: "de_DE.ISO-8859-1", LANG: "de_DE.UTF-8" }, "|- "],
    [{ LANG: "C.UTF-8" }, "├─ "],
    [{ BOUGH_ASCII: "0", LANG: "C" }, "├─ "],
    [{}, "├─ "],
  ])("under %j a branch is '%s'", (env, branch) => {
    expect(glyphsFor(env).branch).toBe(branch);
  });
});

describe("fitting a line", () => {
  test("cuts the piece that exceeds the width and appends the ellipsis", () => {
    const fitted = fitLine(["abc", styled("dim", "def"), "ghi"], 6);
    expect(textOfLine(fitted)).toBe("abcde…");
    expect(lineWidth(fitted)).toBe(6);
  });
});
