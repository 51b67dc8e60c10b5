import { describe, expect, test } from "vitest";
import { names, shape, talk } from "./conversation.js";

// Eleven messages of 10 tokens: 110. The target is 0.95 of the limit.
const TALK = "u1 a1 u2 k2(c1) r2(c1) a2 u3 k3(c2) r3(c2) k4(c3) r4(c3)";

describe("a request over the limit, in Copilot CLI's passes", () => {
  test("is left alone while it fits: the very same arrays come back", () => {
    const conversation = talk(TALK);
    const shaped = shape(conversation, { limit: 110 });
    expect(shaped.messages).toBe(conversation.messages);
    expect(shaped.entries).toBe(conversation.entries);
    expect(shaped).toMatchObject({ totalTokens: 110, fits: true, changes: [] });
  });

  test("loses replies before the newest prompt with their results first, oldest first, and stops at the target", () => {
    const shaped = shape(TALK, { limit: 100 });
    expect(names(shaped)).toBe("u1 u2 a2 u3 k3 r3 k4 r4");
    expect(shaped.changes).toEqual([{ kind: "removed-messages", pass: "old-replies", messages: 3, tokens: 30 }]);
    expect(shaped).toMatchObject({ totalTokens: 80, fits: true });
  });

  test("is done when a pass ends within the limit, though not at the target", () => {
    const shaped = shape(TALK, { limit: 70 });
    expect(names(shaped)).toBe("u1 u2 u3 k3 r3 k4 r4");
    expect(shaped.totalTokens).toBe(70);
  });

  test("then drops user messages before the newest prompt", () => {
    const shaped = shape(TALK, { limit: 60 });
    expect(names(shaped)).toBe("u3 k3 r3 k4 r4");
    expect(shaped.changes).toEqual([
      { kind: "removed-messages", pass: "old-replies", messages: 4, tokens: 40 },
      { kind: "removed-messages", pass: "old-messages", messages: 2, tokens: 20 },
    ]);
  });

  test("then loses rounds behind the newest prompt, the oldest first, never the newest", () => {
    expect(names(shape(TALK, { limit: 40 }))).toBe("u3 k4 r4");
    expect(names(shape(`${TALK} k5(c4) r5(c4)`, { limit: 55 }))).toBe("u3 k4 r4 k5 r5");
  });

  test("counts the instructions: what they take, the messages cannot have", () => {
    expect(names(shape(TALK, { limit: 110, system: 10 }))).toBe(names(shape(TALK, { limit: 100 })));
    expect(shape(TALK, { limit: 110, system: 10 }).totalTokens).toBe(80);
  });

  test("aims at the share that is set", () => {
    expect(names(shape(TALK, { limit: 100, settings: { targetShare: 1 } }))).toBe("u1 u2 k2 r2 a2 u3 k3 r3 k4 r4");
    expect(names(shape(TALK, { limit: 100, settings: { targetShare: 0.6 } }))).toBe("u1 u2 u3 k3 r3 k4 r4");
    // Exactly the share is too much.
    expect(names(shape(TALK, { limit: 100, settings: { targetShare: 0.81 } }))).toBe("u1 u2 a2 u3 k3 r3 k4 r4");
    expect(names(shape(TALK, { limit: 100, settings: { targetShare: 0.8 } }))).toBe("u1 u2 u3 k3 r3 k4 r4");
  });

  test("keeps calls of protected tools in the first pass and in the third, not in the second", () => {
    const settings = { protectedTools: ["skill"] };
    const old = "u1 k1(c1@skill) r1(c1) a1 u2 a2 u3";
    expect(names(shape(old, { limit: 60, settings }))).toBe("u1 k1 r1 u2 u3");
    expect(names(shape(old, { limit: 45, settings }))).toBe("k1 r1 u2 u3");
    expect(names(shape(old, { limit: 32, settings }))).toBe("u2 u3");
    const turn = "u1 k1(c1@skill) r1(c1) k2(c2) r2(c2) k3(c3) r3(c3)";
    expect(names(shape(turn, { limit: 60, settings }))).toBe("u1 k1 r1 k3 r3");
  });

  test("keeps a reply that calls a protected tool among others", () => {
    const settings = { protectedTools: ["skill"] };
    expect(names(shape("u1 k1(c1,c2@skill) r1(c1) r2(c2) a1 u2", { limit: 55, settings }))).toBe("u1 k1 r1 r2 u2");
  });

  test("keeps summaries after all other old messages are dropped", () => {
    const shaped = shape("s u1 a1 b u2 a2 u3 k3(c1) r3(c1)", { limit: 60 });
    expect(names(shaped)).toBe("s b u3 k3 r3");
    expect(shaped.changes).toEqual([
      { kind: "removed-messages", pass: "old-replies", messages: 2, tokens: 20 },
      { kind: "removed-messages", pass: "old-messages", messages: 2, tokens: 20 },
    ]);
  });

  test("takes the summary for the prompt, where a compaction inside a turn left none", () => {
    expect(names(shape("s k1(c1) r1(c1) k2(c2) r2(c2)", { limit: 35 }))).toBe("s k2 r2");
  });
});

describe("the guard that is off", () => {
  test("still lets no request be larger than its limit, which is then the window itself", () => {
    expect(shape(TALK, { limit: 50, settings: { fit: "off" } })).toEqual(shape(TALK, { limit: 50 }));
  });
});

describe("a request over the limit, by VS Code's priorities", () => {
  const settings = { fit: "byPriority" } as const;

  test("drops history first, oldest first, whatever the role", () => {
    const shaped = shape(TALK, { limit: 100, settings });
    expect(names(shaped)).toBe("u2 k2 r2 a2 u3 k3 r3 k4 r4");
    expect(shaped.changes).toEqual([{ kind: "removed-messages", pass: "priority", messages: 2, tokens: 20 }]);
  });

  test("loses calls and results together", () => {
    expect(names(shape(TALK, { limit: 80, settings }))).toBe("a2 u3 k3 r3 k4 r4");
  });

  test("then loses rounds of this turn, never the prompt and the newest round", () => {
    expect(names(shape(TALK, { limit: 45, settings }))).toBe("u3 k4 r4");
  });

  test("loses protected calls after the others of their priority", () => {
    const guarded = { ...settings, protectedTools: ["skill"] };
    const conversation = "u1 k1(c1@skill) r1(c1) a1 u2 k2(c2) r2(c2)";
    expect(names(shape(conversation, { limit: 55, settings: guarded }))).toBe("k1 r1 u2 k2 r2");
    expect(names(shape(conversation, { limit: 45, settings: guarded }))).toBe("u2 k2 r2");
  });

  test("keeps summaries", () => {
    expect(names(shape("s u1 a1 u2 a2", { limit: 32, settings }))).toBe("s u2 a2");
  });
});
