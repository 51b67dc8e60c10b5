import type { SessionContext } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { findRemoval } from "../../src/blame/find-removal.js";
import { extract } from "../../src/extract/extract.js";
import { hasOpenWork } from "../../src/plan/decide.js";
import { takeLines } from "../../src/recall/line-window.js";
import { extractMarkers, formatMarker } from "../../src/summary/prompt-texts.js";
import { parseSummaryReply } from "../../src/summary/summarizer-client.js";
import { user } from "../extract/talk.js";

const LONG = 400_000;
const NONE = { messages: [] as unknown } as SessionContext;
const REMOVED = { a: "/p/a.ts" };
const remove = (script: string) =>
  findRemoval(script, [REMOVED.a], (path, folder = "/p") => (path.startsWith("/") ? path : `${folder}/${path}`));

/** Work that grows with the square of the length would pass the time limit of any test. */
describe("a text of 400,000 characters is read in linear time", () => {
  test.each([
    ["blanks before the end of a script", `rm a.ts${" ".repeat(LONG)}x`],
    ["slashes in a word", `rm a.ts ${"/".repeat(LONG)}x`],
    ["a long option", `rm -${"r".repeat(LONG)}! a.ts`],
    ["blanks behind the command", `rm ${" ".repeat(LONG)}a.ts\u2028x a.ts`],
  ])("%s", (_name, script) => expect(remove(script)).toBe("done"));

  test("an option for the git index does not remove the file", () => {
    expect(remove(`git rm ${" ".repeat(LONG)}--cached a.ts`)).toBe("none");
    expect(remove("rm -rf /p/")).toBe("done");
  });

  test("line breaks and open marks around the mark of a summary that is missing", () => {
    const open = formatMarker(1).slice(0, 60);
    const text = `${"\n".repeat(LONG)}a${open.repeat(LONG / 60)}\n\n${formatMarker(7)}`;
    expect(extractMarkers(text)).toMatchObject({ messages: 7, rest: expect.stringMatching(/^a\[/) });
  });

  test("blanks in a heading of an earlier summary", () => {
    const previousSummary = `# Title ##\n# a${" ".repeat(LONG)}b ##`;
    const made = extract({ messages: [user("Go on")], kind: "history", previousSummary, instructions: "" }, { maxChars: 8_000 });
    expect(made).toContain("**Title**");
  });

  test("a list of tasks, a range of lines, and a fence of a reply", () => {
    expect(hasOpenWork(NONE, `${"\r\n".repeat(LONG / 2)}- [ ] a`)).toBe(true);
    expect(takeLines("one\ntwo", { lines: `${"0".repeat(LONG)}!` })).toContain("two");
    expect(parseSummaryReply(`${"~".repeat(LONG)}\u2028\nDone`, { needsTag: false }).body).toContain("Done");
  });
});
