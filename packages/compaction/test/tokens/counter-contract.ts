import { describe, expect, test } from "vitest";
import type { TokenCounter } from "../../src/tokens/token-counter.js";

/** What any counter must do, whatever its vocabulary. */
export function counterContract(name: string, load: () => Promise<TokenCounter>): void {
  describe(`${name}, as any counter,`, () => {
    test("counts nothing in no text, and something in any other", async () => {
      const counter = await load();
      expect(counter.count("")).toBe(0);
      for (const text of ["a", " ", "\n", "的", "🙂", "\u0000"]) expect(counter.count(text)).toBeGreaterThan(0);
    });

    test("counts the same text the same, however often and in whatever order", async () => {
      const counter = await load();
      const texts = ["one two", "x".repeat(5_000), "的一是在不了", "one two"];
      const first = texts.map((text) => counter.count(text));
      expect(texts.toReversed().map((text) => counter.count(text))).toEqual(first.toReversed());
    });

    test("counts the text of special tokens as text", async () => {
      const counter = await load();
      expect(counter.count("<|endoftext|>")).toBeGreaterThan(1);
      expect(counter.count("<|im_start|>user")).toBeGreaterThan(1);
    });

    test("accepts halves of surrogate pairs", async () => {
      const counter = await load();
      expect(counter.count("a\ud83d b\ude00")).toBeGreaterThan(0);
      expect(counter.count("\ud83d".repeat(70_000))).toBeGreaterThan(0);
    });

    test("finishes on a megabyte without a break", async () => {
      const counter = await load();
      for (const one of ["x", " ", "的", "\u0301", "-", "9", "🙂"]) {
        const text = one.repeat(Math.floor(1_000_000 / one.length));
        expect(counter.count(text)).toBeLessThanOrEqual(4 * text.length);
      }
    });

    test("has a name for its way of counting", async () => {
      expect((await load()).name).toMatch(/^\w+\/\d+$/);
    });
  });
}
