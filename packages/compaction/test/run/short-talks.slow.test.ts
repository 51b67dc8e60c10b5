import { describe, expect, test } from "vitest";
import { createCompactor } from "../../src/run/compactor.js";
import { PRESETS, type PresetName } from "../../src/settings/presets.js";
import { findings, grown, model, prose } from "../world/session.js";

/** What a model writes of a short talk: headings and remarks of several hundred tokens, whatever it was about. */
const LONG_ANSWER = `<summary>\n## Goal\n${prose("answer", 370)}\n</summary>`;
const SIZES = [1, 2, 4, 8, 12, 20, 30, 45, 60, 90, 150];

describe.each(Object.keys(PRESETS) as PresetName[])("a short talk with the preset %s", (preset) => {
  test.each(["u1 a1 u2 a2", "u1 k1 r1:k1 a1 u2 k2 r2:k2 a2"])(
    "is compacted manually, by the extract without a call if it is tiny, or not at all: %s",
    async (words) => {
      for (const size of SIZES) {
        const { store, session } = await grown(words, { user: size, reply: size, result: size });
        const { summarizer, asked } = model(LONG_ANSWER);
        const settings = { preset, keep: { manual: "nothing" } } as const;
        const result = await createCompactor({ session, contextWindow: 100_000, settings, summarizer }).compact();
        if (asked.length > 0) expect([size, result.kind]).toEqual([size, "compacted"]);
        else
          expect([size, result.kind === "compacted" ? result.method : result.kind]).toEqual([
            size,
            expect.stringMatching(/extract|nothing/),
          ]);
        if (result.kind === "compacted") expect(result.tokensAfter).toBeLessThan(result.tokensBefore);
        expect(await findings(store)).toEqual([]);
      }
    },
  );

  test("gets a branch summary, written by the model if the window has space", async () => {
    for (const size of SIZES) {
      const { session } = await grown("u1 a1 u2 a2", { user: size, reply: size });
      const { summarizer } = model(LONG_ANSWER);
      const compactor = createCompactor({ session, contextWindow: 100_000, settings: preset, summarizer });
      expect(await compactor.navigate("a1", { summarize: true })).toMatchObject({ kind: "moved", method: "normal" });
      const { session: other } = await grown("u1 a1 u2 a2", { user: size, reply: size });
      const small = createCompactor({ session: other, contextWindow: 2_000, settings: preset, summarizer });
      expect(await small.navigate("a1", { summarize: true })).toMatchObject({ kind: "moved" });
    }
  });
});
