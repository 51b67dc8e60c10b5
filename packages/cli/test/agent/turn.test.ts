import { existsSync, mkdirSync, rmdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { drop, fail, gate, hang, overflow, raw, text, trickle } from "../../../compaction/test/model/answer.js";
import { chunk, event } from "../../../compaction/test/model/chat-frames.js";
import { findOpenQuestion } from "../../src/agent/turn-branch.js";
import { anthropicMessage, calls, stream } from "./model-answers.js";
import { Shell } from "./shell.js";

describe("a reply", () => {
  test("streams in, and is stored with model, provider, usage and the reason of its end", async () => {
    const shell = await Shell.open();
    shell.server.reply(text("It fails on tabs."));
    const { result, events } = await shell.turn("Why does it fail?");
    expect(events.filter(({ kind }) => kind === "text").length).toBeGreaterThan(1);
    expect(events.map((one) => (one.kind === "text" ? one.delta : "")).join("")).toBe("It fails on tabs.");
    expect(result).toMatchObject({ kind: "done", stopReason: "stop", rounds: 1, entryId: shell.session.leafId });
    expect(await shell.messages()).toMatchObject([
      { role: "user", content: "Why does it fail?" },
      {
        role: "assistant",
        content: [{ type: "text", text: "It fails on tabs." }],
        provider: "openai-compatible",
        model: "test-model",
        stopReason: "stop",
        usage: { input: expect.any(Number), output: 5 },
      },
    ]);
    expect(await shell.problems()).toEqual([]);
  });

  test("brings its thoughts along, apart from its text", async () => {
    const shell = await Shell.open();
    shell.server.reply(text("42.", { reasoning: "Six times seven." }));
    const { events } = await shell.turn("What is it?", { thinking: "low" });
    expect(events.map((one) => (one.kind === "thinking" ? one.delta : "")).join("")).toBe("Six times seven.");
    expect((await shell.messages())[1]).toMatchObject({
      content: [
        { type: "thinking", thinking: "Six times seven." },
        { type: "text", text: "42." },
      ],
    });
    expect(shell.server.requests[0]?.body).toMatchObject({ reasoning_effort: "low" });
  });

  test("is requested only after the prompt is on disk", async () => {
    const shell = await Shell.open();
    const entered = gate();
    shell.server.reply(text("Yes.", { when: entered.opened }));
    const turn = shell.turn("Is this kept?");
    await shell.server.request(0);
    const seen = await (await shell.other()).path();
    entered.open();
    await turn;
    expect(seen).toMatchObject([{ type: "message", message: { role: "user", content: "Is this kept?" } }]);
  });

  test("answers the whole conversation, with the session's own instructions and no tools that are off", async () => {
    const shell = await Shell.open();
    await shell.session.append({ type: "message", message: { role: "system", content: "Be brief." } });
    await shell.turn("One");
    await shell.turn("Two");
    const body = shell.server.requests[1]?.body;
    expect(body?.messages?.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
    expect(body?.messages?.[0]?.content).toBe("Be brief.");
    expect(body?.["tools"]).toBeUndefined();
  });
});

describe("a reply that calls tools", () => {
  test("gets their results, each stored behind its call, until the model calls no more", async () => {
    const shell = await Shell.open();
    shell.server.reply(
      calls([{ name: "write", input: { path: "a.txt", content: "one" } }], { said: "I write." }),
      calls([{ id: "call_2", name: "read", input: { path: "a.txt" } }]),
      text("It says one."),
    );
    const { result, events, asked } = await shell.turn("Write and read", { permissions: { read: "allow", write: "ask" } });
    expect(result).toMatchObject({ kind: "done", rounds: 3 });
    expect(asked).toMatchObject([{ id: "call_1", name: "write", input: { path: "a.txt" }, isOutside: false }]);
    expect((await shell.messages()).map((message) => (message.role === "toolResult" ? message.content : message.role))).toEqual([
      "user",
      "assistant",
      [{ type: "text", text: "Created a.txt: 3 bytes." }],
      "assistant",
      [{ type: "text", text: "one" }],
      "assistant",
    ]);
    expect(events.filter(({ kind }) => kind === "tool" || kind === "tool-result").map(({ kind }) => kind)).toEqual([
      "tool",
      "tool-result",
      "tool",
      "tool-result",
    ]);
    expect(shell.server.requests[2]?.body.messages?.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
      "assistant",
      "tool",
    ]);
    expect(await shell.problems()).toEqual([]);
  });

  test("is offered only the tools that are not off, and given the working directory", async () => {
    const shell = await Shell.open();
    await shell.turn("Hello", { permissions: { read: "ask", bash: "off" } });
    const body = shell.server.requests[0]?.body;
    expect(body?.["tools"]).toMatchObject([{ type: "function", function: { name: "read", parameters: { required: ["path"] } } }]);
    expect(body?.messages?.[0]).toMatchObject({ role: "system", content: expect.stringContaining(shell.folder) });
    expect((await shell.messages()).map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  test("stores the denial as the result of the call, which does not run", async () => {
    const shell = await Shell.open();
    shell.server.reply(calls([{ name: "bash", input: { command: "touch made" } }]), text("What do you want instead?"));
    await shell.turn("Make it", { permissions: { bash: "ask" }, answer: "no" });
    expect((await shell.messages())[2]).toMatchObject({
      role: "toolResult",
      isError: true,
      content: [{ text: expect.stringContaining("user denied") }],
    });
    expect(existsSync(join(shell.folder, "made"))).toBe(false);
    expect(await shell.problems()).toEqual([]);
  });

  test("is confirmed once after the answer always, for this tool only", async () => {
    const shell = await Shell.open();
    const two = [
      { id: "a", name: "bash", input: { command: "true" } },
      { id: "b", name: "bash", input: { command: "true" } },
      { id: "c", name: "read", input: { path: "." } },
    ];
    shell.server.reply(calls(two), text("Done."));
    const { asked } = await shell.turn("Go", { permissions: { bash: "ask", read: "ask" }, answer: "always" });
    expect(asked.map(({ id }) => id)).toEqual(["a", "c"]);
  });

  test("must be confirmed if an allowed tool uses a path outside the folder", async () => {
    const shell = await Shell.open();
    shell.server.reply(calls([{ name: "read", input: { path: "/etc/hostname" } }]), text("No then."));
    const { asked } = await shell.turn("Read it", { permissions: { read: "allow" }, answer: "no" });
    expect(asked).toMatchObject([{ name: "read", isOutside: true }]);
  });

  test("must be confirmed for a link whose target does not exist, and creates nothing outside", async () => {
    const shell = await Shell.open();
    const [target, cwd] = [join(shell.folder, "outside.txt"), join(shell.folder, "work")];
    mkdirSync(cwd);
    symlinkSync("../outside.txt", join(cwd, "link.txt"));
    shell.server.reply(calls([{ name: "write", input: { path: "link.txt", content: "x" } }]), text("No then."));
    const { asked } = await shell.turn("Write", { permissions: { write: "allow" }, answer: "no", cwd });
    expect(asked).toMatchObject([{ name: "write", isOutside: true, target }]);
    expect(existsSync(target)).toBe(false);
  });

  test("must be confirmed for each call outside the folder, also after the answer always", async () => {
    const shell = await Shell.open();
    const read = (id: string, path: string) => ({ id, name: "read", input: { path } });
    const paths = [read("in", "."), read("out", ".."), read("out-again", ".."), read("in-again", ".")];
    shell.server.reply(calls(paths), text("Done."));
    const { asked } = await shell.turn("Go", { permissions: { read: "ask" }, answer: "always" });
    expect(asked.map(({ id, isOutside }) => [id, isOutside])).toEqual([
      ["in", false],
      ["out", true],
      ["out-again", true],
    ]);
  });

  test("uses the confirmed file although a link replaced it meanwhile", async () => {
    const shell = await Shell.open();
    const cwd = join(shell.folder, "work");
    mkdirSync(join(cwd, "sub"), { recursive: true });
    shell.server.reply(calls([{ name: "write", input: { path: "sub/new/a.txt", content: "x" } }]), text("I see."));
    const answer = async () => {
      rmdirSync(join(cwd, "sub"));
      symlinkSync("..", join(cwd, "sub"));
      return "yes" as const;
    };
    await shell.turn("Write", { permissions: { write: "ask" }, answer, cwd });
    expect((await shell.messages())[2]).toMatchObject({ role: "toolResult", isError: true });
    expect(existsSync(join(shell.folder, "new"))).toBe(false);
  });

  test.each([
    ["a tool that there is not", { name: "fly", input: {} }, "There is no tool fly. Tools: read."],
    ["arguments that are no JSON", { name: "read", input: '{"path": ' }, "not a JSON object"],
    ["arguments of another type", { name: "read", input: { path: 7 } }, "The argument path is missing or not a string"],
    ["a tool that is off", { name: "bash", input: { command: "true" } }, "There is no tool bash"],
  ])("is told of %s, and goes on", async (_case, call, says) => {
    const shell = await Shell.open();
    shell.server.reply(calls([call]), text("I see."));
    const { result } = await shell.turn("Go", { permissions: { read: "allow" } });
    expect((await shell.messages())[2]).toMatchObject({ isError: true, content: [{ text: expect.stringContaining(says) }] });
    expect(result.kind).toBe("done");
    expect(await shell.problems()).toEqual([]);
  });

  test("under one id gives each of them its own result", async () => {
    const shell = await Shell.open();
    const same = { id: "0", name: "read" };
    shell.server.reply(
      calls([
        { ...same, input: { path: "none" } },
        { ...same, input: { path: "." } },
      ]),
      text("Read."),
    );
    await shell.turn("Go", { permissions: { read: "allow" } });
    expect((await shell.messages()).slice(2, 4)).toMatchObject([{ isError: true }, { isError: false }]);
    const sent = shell.server.requests[1]?.body.messages ?? [];
    expect(new Set(sent.filter(({ role }) => role === "tool").map((message) => JSON.stringify(message))).size).toBe(2);
    expect(await shell.problems()).toEqual([]);
  });

  test("and was cut off at its limit runs none of them", async () => {
    const shell = await Shell.open();
    shell.server.reply(calls([{ name: "write", input: { path: "half", content: "ha" } }], { finish: "length" }), text("In pieces."));
    await shell.turn("Write", { permissions: { write: "allow" } });
    expect((await shell.messages())[2]).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("reached its token limit") }],
    });
  });

  test("many times warns of nothing on the screen", async () => {
    const shell = await Shell.open();
    const warnings: Error[] = [];
    const hear = (warning: Error) => warnings.push(warning);
    process.on("warning", hear);
    onTestFinished(() => void process.off("warning", hear));
    const rounds = Array.from({ length: 20 }, () => calls([{ name: "bash", input: { command: "true" } }]));
    shell.server.reply(...rounds, text("Done."));
    expect((await shell.turn("Go", { permissions: { bash: "ask" } })).result).toMatchObject({ kind: "done", rounds: 21 });
    // Warnings are told in the next tick.
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual([]);
  });

  test("for ever is ended after the last round, with every result stored", async () => {
    const shell = await Shell.open();
    shell.server.otherwise(calls([{ name: "read", input: { path: "." } }]));
    const { result } = await shell.turn("Go", { permissions: { read: "allow" }, maxRounds: 3 });
    expect(result).toEqual({ kind: "too-many-rounds", rounds: 3 });
    expect(shell.server.requests).toHaveLength(3);
    expect(await shell.problems()).toEqual([]);
  });
});

