import { shortLine } from "@bough/session-core/view";
import fc from "fast-check";
import { getEncoding } from "js-tiktoken";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import {
  estimatePlaceholderTokens,
  formatPlaceholder,
  isPlaceholder,
  type PruneCause,
  SHOWN_PATH_CHARS,
} from "../../src/prune/plan-prune.js";
import { messageTokens } from "../../src/tokens/message-tokens.js";

const PATH = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 60 }),
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.array(fc.constantFrom("src", "a", "/", ".", "_", "-", "]", "9", "名", "é", "😀"), { maxLength: 60 }).map((parts) => parts.join("")),
);
const pruned: fc.Arbitrary<PruneCause> = fc.oneof(
  fc.constantFrom<PruneCause>({ because: "age" }, { because: "duplicate" }, { because: "useless" }),
  PATH.map((path) => ({ because: "superseded", file: shortLine(path, SHOWN_PATH_CHARS) }) as const),
);

describe("the line in place of a result", () => {
  test("is recognized, with any file name", () => {
    fc.assert(
      fc.property(pruned, fc.nat(), (why, tokens) => {
        expect(isPlaceholder(formatPlaceholder(why, tokens))).toBe(true);
      }),
    );
  });

  test.each([
    ["a result that tells of one", "It says [Output truncated - 5 tokens]"],
    ["a result that starts like one", "[Output truncated - 5 tokens]\nline 1"],
    ["a line without a count", "[Output truncated]"],
    ["nothing", ""],
  ])("is not taken for %s", (_name, text) => {
    expect(isPlaceholder(text)).toBe(false);
  });

  test("has at most the estimated tokens, so that savings are not overstated", () => {
    const counters = (["o200k_base", "cl100k_base"] as const).map((name) => {
      const encoding = getEncoding(name);
      return { name, count: (text: string) => encoding.encode(text, [], []).length };
    });
    fc.assert(
      fc.property(pruned, fc.nat(), (why, tokens) => {
        const content = formatPlaceholder(why, tokens);
        for (const counter of counters) {
          const counted = messageTokens(counter, { role: "toolResult", toolCallId: "c", content, isError: false });
          expect(counted).toBeLessThanOrEqual(estimatePlaceholderTokens(content));
        }
      }),
      { numRuns: runs(500) },
    );
  });
});
