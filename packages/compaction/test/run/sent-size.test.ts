import { assistantMessage, toolResult, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { createCompactor } from "../../src/run/compactor.js";
import { grown, model, plant, prose, rounds } from "../world/session.js";

// Results are trimmed or capped and images limited in every request. The decision to compact is about the request that is sent.

const IMAGE_BYTES = 900_000;

describe("the size that the trigger compares with the threshold", () => {
  test("is that of the results as they are trimmed: co-cli compacts a turn of forty rounds by its number of messages only", async () => {
    const { session } = await grown("u1");
    const { summarizer, asked } = model();
    const compactor = createCompactor({ session, contextWindow: 128_000, settings: "co-cli", summarizer });
    const compactedAt: number[] = [];
    let largest = 0;
    for (let n = 1; n <= 40; n += 1) {
      await plant(session, `k${n} r${n}:k${n}`, { result: 6_000 });
      const { messages } = await session.context();
      const { done, use } = await compactor.prepareRequest();
      if (done.compaction !== null) compactedAt.push(messages.length);
      largest = Math.max(largest, use.totalTokens);
    }
    for (const messages of compactedAt) expect(messages).toBeGreaterThan(40);
    expect(asked.length).toBe(compactedAt.length);
    expect(compactedAt.length).toBeLessThanOrEqual(3);
    expect(largest).toBeLessThan(64_000);
  });

  test("is that of a single huge result after its cap, with the default preset and that of VS Code", async () => {
    for (const settings of ["balanced", "vscode"] as const) {
      const { session } = await grown("u1 k1 r1:k1 a1 u2 k2");
      await session.append(toolResult("k2", prose("huge", 118_000), { toolName: "read" }));
      const { summarizer, asked } = model();
      const compactor = createCompactor({ session, contextWindow: 128_000, settings, summarizer });
      const { totalTokens } = await compactor.usage();
      const { use, done } = await compactor.prepareRequest();
      expect([settings, asked.length, done.compaction, done.background]).toEqual([settings, 0, null, "none"]);
      expect(use.totalTokens).toBe(totalTokens);
      expect(totalTokens).toBeLessThanOrEqual(65_000);
    }
  });

  test("does not contain images beyond the limit of a request", async () => {
    const { session } = await grown("u1 a1");
    const image = { type: "image", mimeType: "image/png", data: "A".repeat(IMAGE_BYTES) } as const;
    for (let n = 0; n < 12; n += 1) {
      await session.append(userMessage([{ type: "text", text: `picture ${n}` }, image]));
      await session.append(assistantMessage("seen"));
    }
    const all = createCompactor({ session, contextWindow: 200_000, settings: { preset: "vscode", request: { imageBytes: 0 } } });
    const limited = createCompactor({ session, contextWindow: 200_000, settings: "vscode" });
    const sent = await limited.prepareRequest();
    expect((await limited.usage()).totalTokens).toBe(sent.use.totalTokens);
    expect((await limited.usage()).totalTokens).toBeLessThan((await all.usage()).totalTokens);
  });

  test("after a reply with usage adds only what came since, also if a result that this request had whole is trimmed now", async () => {
    const { session } = await grown(rounds(1, 3), { result: 6_000 });
    const compactor = createCompactor({ session, contextWindow: 128_000, settings: "co-cli" });
    const { use } = await compactor.prepareRequest();
    const usage = { input: use.totalTokens + 1_000, output: 5 };
    await session.append({ ...assistantMessage("done", { usage }), id: "a3" });
    // The newest result was sent whole and has 500 tokens from now on; the provider's 1,000 tokens more stay.
    const after = await compactor.usage();
    expect(after.source).toBe("reported");
    expect(after.totalTokens).toBe(after.messageTokens + 1_000);
    expect(after.totalTokens).toBeLessThan(use.totalTokens - 3_000);
  });
});

describe("what is kept", () => {
  test("is measured as it is sent: co-cli keeps twenty messages although their results are long in the session", async () => {
    const { session } = await grown(`u1 ${rounds(1, 20)} a1`, { result: 6_000 });
    const compactor = createCompactor({ session, contextWindow: 128_000, settings: "co-cli", summarizer: model().summarizer });
    const { done, entries } = await compactor.prepareRequest();
    expect(done.compaction).toMatchObject({ kind: "compacted", headroom: true });
    expect(entries.length).toBeGreaterThanOrEqual(19);
  });
});
