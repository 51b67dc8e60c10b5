import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { decide } from "../../src/plan/decide.js";
import { type FixedTokens, type Limits, limitsOf } from "../../src/plan/limits.js";
import { PRESETS, type PresetName } from "../../src/settings/presets.js";
import { readSettings } from "../../src/settings/read-settings.js";

const presets = Object.keys(PRESETS) as PresetName[];
const windows = fc.oneof(fc.integer({ min: 2_000, max: 2_000_000 }), fc.integer({ min: 2_000, max: 70_000 }));
const fixed: fc.Arbitrary<FixedTokens> = fc.record({
  systemTokens: fc.nat(4_000),
  toolTokens: fc.oneof(fc.constant(0), fc.nat(8_000)),
  unseenTokens: fc.constant(0),
});

/** The figures that must neither jump nor fall. */
function figures({ windowTokens: _window, limitTokens: _limit, ...rest }: Limits): readonly (readonly [string, number])[] {
  return Object.entries(rest);
}

// Shares are rounded down, so a figure may stand still and then make up for it.
const MOST_STEP = 2;

describe.each(presets)("the limits of the preset %s", (preset) => {
  const settings = readSettings(preset);

  test("grow with the window and never jump, from 2,000 to 140,000 tokens one by one", () => {
    const jumps: string[] = [];
    let before = figures(limitsOf(settings, 2_000, null));
    for (let window = 2_001; window <= 140_000; window += 1) {
      const now = figures(limitsOf(settings, window, null));
      for (const [at, [name, value]] of now.entries()) {
        const step = value - (before[at]?.[1] ?? 0);
        if (step < 0 || step > MOST_STEP) jumps.push(`${name} at ${window}: ${step}`);
      }
      before = now;
    }
    expect(jumps).toEqual([]);
  });

  test("grow with the window and never jump, whatever system prompt and tools take", () => {
    fc.assert(
      fc.property(windows, fixed, (window, about) => {
        const next = figures(limitsOf(settings, window + 1, null, about));
        for (const [at, [name, value]] of figures(limitsOf(settings, window, null, about)).entries()) {
          const step = (next[at]?.[1] ?? 0) - value;
          expect([name, step >= 0 && step <= MOST_STEP]).toEqual([name, true]);
        }
      }),
      { numRuns: runs(2_000) },
    );
  });

  test("leave two fifths of the tokens under the threshold free after a compaction", () => {
    fc.assert(
      fc.property(windows, fixed, (window, about) => {
        const { roomTokens, mostKeptTokens, keepRecentTokens, summaryTokens } = limitsOf(settings, window, null, about);
        fc.pre(roomTokens >= 640);
        expect(keepRecentTokens).toBeLessThanOrEqual(mostKeptTokens);
        expect(mostKeptTokens + summaryTokens).toBeLessThanOrEqual(0.6 * roomTokens);
      }),
      { numRuns: runs(2_000) },
    );
  });

  test("let a background run start before the request would have to wait for a compaction, where the preset has one", () => {
    fc.assert(
      fc.property(windows, fixed, (window, about) => {
        const limits = limitsOf(settings, window, null, about);
        const situation = { messages: 20, limits, background: "idle", stalled: false, turnOpen: true, isTurnEnd: false } as const;
        const decided = decide(
          { ...situation, usedTokens: limits.thresholdTokens, startedAlready: false, warm: true },
          settings,
          () => 0.999_999,
        );
        const { start, leadShare } = settings.background;
        expect(decided).toBe(start === null && leadShare === 0 ? "nothing" : "start-background");
      }),
      { numRuns: runs(500) },
    );
  });
});
