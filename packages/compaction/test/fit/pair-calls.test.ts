import { describe, expect, test } from "vitest";
import { GEMINI, GPT, messageAt, names, shape, talk } from "./conversation.js";

describe("a result without its call", () => {
  test("is left out, also of a request that fits", () => {
    const shaped = shape("u1 r1(c9) a1");
    expect(names(shaped)).toBe("u1 a1");
    expect(shaped.changes).toEqual([{ kind: "removed-messages", pass: "orphans", messages: 1, tokens: 10 }]);
    expect(shaped.totalTokens).toBe(20);
  });

  test("is a result before its call, or a second one", () => {
    expect(names(shape("u1 r1(c1) k1(c1) r2(c1) r3(c1) a1"))).toBe("u1 k1 r2 a1");
  });

  test("is left out also where the guard is off", () => {
    expect(names(shape("u1 r1(c9)", { settings: { fit: "off" } }))).toBe("u1");
  });
});

describe("results", () => {
  test("that follow another message are moved behind their calls, in the order of the calls", () => {
    const shaped = shape("u1 k1(c1,c2) u2 r2(c2) r1(c1) a1");
    expect(names(shaped)).toBe("u1 k1 r1 r2 u2 a1");
    expect(shaped.totalTokens).toBe(60);
    expect(shaped.changes).toMatchObject([{ kind: "moved-results" }]);
  });

  test("belong to the latest call of their id, since servers use ids again", () => {
    const conversation = talk("u1 k1(c1) r1(c1) k2(c1) r2(c1) k3(c1)");
    const shaped = shape(conversation);
    expect(names(shaped)).toBe("u1 k1 r1 k2 r2 k3 c1!");
  });
});

describe("a call without a result", () => {
  test("gets a synthetic one", () => {
    const shaped = shape("u1 k1(c1,c2) r2(c2)", { model: GPT });
    expect(names(shaped)).toBe("u1 k1 c1! r2");
    expect(shaped.entries).toEqual(["u1", "k1", "k1", "r2"]);
    expect(shaped.messages[2]).toMatchObject({ role: "toolResult", toolName: "bash", isError: true });
    // "No result was recorded for this call." has 37 characters.
    expect(shaped.changes).toEqual([{ kind: "closed-calls", calls: 1, tokens: 37 }]);
    expect(shaped.totalTokens).toBe(67);
  });

  test("is dropped for Gemini; the rest of the reply stays", () => {
    const shaped = shape("u1 k1(c1,c2) r2(c2)", { model: GEMINI });
    expect(names(shaped)).toBe("u1 k1 r2");
    expect(messageAt(shaped, "k1")).toMatchObject({ content: [{ type: "text" }, { type: "toolCall", id: "c2" }] });
    expect(shaped.changes).toEqual([{ kind: "dropped-calls", calls: 1, tokens: 0 }]);
  });

  test("is dropped for Gemini also where the session has closed it already", () => {
    const closed = shape("u1 k1(c1) u2");
    expect(names(closed)).toBe("u1 k1 c1! u2");
    const shaped = shape(closed, { model: GEMINI });
    expect(names(shaped)).toBe("u1 k1 u2");
    expect(shaped.changes).toEqual([{ kind: "dropped-calls", calls: 1, tokens: 37 }]);
    expect(shaped.totalTokens).toBe(30);
  });

  test("takes a reply along that only thought and called", () => {
    const reply = {
      role: "assistant" as const,
      content: [
        { type: "thinking" as const, thinking: "hm" },
        { type: "toolCall" as const, id: "c1", name: "bash", arguments: {} },
      ],
    };
    const { messages, entries } = talk("u1 u2");
    const shaped = shape({ messages: [...messages, reply], entries: [...entries, "k1"] }, { settings: { danglingCalls: "drop" } });
    expect(names(shaped)).toBe("u1 u2");
  });

  test.each([
    ["close", GEMINI, "u1 k1 c1!"],
    ["drop", GPT, "u1 k1"],
    ["auto", GPT, "u1 k1 c1!"],
    ["auto", { provider: "google-vertex", modelId: "claude-sonnet-4-5" }, "u1 k1 c1!"],
    ["auto", { provider: "openrouter", modelId: "google/gemini-2.5-pro" }, "u1 k1"],
    ["auto", null, "u1 k1 c1!"],
  ] as const)("with the setting %s and the model %o: %s", (danglingCalls, model, expected) => {
    expect(names(shape("u1 k1(c1)", { model, settings: { danglingCalls } }))).toBe(expected);
  });
});
