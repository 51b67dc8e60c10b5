import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { createCompactor } from "../../src/run/compactor.js";
import { PRESETS, type PresetName } from "../../src/settings/presets.js";
import { grown, plant } from "../world/session.js";

describe("the size that the trigger compares with the threshold", () => {
  test("equals the size of the request with every preset, in any window in which nothing is dropped", async () => {
    const presets = fc.constantFrom<PresetName>(...(Object.keys(PRESETS) as PresetName[]));
    const sizes = fc.array(fc.integer({ min: 1, max: 9_000 }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(presets, fc.integer({ min: 4_000, max: 2_000_000 }), sizes, async (preset, contextWindow, results) => {
        const { session, store } = await grown("u1");
        for (const [at, result] of results.entries()) await plant(session, `k${at} r${at}:k${at}`, { result });
        const uncut = { toolResultShare: 0, trimChars: 0 };
        const { messageTokens: whole } = await createCompactor({ session, contextWindow, settings: { request: uncut } }).usage();
        const compactor = createCompactor({ session, contextWindow, settings: { preset, enabled: false } });
        const { totalTokens } = await compactor.usage();
        const { done, use, messages } = await compactor.prepareRequest();
        if (totalTokens <= use.limitTokens)
          expect([totalTokens, done.changes.length > 0]).toEqual([use.totalTokens, use.messageTokens < whole]);
        // The same objects again, so that a host may cache their conversion.
        const again = await compactor.prepareRequest();
        if (totalTokens <= use.limitTokens) expect(again.messages.every((message, at) => message === messages[at])).toBe(true);
        await store.close();
      }),
      { numRuns: runs(25) },
    );
  }, 60_000);
});
