import { describe, expect, test } from "vitest";
import { applyBackOff, NO_BACK_OFF, recordRefusal } from "../../src/fit/back-off.js";

const settings = { backOffShare: 0.5 };

describe("the limit after a provider refused a request", () => {
  test("is the one that the error names", () => {
    expect(applyBackOff(128_000, recordRefusal(NO_BACK_OFF, 64_000, settings))).toBe(64_000);
  });

  test("is lower by a sixth, then a third, then half, where the error names none", () => {
    let state = NO_BACK_OFF;
    const limits = [1, 2, 3, 4, 5].map(() => {
      state = recordRefusal(state, undefined, settings);
      return applyBackOff(120_000, state);
    });
    expect(limits).toEqual([100_000, 80_000, 60_000, 60_000, 60_000]);
  });

  test("is lowered further where the same limit is named again: our counts are too low", () => {
    const once = recordRefusal(NO_BACK_OFF, 60_000, settings);
    expect(applyBackOff(128_000, recordRefusal(once, 60_000, settings))).toBe(50_000);
    expect(applyBackOff(128_000, recordRefusal(once, 30_000, settings))).toBe(30_000);
  });

  test("is never above what it was", () => {
    expect(applyBackOff(100_000, recordRefusal(NO_BACK_OFF, 200_000, settings))).toBe(100_000);
    expect(applyBackOff(100_000, NO_BACK_OFF)).toBe(100_000);
  });

  test.each([0, -5, Number.NaN])("takes no notice of a named limit of %s", (named) => {
    expect(applyBackOff(120_000, recordRefusal(NO_BACK_OFF, named, settings))).toBe(100_000);
  });

  test("stays where it is with a share of 0, and is at least one token", () => {
    expect(recordRefusal(NO_BACK_OFF, undefined, { backOffShare: 0 })).toEqual(NO_BACK_OFF);
    expect(applyBackOff(1, { namedLimit: null, bufferShare: 1 })).toBe(1);
  });
});
