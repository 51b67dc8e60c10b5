import { describe, expect, test } from "vitest";
import type { DanglingCalls } from "../../../src/context/tool-pairs.js";
import { assistantMessage } from "../../../src/entry/builders.js";
import type { Session } from "../../../src/session/session.js";
import { contextNames, grow, plant } from "../../world/grow.js";

/** The messages in short: entries, `call!` for a result that was made up. */
async function shown(session: Session, danglingCalls: DanglingCalls = "close"): Promise<string> {
  const { messages, entries } = await session.context({ danglingCalls });
  return messages.map((one, at) => (one.role === "toolResult" && one["synthetic"] === true ? `${one.toolCallId}!` : entries[at])).join(" ");
}

describe("a tool call and its result", () => {
  test("stand behind each other: results in the order of the calls, whatever their order of arrival", async () => {
    const { session } = await grow("u1 k1:k1,k2,k3 r3:k3 r1:k1 r2:k2 a1");
    expect(await shown(session)).toBe("u1 k1 r1 r2 r3 a1");
  });

  test("are brought together where a person spoke in between", async () => {
    const { session } = await grow("u1 k1 u2 r1:k1 a1");
    expect(await shown(session)).toBe("u1 k1 r1 u2 a1");
  });

  test("at a leaf between call and result, a result that says so closes the call", async () => {
    const { session } = await grow("u1 k1 r1:k1 a1 @k1");
    const { messages, entries } = await session.context();
    expect(messages.at(-1)).toMatchObject({ role: "toolResult", toolCallId: "k1", toolName: "bash", isError: true, synthetic: true });
    expect(entries).toEqual(["u1", "k1", "k1"]);
  });

  test("at a leaf inside a batch, the results that are there stay", async () => {
    const { session } = await grow("u1 k1:k1,k2,k3 r2:k2");
    expect(await shown(session)).toBe("u1 k1 k1! r2 k3!");
    expect(await shown(session, "drop")).toBe("u1 k1 r2");
  });

  test("a dropped call leaves what else the reply said, and a reply of nothing else is left out", async () => {
    const { session } = await grow("u1 k1");
    expect(await shown(session, "drop")).toBe("u1");
    const both = [{ type: "text", text: "Let me look" } as const, { type: "toolCall", id: "c", name: "read", arguments: {} } as const];
    await session.append({ ...assistantMessage(both), id: "a1" });
    const { messages } = await session.context({ danglingCalls: "drop" });
    expect(messages.at(-1)).toMatchObject({ content: [{ type: "text", text: "Let me look" }] });
  });

  test("a result without its call is left out", async () => {
    const { session } = await grow("u1 r1:k9 a1");
    expect(await shown(session)).toBe("u1 a1");
  });

  test("a result before its call is none of it", async () => {
    const { session } = await grow("u1 r1:k1 k1 a1");
    expect(await shown(session)).toBe("u1 k1 k1! a1");
  });

  test("the second result of a call is left out", async () => {
    const { session } = await grow("k1 r1:k1 r2:k1 a1");
    expect(await shown(session)).toBe("k1 r1 a1");
  });

  test("an id that occurs again belongs to the nearest call before", async () => {
    const { session } = await grow("k1:c r1:c k2:c r2:c a1");
    expect(await shown(session)).toBe("k1 r1 k2 r2 a1");
    await plant(session, "@r1 k3:c");
    expect(await shown(session)).toBe("k1 r1 k3 c!");
  });

  test("of a reply that uses one id twice: each call has a result of its own, in the order of arrival", async () => {
    const { session } = await grow("u1 k1:c,c r1:c");
    expect(await shown(session)).toBe("u1 k1 r1 c!");
    await plant(session, "r2:c r3:c a1");
    expect(await shown(session)).toBe("u1 k1 r1 r2 a1");
  });

  test("go together when the call is omitted, and the call is closed when the result is", async () => {
    const { session } = await grow("u1 k1:k1,k2 r1:k1 r2:k2 a1 x1:k1");
    expect(await shown(session)).toBe("u1 a1");
    await plant(session, "@a1 x2:r1");
    expect(await shown(session)).toBe("u1 k1 k1! r2 a1");
  });

  test("are valid on each branch, where each has a result of its own", async () => {
    const { session } = await grow("u1 k1 r1:k1 a1 @k1 r2:k1 a2");
    expect(await contextNames(session)).toBe("u1 k1 r2 a2");
    expect(await contextNames(session, "a1")).toBe("u1 k1 r1 a1");
  });

  test("in right order are given as they are", async () => {
    const { session } = await grow("u1 k1:k1,k2 r1:k1 r2:k2 a1");
    const { messages } = await session.context();
    expect(messages).toHaveLength(5);
    expect(messages.every((message) => !("synthetic" in message))).toBe(true);
  });
});