describe("Esc", () => {
  test("stores the content received so far, and returns that the turn was stopped", async () => {
    const shell = await Shell.open();
    const never = gate();
    shell.server.reply(
      trickle(
        (async function* () {
          yield "The first half";
          await never.opened;
        })(),
      ),
    );
    const { result } = await shell.turn("Go on", { heard: ({ kind }, stop) => kind === "text" && stop() });
    expect(result).toEqual({ kind: "stopped", entryId: shell.session.leafId });
    expect((await shell.messages())[1]).toMatchObject({ content: [{ text: "The first half" }], stopReason: "aborted" });
    expect(await shell.problems()).toEqual([]);
    never.open();
  });

  test("before anything came keeps the prompt and adds nothing", async () => {
    const shell = await Shell.open();
    shell.server.reply(hang());
    const { result } = await shell.turn("Go on", { heard: ({ kind }, stop) => kind === "request" && stop() });
    expect(result).toEqual({ kind: "stopped", entryId: null });
    expect((await shell.messages()).map(({ role }) => role)).toEqual(["user"]);
  });

  test("ends the wait before a request is sent again", async () => {
    const shell = await Shell.open();
    shell.server.otherwise(fail(503, "busy", { "retry-after": "50" }));
    let stopNow: () => void = () => undefined;
    const turn = shell.turn("Go on", {
      retries: 2,
      heard: (_event, stop) => {
        stopNow = stop;
      },
    });
    await shell.server.request(0);
    stopNow();
    expect((await turn).result).toEqual({ kind: "stopped", entryId: null });
  });

  test("while a command runs ends it, and the calls after it have results that say so", async () => {
    const shell = await Shell.open();
    const two = [
      { id: "a", name: "bash", input: { command: "echo begun; sleep 60" } },
      { id: "b", name: "bash", input: { command: "echo never" } },
    ];
    shell.server.reply(calls(two));
    const { result } = await shell.turn("Go", {
      permissions: { bash: "allow" },
      heard: (one, stop) => one.kind === "tool" && one.id === "a" && setImmediate(stop),
    });
    expect(result.kind).toBe("stopped");
    expect((await shell.messages()).slice(2)).toMatchObject([
      { toolCallId: "a", isError: true, content: [{ text: expect.stringContaining("stopped by the user") }] },
      { toolCallId: "b", isError: true, content: [{ text: expect.stringContaining("stopped the turn") }] },
    ]);
    expect(await shell.problems()).toEqual([]);
  });

  test("while a question is open does not wait for the answer", async () => {
    const shell = await Shell.open();
    shell.server.reply(calls([{ name: "bash", input: { command: "true" } }]));
    let stopNow: () => void = () => undefined;
    const { result } = await shell.turn("Go", {
      permissions: { bash: "ask" },
      heard: (_event, stop) => {
        stopNow = stop;
      },
      answer: () => {
        stopNow();
        return new Promise(() => undefined);
      },
    });
    expect(result.kind).toBe("stopped");
    expect(await shell.problems()).toEqual([]);
  });
});

