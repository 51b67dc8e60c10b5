import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SummarizerCallError, SummaryRejectedError } from "../../src/errors/summarizer-errors.js";
import { type Chunk, computeConversationBudget, computeInputBudget, cutToTokens, foldMessages } from "../../src/summary/part.js";
import type { TokenCounter } from "../../src/tokens/token-counter.js";

/** A token is a character, so that budgets can be counted by hand. */
const characters: TokenCounter = { name: "characters", count: (text) => text.length };

const named = (names: readonly string[]) => names.map((text, at) => ({ at, text }));

interface Told {
  readonly piece: Chunk;
  readonly previous: string | null;
}

/** Folds and records the prompts; a chunk above `refusesAbove` overflows. */
async function folded(
  names: readonly string[],
  budget: number,
  { refusesAbove = Number.POSITIVE_INFINITY, previous = null as string | null } = {},
) {
  const told: Told[] = [];
  const refused: number[] = [];
  const answer = await foldMessages({
    messages: named(names),
    previous,
    counter: characters,
    budget: () => budget,
    write: async (piece, before) => {
      if (piece.text.length > refusesAbove) {
        refused.push(piece.tokens);
        throw new SummarizerCallError("overflow", "too long");
      }
      told.push({ piece, previous: before });
      return { body: `${before ?? ""}S${told.length}` };
    },
  });
  return { told, refused, answer };
}

describe("folding a conversation", () => {
  test("makes one call if everything fits", async () => {
    const { told, answer } = await folded(["aaa", "bbb"], 100);
    expect(told.map(({ piece }) => piece.text)).toEqual(["aaa\n\nbbb"]);
    expect(answer.body).toBe("S1");
  });

  test("summarizes in chunks that end between messages, each call updating the summary so far", async () => {
    // Each message counts its characters and one for what divides it from the next: 4 + 4 fit into 8.
    const { told, answer } = await folded(["aaa", "bbb", "ccc", "ddd", "eee"], 8, { previous: "P" });
    expect(told.map(({ piece, previous }) => [piece.text, previous])).toEqual([
      ["aaa\n\nbbb", "P"],
      ["ccc\n\nddd", "PS1"],
      ["eee", "PS1S2"],
    ]);
    expect(answer.body).toBe("PS1S2S3");
  });

  test("halves a chunk that the provider refuses as too long, and continues with smaller ones", async () => {
    const { told, refused } = await folded(["aaa", "bbb", "ccc", "ddd"], 100, { refusesAbove: 8 });
    expect(refused).toEqual([16]);
    expect(told.map(({ piece }) => piece.text)).toEqual(["aaa\n\nbbb", "ccc\n\nddd"]);
  });

  test("cuts a single message that no window takes", async () => {
    const { told } = await folded(["a".repeat(1000), "end"], 200);
    expect(told[0]?.piece.text).toContain("characters left out");
    expect(told[0]?.piece.text.length).toBeLessThanOrEqual(200);
    expect(told.at(-1)?.piece.text).toBe("end");
  });

  test("gives up after six overflows", async () => {
    await expect(folded(["a".repeat(1000)], 1000, { refusesAbove: 0 })).rejects.toThrow(SummarizerCallError);
  });

  test("passes any other failure on at once", async () => {
    let calls = 0;
    const failing = foldMessages({
      messages: named(["a", "b"]),
      previous: null,
      counter: characters,
      budget: () => 100,
      write: async () => {
        calls += 1;
        throw new SummaryRejectedError("empty");
      },
    });
    await expect(failing).rejects.toThrow(SummaryRejectedError);
    expect(calls).toBe(1);
  });

  test("makes one call also for a conversation without text", async () => {
    const { told } = await folded([], 10);
    expect(told.map(({ piece }) => piece.text)).toEqual(["(no text)"]);
  });

  test("reads every message exactly once, in order, for any budget and overflows", async () => {
    const texts = fc.array(fc.string({ unit: "grapheme", maxLength: 30 }), { minLength: 1, maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(texts, fc.integer({ min: 1, max: 120 }), fc.integer({ min: 60, max: 400 }), async (names, budget, refusesAbove) => {
        const { told } = await folded(names, budget, { refusesAbove });
        const spans = told.map(({ piece }) => [piece.from, piece.to]);
        expect(spans[0]?.[0]).toBe(0);
        expect(spans.at(-1)?.[1]).toBe(names.length);
        for (const [at, span] of spans.slice(1).entries()) expect(span[0]).toBe(spans[at]?.[1]);
      }),
    );
  });
});

describe("the input budget", () => {
  test("is oh-my-pi's in a large window", () => {
    // floor(0.8 * 200,000) - 13,107 - 16,384
    expect(computeInputBudget({ windowTokens: 200_000, inputShare: 0.8, maxOutputTokens: undefined })).toBe(130_509);
    expect(computeInputBudget({ windowTokens: 200_000, inputShare: 0.8, maxOutputTokens: 4_000 })).toBe(139_616);
  });

  test("leaves half of a small window, where fixed margins would leave nothing", () => {
    // 0.8 - 0.15 - 0.15 of 8,000
    expect(computeInputBudget({ windowTokens: 8_000, inputShare: 0.8, maxOutputTokens: undefined })).toBe(4_000);
  });

  test("grows with the window and is never nothing", () => {
    const bounds = { inputShare: 0.8, maxOutputTokens: undefined };
    fc.assert(
      fc.property(fc.nat(2_000_000), fc.nat(1000), (windowTokens, more) => {
        const budget = computeInputBudget({ ...bounds, windowTokens });
        expect(budget).toBeGreaterThan(0);
        // A floor of each part may cost a token or two.
        expect(computeInputBudget({ ...bounds, windowTokens: windowTokens + more })).toBeGreaterThanOrEqual(budget - 2);
      }),
    );
  });

  test("keeps a quarter for the conversation, however long the prompt is", () => {
    expect(computeConversationBudget(4_000, 1_000)).toBe(3_000);
    expect(computeConversationBudget(4_000, 9_000)).toBe(1_000);
  });
});

describe("cutting to tokens", () => {
  test("gives at most that many, and returns what fits as it is", () => {
    expect(cutToTokens("short", 5, characters)).toBe("short");
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), fc.nat(200), (text, max) => {
        expect(cutToTokens(text, max, characters).length).toBeLessThanOrEqual(max);
      }),
    );
  });
});
