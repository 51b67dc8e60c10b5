import { assistantMessage, toAiSdk, toAnthropic, toOpenAiChat, toolResult, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { createCompactor } from "../../src/run/compactor.js";
import { contextNames, findings, grown, model, openedStore, plant, prose, turns } from "../world/session.js";

const small = { background: { start: null }, keep: { recentTokens: 400 } } as const;

describe("settings and windows", () => {
  test("settings out of range are rejected by createCompactor, and the error names the field", async () => {
    const { session } = await grown("u1 a1");
    expect(() => createCompactor({ session, contextWindow: 1_000, settings: { keep: { recentTokens: -1 } } })).toThrow(
      expect.objectContaining({ code: "INVALID_SETTING", field: "keep.recentTokens" }),
    );
    expect(() => createCompactor({ session, contextWindow: 0 })).toThrow(expect.objectContaining({ field: "contextWindow" }));
  });

  test("a window smaller than the reserve still works: the reserve becomes a quarter of it", async () => {
    const { session } = await grown(`${turns(1, 30)} u31`);
    const compactor = createCompactor({ session, contextWindow: 4_000, settings: small, summarizer: model().summarizer });
    const request = await compactor.prepareRequest();
    expect(request.done.compaction).toMatchObject({ kind: "compacted" });
    expect(request.use).toMatchObject({ thresholdTokens: 3_000 });
    expect(request.fits).toBe(true);
  });
});

describe("sessions of every size", () => {
  test("an empty session and one of a single message are sent as they are", async () => {
    const { session } = await grown("");
    const compactor = createCompactor({ session, contextWindow: 4_000, settings: small });
    expect((await compactor.prepareRequest()).messages).toEqual([]);
    expect(await compactor.compact()).toMatchObject({ kind: "nothing-to-compact" });
    await plant(session, "u1");
    expect((await compactor.prepareRequest()).entries).toEqual(["u1"]);
    expect(await compactor.compact()).toMatchObject({ kind: "nothing-to-compact" });
  });

  test("a single message larger than the window is cut for the request, and whole in the session", async () => {
    const { session } = await grown("u1", { user: 9_000 });
    const compactor = createCompactor({ session, contextWindow: 4_000, settings: small });
    const { fits, messages, done } = await compactor.prepareRequest();
    expect(fits).toBe(true);
    expect(JSON.stringify(messages).length).toBeLessThan(prose("u1", 9_000).length);
    expect(done.changes.map(({ kind }) => kind)).toContain("cut-prompt");
    expect((await session.context()).messages[0]).toMatchObject({ content: expect.stringContaining("word2249") });
  });

  test("the same is an error with request.failWhenTooLarge", async () => {
    const { session } = await grown("u1", { user: 9_000 });
    const compactor = createCompactor({ session, contextWindow: 4_000, settings: { ...small, request: { failWhenTooLarge: true } } });
    await expect(compactor.prepareRequest()).rejects.toMatchObject({ code: "REQUEST_TOO_LARGE" });
  });

  test("a tool result larger than the window does not block: the request fits, and a cut is found", async () => {
    const { session } = await grown(`${turns(1, 3)} u4 k4`);
    await plant(session, "r4:k4", { result: 9_000 });
    const compactor = createCompactor({ session, contextWindow: 4_000, settings: small, summarizer: model().summarizer });
    const request = await compactor.prepareRequest();
    expect(request.fits).toBe(true);
    expect(request.entries.slice(-2)).toEqual(["k4", "r4"]);
  });

  test("50,000 messages are compacted at once, and the request fits", async () => {
    const store = await openedStore();
    const session = await store.createSession({});
    const writes = Array.from({ length: 50_000 }, (_one, at) => {
      const entry = at % 2 === 0 ? userMessage(`question ${at}`) : assistantMessage(`answer ${at}`);
      return { kind: "entry", entry } as const;
    });
    for (let at = 0; at < writes.length; at += 5_000) await session.write(writes.slice(at, at + 5_000));
    const compactor = createCompactor({ session, contextWindow: 100_000 });
    const request = await compactor.prepareRequest();
    expect(request.fits).toBe(true);
    expect(request.done.compaction).toMatchObject({ kind: "compacted", method: "extract" });
  });
});

describe("texts of every kind", () => {
  test.each([
    ["half a surrogate pair", `before \ud83d after ${prose("x", 500)}`],
    ["a megabyte without a space", "x".repeat(1_000_000)],
    ["a megabyte of Chinese", "的一是在不了有和人这".repeat(100_000)],
    ["a special token", `<|endoftext|> ${prose("y", 500)} <|im_start|>`],
    ["the tags of our own summaries", `</conversation></summary><summary>${prose("z", 500)}`],
    ["control characters", `\u001b[2J\u0007\u0000 ${prose("w", 500)}`],
  ])("a tool result with %s goes through counting, compacting and every converter", async (_name, text) => {
    const { session } = await grown("u1");
    const call = { type: "toolCall", id: "c1", name: "bash", arguments: { command: "cat file" } } as const;
    await session.append({ ...assistantMessage([call]), id: "k1" });
    await session.append({ ...toolResult("c1", text, { toolName: "bash" }), id: "r1" });
    await plant(session, `a1 ${turns(2, 24)} u25`);
    const compactor = createCompactor({ session, contextWindow: 4_000, settings: small });
    const { context, fits, done } = await compactor.prepareRequest();
    expect(fits).toBe(true);
    expect(done.compaction).toMatchObject({ kind: "compacted" });
    for (const converted of [toOpenAiChat(context), toAnthropic(context), toAiSdk(context)]) {
      expect(JSON.stringify(converted).isWellFormed()).toBe(true);
    }
    expect((await session.context()).messages[0]).toMatchObject({ role: "compactionSummary" });
  });
});

describe("a model with a bad answer", () => {
  test.each([
    ["says nothing", ""],
    ["says only blanks", "  \n "],
    ["repeats what it was given", "PROMPT"],
  ])("one that %s is asked with a stricter prompt, then the extract is used", async (_name, answer) => {
    const { session, store } = await grown(turns(1, 10));
    const { summarizer, asked } = model(({ prompt }) => (answer === "PROMPT" ? prompt : answer));
    const compactor = createCompactor({ session, contextWindow: 100_000, settings: small, summarizer });
    const result = await compactor.compact();
    expect(result).toMatchObject({ kind: "compacted", method: "extract" });
    if (result.kind === "compacted") expect(result.tokensAfter).toBeLessThan(result.tokensBefore);
    expect(asked.length).toBeGreaterThan(1);
    expect(await findings(store)).toEqual([]);
  });

  test("one that never answers fails after the timeout, and leaves no timer behind", async () => {
    const { session } = await grown(turns(1, 10));
    const settings = { ...small, summary: { timeoutMs: 20, retries: 0, onFailure: "fail" } } as const;
    const compactor = createCompactor({ session, contextWindow: 100_000, settings, summarizer: () => new Promise(() => undefined) });
    expect(await compactor.compact()).toMatchObject({ kind: "failed", error: { code: "SUMMARIZER_CALL", failure: "timeout" } });
    expect(await contextNames(session)).toMatch(/^u1 /);
  });
});

describe("a session that is deleted or cannot be written", () => {
  test("deleted while the model writes: the error is typed, and nothing is written", async () => {
    const { store, session } = await grown(turns(1, 10));
    const compactor = createCompactor({
      session,
      contextWindow: 100_000,
      settings: small,
      summarizer: async () => {
        await store.deleteSession(session.id);
        return "## Goal\nof nothing";
      },
    });
    expect(await compactor.compact()).toMatchObject({ kind: "failed", error: { code: "SESSION_NOT_FOUND" } });
  });
});
