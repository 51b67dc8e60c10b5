import type { JsonObject } from "@bough/session-core/wire";
import { describe, expect, test } from "vitest";
import {
  call,
  entriesIn,
  event,
  item,
  line,
  message,
  messagesOf,
  meta,
  output,
  recordsOf,
  rollback,
  sessionOf,
  tokens,
  turnContext,
} from "./rollout.js";

const reply = (text: string) => message("assistant", text);

/** The texts on the path of the leaf, from its end to its start: what the model reads at the end of the file. */
function pathOf(lines: readonly (string | object)[]): readonly string[] {
  const records = recordsOf(lines);
  const entries = new Map(entriesIn(records).map((entry) => [entry.id, entry]));
  const leaf = records.findLast((record) => record.kind === "leaf");
  const texts: string[] = [];
  let id: string | null | undefined = leaf === undefined ? entriesIn(records).at(-1)?.id : leaf.entryId;
  while (id !== null && id !== undefined) {
    const entry = entries.get(id);
    texts.push(textOf(entry?.payload));
    id = entry?.parentId;
  }
  return texts.filter((text) => text !== "");
}

function textOf(payload: unknown): string {
  return /"text":"([^"]*)"/.exec(JSON.stringify(payload))?.[1] ?? "";
}

describe("a rollback", () => {
  const turns = [meta({ base_instructions: null }), message("user", "u1"), reply("a1"), message("user", "u2"), reply("a2")];

  test("makes what follows a branch beside the turns that were taken back", () => {
    expect(pathOf([...turns, rollback(1), message("user", "u3"), reply("a3")])).toEqual(["a3", "u3", "a1", "u1"]);
    expect(pathOf([...turns, rollback(1), message("user", "u3"), rollback(2), message("user", "u4")])).toEqual(["u4"]);
  });

  test("at the end of the file moves the leaf", () => {
    expect(pathOf([...turns, rollback(1)])).toEqual(["a1", "u1"]);
  });

  test("of more turns than there are goes back before the first one, and keeps what Codex wrote before it", () => {
    const context = message("user", "<environment_context>here</environment_context>");
    expect(pathOf([turns[0] ?? {}, context, ...turns.slice(1), rollback(9), message("user", "u3")])).toEqual([
      "u3",
      "<environment_context>here</environment_context>",
    ]);
    expect(pathOf([...turns, rollback(0), message("user", "u3")])).toEqual(["u3", "a2", "u2", "a1", "u1"]);
  });

  test("takes the texts with it that Codex wrote for a turn, and the settings of the turn are written again", () => {
    const update = message("developer", "model switched");
    expect(pathOf([...turns.slice(0, 3), update, ...turns.slice(3), rollback(1), message("user", "u3")])).toEqual(["u3", "a1", "u1"]);
    const models = recordsOf([...turns.slice(0, 3), turnContext(), ...turns.slice(3), rollback(1), turnContext()]);
    expect(entriesIn(models).filter(({ payload }) => JSON.stringify(payload).includes("model_change"))).toHaveLength(2);
  });
});

