import { assistantMessage, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { createCompactor } from "../../src/run/compactor.js";
import { grown, heldModel, listening, model, pathNames, plant, prose, turns } from "../world/session.js";

const contextWindow = 4_000;
const settings = {
  trigger: { reserveTokens: 300, reserveShare: 0 },
  keep: { recentTokens: 500 },
  prune: { enabled: false },
  background: { start: null },
} as const;

/** What a provider says of a prompt that is too long; it names its limit. */
function tooLong(limit: number): Error {
  return Object.assign(new Error(`400 prompt is too long: 3100 tokens > ${limit} maximum`), { status: 400 });
}

describe("a limit learned from an overflow", () => {
  test("stays in force: the context is compacted to it, not only shortened for each request", async () => {
    const { session } = await grown(`${turns(1, 13)} u14`);
    const compactor = createCompactor({ session, contextWindow: 6_000, settings, summarizer: model().summarizer });
    await compactor.reportOverflow(tooLong(2_000));
    await plant(session, `a14 ${turns(15, 30)} u31`);
    const { done, use, fits } = await compactor.prepareRequest();
    expect([done.compaction?.kind, done.changes, fits]).toEqual(["compacted", [], true]);
    expect([use.limitTokens, use.thresholdTokens, use.totalTokens <= 2_000]).toEqual([2_000, 1_700, true]);
  });

  test("is discarded when the model changes", async () => {
    const { session } = await grown(`${turns(1, 13)} u14`);
    const compactor = createCompactor({ session, contextWindow, settings, summarizer: model().summarizer });
    await compactor.reportOverflow(tooLong(3_000));
    await compactor.modelChanged({ model: { provider: "p", modelId: "big" }, contextWindow: 200_000 });
    await plant(session, `a14 ${turns(15, 40)} u41`);
    const { done, use } = await compactor.prepareRequest();
    expect([done.changes, use.limitTokens]).toEqual([[], 200_000]);
  });

  test("is restored if the recovery was cancelled, and the failure can be recovered again", async () => {
    const { session } = await grown(`${turns(1, 13)} u14`);
    const compactor = createCompactor({ session, contextWindow, settings, summarizer: model().summarizer });
    const abort = new AbortController();
    abort.abort();
    expect(await compactor.reportOverflow(tooLong(3_000), { signal: abort.signal })).toEqual({ kind: "cancelled" });
    expect((await compactor.usage()).limitTokens).toBe(contextWindow);
    expect((await compactor.reportOverflow(tooLong(3_000))).kind).toBe("retry");
  });
});

describe("a limit by messages", () => {
  test("does not compact at every request if the kept tail alone has too many messages", async () => {
    const { session } = await grown(`${turns(1, 10)} u11`);
    const { summarizer, asked } = model();
    const own = {
      trigger: { maxMessages: 10 },
      keep: { recentTokens: 1_500 },
      prune: { enabled: false },
      background: { start: null },
    } as const;
    const compactor = createCompactor({ session, contextWindow: 100_000, settings: own, summarizer });
    const compacted: boolean[] = [];
    for (let turn = 11; turn < 21; turn += 1) {
      compacted.push((await compactor.prepareRequest()).done.compaction?.kind === "compacted");
      await plant(session, `a${turn} u${turn + 1}`);
    }
    expect(compacted[0]).toBe(true);
    expect(compacted.filter(Boolean).length).toBeLessThanOrEqual(5);
    expect(asked.length).toBeLessThanOrEqual(10);
  });
});

describe("a deferred compaction", () => {
  test("is returned by the request that ran it, and is the only one", async () => {
    const { session } = await grown(`${turns(1, 9)} u10 k10 r10:k10`);
    const compactor = createCompactor({ session, contextWindow: 100_000, settings, summarizer: model().summarizer });
    expect((await compactor.compact({ when: "turn-end" })).kind).toBe("deferred");
    await plant(session, "a10 u11");
    const { done, messages } = await compactor.prepareRequest();
    expect([done.compaction?.kind, messages[0]?.role]).toEqual(["compacted", "compactionSummary"]);
  });

  test("is cancelled by the signal of its own call", async () => {
    const { session } = await grown(`${turns(1, 9)} u10 k10 r10:k10`);
    const compactor = createCompactor({ session, contextWindow: 100_000, settings, summarizer: model().summarizer });
    const abort = new AbortController();
    await compactor.compact({ when: "turn-end", signal: abort.signal });
    abort.abort();
    await plant(session, "a10 u11");
    const before = await pathNames(session);
    expect((await compactor.prepareRequest()).done.compaction).toEqual({ kind: "cancelled", by: "signal" });
    expect(await pathNames(session)).toBe(before);
  });
});

describe("an operation that is already running", () => {
  test("in the background is not restarted under memory pressure", async () => {
    const { session } = await grown(`${turns(1, 9)} u10`);
    const held = heldModel();
    const early = { ...settings, background: { start: 0.3, jitterShare: 0, minShareToApply: 0 } } as const;
    const compactor = createCompactor({ session, contextWindow, settings: early, summarizer: held.summarizer });
    await compactor.prepareRequest();
    await held.asked;
    expect(await compactor.memoryPressure()).toBeNull();
    held.give("## Goal\nshort");
  });

  test("is awaited by modelChanged and reportOverflow, in either order", async () => {
    const { session } = await grown(`${turns(1, 13)} u14`);
    const held = heldModel();
    const compactor = createCompactor({ session, contextWindow, settings, summarizer: held.summarizer });
    const all = Promise.all([
      compactor.compact(),
      compactor.modelChanged({ contextWindow: 1_500 }),
      compactor.prepareRequest(),
      compactor.reportOverflow(tooLong(1_200)),
    ]);
    await held.asked;
    held.give("## Goal\nshort");
    const [byHand] = await all;
    expect(byHand.kind).toBe("compacted");
  });
});

describe("a compaction entry", () => {
  test("stores the size of the context at the time of the append", async () => {
    const { session } = await grown(`${turns(1, 9)} u10`);
    const held = heldModel();
    const early = { ...settings, background: { start: 0.2, jitterShare: 0, minShareToApply: 0 } } as const;
    const heard = listening();
    const compactor = createCompactor({ session, contextWindow, settings: early, summarizer: held.summarizer, onEvent: heard.onEvent });
    await compactor.prepareRequest();
    await held.asked;
    await plant(session, "k10 r10:k10", { result: 900 });
    held.give("## Goal\nshort");
    let done = (await compactor.prepareRequest()).done.compaction;
    for (let tries = 0; done === null && tries < 50; tries += 1) done = (await compactor.prepareRequest()).done.compaction;
    if (done?.kind !== "compacted") throw new TypeError(String(done?.kind));
    expect(await session.entry(done.entryId)).toMatchObject({ tokensBefore: done.tokensBefore, tokensAfter: done.tokensAfter });
  });
});

describe("a reply that was stopped with calls", () => {
  test("ended its turn: a manual compaction may run", async () => {
    const { session } = await grown(`${turns(1, 9)} u10`);
    const call = { type: "toolCall", id: "k10", name: "read", arguments: { path: "a" } } as const;
    await session.append({ ...assistantMessage([call], { stopReason: "aborted" }), id: "k10" });
    const compactor = createCompactor({
      session,
      contextWindow,
      settings: { ...settings, manual: "when-idle" },
      summarizer: model().summarizer,
    });
    expect((await compactor.compact()).kind).toBe("compacted");
  });
});

describe("values that a host does not pass", () => {
  test("for system prompt and tools do not shrink the request", async () => {
    const { session } = await grown("u1");
    const compactor = createCompactor({ session, contextWindow: 200_000 });
    await session.append(
      assistantMessage([{ type: "toolCall", id: "c1", name: "read", arguments: { path: "a" } }], { usage: { input: 12_000, output: 20 } }),
    );
    const result = { role: "toolResult", toolCallId: "c1", content: "a line of the file\n".repeat(6_000), isError: false } as const;
    await session.append({ type: "message", message: result });
    const { done, fits, messages, use } = await compactor.prepareRequest();
    expect([done.changes, fits, messages.length]).toEqual([[], true, 3]);
    expect(use.totalTokens).toBeGreaterThan(20_000);
  });

  test("usage summed over several calls does not shrink later requests", async () => {
    const { session } = await grown(`${turns(1, 9)} u10`);
    const compactor = createCompactor({ session, contextWindow: 20_000, settings });
    await compactor.prepareRequest({ lastUsage: { input: 900_000, output: 10 } });
    const { done, fits } = await compactor.prepareRequest();
    expect([done.changes, done.compaction, fits]).toEqual([[], null, true]);
  });

  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])("tokens of %s are rejected, and the error names the field", async (tokens) => {
    const { session } = await grown("u1");
    const compactor = createCompactor({ session, contextWindow: 20_000 });
    for (const name of ["toolTokens", "systemTokens"]) {
      const refused = { code: "INVALID_ARGUMENT", argument: `input.${name}` };
      await expect(compactor.prepareRequest({ [name]: tokens })).rejects.toMatchObject(refused);
    }
    await session.append(userMessage("still there"));
  });
});

