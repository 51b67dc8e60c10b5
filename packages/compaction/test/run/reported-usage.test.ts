import { assistantMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { createCompactor } from "../../src/run/compactor.js";
import { grown, model, plant, turns } from "../world/session.js";

const settings = { keep: { recentTokens: 600 }, background: { start: null }, prune: { enabled: false } } as const;

describe("what a provider reported of its prompts", () => {
  test("counts from the newest reply that has it: later replies without any are added by our count", async () => {
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

  test("does not count from a reply that failed, or was stopped", async () => {
    const { session } = await grown("u1");
    await session.append({ ...assistantMessage("half", { usage: { input: 9_000, output: 5 }, stopReason: "aborted" }), id: "a1" });
    await plant(session, "u2 a2");
    expect((await createCompactor({ session, contextWindow: 100_000, settings }).usage()).source).toBe("counted");
  });

  test("says nothing any more once the context was compacted, though the reply that has it is kept", async () => {
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
