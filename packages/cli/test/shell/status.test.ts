import { assistantMessage, openStore, type Session, userMessage } from "@bough/session-core";
import { PriceList } from "@bough/session-core/view";
import { expect, onTestFinished, test } from "vitest";
import { StatusReader } from "../../src/shell/status.js";
import { grow, world } from "../world.js";

/** A session that records its calls, also of `session.tree`, and the length of each returned list. */
function counting(session: Session) {
  const calls: string[] = [];
  const record = <T extends object>(recorded: T): T =>
    new Proxy(recorded, {
      get(target, key) {
        const member: unknown = Reflect.get(target, key, target);
        if (key === "tree" && typeof member === "object" && member !== null) return record(member);
        if (typeof member !== "function") return member;
        return async (...given: unknown[]) => {
          const answer: unknown = await Reflect.apply(member, target, given);
          calls.push(Array.isArray(answer) ? `${String(key)} ${answer.length}` : String(key));
          return answer;
        };
      },
    });
  return { handle: record(session), calls };
}

test("the status after a message reads only new rows: no tips, and no statistics unless a model was used", async () => {
  const store = await openStore({ path: world().store, durability: "normal" });
  onTestFinished(() => store.close());
  const session = await grow(store, "session-1", "u1 a1 u2 a2", {});
  await session.moveLeaf("a1");
  await session.append(userMessage("another way"));
  const { handle, calls } = counting(session);
  const status = new StatusReader(handle, new PriceList());
  expect(await status.read(null)).toMatchObject({ depth: 3, branches: 2 });
  expect(calls).toEqual(expect.arrayContaining(["tips 2", "outline 0", "statistics"]));
  calls.length = 0;
  await session.append(userMessage("more"));
  expect(await status.read(null)).toMatchObject({ depth: 4, branches: 2 });
  expect(calls.sort()).toEqual(["context", "outline 0", "outline 1", "record"]);
  await session.moveLeaf("a1");
  const usage = { input: 1, output: 1, cost: { total: 0.5 } };
  await session.append({ type: "message", message: { role: "assistant", content: "Done.", usage } });
  expect(await status.read(null)).toMatchObject({ depth: 3, branches: 3 });
  expect(calls).toContain("statistics");
  const fresh = await new StatusReader(session, new PriceList()).read(null);
  expect(await status.read(null)).toEqual(fresh);
});

test("the window is that of the session's model, and its use what the provider reported, with an estimate of what came after", async () => {
  const store = await openStore({ path: world().store, durability: "normal" });
  onTestFinished(() => store.close());
  const session = await store.createSession();
  await session.append({ type: "model_change", provider: "google", modelId: "gemini-2.5-pro" });
  const status = new StatusReader(session, new PriceList());
  expect(await status.read(null)).toMatchObject({ usedTokens: 0, windowTokens: 1_048_576 });
  await session.append(userMessage("Why?"));
  // The prompt had tools and instructions that the session does not have.
  await session.append(assistantMessage("Because.", { usage: { input: 9_000, output: 2, cacheRead: 1_000 } }));
  await session.append(userMessage("tabs ".repeat(80)));
  const { usedTokens } = await status.read(null);
  expect(usedTokens).toBeGreaterThanOrEqual(10_100);
  expect(usedTokens).toBeLessThan(10_200);
  expect(await new StatusReader(session, new PriceList(), 50_000).read(null)).toMatchObject({ windowTokens: 50_000, usedTokens });
  await session.append({ type: "model_change", provider: "openai", modelId: "gpt-5" });
  expect((await status.read(null)).usedTokens).toBeLessThan(200);
});
