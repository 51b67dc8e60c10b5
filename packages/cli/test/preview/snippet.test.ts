import { beforeAll, expect, test } from "vitest";
import { snippetFromMatch } from "../../src/preview/snippet.js";
import { UNICODE_GLYPHS } from "../../src/terminal/glyphs.js";
import { lineWidth, textOfLine } from "../../src/terminal/line.js";
import { loadExactWidths } from "../../src/terminal/width.js";

beforeAll(loadExactWidths);

test.each([
  ["a long word of code", `${"segment.".repeat(7)}zebra stripes`],
  ["a script of wide characters", `${"日本語".repeat(8)}zebra stripes`],
  ["words", `${"some words ".repeat(5)}zebra stripes`],
])("the match of a snippet is in the first half of its line, after %s", (_, snippet) => {
  const at = snippet.indexOf("zebra");
  for (let room = 1; room <= 120; room += 1) {
    const line = snippetFromMatch({ snippet, matches: [[at, at + 5]] }, room, UNICODE_GLYPHS) ?? [];
    const match = line.findIndex((piece) => typeof piece === "object" && piece.style === "match");
    expect(textOfLine(line.slice(match))).toBe("zebra stripes");
    expect(lineWidth(line.slice(0, match))).toBeLessThanOrEqual(Math.ceil(room / 2) + 1);
  }
});
