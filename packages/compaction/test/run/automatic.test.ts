import { join } from "node:path";
import { assistantMessage, openStore } from "@bough/session-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { createCompactor } from "../../src/run/compactor.js";
import { contextNames, findings, folder, grown, heldModel, listening, model, pathNames, plant, turns } from "../world/session.js";

// A turn of these sizes is about 210 tokens and some; ten of them fill a window of 3,000 by about 80 %.
const contextWindow = 3_000;
const plain = {
  trigger: { reserveTokens: 300, reserveShare: 0 },
  keep: { recentTokens: 500 },
  prune: { enabled: false },
  background: { start: null },
} as const;

describe("before a request", () => {
  test("a context below its threshold is unchanged", async () => {
    const { session } = await grown(turns(1, 3));
    const { summarizer, asked } = model();
    const compactor = createCompactor({ session, contextWindow, settings: plain, summarizer });
    const request = await compactor.prepareRequest();
    expect(request.entries.join(" ")).toBe("u1 k1 r1 a1 u2 k2 r2 a2 u3 k3 r3 a3");
    expect(request).toMatchObject({ fits: true, done: { compaction: null, background: "none", pruned: 0, changes: [] } });
    expect(asked).toEqual([]);
  });

  test("a context above it is compacted first, and the request holds the summary and the newest turns", async () => {
    const { store, session } = await grown(`${turns(1, 15)} u16`);
    const heard = listening();
    const compactor = createCompactor({ session, contextWindow, settings: plain, summarizer: model().summarizer, onEvent: heard.onEvent });
    const request = await compactor.prepareRequest();
    expect(request.messages[0]).toMatchObject({ role: "compactionSummary" });
    expect(request.entries.at(-1)).toBe("u16");
    expect(request.done.compaction).toMatchObject({ kind: "compacted", trigger: "threshold", headroom: true });
    expect(request.use.totalTokens).toBeLessThanOrEqual(request.use.thresholdTokens);
    expect(heard.types()).toMatch(/^compactionStart .*compactionComplete usageInfo$/);
    expect(heard.types()).not.toContain("stalled");
    expect(await findings(store)).toEqual([]);
  });

  test("counts the system prompt and the tools that the host names", async () => {
    const { session } = await grown(turns(1, 3));
    const compactor = createCompactor({ session, contextWindow, settings: plain, summarizer: model().summarizer });
    const { use } = await compactor.prepareRequest({ systemTokens: 111, toolTokens: 222 });
    expect(use).toMatchObject({ systemTokens: 111, toolTokens: 222, windowTokens: contextWindow });
    expect(use.totalTokens).toBe(111 + 222 + use.messageTokens);
  });

  test("uses the provider's count if it is larger than ours", async () => {
    const { session } = await grown(`${turns(1, 4)} u5`);
    await session.append({ ...assistantMessage("done", { usage: { input: 2_900, output: 5 } }), id: "a5" });
    await plant(session, "u6");
    const compactor = createCompactor({
      session,
      contextWindow,
      settings: { ...plain, keep: { recentTokens: 100 } },
      summarizer: model().summarizer,
    });
    const request = await compactor.prepareRequest();
    expect(request.done.compaction).toMatchObject({ kind: "compacted" });
    // What it reported before the compaction says nothing any more, so the next request is left alone.
    expect((await compactor.prepareRequest()).done.compaction).toBe(null);
  });

  test.each([
    ["of a failed reply", { usage: { input: 2_900 }, stopReason: "error" }],
    ["of a reply that was stopped", { usage: { input: 2_900 }, stopReason: "aborted" }],
    ["that is all zero", { usage: { input: 0, output: 0 } }],
  ])("ignores usage %s", async (_name, fields) => {
    const { session } = await grown(turns(1, 3));
    await session.append({ ...assistantMessage("done", fields), id: "a9" });
    await plant(session, "u10");
    const compactor = createCompactor({ session, contextWindow, settings: plain, summarizer: model().summarizer });
    expect((await compactor.prepareRequest()).use.source).toBe("counted");
  });

  test("an unanswered prompt is always kept word for word", async () => {
    const { session } = await grown(`${turns(1, 14)} u15`);
    const compactor = createCompactor({
      session,
      contextWindow,
      settings: { ...plain, keep: { by: "nothing" } },
      summarizer: model().summarizer,
    });
    const { entries, messages } = await compactor.prepareRequest();
    expect(messages).toHaveLength(2);
    expect(entries.at(-1)).toBe("u15");
  });

  test("settings are read again at each check", async () => {
    const { session } = await grown(`${turns(1, 15)} u16`);
    let enabled = false;
    const compactor = createCompactor({ session, contextWindow, settings: () => ({ ...plain, enabled }), summarizer: model().summarizer });
    expect((await compactor.prepareRequest()).done.compaction).toBe(null);
    enabled = true;
    expect((await compactor.prepareRequest()).done.compaction).toMatchObject({ kind: "compacted" });
  });

  test("an aborted signal ends it, and the session is unchanged", async () => {
    const { session } = await grown(`${turns(1, 15)} u16`);
    const before = await pathNames(session);
    const held = heldModel();
    const abort = new AbortController();
    const compactor = createCompactor({ session, contextWindow, settings: plain, summarizer: held.summarizer });
    const running = compactor.prepareRequest({ signal: abort.signal });
    await held.asked;
    abort.abort();
    await expect(running).rejects.toMatchObject({ name: "AbortError" });
    expect(await pathNames(session)).toBe(before);
  });
});

