import { describe, expect, test } from "vitest";
import { collected } from "../../../session-core/test/world/stores.js";
import { UnknownFormatError } from "../../src/errors.js";
import { contextTexts, importedFile, treeLines } from "../world/imported-file.js";
import { OPEN_AI } from "./sample.js";

async function sessionsOf(content: unknown, name = "chat.json") {
  const text = typeof content === "string" ? content : JSON.stringify(content, null, 2);
  return (await importedFile(name, text)).sessions;
}

async function only(content: unknown, name?: string) {
  const [session, ...others] = await sessionsOf(content, name);
  if (session === undefined || others.length > 0) throw new RangeError("not one session");
  return session;
}

/** The tree without its ids. */
const tree = async (content: unknown, name?: string) =>
  (await treeLines(await only(content, name))).map((line) => line.replace(/^.*? < .*?: /, ""));

const jsonl = (records: readonly unknown[]) => records.map((record) => `${JSON.stringify(record)}\n`).join("");

const OPEN_AI_TREE = ["system Be brief.", "user Look. <image>", "assistant [read a]", "result a text of x", "assistant (Easy.) Done."];

const ANTHROPIC = {
  model: "claude-x",
  system: "Be brief.",
  messages: [
    { role: "user", content: "Read x." },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm.", signature: "c2ln" },
        { type: "tool_use", id: "a", name: "read", input: { path: "x" } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "a", content: [{ type: "text", text: "no" }], is_error: true },
        { type: "text", text: "Go on." },
      ],
    },
  ],
  tools: [{ name: "read" }],
};

describe("forms", () => {
  test("messages of OpenAI, as an array or one a line", async () => {
    expect(await tree(OPEN_AI)).toEqual(OPEN_AI_TREE);
    expect(await tree(jsonl(OPEN_AI), "chat.jsonl")).toEqual(OPEN_AI_TREE);
    expect(await tree(JSON.stringify(OPEN_AI))).toEqual(OPEN_AI_TREE);
    expect(await tree(jsonl(OPEN_AI.slice(0, 2)), "chat.jsonl")).toEqual(OPEN_AI_TREE.slice(0, 2));
  });

  test("a request of Anthropic: results come before the text beside them; other members are kept", async () => {
    expect(await tree(ANTHROPIC)).toEqual([
      "model_change",
      "system Be brief.",
      "user Read x.",
      "assistant (Hm.) [read a]",
      "error a no",
      "user Go on.",
      "custom messages.tools",
    ]);
  });

  test("model messages of the AI SDK", async () => {
    const messages = [
      {
        role: "user",
        content: [
          { type: "text", text: "Read x." },
          { type: "file", data: "AAAA", mediaType: "application/pdf", filename: "a.pdf" },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "Hm.", providerOptions: { anthropic: { signature: "c2ln" } } },
          { type: "tool-call", toolCallId: "a", toolName: "read", input: { path: "x" } },
        ],
      },
      { role: "tool", content: [{ type: "tool-result", toolCallId: "a", toolName: "read", output: { type: "error-text", value: "no" } }] },
    ];
    expect(await tree(messages)).toEqual(["user Read x. <file>", "assistant (Hm.) [read a]", "error a no"]);
  });

  test("messages of a chat page: steps are replies, and each call has its result", async () => {
    const messages = {
      id: "chat-1",
      title: "A chat",
      messages: [
        { id: "m1", role: "user", parts: [{ type: "text", text: "Read x." }] },
        {
          id: "m2",
          role: "assistant",
          parts: [
            { type: "step-start" },
            { type: "tool-read", toolCallId: "a", state: "output-available", input: { path: "x" }, output: { lines: 3 } },
            { type: "dynamic-tool", toolName: "list", toolCallId: "b", state: "output-error", input: {}, errorText: "no" },
            { type: "step-start" },
            { type: "text", text: "Done." },
          ],
        },
      ],
    };
    const session = await only(messages);
    expect([session.id, (await session.record()).title]).toEqual(["chat-1", "A chat"]);
    expect(await treeLines(session)).toEqual([
      "m1 < -: user Read x.",
      "m2 < m1: assistant [read a] [list b]",
      '2:m2 < m2: result a {"lines":3}',
      "3:m2 < 2:m2: error b no",
      "4:m2 < 3:m2: assistant Done.",
    ]);
  });

  test("several conversations in a file are several sessions", async () => {
    const talks = [{ messages: OPEN_AI }, { messages: [{ role: "user", content: "other" }] }];
    for (const [content, name] of [
      [talks, "a.json"],
      [jsonl(talks), "a.jsonl"],
      [talks.map(({ messages }) => messages), "b.json"],
    ] as const) {
      const sessions = await sessionsOf(content, name);
      expect(await Promise.all(sessions.map(async (session) => (await contextTexts(session)).length))).toEqual([4, 1]);
    }
  });

  test("usage, model, stop reason and time of a whole answer are those of the reply; other members are kept beside it", async () => {
    const answer = {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-x",
      content: "Hi",
      stop_reason: "end_turn",
      usage: { input_tokens: 9, output_tokens: 2 },
      created_at: 1_770_000_000,
      mood: "good",
    };
    const [, entry] = await collected((await only([{ role: "user", content: "Hi", name: "ada" }, answer])).entries());
    expect(entry).toMatchObject({
      id: "msg_1",
      createdAtMs: 1_770_000_000_000,
      message: { model: "claude-x", stopReason: "stop", usage: { input: 9, output: 2 } },
      messages: { mood: "good" },
    });
  });
});

describe("detection", () => {
  test.each([
    ["a package", { name: "x", version: "1.0.0", dependencies: {} }],
    ["texts of a program", { messages: { hello: "Hallo" } }],
    ["a list of users", [{ role: "user", name: "ada" }]],
    ["a list of roles", [{ role: "admin", content: "all" }]],
    ["messages of a mail program", { messages: [{ id: 1, subject: "x" }] }],
    ["an empty list", []],
    ["numbers", [1, 2, 3]],
    ["parts without a role", [{ content: "x" }]],
  ])("%s is no conversation", async (_, content) => {
    await expect(sessionsOf(content)).rejects.toThrow(UnknownFormatError);
  });

  test("a line that is no message stays as a foreign entry, a broken one is reported", async () => {
    const { store, path, sessions } = await importedFile(
      "chat.jsonl",
      `${jsonl(OPEN_AI)}{"event":"saved"}\n{"role":\n${jsonl([{ role: "user", content: "more" }])}`,
    );
    expect((await treeLines(sessions[0] ?? fail())).at(-2)).toMatch(/foreign unknown$/);
    const again = await importedFile("chat.jsonl", "", store).catch((error: unknown) => error);
    expect([path.endsWith("chat.jsonl"), again instanceof UnknownFormatError]).toEqual([true, true]);
  });
});

function fail(): never {
  throw new RangeError("no session");
}

test("an array that grew adds entries; one that was changed is another session", async () => {
  const { store, sessions } = await importedFile("chat.json", JSON.stringify(OPEN_AI.slice(0, 3)));
  const grown = await importedFile("chat.json", JSON.stringify(OPEN_AI), store);
  expect(grown.sessions.map(({ id }) => id)).toEqual(sessions.map(({ id }) => id));
  const changed = await importedFile("chat.json", JSON.stringify([OPEN_AI[0], { role: "user", content: "Other." }]), store);
  expect(changed.sessions.map(({ id }) => id)).not.toEqual(sessions.map(({ id }) => id));
});
