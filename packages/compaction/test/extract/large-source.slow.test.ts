import { describe, expect, test } from "vitest";
import { extract } from "../../src/extract/extract.js";
import { ran, said, user } from "./talk.js";

describe("an extract of a large source", () => {
  test.each([
    ["one letter", "a".repeat(1_000_000)],
    ["line breaks", "\n".repeat(1_000_000)],
    ["full stops", "a. ".repeat(300_000)],
    ["backticks", "`a".repeat(500_000)],
    ["headings", "# a\n".repeat(250_000)],
    ["list marks", "- ".repeat(500_000)],
    ["brackets", "[(".repeat(500_000)],
    ["bold marks", "**".repeat(500_000)],
    ["half pairs", "\ud83d".repeat(1_000_000)],
  ])("takes a megabyte of %s (work that grows with its square would pass the time limit of any test)", (_name, long) => {
    const messages = [
      user(long),
      said(long),
      ...ran("bash", { command: long }, long, { failed: true }),
      ...ran("edit", { path: long }, long),
    ];
    const made = extract({ messages, kind: "history", previousSummary: long, instructions: long }, { maxChars: 8_000 });
    expect(made.length).toBeLessThanOrEqual(8_000);
  });

  test("takes a session of 50,000 messages", () => {
    const messages = Array.from({ length: 12_500 }, (_one, at) => [
      user(`Please change number ${at}.`),
      ...ran("edit", { path: `src/f${at}.ts` }, "Edited"),
      said(`Number ${at} is changed because it was wrong.`),
    ]).flat();
    const made = extract({ messages, kind: "history", previousSummary: null, instructions: "number" }, { maxChars: 8_000 });
    expect(made).toContain("Please change number 12499.");
  });
});