describe("when a compaction cannot help", () => {
  test("old output of a store that is only read is not shortened, and the request is made to fit", async () => {
    const path = join(folder(), "sessions.db");
    const { session: written } = await grown(`${turns(1, 12)} u13`, { result: 200 }, path);
    const store = await openStore({ path, mode: "read-only" });
    onTestFinished(() => store.close());
    const prune = { enabled: true, protectTokens: 500, minSavingsTokens: 0, minSavingsShare: 0 };
    const session = await store.openSession(written.id);
    const compactor = createCompactor({ session, contextWindow, settings: { ...plain, prune } });
    expect(await compactor.prepareRequest()).toMatchObject({ fits: true, done: { pruned: 0, compaction: { kind: "failed" } } });
  });

  test("a failed compaction does not fail the request and is not tried again in the turn; the request is made to fit", async () => {
    const { session } = await grown(`${turns(1, 15)} u16`);
    let calls = 0;
    const broken = async () => {
      calls += 1;
      throw new TypeError("gone");
    };
    const settings = { ...plain, summary: { onFailure: "fail", retries: 0 } } as const;
    const compactor = createCompactor({ session, contextWindow, settings, summarizer: broken });
    const first = await compactor.prepareRequest();
    expect(first).toMatchObject({ fits: true, done: { compaction: { kind: "failed" } } });
    const callsOfFirst = calls;
    await compactor.prepareRequest();
    expect(calls).toBe(callsOfFirst);
    await plant(session, "a16 u17");
    await compactor.prepareRequest();
    expect(calls).toBeGreaterThan(callsOfFirst);
  });

  test("a failure after a turn is not repeated for the next prompt alone: one attempt per turn", async () => {
    const { session } = await grown(turns(1, 15));
    let calls = 0;
    const unreachable = async () => {
      calls += 1;
      throw new TypeError("gone");
    };
    const settings = { ...plain, summary: { onFailure: "fail", retries: 0 }, breaker: { failures: 0 } } as const;
    const compactor = createCompactor({ session, contextWindow, settings, summarizer: unreachable });
    for (let turn = 16; turn <= 19; turn += 1) {
      const before = calls;
      expect(await compactor.turnEnded()).toMatchObject({ kind: "failed" });
      const ofOneTry = calls - before;
      await plant(session, `u${turn}`, { user: 5 });
      expect((await compactor.prepareRequest()).done.compaction).toBe(null);
      expect(calls - before).toBe(ofOneTry);
      await plant(session, `a${turn}`, { reply: 5 });
    }
  });

  test("a summary that leaves no headroom is reported, and does not start another compaction", async () => {
    const { session } = await grown(`${turns(1, 4)} u5`, { user: 20 });
    await plant(session, "u6", { user: 2_500 });
    const heard = listening();
    const { summarizer, asked } = model();
    const compactor = createCompactor({ session, contextWindow, settings: plain, summarizer, onEvent: heard.onEvent });
    const first = await compactor.prepareRequest();
    expect(first.done.compaction).toMatchObject({ kind: "compacted", headroom: false });
    expect(heard.events).toContainEqual({ type: "stalled", because: "no-headroom" });
    const calls = asked.length;
    await compactor.prepareRequest();
    await compactor.prepareRequest();
    expect(asked).toHaveLength(calls);
  });

  test("system prompt and tools that alone reach the threshold cause one attempt, not one per request", async () => {
    const { session } = await grown("u1 a1 u2", { user: 10, reply: 10 });
    const asked: string[] = [];
    const hooks = { beforeCompact: () => void asked.push("beforeCompact"), compacting: () => void asked.push("compacting") };
    const heard = listening();
    const { summarizer } = model();
    const settings = { ...plain, trigger: { ...plain.trigger, minMessages: 1 } };
    const compactor = createCompactor({ session, contextWindow, settings, summarizer, hooks, onEvent: heard.onEvent });
    for (let request = 1; request <= 5; request += 1)
      expect(await compactor.prepareRequest({ systemTokens: 1_500, toolTokens: 1_300 })).toMatchObject({ fits: true });
    expect(asked).toEqual([]);
    expect(heard.events).toContainEqual({ type: "stalled", because: "nothing-to-compact" });
    expect(heard.events.filter(({ type }) => type === "compactionStart")).toHaveLength(1);
    await plant(session, "a2 u3", { reply: 10 });
    await compactor.prepareRequest({ systemTokens: 1_500, toolTokens: 1_300 });
    expect(heard.events.filter(({ type }) => type === "compactionStart")).toHaveLength(2);
  });

  test("an undone compaction is not repeated at once", async () => {
    const { session } = await grown(`${turns(1, 15)} u16`);
    const compactor = createCompactor({ session, contextWindow, settings: plain, summarizer: model().summarizer });
    await compactor.prepareRequest();
    await compactor.undoCompaction();
    const again = await compactor.prepareRequest();
    expect(again).toMatchObject({ fits: true, done: { compaction: null } });
    await plant(session, "a16 u17");
    expect((await compactor.prepareRequest()).done.compaction).toMatchObject({ kind: "compacted" });
  });
});