describe("the usage of a request", () => {
  const usages = (lines: readonly JsonObject[]) =>
    messagesOf([meta(), ...lines]).flatMap((sent) =>
      sent.role === "assistant" ? [sent.usage === undefined ? 0 : usedBy(sent.usage)] : [],
    );
  const usedBy = (usage: unknown) => Number(/"totalTokens":(\d+)/.exec(JSON.stringify(usage))?.[1]);

  test("is that of its reply, also if its tools have answered before, and a repeated event counts once", () => {
    const counted = tokens(100, 5);
    expect(
      usages([message("user", "u"), call("c", "shell", {}), output("c", "x"), counted, counted, reply("a"), tokens(200, 6), counted]),
    ).toEqual([105, 206]);
  });

  test("precedes its items in early versions, which wrote each output below its call", () => {
    const lines = [
      ...[message("user", "u"), event("token_count", { info: null }), tokens(100, 5)],
      ...[call("c", "shell", {}), output("c", "x"), call("d", "shell", {}), output("d", "y")],
      ...[turnContext(), tokens(200, 6), reply("a")],
    ];
    expect(usages(lines)).toEqual([105, 206]);
    expect(messagesOf([meta(), ...lines]).map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "toolResult",
      "toolResult",
      "assistant",
    ]);
  });

  test("that made a summary is that of the compaction", () => {
    const [entry] = entriesIn(
      recordsOf([meta(), reply("a"), event("task_complete"), tokens(100, 5), line("compacted", { message: "s" })]),
    ).slice(-1);
    expect(entry?.payload).toMatchObject({ type: "compaction", summary: "s", usage: { totalTokens: 105 } });
  });

  test("whose reply is the summary belongs to the compaction below it, which has the reply", () => {
    const opening = "Another language model started to solve this problem and produced a summary of it:\n";
    const lines = [message("user", "u"), reply("a"), tokens(90, 5), reply("All done."), tokens(100, 5)];
    const entries = entriesIn(recordsOf([meta(), ...lines, line("compacted", { message: `${opening}All done.` })]));
    expect(entries.map(({ payload }) => (payload as JsonObject)["type"])).toEqual(["message", "message", "message", "compaction"]);
    expect(entries.at(-1)?.payload).toMatchObject({
      summary: "All done.",
      usage: { totalTokens: 105 },
      details: { reply: [{ role: "assistant" }] },
    });
  });

  test("in a record of its own is not counted again by the event after it", () => {
    const usage = { input_tokens: 100, cached_input_tokens: 50, output_tokens: 5, total_tokens: 105 };
    expect(
      usages([message("user", "u"), reply("a"), line("token_usage_record", { usage }), tokens(100, 5), message("user", "v"), reply("b")]),
    ).toEqual([105, 0]);
  });
});

describe("the first versions", () => {
  const bare = [
    { id: "4981a35f-86ef-40ad-8978-08659909b0a8", timestamp: "2025-08-01T00:00:00Z", instructions: null, git: {} },
    { record_type: "state" },
    { type: "message", id: null, role: "user", content: [{ type: "input_text", text: "run ls" }] },
    { type: "function_call", id: "fc", name: "shell", arguments: '{"command":["ls"]}', call_id: "c" },
    { type: "function_call_output", call_id: "c", output: '{"output":"a.ts\\n","metadata":{"exit_code":0,"duration_seconds":0}}' },
    { type: "message", id: "m", role: "assistant", content: [{ type: "output_text", text: "done" }] },
  ];

  test("wrote bare items below the data of the session", () => {
    expect(messagesOf(bare).map(({ role, content }) => [role, content])).toEqual([
      ["user", [{ type: "text", text: "run ls" }]],
      ["assistant", [expect.objectContaining({ name: "shell", arguments: { command: ["ls"] } })]],
      ["toolResult", "a.ts\n"],
      ["assistant", [expect.objectContaining({ text: "done" })]],
    ]);
  });
});

describe("a file without messages as items", () => {
  test("is read from its events", () => {
    const lines = [
      ...[meta({ base_instructions: null }), event("user_message", { message: "u", images: ["data:image/png;base64,AAAA"] })],
      ...[
        event("agent_reasoning", { text: "hm" }),
        event("exec_command_end", { call_id: "c", command: ["ls"], exit_code: 1, aggregated_output: "no" }),
      ],
      ...[event("agent_message", { message: "a" }), event("task_complete")],
    ];
    expect(messagesOf(lines)).toMatchObject([
      { role: "user", content: [{ text: "u" }, { type: "image" }] },
      { role: "assistant", content: [{ thinking: "hm" }, { name: "exec_command" }] },
      { role: "toolResult", content: "no", isError: true },
      { role: "assistant", content: [{ text: "a" }] },
    ]);
    const completed = (type: string, more: object) => event("item_completed", { item: { type, id: "i", ...more } });
    const text = (value: string) => ({ content: [{ type: "Text", text: value }] });
    expect(messagesOf([meta(), completed("UserMessage", text("u")), completed("AgentMessage", text("a"))]).map(({ role }) => role)).toEqual(
      ["system", "user", "assistant"],
    );
  });

  test("reports a prompt that has no reply yet: its items may follow", () => {
    const records = recordsOf([meta(), event("user_message", { message: "u" })]);
    expect(records.filter(({ kind }) => kind === "problem")).toMatchObject([{ problem: { code: "invalid-record", line: 2 } }]);
  });
});

