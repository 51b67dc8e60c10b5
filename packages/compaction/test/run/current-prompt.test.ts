import { expect, test } from "vitest";
import { createCompactor } from "../../src/run/compactor.js";
import { PRESETS, type PresetName } from "../../src/settings/presets.js";
import { grown, model, plant, turns } from "../world/session.js";

const contextWindow = 100_000;

/** How often the words of a prompt are in what is sent. */
async function times(session: Awaited<ReturnType<typeof grown>>["session"], words: string): Promise<number> {
  return JSON.stringify((await session.context()).messages).split(words).length - 1;
}

test.each(Object.keys(PRESETS) as PresetName[])(
  "inside a turn the newest prompt survives each compaction of the preset %s",
  async (preset) => {
    const { session } = await grown(`${turns(1, 6)} u7 k7 r7:k7 k8 r8:k8`);
    const settings = { preset, manual: "now", keep: { by: "nothing", manual: "nothing" } } as const;
    const compactor = createCompactor({
      session,
      contextWindow,
      settings,
      summarizer: model("<summary>\n## Goal\nshort\n</summary>").summarizer,
    });
    for (const later of ["k9 r9:k9 k10 r10:k10", "k11 r11:k11 k12 r12:k12"]) {
      expect(await compactor.compact()).toMatchObject({ kind: "compacted" });
      expect(await times(session, "u7 the u7 word0")).toBe(1);
      await plant(session, later);
    }
  },
);

test("it is no longer quoted once its turn has ended or a newer prompt is kept", async () => {
  const { session } = await grown(`${turns(1, 6)} u7 k7 r7:k7 k8 r8:k8`);
  const settings = { keep: { by: "nothing" } } as const;
  const compactor = createCompactor({ session, contextWindow, settings, summarizer: model().summarizer });
  await compactor.compact();
  await plant(session, "a8 u9");
  await compactor.compact();
  expect((await session.context()).entries).toContain("u9");
  expect(await times(session, "u7 the u7 word0")).toBe(0);
});

test("a prompt that would fill the window keeps its head and tail", async () => {
  const { session } = await grown("u1 k1 r1:k1 k2 r2:k2", { user: 8_000 });
  const settings = { keep: { by: "nothing" } } as const;
  const compactor = createCompactor({ session, contextWindow: 12_000, settings, summarizer: model().summarizer });
  const result = await compactor.compact();
  expect(result.kind === "compacted" ? result.tokensAfter : 0).toBeLessThan(3_000);
  expect(await times(session, "the u1 word0 ")).toBe(1);
  expect(await times(session, "the u1 word1999")).toBe(1);
});