describe("a background summary", () => {
  const early = { ...plain, background: { start: 0.5, jitterShare: 0, coldStart: null, minShareToApply: 0.3, blockAtShare: 0.8 } } as const;

  test("is written while the turn runs and applied by a later request", async () => {
    const { store, session } = await grown(`${turns(1, 9)} u10`);
    const held = heldModel();
    const heard = listening();
    const compactor = createCompactor({ session, contextWindow, settings: early, summarizer: held.summarizer, onEvent: heard.onEvent });
    const first = await compactor.prepareRequest();
    expect(first.done).toMatchObject({ compaction: null, background: "started" });
    expect(first.entries[0]).toBe("u1");
    await held.asked;
    await plant(session, "k10 r10:k10");
    expect((await compactor.prepareRequest()).done.background).toBe("running");
    held.give("## Goal\nwritten meanwhile");
    await heldUntil(
      () => compactor.prepareRequest(),
      (request) => request.done.background === "applied",
    );
    const names = await contextNames(session);
    expect(names.endsWith("u10 k10 r10")).toBe(true);
    expect((await session.context()).messages[0]).toMatchObject({ summary: expect.stringContaining("written meanwhile") });
    expect(heard.events.filter((event) => event.type === "compactionComplete")).toMatchObject([{ success: true, background: true }]);
    expect(await findings(store)).toEqual([]);
  });

  test("is cancelled at the end of the block that uses the compactor", async () => {
    const { session } = await grown(`${turns(1, 9)} u10`);
    const held = heldModel();
    const heard = listening();
    {
      await using compactor = createCompactor({
        session,
        contextWindow,
        settings: early,
        summarizer: held.summarizer,
        onEvent: heard.onEvent,
      });
      await compactor.prepareRequest();
    }
    held.give("## Goal\ntoo late");
    const { messages } = await session.context();
    expect(messages.some((message) => "summary" in message)).toBe(false);
  });

  test("is started once by two requests at the same time", async () => {
    const { session } = await grown(`${turns(1, 9)} u10`);
    const held = heldModel();
    const heard = listening();
    const compactor = createCompactor({ session, contextWindow, settings: early, summarizer: held.summarizer, onEvent: heard.onEvent });
    const both = await Promise.all([compactor.prepareRequest(), compactor.prepareRequest()]);
    expect(both.map(({ done }) => done.background).sort()).toEqual(["running", "started"]);
    expect(heard.types().match(/compactionStart/g)).toHaveLength(1);
    await compactor.close();
  });

  test("is awaited when the context window is nearly full", async () => {
    const { session } = await grown(`${turns(1, 9)} u10`);
    const held = heldModel();
    const compactor = createCompactor({ session, contextWindow, settings: early, summarizer: held.summarizer });
    await compactor.prepareRequest();
    await plant(session, "k10 r10:k10", { result: 700 });
    const waiting = compactor.prepareRequest();
    await held.asked;
    held.give("## Goal\njust in time");
    expect((await waiting).done).toMatchObject({ background: "applied", compaction: { kind: "compacted" } });
  });

  test("that cannot be appended does not fail the request, and is not written again", async () => {
    const path = join(folder(), "sessions.db");
    const { session: written } = await grown(`${turns(1, 9)} u10`, {}, path);
    const store = await openStore({ path, mode: "read-only" });
    onTestFinished(() => store.close());
    const session = await store.openSession(written.id);
    const { summarizer, asked } = model("## Goal\nwritten once");
    const compactor = createCompactor({ session, contextWindow, settings: early, summarizer });
    await compactor.prepareRequest();
    await plant(written, "k10 r10:k10", { result: 700 });
    await session.refresh();
    const failed = { fits: true, done: { compaction: { kind: "failed", error: { code: "STORE_READ_ONLY" } } } };
    expect(await compactor.prepareRequest()).toMatchObject(failed);
    const calls = asked.length;
    expect(await compactor.prepareRequest()).toMatchObject(failed);
    expect(asked).toHaveLength(calls);
  });

  test("is discarded if the leaf has moved to another branch", async () => {
    const { session } = await grown(`${turns(1, 9)} u10`);
    const held = heldModel();
    const compactor = createCompactor({ session, contextWindow, settings: early, summarizer: held.summarizer });
    await compactor.prepareRequest();
    await held.asked;
    await compactor.navigate("a2");
    held.give("## Goal\nof the other branch");
    expect((await compactor.prepareRequest()).done).toMatchObject({ compaction: null, background: "none" });
    expect(await contextNames(session)).toBe("u1 k1 r1 a1 u2 k2 r2 a2");
  });

  test("is cancelled by a manual compaction and by closing", async () => {
    const { session } = await grown(`${turns(1, 9)} u10`);
    const signals: (AbortSignal | undefined)[] = [];
    let calls = 0;
    const compactor = createCompactor({
      session,
      contextWindow,
      settings: early,
      summarizer: async ({ signal }) => {
        signals.push(signal);
        calls += 1;
        return calls === 1 ? new Promise(() => undefined) : "## Goal\nsrc/k1.ts by hand";
      },
    });
    await compactor.prepareRequest();
    await heldUntil(
      async () => calls,
      (made) => made === 1,
    );
    expect(await compactor.compact()).toMatchObject({ kind: "compacted", summary: expect.stringContaining("by hand") });
    expect(signals[0]?.aborted).toBe(true);
    await compactor.close();
  });
});

