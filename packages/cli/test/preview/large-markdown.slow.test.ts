import { beforeAll, describe, expect, test } from "vitest";
import { markdownLines } from "../../src/preview/markdown.js";
import { loadExactWidths } from "../../src/terminal/width.js";

beforeAll(loadExactWidths);

describe("large hostile Markdown", () => {
  test.each([
    "[",
    "*",
    "_a",
    ">",
    "> ",
    "- ",
    "1. ",
    "`a",
    "|a",
    "- a\n",
    "文",
    "👨‍👩‍👧",
    "e\u0301",
    "\u202e",
    "diff --git a\n",
    "| a | b |\n|-|-|\n",
  ])("a megabyte of %j is drawn (work that grows with its square would pass the time limit of any test)", (text) => {
    expect(markdownLines(text.repeat(1_000_000 / text.length), 60).length).toBeGreaterThan(0);
  });

  test.each(["[", "![", "*a_", "**a", "***a", "`", "[a](", "[a][", "[a]: ", "http://", "<", "&", "\\", "> ", "- ", "|", "~~a", "*文"])(
    "the longest Markdown that is parsed, of %j, is drawn in linear time",
    (text) => {
      expect(markdownLines(text.repeat(59_000 / text.length), 60).length).toBeGreaterThan(0);
    },
  );
});
