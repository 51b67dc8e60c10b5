import { assistantMessage, type Session, toAnthropic, toolResult, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { createCompactor } from "../../src/run/compactor.js";
import { grown, prose } from "../world/session.js";

const FABLE = { provider: "anthropic", modelId: "claude-fable-5-1" } as const;

/** Appends rounds of a reply that thinks and calls, and a result. */
async function rounds(session: Session, from: number, to: number, tokens = 400): Promise<void> {
  for (let n = from; n <= to; n += 1) {
    const thinking = { type: "thinking", thinking: `t${n}`, thinkingSignature: `S${n}` } as const;
    const call = { type: "toolCall", id: `k${n}`, name: "read", arguments: { path: `${n}.ts` } } as const;
    await session.append({ ...assistantMessage([thinking, call], { provider: FABLE.provider, model: FABLE.modelId }), id: `k${n}` });
    await session.append({ ...toolResult(`k${n}`, prose(`r${n}`, tokens), { toolName: "read" }), id: `r${n}` });
  }
}

const signatures = (context: Parameters<typeof toAnthropic>[0]) => JSON.stringify(toAnthropic(context).messages).match(/"S\d+"/g) ?? [];

describe("a request to a model that binds its thinking", () => {
  test("leaves out what an edit made stale, and says how much and why", async () => {
    const { session } = await grown("u1");
    await rounds(session, 1, 4);
    const compactor = createCompactor({ session, contextWindow: 200_000, model: FABLE });
    expect((await compactor.prepareRequest()).thinking).toEqual({ sent: 4, leftOut: [] });
    await session.append({ type: "context_edit", targetId: "r2", replacement: { content: "short" } });
    const { thinking, cache, messages, context } = await compactor.prepareRequest();
    expect(thinking).toEqual({ sent: 2, leftOut: [{ because: "edit", blocks: 2 }] });
    expect(JSON.stringify(messages)).not.toMatch("S3");
    expect(signatures(context)).toEqual(['"S1"', '"S2"']);
    expect(cache.lostTokens).toBeGreaterThan(700);
  });

  test("that is shortened leaves out what stands behind the change, then and for the reply to it later", async () => {
    const { session } = await grown("u1");
    await rounds(session, 1, 6);
    const small = createCompactor({ session, contextWindow: 2_400, model: FABLE, settings: { enabled: false } });
    const shortened = await small.prepareRequest();
    expect(shortened.done.changes).not.toEqual([]);
    expect(shortened.thinking.sent).toBe(0);
    expect(shortened.thinking.leftOut).toMatchObject([{ because: "changed" }]);
    // A block before another reply than its own would be a mismatch on purpose.
    expect(shortened.done.changes.map(({ kind }) => kind)).not.toContain("reattached-thinking");
    await rounds(session, 7, 7);
    const large = createCompactor({ session, contextWindow: 200_000, model: FABLE });
    const { thinking } = await large.prepareRequest();
    expect(thinking).toEqual({ sent: 6, leftOut: [{ because: "request", blocks: 1 }] });
  });

  test("that lacks the newest reply is noted like the one before it: neither reply's thinking is sent again", async () => {
    const { session } = await grown("u1");
    await rounds(session, 1, 6);
    const small = createCompactor({ session, contextWindow: 2_400, model: FABLE, settings: { enabled: false } });
    for (const n of [7, 8]) {
      await session.append(userMessage(prose(`prompt${n}`, 1_900)));
      // The reply to the request before this one is dropped, and the note before it is not this one's.
      expect((await small.prepareRequest()).messages.filter(({ role }) => role === "assistant")).toEqual([]);
      await rounds(session, n, n);
    }
    const large = createCompactor({ session, contextWindow: 200_000, model: FABLE });
    const { thinking, context } = await large.prepareRequest();
    expect(thinking).toEqual({ sent: 6, leftOut: [{ because: "request", blocks: 2 }] });
    expect(signatures(context)).not.toContain('"S8"');
  });

  test("begins with the one before it, and says that nothing of the cache is lost", async () => {
    const { session } = await grown("u1");
    await rounds(session, 1, 2);
    const compactor = createCompactor({ session, contextWindow: 200_000, model: FABLE, settings: { preset: "co-cli" } });
    const first = await compactor.prepareRequest();
    expect(first.cache).toEqual({ keptTokens: null, lostTokens: null, reported: null });
    await rounds(session, 3, 3, 4_000);
    await compactor.prepareRequest();
    await rounds(session, 4, 4);
    const later = await compactor.prepareRequest();
    expect(later.cache.lostTokens).toBe(0);
    expect(later.cache.keptTokens).toBeGreaterThan(0);
    expect(later.messages.slice(0, first.messages.length)).toEqual(first.messages);
  });

  test("prunes below the threshold where the caller says that the cache is cold", async () => {
    const { session } = await grown("u1");
    await rounds(session, 1, 30, 2_000);
    await session.append(userMessage("go on"));
    const compactor = createCompactor({ session, contextWindow: 200_000, model: FABLE });
    expect((await compactor.prepareRequest()).done.pruned).toBe(0);
    expect((await compactor.prepareRequest({ cacheIsCold: true })).done.pruned).toBeGreaterThan(0);
    expect((await compactor.prepareRequest({ cacheIsCold: true })).done.pruned).toBe(0);
  });
});
