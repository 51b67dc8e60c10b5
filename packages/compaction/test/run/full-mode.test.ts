import { assistantMessage, systemMessage, toOpenAiChat, toolResult } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { createCompactor } from "../../src/run/compactor.js";
import { openAiCompatibleSummarizer } from "../../src/summarizers/openai-compatible.js";
import { fail, startModelServer } from "../model/model-server.js";
import { openedStore, plant, turns } from "../world/session.js";

async function talked() {
  const store = await openedStore();
  const session = await store.createSession({});
  await session.append(systemMessage("You are careful."));
  await plant(session, `${turns(1, 15)} u16`);
  return session;
}

const settings = {
  trigger: { reserveTokens: 300, reserveShare: 0 },
  keep: { recentTokens: 500 },
  prune: { enabled: false },
  background: { start: null },
  summary: { mode: "auto", prompt: "handoff" },
} as const;

describe("full mode", () => {
  test("sends the last request byte for byte, then one instruction, so that the provider's cache is read", async () => {
    const session = await talked();
    const server = await startModelServer();
    server.otherwise("<analysis>long</analysis><summary>\nWhat was done to src/k1.ts, in short.");
    const summarizer = openAiCompatibleSummarizer({ baseURL: server.baseURL, model: "m" });
    const compactor = createCompactor({ session, contextWindow: 100_000, settings, summarizer });
    const live = await compactor.prepareRequest();
    const result = await compactor.compact();
    expect(result).toMatchObject({
      kind: "compacted",
      method: "normal",
      summary: expect.stringContaining("What was done to src/k1.ts, in short."),
    });
    const asSent = JSON.stringify(toOpenAiChat(live.context));
    const raw = server.requests[0]?.raw.toString("utf8") ?? "";
    // Without the bracket that ends the list, what the agent sends is the beginning of what is sent here.
    expect(raw).toContain(`"messages":${asSent.slice(0, -1)},`);
  });

  test("sends the fitted messages, not the stored ones, which the provider did not receive", async () => {
    const session = await talked();
    await session.append({ ...assistantMessage([{ type: "toolCall", id: "big", name: "read", arguments: {} }]), id: "kbig" });
    await session.append({ ...toolResult("big", "a long line of a log file\n".repeat(4_000), { toolName: "read" }), id: "rbig" });
    await plant(session, "a17 u18");
    const server = await startModelServer();
    server.otherwise("<summary>\nWhat was done to src/k1.ts, in short.\n</summary>");
    const summarizer = openAiCompatibleSummarizer({ baseURL: server.baseURL, model: "m" });
    const cutting = { ...settings, request: { toolResultShare: 0.02 } };
    const compactor = createCompactor({ session, contextWindow: 100_000, settings: cutting, summarizer });
    const live = await compactor.prepareRequest();
    expect(live.done.changes).toMatchObject([{ kind: "cut-tool-results" }]);
    await plant(session, "a18");
    expect(await compactor.compact()).toMatchObject({ kind: "compacted", method: "normal" });
    expect(server.requests[0]?.raw.toString("utf8")).toContain(`"messages":${JSON.stringify(toOpenAiChat(live.context)).slice(0, -1)},`);
  });

  test("falls back to simple mode if the request is rejected", async () => {
    const session = await talked();
    const server = await startModelServer();
    server.reply(fail(500, { error: { message: "no" } }));
    server.otherwise("<summary>\nsrc/k1.ts in simple words.\n</summary>");
    const summarizer = openAiCompatibleSummarizer({ baseURL: server.baseURL, model: "m" });
    const compactor = createCompactor({
      session,
      contextWindow: 100_000,
      settings: { ...settings, summary: { ...settings.summary, retries: 0 } },
      summarizer,
    });
    expect(await compactor.compact()).toMatchObject({ kind: "compacted", summary: expect.stringContaining("src/k1.ts in simple words.") });
    expect(server.requests.length).toBeGreaterThan(1);
  });

  test("is not tried after an overflow", async () => {
    const session = await talked();
    const server = await startModelServer();
    server.otherwise("<summary>\nshort\n</summary>");
    const summarizer = openAiCompatibleSummarizer({ baseURL: server.baseURL, model: "m" });
    const compactor = createCompactor({ session, contextWindow: 4_000, settings, summarizer });
    const tooLong = Object.assign(new Error("400 prompt is too long: 9000 tokens > 4000 maximum"), { status: 400 });
    expect(await compactor.reportOverflow(tooLong)).toMatchObject({ kind: "retry", compaction: { kind: "compacted" } });
    for (const { body } of server.requests) expect(body.messages?.length).toBeLessThanOrEqual(2);
  });
});
