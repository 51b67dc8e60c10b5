import { describe, expect, test } from "vitest";
import { assistantMessage } from "../../../src/entry/builders.js";
import { grow } from "../../world/grow.js";

const usage = (input: number, total: number) => ({ input, output: 1, cacheRead: 2, cacheWrite: 3, cost: { total } });

describe("statistics", () => {
  test("count entries by type, messages and bytes, of a session and of all", async () => {
    const { store, session } = await grow("s1 u1 a1 m1 c1");
    await grow("u1", { store });
    expect(await session.statistics()).toMatchObject({
      sessions: 1,
      entries: 5,
      messages: 2,
      byType: { message: 3, model_change: 1, compaction: 1 },
    });
    expect(await store.statistics()).toMatchObject({ sessions: 2, entries: 6, messages: 3 });
    expect((await session.statistics()).payloadBytes).toBe((await session.record()).payloadBytes);
  });

  test("sum what each model used, on every branch, most expensive first", async () => {
    const { session } = await grow("u1");
    await session.append(assistantMessage("x", { provider: "p", model: "cheap", usage: usage(10, 0.1) }));
    await session.moveLeaf("u1");
    await session.append(assistantMessage("y", { provider: "p", model: "cheap", usage: usage(20, 0.2) }));
    await session.append(assistantMessage("z", { provider: "q", model: "dear", usage: usage(5, 9) }));
    expect((await session.statistics()).usage).toMatchObject([
      { provider: "q", model: "dear", replies: 1, inputTokens: 5, costUsd: 9 },
      { provider: "p", model: "cheap", replies: 2, inputTokens: 30, outputTokens: 2, cacheReadTokens: 4, cacheWriteTokens: 6 },
    ]);
  });

  test("order what cost the same by model, then by provider", async () => {
    const { session } = await grow("u1");
    for (const [provider, model] of [["q", "b"] as const, ["p", "b"] as const, ["z", "a"] as const, ["a", "c"] as const])
      await session.append(assistantMessage("x", { provider, model, usage: usage(1, 1) }));
    expect((await session.statistics()).usage.map(({ provider, model }) => `${model} ${provider}`)).toEqual(["a z", "b p", "b q", "c a"]);
  });

  test("count what summaries used, and a reply that does not say what it used as a reply", async () => {
    const { session } = await grow("u1");
    await session.append({ type: "compaction", summary: "s", firstKeptEntryId: null, usage: usage(7, 0) });
    await session.append(assistantMessage("x", { model: "silent" }));
    await session.append(assistantMessage("y"));
    expect((await session.statistics()).usage).toMatchObject([
      { model: "(summaries)", replies: 1, inputTokens: 7 },
      { provider: "", model: "silent", replies: 1, inputTokens: 0, costUsd: 0 },
    ]);
  });

  test("count what a summary used under the model that wrote it, where it says which", async () => {
    const { session } = await grow("u1 a1 @u1");
    const said = { usage: usage(7, 2), provider: "p", model: "small" };
    await session.append({ type: "branch_summary", fromId: "a1", summary: "s", ...said });
    await session.append({ type: "compaction", summary: "s", firstKeptEntryId: null, ...said });
    await session.append({ type: "compaction", summary: "s", firstKeptEntryId: null, ...said, provider: 5, model: "" });
    await session.append({ type: "compaction", summary: "s", firstKeptEntryId: null, provider: "p", model: "none used" });
    expect((await session.statistics()).usage).toMatchObject([
      { provider: "p", model: "small", replies: 2, inputTokens: 14, outputTokens: 2, cacheReadTokens: 4, cacheWriteTokens: 6, costUsd: 4 },
      { provider: "", model: "(summaries)", replies: 1, inputTokens: 7, costUsd: 2 },
    ]);
  });

  test("count what a copied summary used as inherited", async () => {
    const { store, session } = await grow("u1");
    await session.append({ type: "compaction", summary: "s", firstKeptEntryId: null, usage: usage(7, 2), model: "small" });
    const fork = await store.forkSession(session.id);
    const { usage: own, inheritedUsage } = await fork.statistics();
    expect([own, inheritedUsage]).toMatchObject([[], [{ model: "small", inputTokens: 7 }]]);
  });

  test("count nothing twice that is written twice", async () => {
    const { session } = await grow("u1");
    const reply = { ...assistantMessage("x", { model: "m", usage: usage(10, 1) }), id: "a" };
    await session.append(reply);
    await session.append(reply);
    expect((await session.statistics()).usage).toMatchObject([{ replies: 1, inputTokens: 10 }]);
  });
});
