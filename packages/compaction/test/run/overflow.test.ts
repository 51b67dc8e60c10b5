import { join } from "node:path";
import { assistantMessage, openStore, toolResult } from "@bough/session-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { createCompactor } from "../../src/run/compactor.js";
import type { Summarizer } from "../../src/summarizers/summarizer.js";
import { contextNames, folder, grown, heldModel, model, pathNames, plant, turns } from "../world/session.js";

const settings = { keep: { recentTokens: 500 }, background: { start: null }, prune: { enabled: false } } as const;
const tooLong = Object.assign(new Error("400 prompt is too long: 3100 tokens > 3000 maximum"), { status: 400 });
const rateLimit = Object.assign(new Error("429 Too many tokens per minute"), { status: 429 });

async function full() {
  return grown(`${turns(1, 13)} u14`);
}

describe("a request that the provider rejected as too long", () => {
  test("is recovered once: the context is compacted, and the named limit is used", async () => {
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

  test("is recovered again after a successful reply", async () => {
    const { session } = await full();
    const compactor = createCompactor({ session, contextWindow: 4_000, settings, summarizer: model().summarizer });
    await compactor.reportOverflow(tooLong);
    await plant(session, "k14 r14:k14", { result: 2_500 });
    expect(await compactor.reportOverflow(tooLong)).toMatchObject({ kind: "retry" });
  });

  test.each([
    ["names the limit that is used already", "400 prompt is too long: 4100 tokens > 4000 maximum"],
    ["names none", "400 context_length_exceeded"],
  ])("is sent smaller where nothing can be compacted and the error %s", async (_name, message) => {
    const { session } = await grown("u1 k1 r1:k1", { result: 3_500 });
    const whole = { ...settings, request: { toolResultShare: 0 } };
    const compactor = createCompactor({ session, contextWindow: 4_000, settings: whole, summarizer: model().summarizer });
    const rejected = await compactor.prepareRequest();
    const overflow = await compactor.reportOverflow(Object.assign(new Error(message), { status: 400 }));
    expect(overflow).toMatchObject({ kind: "retry", compaction: { kind: "nothing-to-compact" } });
    const { use } = await compactor.prepareRequest();
    expect(use.messageTokens).toBeLessThan(0.9 * rejected.use.messageTokens);
  });

  test("keeps the failed attempt in the history and omits it from the context, with its results", async () => {
    const { session } = await full();
    const call = { type: "toolCall", id: "kx", name: "read", arguments: { path: "a" } } as const;
    await session.append({ ...assistantMessage([call], { stopReason: "length" }), id: "failed" });
    await session.append({ ...toolResult("kx", "half"), id: "half" });
    const compactor = createCompactor({ session, contextWindow: 4_000, settings, summarizer: model().summarizer });
    expect(await compactor.reportOverflow(tooLong)).toMatchObject({ kind: "retry" });
    expect(await contextNames(session)).not.toMatch(/failed|half/);
    expect(await pathNames(session)).toContain("failed half");
  });

  test("is cancelled also while it waits for another compaction", async () => {
    const { session } = await full();
    const held = heldModel();
    const compactor = createCompactor({ session, contextWindow: 4_000, settings, summarizer: held.summarizer });
    const running = compactor.compact();
    await held.asked;
    const abort = new AbortController();
    const recovered = compactor.reportOverflow(tooLong, { signal: abort.signal });
    abort.abort();
    expect(await recovered).toEqual({ kind: "cancelled" });
    held.give("## Goal\nDone.");
    await running;
  });

  test("is recovered later where the store could not be written", async () => {
    const path = join(folder(), "sessions.db");
    const { session: written } = await grown(`${turns(1, 13)} u14`, {}, path);
    await written.append(assistantMessage("half", { stopReason: "length" }));
    const store = await openStore({ path, mode: "read-only" });
    onTestFinished(() => store.close());
    const session = await store.openSession(written.id);
    const compactor = createCompactor({ session, contextWindow: 4_000, settings, summarizer: model().summarizer });
    for (const _report of [1, 2]) await expect(compactor.reportOverflow(tooLong)).rejects.toMatchObject({ code: "STORE_READ_ONLY" });
  });

  test("a finished answer is kept", async () => {
    const { session } = await full();
    await session.append({ ...assistantMessage("all done", { stopReason: "stop" }), id: "good" });
    const compactor = createCompactor({ session, contextWindow: 4_000, settings, summarizer: model().summarizer });
    await compactor.reportOverflow(tooLong);
    expect(await contextNames(session)).toContain("good");
  });
});

describe("an overflow during a background summary", () => {
  const early = { ...settings, background: { start: 0.5, jitterShare: 0, minShareToApply: 0 } } as const;

  test("waits for that summary and applies it", async () => {
    const { session } = await grown(`${turns(1, 11)} u12`);
    const held = heldModel();
    const compactor = createCompactor({ session, contextWindow: 4_000, settings: early, summarizer: held.summarizer });
    expect((await compactor.prepareRequest()).done.background).toBe("started");
    const { signal } = await held.asked;
    const recovered = compactor.reportOverflow(tooLong);
    held.give("## Goal\nThe first and only summary.");
    expect(await recovered).toMatchObject({ kind: "retry", compaction: { kind: "compacted", trigger: "threshold" } });
    expect(signal?.aborted).toBe(false);
    expect((await session.context()).messages[0]).toMatchObject({ summary: expect.stringContaining("The first and only summary.") });
    expect((await session.path()).filter(({ type }) => type === "compaction")).toHaveLength(1);
  });

  test("compacts again if that summary leaves the context over its threshold", async () => {
    const { session } = await grown(`${turns(1, 11)} u12`);
    const held = heldModel();
    const { summarizer, asked } = model();
    const either: Summarizer = (request) => (request.trigger === "threshold" ? held.summarizer(request) : summarizer(request));
    const compactor = createCompactor({ session, contextWindow: 4_000, settings: early, summarizer: either });
    await compactor.prepareRequest();
    await held.asked;
    await plant(session, "k12 r12:k12", { result: 3_500 });
    const recovered = compactor.reportOverflow(tooLong);
    held.give("## Goal\nThe first summary.");
    expect(await recovered).toMatchObject({ kind: "retry", compaction: { trigger: "context_limit_retry" } });
    expect(asked[0]).toMatchObject({ trigger: "context_limit_retry", prompt: expect.stringContaining("The first summary.") });
  });

  test("returns that summary if nothing else can be compacted", async () => {
    const { session } = await grown(`${turns(1, 11)} u12`);
    const held = heldModel();
    const settings = { ...early, keep: { recentTokens: 1 }, trigger: { minMessages: 5 } };
    const compactor = createCompactor({ session, contextWindow: 4_000, settings, summarizer: held.summarizer });
    await compactor.prepareRequest();
    await held.asked;
    await plant(session, "k12 r12:k12", { result: 3_500 });
    const recovered = compactor.reportOverflow(tooLong);
    held.give("## Goal\nThe first and only summary.");
    expect(await recovered).toMatchObject({ kind: "retry", compaction: { kind: "compacted", trigger: "threshold" } });
    expect((await session.path()).filter(({ type }) => type === "compaction")).toHaveLength(1);
  });

  test("compacts if that summary fails, and stops waiting when it is cancelled", async () => {
    const { session } = await grown(`${turns(1, 11)} u12`);
    const { summarizer } = model();
    const failing: Summarizer = (request) => (request.trigger === "threshold" ? Promise.reject(new Error("no")) : summarizer(request));
    const failFast = { ...early, summary: { onFailure: "fail", retries: 0 } } as const;
    const failed = createCompactor({ session, contextWindow: 4_000, settings: failFast, summarizer: failing });
    await failed.prepareRequest();
    expect(await failed.reportOverflow(tooLong)).toMatchObject({ kind: "retry", compaction: { trigger: "context_limit_retry" } });

    const { session: other } = await grown(`${turns(1, 11)} u12`);
    const compactor = createCompactor({ session: other, contextWindow: 4_000, settings: early, summarizer: heldModel().summarizer });
    await compactor.prepareRequest();
    const abort = new AbortController();
    const recovered = compactor.reportOverflow(tooLong, { signal: abort.signal });
    abort.abort();
    expect(await recovered).toEqual({ kind: "cancelled" });
    await compactor.close();
  });
});

describe("what is not an overflow", () => {
  test.each([
    ["a rate limit", rateLimit],
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

  test("a payload error of a request that is small by our count", async () => {
    const { session } = await grown("u1 a1 u2");
    const compactor = createCompactor({ session, contextWindow: 100_000, settings, summarizer: model().summarizer });
    const payload = Object.assign(new Error("413 Payload Too Large"), { status: 413 });
    expect(await compactor.reportOverflow(payload)).toEqual({ kind: "not-overflow" });
  });
});
