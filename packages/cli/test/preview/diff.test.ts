import { beforeAll, describe, expect, test } from "vitest";
import { diffLines } from "../../src/preview/diff.js";
import { textOfLine } from "../../src/terminal/line.js";
import { loadExactWidths } from "../../src/terminal/width.js";
import { drawn, inStyle } from "./drawn.js";

beforeAll(loadExactWidths);

const letters = "a b c d e f g h i j k".split(" ");

describe("a diff of two texts", () => {
  test("is unified, with three lines of context and headers for several hunks", () => {
    const after = letters.map((letter) => (letter === "b" || letter === "j" ? letter.toUpperCase() : letter));
    expect(drawn(diffLines(letters.join("\n"), after.join("\n"), 40), 40)).toBe(
      "\n@@ -1,5 +1,5 @@\n a\n-b\n+B\n c\n d\n e\n@@ -7,5 +7,5 @@\n g\n h\n i\n-j\n+J\n k\n",
    );
  });

  test("colors added and removed lines", () => {
    const lines = diffLines("same\nold", "same\nnew", 40);
    expect([inStyle(lines, "removed"), inStyle(lines, "added")]).toEqual([["-old"], ["+new"]]);
  });

  test("mentions a missing newline at the end only if the texts differ in it", () => {
    expect(diffLines("a", "b", 40).map(textOfLine)).toEqual(["-a", "+b"]);
    expect(diffLines("a\n", "a", 40).map(textOfLine)).toEqual(["-a", "+a", "\\ No newline at end of file"]);
  });

  test("of equal texts has no lines", () => {
    expect(diffLines("a", "a", 40)).toEqual([]);
  });

  test("of texts that are too different shows the start of both, and the length of the rest", () => {
    const text = (sign: string) => Array.from({ length: 20_000 }, (_, at) => `${sign}${at}`).join("\n");
    const lines = diffLines(text("x"), text("y"), 40);
    expect(inStyle(lines, "removed")).toHaveLength(1000);
    expect(inStyle(lines, "added")).toHaveLength(1000);
    expect(inStyle(lines, "dim").every((note) => /^… [\d,]+ more characters$/.test(note))).toBe(true);
  });
});
