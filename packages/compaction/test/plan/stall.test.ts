import { describe, expect, test } from "vitest";
import { isStalled, type Stall } from "../../src/plan/decide.js";

const stall: Stall = { because: "no-headroom", turnId: "u1", thresholdTokens: 10_000, usedTokens: 9_000, messages: 20 };
const now = { turnId: "u1", thresholdTokens: 10_000, usedTokens: 9_500, messages: 22 };

describe("automatic compaction pauses", () => {
  test("until a new turn", () => {
    expect(isStalled(stall, now)).toBe(true);
    expect(isStalled(stall, { ...now, turnId: "u2" })).toBe(false);
  });

  test("until another model or other settings", () => {
    expect(isStalled(stall, { ...now, thresholdTokens: 20_000 })).toBe(false);
  });

  test("after too little headroom, until the context shrank or grew by a tenth of the threshold", () => {
    expect(isStalled(stall, { ...now, usedTokens: 8_999 })).toBe(false);
    expect(isStalled(stall, { ...now, usedTokens: 10_000 })).toBe(true);
    expect(isStalled(stall, { ...now, usedTokens: 10_001 })).toBe(false);
  });

  test("after there was nothing to compact, until the context shrank or grew by a tenth of the threshold", () => {
    const nothing = { ...stall, because: "nothing-to-compact" } as const;
    expect(isStalled(nothing, now)).toBe(true);
    expect(isStalled(nothing, { ...now, usedTokens: 8_999 })).toBe(false);
    expect(isStalled(nothing, { ...now, usedTokens: 10_001 })).toBe(false);
    expect(isStalled(nothing, { ...now, turnId: "u2" })).toBe(false);
  });

  test("after too many messages were kept, also in the next turn, until there are new ones to summarize", () => {
    const kept = { ...stall, because: "too-many-messages" } as const;
    expect(isStalled(kept, { ...now, turnId: "u2", messages: 24 })).toBe(true);
    expect(isStalled(kept, { ...now, messages: 25 })).toBe(false);
    expect(isStalled(kept, { ...now, messages: 19 })).toBe(false);
    expect(isStalled(kept, { ...now, usedTokens: 10_001 })).toBe(false);
  });

  test("after it was undone, however much the context grows in the same turn", () => {
    expect(isStalled({ ...stall, because: "undone" }, { ...now, usedTokens: 100_000 })).toBe(true);
  });

  test("after a failure, until the context grew by a quarter of what it was, also in a turn whose prompt is summarized", () => {
    const failed = { ...stall, because: "failed", turnId: null } as const;
    expect(isStalled(failed, { ...now, turnId: null, usedTokens: 11_249 })).toBe(true);
    expect(isStalled(failed, { ...now, turnId: null, usedTokens: 11_250 })).toBe(false);
    expect(isStalled(failed, { ...now, turnId: "u2" })).toBe(false);
  });
});
