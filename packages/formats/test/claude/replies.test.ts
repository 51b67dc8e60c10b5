import { describe, expect, test } from "vitest";
import { call, progress, reply, result, text, user } from "./claude-file.js";
import { branchPoints, importLines, messageOf, pathOf, payloadOf } from "./imported.js";

describe("the lines of one reply", () => {
  test("become one entry with the blocks in the order of the file, under the uuid of the first line", () => {
    const session = importLines([
      user("u1", null, "go"),
      reply("a1", "u1", "m1", [{ type: "thinking", thinking: "hm", signature: "sig" }]),
      reply("a2", "a1", "m1", [text("here")]),
      reply("a3", "a2", "m1", [call("c1")]),
      user("u2", "a3", "thanks"),
    ]);
    expect(pathOf(session)).toEqual(["u1", "a1", "u2"]);
    expect(messageOf(session, "a1").content).toEqual([
      { type: "thinking", thinking: "hm", thinkingSignature: "sig" },
      { type: "text", text: "here" },
      { type: "toolCall", id: "c1", name: "Read", arguments: { file_path: "c1.ts" } },
    ]);
  });

  test("are found again among progress and results, and the reply comes before every result of its calls", () => {
    const session = importLines([
      user("u1", null, "go"),
      reply("a1", "u1", "m1", [call("c1")]),
      progress("p1", "a1"),
      result("r1", "a1", "c1"),
      reply("a2", "a1", "m1", [call("c2")]),
      result("r2", "a2", "c2"),
      reply("b1", "r2", "m2", [text("done")]),
    ]);
    expect(pathOf(session)).toEqual(["u1", "a1", "p1", "r1", "r2", "b1"]);
    expect(messageOf(session, "a1").content).toHaveLength(2);
  });

  test("may hang on a result of the same reply", () => {
    const session = importLines([
      user("u1", null, "go"),
      reply("a1", "u1", "m1", [call("c1")]),
      result("r1", "a1", "c1"),
      reply("a2", "r1", "m1", [call("c2")]),
      result("r2", "a2", "c2"),
    ]);
    expect(pathOf(session)).toEqual(["u1", "a1", "r1", "r2"]);
  });

  test("may stand side by side under one prompt", () => {
    const session = importLines([
      user("u1", null, "go"),
      reply("a1", "u1", "m1", [text("a")]),
      reply("a2", "u1", "m1", [text("b")]),
      user("u2", "a2", "ok"),
    ]);
    expect(pathOf(session)).toEqual(["u1", "a1", "u2"]);
    expect(branchPoints(session).size).toBe(0);
  });

  test("are told apart by their request", () => {
    const session = importLines([
      user("u1", null, "go"),
      reply("a1", "u1", "same", [call("c1")], {}, { requestId: "q1" }),
      result("r1", "a1", "c1"),
      reply("a2", "r1", "same", [text("b")], {}, { requestId: "q2" }),
    ]);
    expect(pathOf(session)).toEqual(["u1", "a1", "r1", "a2"]);
  });

  test("are told apart where a proxy gives every reply the same id", () => {
    const session = importLines([
      user("u1", null, "one"),
      reply("a1", "u1", "same", [text("1")]),
      user("u2", "a1", "two"),
      reply("a2", "u2", "same", [text("2")]),
    ]);
    expect(pathOf(session)).toEqual(["u1", "a1", "u2", "a2"]);
  });

  test("belong together although a line between them is lost", () => {
    const session = importLines([
      user("u1", null, "go"),
      reply("a1", "u1", "m1", [text("start ")]),
      "{broken",
      reply("a3", "a2", "m1", [text("end")]),
    ]);
    expect(pathOf(session)).toEqual(["u1", "a1"]);
    expect(messageOf(session, "a1").content).toHaveLength(2);
  });

  test("make one call of a call that is written twice", () => {
    const session = importLines([
      user("u1", null, "go"),
      reply("a1", "u1", "m1", [call("c1")]),
      reply("a2", "a1", "m1", [call("c1"), call("c2")]),
    ]);
    expect(messageOf(session, "a1").content).toMatchObject([{ id: "c1" }, { id: "c2" }]);
  });
});

describe("the usage of a reply", () => {
  test("is counted once: the largest of each figure, with the fields that are not ours", () => {
    const early = { input_tokens: 10, output_tokens: 3, cache_read_input_tokens: 7, service_tier: null };
    const late = { input_tokens: 10, output_tokens: 90, cache_creation_input_tokens: 5, service_tier: "standard" };
    const session = importLines([
      user("u1", null, "go"),
      reply("a1", "u1", "m1", [text("a")], { usage: early }),
      reply("a2", "a1", "m1", [text("b")], { usage: late }),
    ]);
    expect(messageOf(session, "a1")).toMatchObject({
      usage: { input: 10, output: 90, cacheRead: 7, cacheWrite: 5, service_tier: "standard" },
    });
  });

  test("has the cost that the oldest versions wrote", () => {
    const session = importLines([user("u1", null, "go"), reply("a1", "u1", "m1", [text("a")], {}, { costUSD: 0.25 })]);
    expect(messageOf(session, "a1")).toMatchObject({ usage: { cost: { total: 0.25 } } });
  });
});

describe("how a reply ended", () => {
  test.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["max_tokens", "length"],
    ["tool_use", "toolUse"],
    ["refusal", "error"],
    ["pause_turn", "pause_turn"],
  ])("%s is kept as %s", (theirs, ours) => {
    const session = importLines([user("u1", null, "go"), reply("a1", "u1", "m1", [text("a")], { stop_reason: theirs })]);
    expect(messageOf(session, "a1")).toMatchObject({ stopReason: ours, provider: "anthropic", model: "claude-x", responseId: "m1" });
  });

  test("stays out while it is not known", () => {
    const session = importLines([user("u1", null, "go"), reply("a1", "u1", "m1", [text("a")])]);
    expect(messageOf(session, "a1")).not.toHaveProperty("stopReason");
  });

  test("is an error with the text that was shown, where the provider refused", () => {
    const failed = reply(
      "a1",
      "u1",
      "m1",
      [text("API Error: 401")],
      { model: "<synthetic>", stop_reason: "stop_sequence", usage: { input_tokens: 0, output_tokens: 0 } },
      { isApiErrorMessage: true },
    );
    const message = messageOf(importLines([user("u1", null, "go"), failed]), "a1");
    expect(message).toMatchObject({
      stopReason: "error",
      errorMessage: "API Error: 401",
      content: [{ type: "text", text: "API Error: 401" }],
    });
    expect(message).not.toHaveProperty("model");
    // No request was made: no use is recorded, which is not a use of 0.
    expect(message).not.toHaveProperty("usage");
  });
});

test("what a record says besides its message is kept under `claude`, the git branch only where it changed", () => {
  const session = importLines([
    user("u1", null, "go", { permissionMode: "plan" }),
    reply("a1", "u1", "m1", [text("a")], {}, { requestId: "req_1", gitBranch: "feature" }),
  ]);
  expect(payloadOf(session, "u1")).toMatchObject({ claude: { permissionMode: "plan" } });
  expect(payloadOf(session, "a1")).toMatchObject({ claude: { requestId: "req_1", gitBranch: "feature" } });
  expect(branchPoints(session).size).toBe(0);
});
