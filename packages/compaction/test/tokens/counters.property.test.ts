import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { loadCounter } from "../../src/tokens/load-counter.js";
import { REFERENCES } from "./references.js";

describe.each(REFERENCES)("%s", (encoding, reference) => {
  test("counts any text as js-tiktoken does", async () => {
    const counter = await loadCounter(encoding);
    const texts = fc.oneof(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc.string({ unit: "grapheme", maxLength: 200 }),
      fc
        .array(fc.constantFrom("a", "B", "'ll", "'S", " ", "\n", "\r", "\t", "1", "的", "é", "e\u0301", "/", "🙂", "{"), { maxLength: 200 })
        .map((all) => all.join("")),
    );
    fc.assert(
      fc.property(texts, (text) => {
        // It throws on halves of pairs; they are sent as U+FFFD.
        expect(counter.count(text)).toBe(reference(text.toWellFormed()));
      }),
      { numRuns: runs(500) },
    );
  });
});
