import { assistantMessage, openStore, type SessionContext, toolResult, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { GEMINI, GPT, shape } from "./conversation.js";
import { problemsOf } from "./providers.js";

/** A session whose second reply was broken off inside a batch of calls. */
async function brokenOff(): Promise<SessionContext> {
  const store = await openStore({ path: ":memory:" });
  try {
    const session = await store.createSession({});
    await session.append(userMessage("What is in here?"));
    const call = (id: string) => ({ type: "toolCall" as const, id, name: "read", arguments: { path: `${id}.ts` } });
    await session.append(assistantMessage([{ type: "text", text: "Let me look" }, call("c1"), call("c2")]));
    await session.append(toolResult("c2", "export {}", { toolName: "read" }));
    await session.append(userMessage("And?"));
    return await session.context();
  } finally {
    await store.close();
  }
}

describe("the context of a session", () => {
  test("has a result for each call already: the very same messages are sent", async () => {
    const context = await brokenOff();
    const shaped = shape(context, { model: GPT });
    expect(shaped.messages).toBe(context.messages);
    expect(problemsOf(shaped.messages)).toEqual([]);
  });

  test("loses the call that was closed for Gemini, with the result that the session made up", async () => {
    const context = await brokenOff();
    const shaped = shape(context, { model: GEMINI });
    expect(shaped.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "user"]);
    expect(shaped.messages[1]).toMatchObject({ content: [{ type: "text" }, { type: "toolCall", id: "c2" }] });
    expect(shaped.changes).toMatchObject([{ kind: "dropped-calls", calls: 1 }]);
    expect(problemsOf(shaped.messages)).toEqual([]);
  });

  test("is not changed by what is done to a request: the session gives the same messages again", async () => {
    const context = await brokenOff();
    const copy = structuredClone(context.messages);
    shape(context, { model: GEMINI, limit: 30 });
    expect(context.messages).toEqual(copy);
  });
});
