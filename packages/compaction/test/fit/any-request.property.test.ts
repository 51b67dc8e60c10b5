import type { ContextMessage } from "@bough/session-core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { findPromptIndex } from "../../src/fit/drop-messages.js";
import { fitRequest } from "../../src/fit/fit-request.js";
import { CLAUDE, count, GEMINI, type Given, GPT, inputOf, settingsOf, sum } from "./conversation.js";
import { pairingProblems, problemsOf } from "./providers.js";
import { randomTalk } from "./random-talk.js";

/** As a tokenizer counts, roughly: not one token a character, and something for each message. */
const coarse = (message: ContextMessage): number => Math.ceil(count(message) / 3) + 4;

const given: fc.Arbitrary<Given> = fc.record({
  limit: fc.integer({ min: 1, max: 6_000 }),
  system: fc.nat({ max: 500 }),
  window: fc.integer({ min: 1, max: 6_000 }),
  model: fc.constantFrom(null, CLAUDE, GEMINI, GPT),
  leftOutThinking: fc.constantFrom(null, { type: "thinking" as const, thinking: "so", thinkingSignature: "c2ln" }),
  count: fc.constantFrom(count, coarse),
  settings: fc.record({
    fit: fc.constantFrom("dropOldest" as const, "byPriority" as const, "off" as const),
    targetShare: fc.constantFrom(0.5, 0.95, 1),
    toolResultShare: fc.constantFrom(0, 0.1, 0.5),
    toolResultHeadShare: fc.constantFrom(0, 0.4, 1),
    trimChars: fc.constantFrom(0, 50, 300),
    imageBytes: fc.constantFrom(0, 100),
    protectedTools: fc.constantFrom<string[][]>([], ["skill"]),
    danglingCalls: fc.constantFrom("auto" as const, "close" as const, "drop" as const),
    failWhenTooLarge: fc.boolean(),
  }),
});

function holds(judge: (world: { input: ReturnType<typeof inputOf>; shaped: ReturnType<typeof fitRequest> }) => void): void {
  fc.assert(
    fc.property(randomTalk, given, (conversation, one) => {
      const input = inputOf(conversation, one);
      judge({ input, shaped: fitRequest(input) });
    }),
    { numRuns: runs(500) },
  );
}

describe("a shaped request, of any conversation under any settings", () => {
  test("is one that every provider accepts", () => {
    holds(({ shaped }) => expect(problemsOf(shaped.messages)).toEqual([]));
  });

  test("has the newest prompt, and the messages in their order", () => {
    holds(({ input, shaped }) => {
      const at = findPromptIndex(input.messages);
      if (at >= 0) expect(shaped.entries).toContain(input.entries[at]);
      const places = shaped.entries
        .filter((_, index) => shaped.messages[index]?.role !== "toolResult")
        .map((entry) => input.entries.indexOf(entry));
      expect(places).toEqual(places.toSorted((one, other) => one - other));
    });
  });

  test("reports the counted tokens of its messages, and fits only if they are within the limit", () => {
    holds(({ input, shaped }) => {
      expect(shaped.tokens).toEqual(shaped.messages.map(input.count));
      expect(shaped.entries).toHaveLength(shaped.messages.length);
      expect(shaped.totalTokens).toBe(sum(shaped.tokens));
      expect(shaped.fits).toBe(shaped.totalTokens + input.systemTokens <= input.limitTokens);
    });
  });

  test("has no more tokens than before, but for closed calls and thinking that came back", () => {
    holds(({ input, shaped }) => {
      const added = sum(
        shaped.changes.map((change) => (change.kind === "closed-calls" || change.kind === "reattached-thinking" ? change.tokens : 0)),
      );
      // An image may count less than the line that takes its place; nothing else may grow.
      const lines = input.settings.imageBytes > 0 ? 60 * images(input.messages) : 0;
      expect(shaped.totalTokens).toBeLessThanOrEqual(sum(input.tokens) + added + lines);
    });
  });

  test("reports each token that was saved or added", () => {
    holds(({ input, shaped }) => {
      const difference = sum(
        shaped.changes.map((change) => {
          if (change.kind === "moved-results") return 0;
          return change.kind === "closed-calls" || change.kind === "reattached-thinking" ? -change.tokens : change.tokens;
        }),
      );
      expect(sum(input.tokens) - shaped.totalTokens).toBe(difference);
    });
  });

  test("stays as it is when it is shaped again, and the same input gives the same", () => {
    holds(({ input: given, shaped: first }) => {
      // The marker of removed images may make a trimmed text longer than its limit again.
      const trimChars = given.settings.toolResultShare === 0 ? given.settings.trimChars : 0;
      const input = { ...given, settings: { ...given.settings, trimChars } };
      const shaped = fitRequest(input);
      const again = fitRequest({ ...input, messages: shaped.messages, entries: shaped.entries, tokens: shaped.tokens });
      expect(again.changes).toEqual([]);
      expect(again.messages).toBe(shaped.messages);
      expect(fitRequest(given)).toEqual(first);
    });
  });

  test("is the very same where nothing was done, and the messages given are never changed", () => {
    fc.assert(
      fc.property(randomTalk, given, (conversation, one) => {
        const input = inputOf(deepFrozen(conversation), one);
        const shaped = fitRequest(input);
        expect(shaped.messages === input.messages).toBe(shaped.changes.length === 0);
      }),
    );
  });

  test("fits, wherever a prompt of a few words would", () => {
    holds(({ input, shaped }) => {
      const { fit, failWhenTooLarge } = input.settings;
      const room = Math.floor(input.limitTokens * input.settings.targetShare) - input.systemTokens;
      const prompt = input.messages[findPromptIndex(input.messages)];
      // A prompt can be cut to 300 characters, marker included, and an image in it to a line.
      if (fit === "off" || failWhenTooLarge || prompt === undefined || room < 400) return;
      expect(shaped.fits).toBe(true);
    });
  });

  test("leaves out nothing while it fits", () => {
    fc.assert(
      fc.property(randomTalk, (conversation) => {
        const { changes } = fitRequest({ ...inputOf(conversation), settings: settingsOf({ toolResultShare: 0 }) });
        const harmless = ["closed-calls", "moved-results"];
        const loud = changes.filter((change) => !harmless.includes(change.kind));
        expect(loud.every((change) => change.kind === "removed-messages" && change.pass === "orphans")).toBe(true);
        expect(pairingProblems(conversation.messages).length === 0 ? changes : []).toEqual([]);
      }),
    );
  });
});

function images(messages: readonly ContextMessage[]): number {
  return sum(
    messages.map((one) => ("content" in one && Array.isArray(one.content) ? one.content.filter(({ type }) => type === "image").length : 0)),
  );
}

function deepFrozen<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFrozen);
  }
  return value;
}
