import { describe, expect, test } from "vitest";
import { EXTRACT_NOTE, readableSummary, summaryGist } from "../../src/text/summary-text.js";

const EXTRACT = `${EXTRACT_NOTE} It covers a branch of the conversation that was left.\n\n## Goal\n\n> Skip tabs in the lexer\n\nThen asked:\n- Why is it slow?`;

describe("a summary as people read it", () => {
  test.each([
    ["an extract", EXTRACT],
    ["an extract of a branch", `<summary-note>For the model.</summary-note>\n\n${EXTRACT}`],
  ])("begins with its goal and ends with the note that no model wrote it: %s", (_kind, summary) => {
    const readable = readableSummary(summary);
    expect(readable).toMatch(/^## Goal/);
    expect(readable.split("\n").at(-1)).toBe(`${EXTRACT_NOTE} It covers a branch of the conversation that was left.`);
    expect(summaryGist(summary)).toBe("Skip tabs in the lexer Why is it slow?");
  });

  test.each([
    [
      "# Context Checkpoint: Refactoring\n\n## Notes\n\nOld.\n\n## Goal\nMove the parser.\n\n<read-files>\na.ts\n</read-files>",
      "Move the parser.",
    ],
    ["Only this.", "Only this."],
    ["# Only a heading", "Only a heading"],
    [EXTRACT_NOTE, ""],
  ])("is told in one text: %j", (summary, gist) => {
    expect(summaryGist(summary)).toBe(gist);
  });
});