describe("calls of a file without usage", () => {
  const roles = (lines: readonly JsonObject[]) =>
    messagesOf([meta(), message("user", "u"), ...lines]).map((sent) => {
      const calls = sent.role === "assistant" ? JSON.stringify(sent.content).split('"toolCall"').length - 1 : 0;
      return calls > 1 ? `${sent.role} with ${calls} calls` : sent.role;
    });

  test("are replies of their own if each is answered before the next one", () => {
    const lines = ["c", "d", "e"].flatMap((id) => [call(id, "shell", { command: id }), output(id, "x")]);
    expect(roles(lines).slice(2)).toEqual(["assistant", "toolResult", "assistant", "toolResult", "assistant", "toolResult"]);
  });

  test("are one reply if their outputs follow them together", () => {
    const lines = [call("c", "shell", {}), call("d", "shell", {}), output("c", "x"), output("d", "y")];
    expect(roles(lines).slice(2)).toEqual(["assistant with 2 calls", "toolResult", "toolResult"]);
  });
});

describe("a call", () => {
  test("with the id of another one in the same reply is kept under an id of its own, with its output", () => {
    const lines = [
      ...[meta(), message("user", "u"), call("c", "shell", { command: "ls" }), call("c", "apply_patch", { input: "patch" })],
      ...[output("c", "files"), output("c", "patched")],
    ];
    const [, , replied, ...results] = messagesOf(lines);
    expect(replied).toMatchObject({
      content: [
        { id: "c", name: "shell" },
        { id: "c_2", name: "apply_patch" },
      ],
    });
    expect(results).toMatchObject([
      { toolCallId: "c", toolName: "shell", content: "files" },
      { toolCallId: "c_2", toolName: "apply_patch", content: "patched" },
    ]);
  });

  test("that is repeated counts once", () => {
    const twice = [call("c", "shell", { command: "ls" }), call("c", "shell", { command: "ls" }), output("c", "files")];
    expect(messagesOf([meta(), message("user", "u"), ...twice]).slice(2)).toMatchObject([{ content: [{ id: "c" }] }, { toolCallId: "c" }]);
  });

  test("keeps arguments that are no JSON, and failed results say so", () => {
    const lines = [call("c", "shell", "{no"), output("c", { content: "x", success: false }), item("function_call", { name: "no id" })];
    expect(messagesOf([meta(), ...lines])).toMatchObject([
      { role: "system" },
      { content: [{ arguments: { unreadable: "{no" } }] },
      { role: "toolResult", toolName: "shell", content: "x", isError: true },
    ]);
  });
});

test("a command of the user is a command message with its output", () => {
  const text =
    "<user_shell_command>\n<command>\nnpm test\n</command>\n<result>\nExit code: 1\nDuration: 0.5 seconds\nOutput:\nfailed\n</result>\n</user_shell_command>";
  expect(messagesOf([message("user", text)])).toEqual([{ role: "bashExecution", command: "npm test", output: "failed", exitCode: 1 }]);
  expect(messagesOf([message("user", "<user_shell_command>odd</user_shell_command>")])).toMatchObject([{ customType: "codex.shell" }]);
});

describe("calls with one id", () => {
  test("have ids of their own, also one that follows an output of another one", () => {
    const calls = [call("c", "run", { at: 1 }), call("c", "run", { at: 2 }), output("c", "1"), call("c", "run", { at: 3 })];
    const messages = messagesOf([meta(), message("user", "go"), tokens(10, 5), ...calls, output("c", "2"), output("c", "3")]);
    const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
    expect(blocks.filter(({ type }) => type === "toolCall").map(({ id }) => id)).toEqual(["c", "c_2", "c_3"]);
    expect(messages.filter(({ role }) => role === "toolResult").map(({ toolCallId, content }) => [toolCallId, content])).toEqual([
      ["c", "1"],
      ["c_2", "2"],
      ["c_3", "3"],
    ]);
  });

  test("are each a call, however many there are", () => {
    const calls = Array.from({ length: 100_000 }, (_, at) => call("c", "run", { at }));
    // One second. Comparing each with all others takes half an hour.
    const [reply] = messagesOf([meta(), ...calls]).filter(({ role }) => role === "assistant");
    expect(reply?.["content"]).toHaveLength(calls.length);
  });
});

test("a position names the last calls without an output, not all of them", () => {
  const requests = Array.from({ length: 300 }, (_, at) => [call(`c${at}`, "run", {}), tokens(at + 1, 1)]);
  const session = sessionOf([meta(), message("user", "go"), ...requests.flat()]);
  expect([...session.records()].length).toBeGreaterThan(300);
  expect(session.position?.()?.state).toMatchObject({ calls: Array.from({ length: 200 }, (_, at) => [`c${at + 99}`, "run"]) });
});
