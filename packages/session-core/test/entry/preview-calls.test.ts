import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { shareLine, shortenPreview, splitPreview } from "../../src/entry/preview-calls.js";
import { previewOf } from "../../src/entry/text.js";
import { shortenDetail, shortenPath } from "../../src/text/shorten-path.js";

describe("a path is cut in its middle", () => {
  const path = "packages/coding-agent/src/theme/theme.ts";
  test.each([
    [40, path],
    [39, "packages/…/src/theme/theme.ts"],
    [24, "packages/…/theme.ts"],
    [12, "…/theme.ts"],
    [9, "…theme.ts"],
    [4, "….ts"],
    [1, "…"],
    [0, ""],
  ])("to %i: %s", (width, short) => {
    expect(shortenPath(path, width)).toBe(short);
  });

  test.each([
    ["git diff packages/agent/src/theme/theme.ts", 40, "git diff packages/…/src/theme/theme.ts"],
    ["git add packages/agent/src/theme.ts packages/agent/src/other.ts", 48, "git add packages/…/theme.ts packages/…/other.ts"],
    ["npm run check -- --all --verbose", 20, "npm run check -- --…"],
  ])("also inside a command: %s to %i", (detail, width, short) => {
    expect(shortenDetail(detail, width)).toBe(short);
  });
});

describe("a preview", () => {
  const call = (command: string) => ({ type: "toolCall" as const, id: "1", name: "bash", arguments: { command } });
  const reply = (...content: object[]) => previewOf({ type: "message", message: { role: "assistant", content: content as never } }, "/app");

  test("has the text, then the calls", () => {
    expect(reply({ type: "text", text: "Let me\nlook." }, call("cd /app && ls"))).toBe("Let me look. [bash ls]");
  });

  test("of many calls counts those without room", () => {
    const preview = reply(...Array.from({ length: 30 }, (_, at) => call(`echo the number ${at}`)));
    expect(preview).toMatch(/^\[bash echo the number 0\] .* \[\+2\d: bash 2\d\]$/);
    expect(preview.length).toBeLessThanOrEqual(240);
    expect(splitPreview(preview).calls).toHaveLength(30);
  });

  test("of 200,000 calls counts them (work that grows with its square would pass the time limit of any test)", () => {
    const calls = Array.from({ length: 200_000 }, () => ({ name: "bash", detail: "npm test" }));
    const shown = 13;
    expect(shareLine("", calls, 240)).toBe(`${"[bash npm test] ".repeat(shown)}[+${200_000 - shown}: bash ${200_000 - shown}]`);
  });

  test.each([
    ["Done. [edit a.ts] [bash npm test]", "Done.", ["edit a.ts", "bash npm test"]],
    ["See [the docs] first. [read a.ts]", "See [the docs] first.", ["read a.ts"]],
    ["[bash if [ -f a ]; then b; fi] [read x]", "", ["bash if [ -f a ]; then b; fi", "read x"]],
    ['Look. [bash grep "\\[" a.ts]', "Look.", ['bash grep "\\[" a.ts']],
    ["[think] [+3: read 2, bash 1]", "", ["think", "read", "read", "bash"]],
    ["No calls [", "No calls [", []],
    ["a text", "a text", []],
  ])("is taken apart: %s", (preview, text, calls) => {
    const parts = splitPreview(preview);
    expect(parts.text).toBe(text);
    expect(parts.calls.map(({ name, detail }) => `${name} ${detail}`.trim())).toEqual(calls);
  });

  test("in a narrow row shows the text and the file", () => {
    const preview = "I will now look at how the theme is loaded. [read packages/coding-agent/src/theme/theme.ts]";
    expect(shortenPreview(preview, 60)).toBe("I will now look at how… [read packages/…/src/theme/theme.ts]");
    expect(shortenPreview(preview, 40)).toBe("I will now look… [read …/theme/theme.ts]");
  });
});

const word = fc.constantFrom("a", "[b]", "src/lexer/tabs.ts", "x y", "[", "]", "", "é😀", "read", "] [bash", "…");
const text = fc.array(word, { maxLength: 8 }).map((words) => words.join(" "));
const calls = fc.array(fc.record({ name: fc.constantFrom("bash", "read", "x"), detail: text }), { maxLength: 9 });

test("no text and no calls are wider than the row", () => {
  fc.assert(
    fc.property(text, calls, fc.integer({ min: 0, max: 90 }), (before, made, width) => {
      const line = shareLine(before, made, width);
      expect(line.length).toBeLessThanOrEqual(width);
      expect(shortenPreview(line, Math.floor(width / 2)).length).toBeLessThanOrEqual(Math.floor(width / 2));
    }),
    { numRuns: runs(3000) },
  );
});

test("calls without brackets in their details are found again", () => {
  const plain = fc.array(fc.constantFrom("npm test", "a.ts", "x", "src/b"), { minLength: 1, maxLength: 3 }).map((words) => words.join(" "));
  const made = fc.array(fc.record({ name: fc.constantFrom("bash", "read", "mcp__a__b"), detail: plain }), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.constantFrom("", "Done.", "See [1]."), made, (before, given) => {
      expect(splitPreview(shareLine(before, given, 1000))).toEqual({ text: before, calls: given });
    }),
  );
});
