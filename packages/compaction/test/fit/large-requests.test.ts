import type { ContextMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { fitRequest } from "../../src/fit/fit-request.js";
import { count, inputOf, names, shape, type Talk, talk, textAt } from "./conversation.js";
import { problemsOf } from "./providers.js";

/** A counter that sums the tokens it counted: the cost of a rule, measured without a clock. */
function watched() {
  let spent = 0;
  const counter = (message: ContextMessage) => {
    const tokens = count(message);
    spent += tokens;
    return tokens;
  };
  return { counter, spent: () => spent };
}

function lone(text: string): Talk {
  const { messages, entries } = talk("u1 k1(c1) r1(c1)");
  return { messages: messages.map((one) => (one.role === "toolResult" ? { ...one, content: text } : one)), entries };
}

describe("a megabyte without a space", () => {
  test.each([
    ["one letter", "a".repeat(1_000_000)],
    ["faces", "😀".repeat(500_000)],
    ["halves of pairs", "\ud83d".repeat(1_000_000)],
  ])("of %s is cut to what fits, for a few counts of it", (_, text) => {
    const { counter, spent } = watched();
    const input = inputOf(lone(text), { limit: 20_000, window: 30_000, count: counter });
    const before = spent();
    const shaped = fitRequest(input);
    expect(shaped.fits).toBe(true);
    // The cap is half the window; a cut comes within five hundredths of what it may have.
    expect(shaped.totalTokens).toBeGreaterThan(14_000);
    expect(shaped.totalTokens).toBeLessThanOrEqual(15_020);
    expect(spent() - before).toBeLessThan(2 * 1_000_000);
    expect(textAt(shaped, "r1").isWellFormed()).toBe(text.isWellFormed());
    expect(problemsOf(shaped.messages)).toEqual([]);
  });

  test("as the prompt loses its middle", () => {
    const shaped = shape("u1:1000000", { limit: 20_000 });
    expect(shaped.fits).toBe(true);
    expect(shaped.totalTokens).toBeGreaterThan(18_000);
  });
});

describe("fifty thousand messages", () => {
  const rounds = Array.from({ length: 12_500 }, (_, at) => `u${at} k${at}(c${at}) r${at}(c${at}) a${at}`).join(" ");
  const conversation = talk(`s ${rounds} u`);

  test("that fit are returned without reading a message; only the public function validates them", () => {
    let reads = 0;
    const watch = <T extends object>(list: T) =>
      new Proxy(list, {
        get(target, name, receiver) {
          reads += 1;
          return Reflect.get(target, name, receiver) as unknown;
        },
      });
    const given = inputOf(conversation, { limit: 10_000_000, window: 10_000_000 });
    const settings = { ...given.settings, imageBytes: 0, trimChars: 0, toolResultShare: 0 };
    const input = { ...given, settings, messages: watch(given.messages), largestTokens: 10 };
    expect(fitRequest(input).messages).toBe(input.messages);
    expect(reads).toBe(0);
    Array.from(input.messages);
    expect(reads).toBeGreaterThan(given.messages.length);
  });

  test.each(["dropOldest", "byPriority"] as const)("are brought down to the newest by %s without counting one of them again", (fit) => {
    const { counter, spent } = watched();
    const input = inputOf(conversation, { limit: 1_000, settings: { fit }, count: counter });
    const before = spent();
    const shaped = fitRequest(input);
    expect(spent()).toBe(before);
    // 94 messages of 10 tokens are below 950. The passes leave only user messages; priorities leave whole rounds.
    expect(shaped.totalTokens).toBe(940);
    expect(names(shaped).split(" ").at(0)).toBe("s");
    expect(names(shaped).split(" ").at(-1)).toBe("u");
    expect(problemsOf(shaped.messages)).toEqual([]);
  });

  test("that fit are given back as they are", () => {
    const shaped = shape(conversation);
    expect(shaped.messages).toBe(conversation.messages);
    expect(shaped.entries).toBe(conversation.entries);
  });
});
