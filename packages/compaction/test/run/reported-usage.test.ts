import { assistantMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { createCompactor } from "../../src/run/compactor.js";
import { grown, model, plant, turns } from "../world/session.js";

const settings = { keep: { recentTokens: 600 }, background: { start: null }, prune: { enabled: false } } as const;

describe("reported usage in the context state", () => {
  test("is taken from the newest reply with usage; later messages are added by our count", async () => {
    const { session } = await grown("u1");
    await session.append({ ...assistantMessage("done", { usage: { input: 9_000, output: 5 } }), id: "a1" });
    const compactor = createCompactor({ session, contextWindow: 100_000, settings });
    const { totalTokens: before } = await compactor.usage();
    expect(before).toBeGreaterThanOrEqual(9_000);
    await plant(session, "u2 a2 u3");
    const { totalTokens, source } = await compactor.usage();
    expect(source).toBe("reported");
    expect(totalTokens).toBeGreaterThan(before + 100);
    expect(totalTokens).toBeLessThan(before + 300);
  });

  test("teaches the limit of requests also where messages were dropped to make one fit", async () => {
    const { session } = await grown("u1");
    const window = 4_000;
    const compactor = createCompactor({ session, contextWindow: window, settings: { ...settings, enabled: false } });
    for (let turn = 2; turn < 40; turn += 1) {
      const { use } = await compactor.prepareRequest({ systemTokens: 10, toolTokens: 10 });
      // This provider counts a third more than we do.
      const counted = Math.ceil((use.messageTokens * 4) / 3) + 20;
      expect(counted).toBeLessThanOrEqual(window);
      await session.append(assistantMessage("done", { usage: { input: counted, output: 5 } }));
      await plant(session, `u${turn}`, { user: 150 });
    }
  });

  test("ignores a reply that failed or was stopped", async () => {
    const { session } = await grown("u1");
    await session.append({ ...assistantMessage("half", { usage: { input: 9_000, output: 5 }, stopReason: "aborted" }), id: "a1" });
    await plant(session, "u2 a2");
    expect((await createCompactor({ session, contextWindow: 100_000, settings }).usage()).source).toBe("counted");
  });

  test("is ignored after a compaction, even if the reply with it is kept", async () => {
    const { session } = await grown(`${turns(1, 8)} u9`);
    await session.append({ ...assistantMessage("done", { usage: { input: 9_000, output: 5 } }), id: "a9" });
    const compactor = createCompactor({ session, contextWindow: 100_000, settings, summarizer: model().summarizer });
    const result = await compactor.compact();
    expect((await session.context()).entries).toContain("a9");
    const { totalTokens, source } = await compactor.usage();
    expect(source).toBe("counted");
    expect(totalTokens).toBeLessThan(2_000);
    expect(result).toMatchObject({ kind: "compacted", tokensAfter: totalTokens });
  });
});
