import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { matchLines } from "../../src/blame/line-match.js";

const lines = fc.array(fc.constantFrom("a", "b", "c", "d", "}", ""), { maxLength: 40 });

describe("the lines that two texts share", () => {
  test("are equal, keep their order, and are each matched once", () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const found = [...matchLines(before, after)];
        const matched = found.filter((old) => old >= 0);
        expect(found.every((old, at) => old < 0 || before[old] === after[at])).toBe(true);
        expect(matched).toEqual([...new Set(matched)].sort((one, other) => one - other));
      }),
      { numRuns: runs(500) },
    );
  });

  test("are all of them if one text is the other with lines added", () => {
    fc.assert(
      fc.property(lines, lines, fc.nat(), (before, added, place) => {
        const at = place % (before.length + 1);
        const after = [...before.slice(0, at), ...added.map((line) => `new ${line}`), ...before.slice(at)];
        expect([...matchLines(before, after)].filter((old) => old >= 0)).toHaveLength(before.length);
      }),
      { numRuns: runs(300) },
    );
  });
});
