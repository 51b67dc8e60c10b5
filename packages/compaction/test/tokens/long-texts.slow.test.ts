import { describe, expect, test } from "vitest";
import { loadCounter } from "../../src/tokens/load-counter.js";
import { PART, WINDOW } from "../../src/tokens/tiktoken/bpe-counter.js";
import { REFERENCES } from "./references.js";

describe.each(REFERENCES)("%s", (encoding, reference) => {
  test("counts a text of several windows as js-tiktoken does, wherever their borders fall", async () => {
    const counter = await loadCounter(encoding);
    const line = `${JSON.stringify({ a: "we'll  see 12345 的一是", b: [1, 2, 3] })}\r\n\r\n   they've`;
    for (const shift of [0, 1, 2, 3, 5, 7]) {
      const text = "é".repeat(shift) + line.repeat(Math.ceil((2.2 * WINDOW) / line.length));
      expect(counter.count(text)).toBe(reference(text));
    }
  });

  test("counts a run without a break with at most one token more for each of its parts", async () => {
    const counter = await loadCounter(encoding);
    const run = "abcdefghij".repeat(300);
    const counted = counter.count(run);
    const exact = reference(run);
    expect(counted).toBeGreaterThanOrEqual(exact);
    expect(counted).toBeLessThanOrEqual(exact + Math.ceil(run.length / PART));
  });
});
