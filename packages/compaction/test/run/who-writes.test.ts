import { describe, expect, test } from "vitest";
import { createCompactor } from "../../src/run/compactor.js";
import { grown, model, plant, turns } from "../world/session.js";

const settings = { keep: { recentTokens: 300 }, background: { start: null }, prune: { enabled: false } } as const;
const tooLong = Object.assign(new Error("400 prompt is too long: 3100 tokens > 3000 maximum"), { status: 400 });

describe("the summarizer of a compaction", () => {
  test("can differ for manual compaction, automatic compaction and branches", async () => {
    const { session } = await grown(`${turns(1, 15)} u16`);
    const [primary, cheap, branch] = [model(), model(), model()];
    const summarizer = { manual: primary.summarizer, automatic: cheap.summarizer, branch: [branch.summarizer] };
    const compactor = createCompactor({ session, contextWindow: 3_000, settings, summarizer });
    expect((await compactor.prepareRequest()).done.compaction).toMatchObject({ kind: "compacted", method: "normal" });
    expect([primary.asked.length, cheap.asked.length > 0, branch.asked.length]).toEqual([0, true, 0]);
    await plant(session, `a16 ${turns(17, 20)}`);
    const before = cheap.asked.length;
    expect(await compactor.compact()).toMatchObject({ kind: "compacted", method: "normal" });
    expect([primary.asked.length > 0, cheap.asked.length]).toEqual([true, before]);
    expect(await compactor.navigate("a2", { summarize: true })).toMatchObject({ kind: "moved", method: "normal" });
    expect(branch.asked.length).toBeGreaterThan(0);
  });

  test("receives the trigger", async () => {
    const { session } = await grown(`${turns(1, 12)} u13`);
    const { summarizer, asked } = model();
    const compactor = createCompactor({ session, contextWindow: 4_000, settings, summarizer });
    await compactor.reportOverflow(tooLong);
    await plant(session, `a13 ${turns(14, 17)}`);
    await compactor.compact();
    await compactor.navigate("a2", { summarize: true });
    expect([...new Set(asked.map(({ trigger }) => trigger))]).toEqual(["context_limit_retry", "manual", "branch"]);
  });
});
