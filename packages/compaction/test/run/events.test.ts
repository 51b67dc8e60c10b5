import { systemMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { createCompactor } from "../../src/run/compactor.js";
import type { CompactionEvent } from "../../src/run/events.js";
import type { SummaryRequest } from "../../src/summarizers/summarizer.js";
import { faithful, grown, listening, openedStore, plant, turns } from "../world/session.js";

const settings = {
  trigger: { reserveTokens: 300, reserveShare: 0 },
  keep: { recentTokens: 500 },
  prune: { enabled: false },
  background: { start: null },
} as const;

function only<T extends CompactionEvent["type"]>(events: readonly CompactionEvent[], type: T) {
  return events.filter((event): event is Extract<CompactionEvent, { type: T }> => event.type === type);
}

describe("the events of a compaction", () => {
  test("report one attempt from start to end, with tokens and messages before and after, and the usage of its calls", async () => {
    const { session } = await grown(`${turns(1, 15)} u16`);
    const heard = listening();
    const usage = { input: 900, output: 30, cost: { total: 0.01 } };
    const summarizer = async (request: SummaryRequest) => ({ text: faithful("## Goal\nshort", request), usage, requestId: "req-7" });
    await createCompactor({ session, contextWindow: 3_000, settings, summarizer, onEvent: heard.onEvent }).prepareRequest();
    const [start] = only(heard.events, "compactionStart");
    const [complete] = only(heard.events, "compactionComplete");
    expect(start).toMatchObject({ trigger: "threshold", background: false, use: { limitTokens: 3_000 } });
    expect(complete).toMatchObject({ attemptId: start?.attemptId, success: true, error: null, outcome: "compacted" });
    expect(complete).toMatchObject({ requestId: "req-7", method: "normal", checkpointNumber: null, failures: [] });
    expect(complete?.fidelity).toBeGreaterThan(0.02);
    expect(complete?.useAfter?.totalTokens).toBe(complete?.tokensAfter);
    expect(complete?.usage?.input).toBeGreaterThanOrEqual(900);
    expect(complete?.messagesAfter).toBeLessThan(complete?.messagesBefore ?? 0);
    expect(complete?.tokensAfter).toBeLessThan(complete?.tokensBefore ?? 0);
  });

  test("the usage of the summary's calls is stored with it and counted in the session's totals", async () => {
    const { session } = await grown(turns(1, 10));
    const summarizer = async () => ({ text: "## Goal\nshort", usage: { input: 900, output: 30 } });
    const result = await createCompactor({ session, contextWindow: 100_000, settings, summarizer }).compact();
    if (result.kind !== "compacted") throw new TypeError(result.kind);
    expect(await session.entry(result.entryId)).toMatchObject({ usage: result.usage });
    const { usage } = await session.statistics();
    expect(usage.reduce((sum, one) => sum + one.inputTokens, 0)).toBe(result.usage?.input);
  });

  test("usageInfo reports the size of each request and marks the first", async () => {
    const { session } = await grown(turns(1, 2));
    const heard = listening();
    const compactor = createCompactor({ session, contextWindow: 100_000, settings, onEvent: heard.onEvent });
    await compactor.prepareRequest({ systemTokens: 7, toolTokens: 8 });
    await compactor.prepareRequest({ systemTokens: 7, toolTokens: 8 });
    const infos = only(heard.events, "usageInfo");
    expect(infos.map(({ isInitial }) => isInitial)).toEqual([true, false]);
    expect(infos[0]).toMatchObject({ messages: 8, use: { systemTokens: 7, toolTokens: 8, windowTokens: 100_000 } });
  });

  test("truncation reports the changes made to a request", async () => {
    const { session } = await grown(`${turns(1, 20)} u21`);
    const heard = listening();
    const compactor = createCompactor({ session, contextWindow: 3_000, settings: { ...settings, enabled: false }, onEvent: heard.onEvent });
    const request = await compactor.prepareRequest();
    const [truncation] = only(heard.events, "truncation");
    expect(truncation).toMatchObject({ messagesBefore: 81, messagesAfter: request.messages.length, changes: request.done.changes });
    expect(truncation?.tokensAfter).toBeLessThan(truncation?.tokensBefore ?? 0);
    // The session itself is as it was: the guard is about one request.
    expect((await session.context()).messages).toHaveLength(81);
  });

  test("usageWarning reports a system prompt and tools that fill the window: no compaction can help", async () => {
    const store = await openedStore();
    const session = await store.createSession({});
    await session.append(systemMessage("Be careful. ".repeat(1_000)));
    await plant(session, "u1");
    const heard = listening();
    const compactor = createCompactor({ session, contextWindow: 3_000, settings, onEvent: heard.onEvent });
    await expect(compactor.prepareRequest()).rejects.toMatchObject({ code: "REQUEST_TOO_LARGE", limitTokens: 3_000 });
    expect(only(heard.events, "usageWarning")).toMatchObject([{ limitTokens: 3_000 }]);
    expect(await compactor.prepareRequest({ tooLarge: "return" })).toMatchObject({ fits: false });
  });
});
