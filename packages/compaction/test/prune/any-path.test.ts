import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { planPrune } from "../../src/prune/plan-prune.js";
import { readSettings } from "../../src/settings/read-settings.js";
import { applied, type Call, called, prompt } from "./path.js";

/** Calls that often meet: few files, few parts, few texts, few tools. */
const call: fc.Arbitrary<Call> = fc.record({
  tool: fc.constantFrom("read", "bash", "skill", "view"),
  with: fc.constantFrom<NonNullable<Call["with"]>>(
    {},
    { path: "a.ts" },
    { path: "b.ts" },
    { path: "a.ts", offset: 3 },
    { path: "x/SKILL.md" },
    { path: "é".repeat(60) },
  ),
  text: fc.oneof(
    fc.nat(600).map((length) => "x".repeat(length)),
    fc.string({ maxLength: 600 }),
  ),
  isError: fc.boolean(),
  details: fc.constantFrom<unknown>(undefined, { useless: true }, { truncated: true }),
});
const paths = fc
  .array(fc.oneof({ weight: 1, arbitrary: fc.constant(null) }, { weight: 4, arbitrary: call }), { maxLength: 30 })
  .map((steps) => steps.flatMap((step, at) => (step === null ? prompt(`u${at}`) : called(at, step))));
const settings = fc
  .record({
    protectTokens: fc.nat(3_000),
    minSavingsTokens: fc.nat(800),
    superseded: fc.boolean(),
    useless: fc.boolean(),
    duplicateChars: fc.nat(50),
    cacheSuffixTokens: fc.nat(4_000),
  })
  .map((prune) => readSettings({ prune }).prune);
const inputs = fc.record({ items: paths, settings, idle: fc.boolean() });

describe("any plan to prune", () => {
  test("names distinct tool results that the model has read, in order, of no protected tool and none too small", () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const { edits } = planPrune(input);
        const places = edits.map(({ targetId }) => input.items.findIndex(({ id }) => id === targetId));
        expect(places).toEqual([...new Set(places)].sort((a, b) => a - b));
        const newestReply = input.items.findLastIndex(({ messages: [message] }) => message?.role === "assistant");
        for (const at of places) {
          const message = input.items[at]?.messages[0];
          expect(at).toBeLessThan(newestReply);
          expect(message).toMatchObject({ role: "toolResult" });
          expect(message).not.toMatchObject({ toolName: "skill" });
          expect(JSON.stringify(input.items[at - 1])).not.toMatch(/"name":"(read|view)","arguments":\{"path":"x\/SKILL/);
          expect(input.items[at]?.tokens).toBeGreaterThanOrEqual(50);
        }
      }),
    );
  });

  test("claims a saving for each edit, and for all together their sum, which is the minimum or more", () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const { edits, savedTokens } = planPrune(input);
        for (const edit of edits) expect(edit.savedTokens).toBeGreaterThan(0);
        expect(savedTokens).toBe(edits.reduce((sum, edit) => sum + edit.savedTokens, 0));
        if (edits.length > 0) expect(savedTokens).toBeGreaterThanOrEqual(input.settings.minSavingsTokens);
      }),
    );
  });

  test("leaves nothing to prune once it was carried out", () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const { edits } = planPrune(input);
        if (edits.length > 0) expect(planPrune({ ...input, items: applied(input.items, edits) }).edits).toEqual([]);
      }),
      { numRuns: runs(500) },
    );
  });

  test("is the same for the same input", () => {
    fc.assert(
      fc.property(inputs, (input) => {
        expect(planPrune(input)).toEqual(planPrune(structuredClone(input)));
      }),
    );
  });

  test("of 50,000 items is made", () => {
    const items = Array.from({ length: 16_667 }, (_one, at) => [
      ...prompt(`u${at}`),
      ...called(at, { tool: "read", with: { path: `${at % 500}.ts` } }),
    ]).flat();
    const { edits } = planPrune({ items, settings: readSettings({ prune: { protectTokens: 40_000 } }).prune, idle: true });
    // Of the newest 40,000 tokens 39 results of 1,012 tokens stay, each of another file.
    expect(edits.length).toBe(16_667 - 39);
  });
});