describe("a model that cannot be reached, or returns invalid replies", () => {
  test.each([
    ["reset", /^The connection broke in the middle of the reply(: .*(ECONNRESET|closed|hang up))?$/],
    ["end", /without a finish reason|middle of the answer/],
  ] as const)("keeps the half of a reply whose connection dropped (%s)", async (how, says) => {
    const shell = await Shell.open();
    shell.server.reply(drop("The first half", how));
    const { result } = await shell.turn("Go on");
    expect(result).toMatchObject({ kind: "failed", code: null, unstored: null, message: expect.stringMatching(says) });
    expect((await shell.messages())[1]).toMatchObject({
      content: [{ text: "The first half" }],
      stopReason: "error",
      errorMessage: expect.stringMatching(says),
    });
    expect(await shell.problems()).toEqual([]);
  });

  test.each([
    ["500", fail(500, { error: { message: "out of memory" } }), "HTTP 500: out of memory"],
    ["502 with a page", fail(502, "<html><h1>nginx</h1></html>"), "HTTP 502: Bad Gateway: nginx"],
    ["429", fail(429, { error: { message: "slow down" } }), "HTTP 429: slow down"],
    ["401 that repeats the key", fail(401, { error: { message: "bad key sk-test-1234567890abcdef" } }), "HTTP 401: bad key [hidden]"],
    ["a page instead of a stream", raw("<html>login</html>", "text/html"), "without a finish reason"],
    ["events that are no JSON", stream("data: {nonsense\n\n", event("[DONE]")), "JSON"],
    ["an error inside the stream", stream(event({ error: { message: "the GPU fell off" } })), "the GPU fell off"],
    ["an answer with nothing in it", text(""), "the model returned an empty reply"],
  ])("says so in one line, which is stored as an empty reply and never sent: %s", async (_case, answer, says) => {
    const shell = await Shell.open();
    shell.server.reply(answer);
    shell.server.otherwise(text("Here."));
    const { result } = await shell.turn("Go on");
    expect(result).toMatchObject({ kind: "failed", code: null, entryId: shell.session.leafId, message: expect.stringContaining(says) });
    if (result.kind === "failed") expect(result.message).not.toContain("\n");
    const [question, reply, ...more] = await shell.messages();
    expect([question?.role, more]).toEqual(["user", []]);
    expect(reply).toMatchObject({ role: "assistant", content: [], stopReason: "error", errorMessage: expect.stringContaining(says) });
    expect(await findOpenQuestion(shell.session)).toEqual({ text: "Go on", isBegun: false });
    expect((await shell.goOn()).result.kind).toBe("done");
    expect(shell.server.requests[1]?.body.messages?.map(({ role }) => role)).toEqual(["user"]);
    expect(await findOpenQuestion(shell.session)).toBeNull();
    expect(await shell.problems()).toEqual([]);
  });

  test("names what is behind a failed connection", async () => {
    const shell = await Shell.open();
    await shell.server.close();
    const { result } = await shell.turn("Go on");
    expect(result).toMatchObject({ kind: "failed", message: expect.stringContaining("ECONNREFUSED") });
  });

  test("sends a request again that was not answered at all", async () => {
    const shell = await Shell.open();
    shell.server.reply(fail(503, "busy", { "retry-after-ms": "1" }), text("Here."));
    const { result, events } = await shell.turn("Go on", { retries: 1 });
    expect(result.kind).toBe("done");
    expect(shell.server.requests).toHaveLength(2);
    const told = { kind: "wait", reason: "HTTP 503", attempt: 2, attempts: 2 };
    expect(events.filter(({ kind }) => kind === "wait")).toEqual([
      { ...told, waitMs: 1 },
      { ...told, waitMs: 0 },
    ]);
    expect((await shell.messages()).map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  test("gives results to the calls of a reply that broke off, and drops a call that came in half", async () => {
    const shell = await Shell.open();
    const call = (index: number, text: string) => ({
      index,
      id: `call_${index}`,
      type: "function",
      function: { name: "read", arguments: text },
    });
    shell.server.reply(
      stream(
        chunk({ role: "assistant", content: "I read." }),
        chunk({ tool_calls: [call(0, '{"path":"a"}')] }),
        chunk({ tool_calls: [call(1, '{"pa')] }),
      ),
    );
    await shell.turn("Go", { permissions: { read: "allow" } });
    const [, reply] = await shell.messages();
    expect(reply).toMatchObject({ stopReason: "error" });
    expect(JSON.stringify(reply)).not.toContain("call_1");
    expect(await shell.problems()).toEqual([]);
  });

  test("can be requested again: the partial reply is kept, and the request ends with a user message", async () => {
    const shell = await Shell.open();
    shell.server.reply(drop("The first half"), text("and the second."));
    await shell.turn("Go on");
    expect(await findOpenQuestion(shell.session)).toEqual({ text: "Go on", isBegun: true });
    const { result } = await shell.goOn();
    expect(result.kind).toBe("done");
    expect(shell.server.requests[1]?.body.messages?.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect((await shell.messages()).map(({ role }) => role)).toEqual(["user", "assistant", "assistant"]);
  });

  test("shortens a context that is too long for it, and sends it once more", async () => {
    const shell = await Shell.open();
    for (let n = 0; n < 8; n += 1) await shell.turn(`Question ${n}: ${"many words about it ".repeat(60)}`);
    shell.server.reply(overflow(1_500, 3_000), text("Now it fits."));
    const { result, events } = await shell.turn("And now?", { windowTokens: 4_000 });
    expect(events.filter(({ kind }) => kind === "retry")).toHaveLength(1);
    expect(result.kind).toBe("done");
    expect(await shell.problems()).toEqual([]);
  });
});

describe("a store that others work on", () => {
  test("keeps a turn in one piece on its branch when another process moves the leaf", async () => {
    const shell = await Shell.open();
    const entered = gate();
    shell.server.reply(text("Mine.", { when: entered.opened }));
    const turn = shell.turn("My question");
    await shell.server.request(0);
    const other = await shell.other();
    await other.append({ type: "message", message: { role: "user", content: "Another one" } });
    entered.open();
    const { result } = await turn;
    expect(result.kind).toBe("done");
    expect((await shell.messages()).map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(await other.path()).toHaveLength(2);
    expect((await other.tree.tips()).length).toBe(2);
    expect(await shell.problems()).toEqual([]);
  });

  test("answers its own branch though the leaf was put elsewhere between two requests", async () => {
    const shell = await Shell.open();
    shell.server.reply(calls([{ name: "read", input: { path: "." } }]), text("Read."));
    const other = await shell.other();
    const { result } = await shell.turn("Go", {
      permissions: { read: "ask" },
      answer: async () => {
        await other.refresh();
        await other.moveLeaf(null);
        return "yes";
      },
    });
    expect(result).toMatchObject({ kind: "done", rounds: 2 });
    expect(shell.server.requests[1]?.body.messages?.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool"]);
    expect(await shell.problems()).toEqual([]);
  });

  test("gives back what a command said that the store no longer took", async () => {
    const shell = await Shell.open();
    shell.server.reply(calls([{ name: "bash", input: { command: "echo said" } }]));
    const answer = async () => {
      await shell.store.close();
      return "yes" as const;
    };
    const { result } = await shell.turn("Go", { permissions: { bash: "ask" }, answer });
    expect(result).toMatchObject({ kind: "failed", code: "STORE_CLOSED", unstored: "said" });
  });

  test("reports that the session was deleted, and returns the text that was not stored", async () => {
    const shell = await Shell.open();
    const entered = gate();
    shell.server.reply(text("Too late.", { when: entered.opened }));
    const turn = shell.turn("Go");
    await shell.server.request(0);
    await shell.store.deleteSession("talk");
    entered.open();
    expect((await turn).result).toMatchObject({ kind: "failed", code: "SESSION_NOT_FOUND", unstored: "Too late." });
  });
});

describe("Anthropic's API", () => {
  test("streams thoughts with their signature, text and calls, and reports its cache apart from fresh input", async () => {
    const shell = await Shell.open();
    const thought = { type: "thinking", thinking: "", signature: "" };
    shell.server.reply(
      anthropicMessage(
        [
          [thought, { type: "thinking_delta", thinking: "Look first." }, { type: "signature_delta", signature: "c2ln" }],
          [
            { type: "text", text: "" },
            { type: "text_delta", text: "I look." },
          ],
          [
            { type: "tool_use", id: "toolu_1", name: "read", input: {} },
            { type: "input_json_delta", partial_json: '{"path": "."}' },
          ],
        ],
        "tool_use",
      ),
      anthropicMessage([
        [
          { type: "text", text: "" },
          { type: "text_delta", text: "Done." },
        ],
      ]),
    );
    const { result } = await shell.turn("Look", {
      permissions: { read: "allow" },
      model: { provider: "anthropic", model: "claude-3-7-sonnet-20250219" },
      thinking: "low",
    });
    expect(result).toMatchObject({ kind: "done", rounds: 2 });
    expect((await shell.messages())[1]).toMatchObject({
      provider: "anthropic",
      model: "claude-test-1",
      stopReason: "toolUse",
      usage: { input: 20, cacheRead: 70, cacheWrite: 5, output: 11 },
      content: [
        { type: "thinking", thinking: "Look first.", thinkingSignature: "c2ln" },
        { type: "text", text: "I look." },
        { type: "toolCall", id: "toolu_1", name: "read", arguments: { path: "." } },
      ],
    });
    expect(shell.server.requests[0]?.path).toBe("/v1/messages");
    expect(shell.server.requests[0]?.body).toMatchObject({
      cache_control: { type: "ephemeral" },
      thinking: { type: "enabled", budget_tokens: 4096 },
    });
    expect(JSON.stringify(shell.server.requests[1]?.body.messages)).toContain('"signature":"c2ln"');
    expect(await shell.problems()).toEqual([]);
  });
});
