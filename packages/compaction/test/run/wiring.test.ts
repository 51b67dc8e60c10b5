import { assistantMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { createCompactor } from "../../src/run/compactor.js";
import { grown, heldModel, listening, model, plant, turns } from "../world/session.js";

// Rules that have tests of their own, seen through the compactor that must heed them.

const contextWindow = 3_000;
const settings = {
  trigger: { reserveTokens: 300, reserveShare: 0 },
  keep: { recentTokens: 500 },
  prune: { enabled: false },
  background: { start: null },
} as const;

describe("the breaker", () => {
  test("stops calling a model after several failures in a row, and tries again later", async () => {
    const { session } = await grown(turns(1, 8));
    let calls = 0;
    const summarizer = async () => {
      calls += 1;
      throw new Error("no model here");
    };
    const breaker = { failures: 2, maxIneffective: 0 };
    const compactor = createCompactor({ session, contextWindow: 100_000, settings: { ...settings, breaker }, summarizer });
    const called: number[] = [];
    for (let turn = 9; turn < 22; turn += 1) {
      const before = calls;
      expect(await compactor.compact()).toMatchObject({ kind: "compacted", method: "extract" });
      called.push(calls - before);
      await plant(session, turns(turn * 10, turn * 10 + 3));
    }
    expect(called).toEqual([1, 1, ...new Array(10).fill(0), 1]);
  });
});

describe("one call of prepareRequest", () => {
  test("tries one compaction, whatever its result: a hook that cancels it is called once", async () => {
    const { session } = await grown(`${turns(1, 15)} u16`);
    let asked = 0;
    const beforeCompact = () => {
      asked += 1;
      return { cancel: true };
    };
    const compactor = createCompactor({ session, contextWindow, settings, hooks: { beforeCompact } });
    expect((await compactor.prepareRequest()).done.compaction).toEqual({ kind: "cancelled", by: "hook" });
    expect(asked).toBe(1);
  });
});

describe("an undo", () => {
  test("cancels the background summary for good", async () => {
    const { session } = await grown(turns(1, 8));
    const early = { ...settings, background: { start: 0.3, jitterShare: 0, minShareToApply: 0 } } as const;
    await createCompactor({ session, contextWindow, settings, summarizer: model().summarizer }).compact();
    await plant(session, `${turns(9, 14)} u15`);
    const held = heldModel();
    const heard = listening();
    const compactor = createCompactor({ session, contextWindow, settings: early, summarizer: held.summarizer, onEvent: heard.onEvent });
    expect((await compactor.prepareRequest()).done.background).toBe("started");
    const { signal } = await held.asked;
    expect(await compactor.undoCompaction()).toMatchObject({ kind: "undone" });
    expect(signal?.aborted).toBe(true);
    held.give("## Goal\ntoo late");
    await compactor.close();
    expect((await session.path()).filter(({ type }) => type === "compaction")).toHaveLength(1);
    expect(heard.events).toContainEqual(expect.objectContaining({ type: "compactionComplete", background: true, outcome: "cancelled" }));
  });
});

describe("the last thinking block of the covered messages", () => {
  const thinking = { type: "thinking", thinking: "so it is the lexer", thinkingSignature: "c2lnbmVk" } as const;

  test.each([
    ["claude-sonnet-4-5", "anthropic", true],
    ["gpt-5", "openai", false],
  ])(
    "for %s of %s is stored with it, byte for byte, and put before the first reply that is kept: %s",
    async (modelId, provider, isKept) => {
      const { session } = await grown(turns(1, 8));
      await session.append({ ...assistantMessage([thinking, { type: "text", text: "I see." }], { provider }), id: "thought" });
      await plant(session, turns(9, 12));
      const answering = { provider, modelId };
      const compactor = createCompactor({ session, contextWindow: 100_000, model: answering, settings, summarizer: model().summarizer });
      const result = await compactor.compact();
      if (result.kind !== "compacted") throw new TypeError(result.kind);
      const stored = await session.entry(result.entryId);
      expect("lastThinking" in stored ? stored["lastThinking"] : undefined).toEqual(isKept ? thinking : undefined);
      const { messages } = await createCompactor({ session, contextWindow: 100_000, model: answering, settings }).prepareRequest();
      const first = messages.find(({ role }) => role === "assistant");
      expect(first?.role === "assistant" && first.content.some(({ type }) => type === "thinking")).toBe(isKept);
    },
  );
});

describe("a compaction with when: turn-end", () => {
  test("is not replaced by a second one, unless it was cancelled", async () => {
    const { session } = await grown(`${turns(1, 8)} u9 k9 r9:k9`);
    const { summarizer, asked } = model();
    const compactor = createCompactor({ session, contextWindow: 100_000, settings, summarizer });
    const abort = new AbortController();
    expect(await compactor.compact({ when: "turn-end", instructions: "the first", signal: abort.signal })).toEqual({ kind: "deferred" });
    await expect(compactor.compact({ when: "turn-end" })).rejects.toMatchObject({ code: "COMPACTOR_BUSY" });
    abort.abort();
    expect(await compactor.compact({ when: "turn-end", instructions: "the second" })).toEqual({ kind: "deferred" });
    await plant(session, "a9");
    expect(await compactor.turnEnded()).toMatchObject({ kind: "compacted" });
    expect(asked[0]?.prompt).toContain("the second");
  });
});

describe("the reason of a pause", () => {
  test("names too many kept messages, not too many tokens", async () => {
    const { session } = await grown(`${turns(1, 15)} u16`);
    const heard = listening();
    const crowded = {
      ...settings,
      trigger: { ...settings.trigger, maxMessages: 10 },
      keep: { by: "messages", recentMessages: 20 },
    } as const;
    const options = { session, contextWindow: 100_000, settings: crowded, summarizer: model().summarizer, onEvent: heard.onEvent };
    await createCompactor(options).prepareRequest();
    expect(heard.events).toContainEqual({ type: "stalled", because: "too-many-messages" });
  });
});