describe("between turns", () => {
  test("a compaction requested inside a turn runs when the turn has ended", async () => {
    const { session } = await grown(`${turns(1, 9)} u10 k10 r10:k10`);
    const { summarizer, asked } = model();
    const compactor = createCompactor({ session, contextWindow, settings: plain, summarizer });
    expect(await compactor.compact({ when: "turn-end", instructions: "the parser" })).toEqual({ kind: "deferred" });
    await compactor.prepareRequest();
    expect(asked).toEqual([]);
    await plant(session, "a10");
    expect(await compactor.turnEnded()).toMatchObject({ kind: "compacted", trigger: "manual" });
    expect(asked[0]?.prompt).toContain("the parser");
  });

  test("with the preset python-agent, a manual compaction inside a turn is rejected", async () => {
    const { session } = await grown(`${turns(1, 9)} u10`);
    const compactor = createCompactor({ session, contextWindow: 30_000, settings: "python-agent", summarizer: model().summarizer });
    await expect(compactor.compact()).rejects.toMatchObject({ code: "TURN_RUNNING" });
  });

  test("a prompt to continue is returned if work is left, not after a finished answer", async () => {
    const { session } = await grown(turns(1, 15));
    let todos = "- [ ] write the test";
    const options = { session, contextWindow, settings: plain, summarizer: model().summarizer, hostState: () => ({ todos }) };
    const compactor = createCompactor(options);
    expect(await compactor.turnEnded()).toMatchObject({ kind: "compacted", continuePrompt: "Continue if you have next steps." });
    todos = "- [x] write the test";
    await plant(session, turns(16, 28));
    expect(await compactor.turnEnded()).toMatchObject({ kind: "compacted", continuePrompt: null });
  });
});

describe("a change of model", () => {
  test("to a smaller window compacts first if the context is over its threshold, else does nothing", async () => {
    const { session } = await grown(turns(1, 15));
    const compactor = createCompactor({ session, contextWindow: 100_000, settings: plain, summarizer: model().summarizer });
    expect(await compactor.modelChanged({ contextWindow: 50_000 })).toBe(null);
    expect(await compactor.modelChanged({ contextWindow: 3_000 })).toMatchObject({ kind: "compacted", trigger: "model_switch" });
  });

  test("memory pressure compacts, unless an operation is running", async () => {
    const { session } = await grown(turns(1, 15));
    const held = heldModel();
    const compactor = createCompactor({ session, contextWindow: 100_000, settings: plain, summarizer: held.summarizer });
    const running = compactor.memoryPressure();
    await held.asked;
    expect(await compactor.memoryPressure()).toBe(null);
    held.give("## Goal\nless");
    expect(await running).toMatchObject({ kind: "compacted", trigger: "memory_pressure" });
  });
});

/** Asks again until what comes back is what is waited for; each time other work gets its turn. */
async function heldUntil<T>(ask: () => Promise<T>, isIt: (got: T) => boolean): Promise<T> {
  for (;;) {
    const got = await ask();
    if (isIt(got)) return got;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