describe("settings without a test of their own elsewhere", () => {
  test("enabled: false leaves manual compaction, overflow recovery and modelChanged", async () => {
    const { session } = await grown(`${turns(1, 13)} u14`);
    const off = { ...settings, enabled: false } as const;
    const compactor = createCompactor({ session, contextWindow: 2_500, settings: off, summarizer: model().summarizer });
    expect((await compactor.prepareRequest()).done.compaction).toBeNull();
    expect((await compactor.modelChanged({ contextWindow: 2_000 }))?.kind).toBe("compacted");
    const { session: other } = await grown(`${turns(1, 13)} u14`);
    const second = createCompactor({ session: other, contextWindow, settings: off, summarizer: model().summarizer });
    expect(await second.reportOverflow(tooLong(3_000))).toMatchObject({ kind: "retry", compaction: { kind: "compacted" } });
  });

  test("branch.summarize summarizes a branch unless the call overrides it", async () => {
    const { session } = await grown(turns(1, 3));
    const compactor = createCompactor({
      session,
      contextWindow,
      settings: { branch: { summarize: true } },
      summarizer: model().summarizer,
    });
    expect(await compactor.navigate("a1")).toMatchObject({ kind: "moved", summaryEntryId: expect.any(String) });
    expect(await compactor.navigate("a3", { summarize: false })).toMatchObject({ kind: "moved", summaryEntryId: null });
  });

  test("prune.idleMs counts from the last reply, not from the prompt that was typed just now", async () => {
    const future = Date.now() + 7_200_000;
    const { session } = await grown(turns(1, 2));
    for (const n of [3, 4, 5]) {
      await plant(session, `u${n}`);
      const call = { type: "toolCall", id: `k${n}`, name: "read", arguments: { path: "src/a.ts" } } as const;
      await session.append({ ...assistantMessage([call]), id: `k${n}` });
      await session.append({
        type: "message",
        message: { role: "toolResult", toolCallId: `k${n}`, toolName: "read", content: prose(`v${n}`, 400), isError: false },
      });
      await plant(session, `a${n}`);
    }
    await plant(session, turns(6, 8), { result: 300 });
    await session.append({ ...userMessage("go on"), createdAtMs: future });
    const prune = { minSavingsTokens: 100, cacheSuffixTokens: 10, protectTokens: 100_000 };
    const own = { ...settings, prune } as const;
    const cold = createCompactor({ session, contextWindow: 4_300, settings: own, summarizer: model().summarizer, now: () => future });
    expect((await cold.prepareRequest()).done.pruned).toBeGreaterThan(0);
  });

  test("background.minShareToApply discards a finished summary if the context has become small", async () => {
    const { session } = await grown(`${turns(1, 9)} u10`);
    const held = heldModel();
    const heard = listening();
    const early = { ...settings, background: { start: 0.3, jitterShare: 0, minShareToApply: 0.65 } } as const;
    const compactor = createCompactor({ session, contextWindow, settings: early, summarizer: held.summarizer, onEvent: heard.onEvent });
    await compactor.prepareRequest();
    await held.asked;
    held.give("## Goal\nshort");
    for (let tries = 0; tries < 100 && !heard.types().includes("compactionComplete"); tries += 1) await compactor.prepareRequest();
    expect(heard.events.find(({ type }) => type === "compactionComplete")).toMatchObject({ success: false, outcome: "discarded" });
  });

  test("a background run that finds nothing to compact reports that", async () => {
    const { session } = await grown("u1 a1 u2");
    const heard = listening();
    const early = {
      ...settings,
      trigger: { ...settings.trigger, minMessages: 1 },
      keep: { recentTokens: 3_000 },
      background: { start: 0.01, jitterShare: 0 },
    } as const;
    const compactor = createCompactor({ session, contextWindow, settings: early, summarizer: model().summarizer, onEvent: heard.onEvent });
    expect((await compactor.prepareRequest()).done.background).toBe("started");
    for (let tries = 0; tries < 100 && !heard.types().includes("compactionComplete"); tries += 1) await new Promise(setImmediate);
    expect(heard.events.find(({ type }) => type === "compactionComplete")).toMatchObject({
      success: false,
      outcome: "nothing-to-compact",
    });
  });

  test("summary.redact masks secrets in what a hook supplies", async () => {
    const { session } = await grown(`${turns(1, 9)} u10`);
    const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    const hooks = { beforeCompact: () => ({ compaction: { summary: `The key is ${secret}.` } }) };
    const result = await createCompactor({ session, contextWindow, settings, hooks }).compact();
    expect(result.kind === "compacted" ? result.summary : "").not.toContain(secret);
    const beforeNavigate = () => ({ summary: { summary: `The key is ${secret}.` } });
    const moved = await createCompactor({ session, contextWindow, settings, hooks: { beforeNavigate } }).navigate("a9", {
      summarize: true,
    });
    expect(moved).toMatchObject({ kind: "moved", summary: expect.stringMatching(/^The key is (?!sk-ant)/) });
  });
});
