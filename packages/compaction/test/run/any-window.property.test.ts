import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { createCompactor } from "../../src/run/compactor.js";
import type { CompactionDone } from "../../src/run/results.js";
import { PRESETS, type PresetName } from "../../src/settings/presets.js";
import { readSettings } from "../../src/settings/read-settings.js";
import { grown, model, plant, prose } from "../world/session.js";

// Settings as they ship, in every window: nothing here may be scaled to the window by the test.

const presets = Object.keys(PRESETS) as PresetName[];
const SUMMARY = `<analysis>x</analysis><summary>\n## Goal\nMend the parser.\n\n## Progress\n${prose("done", 200)}\n\n## Next Steps\n1. Go on\n</summary>`;
/** Roughly what a round of tools or a whole turn of these talks has. */
const ROUND = 1_100;

type Talk = "turns" | "one long turn";

interface Lived {
  readonly requests: number;
  readonly largest: number;
  readonly unfit: number;
  readonly appended: number;
  readonly thresholdTokens: number;
  readonly done: readonly CompactionDone[];
}

/** Plays a talk in a host that only calls `prepareRequest`. Background summaries are done before the model's answer has come. */
async function lived(preset: PresetName, contextWindow: number, talk: Talk, rounds: number): Promise<Lived> {
  const { store, session } = await grown(talk === "turns" ? "" : "u0");
  const done: CompactionDone[] = [];
  const compactor = createCompactor({
    session,
    contextWindow,
    settings: preset,
    summarizer: model(SUMMARY).summarizer,
    hooks: { compacted: (result) => void done.push(result) },
    random: () => 0.5,
  });
  const seen = { requests: 0, largest: 0, unfit: 0, thresholdTokens: 0 };
  const request = async () => {
    const { use, fits } = await compactor.prepareRequest();
    seen.requests += 1;
    seen.largest = Math.max(seen.largest, use.totalTokens);
    seen.unfit += fits ? 0 : 1;
    seen.thresholdTokens = use.thresholdTokens;
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  for (let n = 1; n <= rounds; n += 1) {
    if (talk === "turns") await plant(session, `u${n}`);
    await request();
    await plant(session, `k${n} r${n}:k${n}`, { result: talk === "turns" ? 500 : 800 });
    if (talk === "one long turn") continue;
    await request();
    await plant(session, `a${n}`, { reply: 250 });
  }
  await compactor.close();
  await store.close();
  return { ...seen, appended: rounds * ROUND, done };
}

const windows = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 2_000, max: 20_000 }) },
  { weight: 3, arbitrary: fc.integer({ min: 20_000, max: 70_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 70_000, max: 2_000_000 }) },
);

describe.each(presets)("a host that only calls prepareRequest, with the preset %s", (preset) => {
  const { maxMessages } = readSettings(preset).trigger;

  test("in any window sends nothing larger than it, compacts in proportion to what is appended, and then has headroom", async () => {
    await fc.assert(
      fc.asyncProperty(windows, fc.constantFrom<Talk>("turns", "one long turn"), async (window, talk) => {
        const rounds = 60;
        const { largest, unfit, appended, thresholdTokens, requests, done } = await lived(preset, window, talk, rounds);
        expect([largest <= window, unfit]).toEqual([true, 0]);
        // What is kept and its summary have three fifths of the threshold; the newest round is kept whole, and one more
        // comes while a background summary is written.
        for (const { tokensAfter } of done) expect(tokensAfter).toBeLessThanOrEqual(0.6 * thresholdTokens + 2 * ROUND);
        const byMessages = maxMessages === 0 ? 0 : (4 * rounds) / (maxMessages / 4);
        const inSmallWindow = thresholdTokens < 8 * ROUND ? requests : 0;
        expect(done.length).toBeLessThanOrEqual(2 + appended / (0.25 * thresholdTokens) + byMessages + inSmallWindow);
      }),
      { numRuns: runs(8) },
    );
  }, 120_000);
});

describe("sixty turns of about a thousand tokens, with default settings", () => {
  test("are compacted less often the larger the window is, without a jump", async () => {
    const counts: number[] = [];
    for (const window of [16_384, 16_385, 20_000, 32_768, 40_000, 50_000]) {
      counts.push((await lived("balanced", window, "turns", 60)).done.length);
    }
    expect(counts).toEqual(counts.toSorted((one, other) => other - one));
    expect(counts[0]).toBeLessThanOrEqual(12);
    expect(counts[1]).toBe(counts[0]);
  }, 60_000);
});
