import { assistantMessage, toolResult } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { createCompactor } from "../../src/run/compactor.js";
import { contextNames, grown, model, pathNames, plant, turns } from "../world/session.js";

const settings = { keep: { recentTokens: 500 }, background: { start: null }, prune: { enabled: false } } as const;
const tooLong = Object.assign(new Error("400 prompt is too long: 3100 tokens > 3000 maximum"), { status: 400 });
const rateLimit = Object.assign(new Error("429 Too many tokens per minute"), { status: 429 });

async function full() {
  return grown(`${turns(1, 13)} u14`);
}

describe("a request that the provider refused as too long", () => {
  test("is recovered once: the context is compacted, and the limit is the one it named", async () => {
    const { session } = await full();
    const compactor = createCompactor({ session, contextWindow: 4_000, settings, summarizer: model().summarizer });
    expect(await compactor.reportOverflow(tooLong)).toMatchObject({
      kind: "retry",
      compaction: { kind: "compacted", trigger: "context_limit_retry" },
    });
    const again = await compactor.prepareRequest();
    expect(again.fits).toBe(true);
    expect(again.entries.at(-1)).toBe("u14");
    expect(await compactor.reportOverflow(tooLong)).toEqual({ kind: "gave-up" });
  });

  test("is recovered again after the model has answered since", async () => {
    const { session } = await full();
    const compactor = createCompactor({ session, contextWindow: 4_000, settings, summarizer: model().summarizer });
    await compactor.reportOverflow(tooLong);
    await plant(session, "k14 r14:k14", { result: 2_500 });
    expect(await compactor.reportOverflow(tooLong)).toMatchObject({ kind: "retry" });
  });

  test("leaves the failed attempt in the history and takes it out of the context, with its results (R111, R112)", async () => {
    const { session } = await full();
    const call = { type: "toolCall", id: "kx", name: "read", arguments: { path: "a" } } as const;
    await session.append({ ...assistantMessage([call], { stopReason: "length" }), id: "failed" });
    await session.append({ ...toolResult("kx", "half"), id: "half" });
    const compactor = createCompactor({ session, contextWindow: 4_000, settings, summarizer: model().summarizer });
    expect(await compactor.reportOverflow(tooLong)).toMatchObject({ kind: "retry" });
    expect(await contextNames(session)).not.toMatch(/failed|half/);
    expect(await pathNames(session)).toContain("failed half");
  });

  test("a finished answer stays (R110)", async () => {
    const { session } = await full();
    await session.append({ ...assistantMessage("all done", { stopReason: "stop" }), id: "good" });
    const compactor = createCompactor({ session, contextWindow: 4_000, settings, summarizer: model().summarizer });
    await compactor.reportOverflow(tooLong);
    expect(await contextNames(session)).toContain("good");
  });
});

describe("what is no overflow", () => {
  test.each([
    ["a rate limit (R108)", rateLimit],
    ["a refusal without a body", Object.assign(new Error("400"), { status: 400 })],
    ["an overloaded provider", Object.assign(new Error("529 overloaded_error"), { status: 529 })],
  ])("%s changes nothing", async (_name, error) => {
    const { session } = await full();
    const before = await pathNames(session);
    const { summarizer, asked } = model();
    const compactor = createCompactor({ session, contextWindow: 4_000, settings, summarizer });
    expect(await compactor.reportOverflow(error)).toEqual({ kind: "not-overflow" });
    expect(asked).toEqual([]);
    expect(await pathNames(session)).toBe(before);
  });

  test("a payload error of a request that we measured to be small (R109)", async () => {
    const { session } = await grown("u1 a1 u2");
    const compactor = createCompactor({ session, contextWindow: 100_000, settings, summarizer: model().summarizer });
    const payload = Object.assign(new Error("413 Payload Too Large"), { status: 413 });
    expect(await compactor.reportOverflow(payload)).toEqual({ kind: "not-overflow" });
  });
});
