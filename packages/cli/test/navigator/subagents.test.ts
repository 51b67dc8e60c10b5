import { assistantMessage, type Store, userMessage } from "@bough/session-core";
import { describe, expect, it } from "vitest";
import { opened, selected } from "./opened.js";

const task = (id: string) => ({ type: "toolCall", id, name: "Task", arguments: { description: "Look around" } }) as const;

/** A session whose entry `one` started a subagent, and `two` two of them. */
async function withSubagents(store: Store) {
  const session = await store.createSession({ id: "parent-1", title: "Parent" });
  await session.append({ ...userMessage("Look around"), id: "u1" });
  await session.append({ ...assistantMessage([task("c1")]), id: "one" });
  await session.append({ ...assistantMessage([task("c2"), task("c3")]), id: "two" });
  const start = async (id: string, title: string, entryId: string, toolCallId: string, entries: number) => {
    const subagent = await store.createSession({ id, title, kind: "subagent", parent: { sessionId: "parent-1", entryId, toolCallId } });
    for (let at = 0; at < entries; at += 1) await subagent.append(userMessage(`${title} ${at}`));
  };
  await start("agent-1", "Find the lexer", "one", "c1", 3);
  await start("agent-2", "Find the parser", "two", "c2", 1);
  await start("agent-3", "Find the tests", "two", "c3", 1);
  return session;
}

describe("the row of a call that started a subagent", () => {
  it("says so, and opens the session of the subagent with o", async () => {
    const { driven } = await opened(withSubagents, { filter: "all" });
    await driven.until(({ subagents }) => subagents.size === 2);
    expect(driven.text).toContain("↳ subagent, 3 entries");
    expect(driven.text).toContain("↳ 2 subagents, 2 entries");
    while (selected(driven) !== "one") driven.press("up");
    driven.press("o");
    expect(driven.result).toEqual({ kind: "visit", sessionId: "agent-1", entryId: null });
  });

  it("asks which one if there are several, in the order of the calls", async () => {
    const { driven } = await opened(withSubagents, { filter: "all" });
    await driven.until(({ subagents }) => subagents.size === 2);
    while (selected(driven) !== "two") driven.press("up");
    driven.press("o");
    expect(driven.text).toContain("2 subagents. Enter opens one");
    expect(driven.text).toMatch(/1 Find the parser.*2 Find the tests/s);
    expect(driven.result).toBeUndefined();
    driven.press("down", "enter");
    expect(driven.result).toMatchObject({ kind: "visit", sessionId: "agent-3" });
  });

  it("says on another row that there is none", async () => {
    const { driven } = await opened(withSubagents, { filter: "all" });
    driven.press("g", "o");
    expect(driven.text).toContain("This entry started no subagent");
  });
});

describe("a subagent's session", () => {
  it("goes back to the entry that started it", async () => {
    const { driven } = await opened(async (store) => {
      await withSubagents(store);
      return store.openSession("agent-1");
    });
    driven.press("backspace");
    expect(driven.result).toEqual({ kind: "visit", sessionId: "parent-1", entryId: "one" });
  });
});
