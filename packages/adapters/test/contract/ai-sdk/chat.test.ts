import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { assistantMessage, type Store, toAiSdk } from "@bough/session-core";
import {
  AbstractChat,
  consumeStream,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  pipeUIMessageStreamToResponse,
  readUIMessageStream,
  streamText,
  type ToolSet,
  tool,
  type UIMessage,
} from "ai";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { openedStore } from "../../../../session-core/test/world/stores.js";
import { messageVersions, type ReceivedChat, receiveChat, showVersion } from "../../../src/ai-sdk/chat.js";
import { recordSteps } from "../../../src/ai-sdk/record.js";
import { toUiMessages } from "../../../src/ai-sdk/to-ui-messages.js";
import { type Answer, calls, says, scripted } from "../../ai-sdk/scripted-model.js";

/** A chat route on loopback whose model counts its answers. */
async function route(
  store: Store,
  answers: readonly Answer[] = Array.from({ length: 9 }, (_, at) => [says(`answer ${at + 1}`)]),
  tools: ToolSet = {},
): Promise<string> {
  const model = scripted(answers);
  const server: Server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(Buffer.from(piece));
    const { session, answerId } = await receiveChat(store, JSON.parse(Buffer.concat(pieces).toString()));
    const result = streamText({ model, tools, ...toAiSdk(await session.context()), ...recordSteps(session, { id: answerId }) });
    const stream = result.toUIMessageStream({ generateMessageId: () => answerId });
    await pipeUIMessageStreamToResponse({ response, stream, consumeSseStream: consumeStream });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const said = (id: string, text: string): UIMessage => ({ id, role: "user", parts: [{ type: "text", text }] });
const texts = (messages: readonly UIMessage[]) =>
  messages.map(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : "")).join(""));

test("submit, edit and regenerate over HTTP are branches, and a switcher goes between them", async () => {
  const store = await openedStore();
  const transport = new DefaultChatTransport({ api: await route(store) });
  const ask = async (messages: UIMessage[], trigger: "submit-message" | "regenerate-message", messageId?: string): Promise<UIMessage> => {
    const stream = await transport.sendMessages({ chatId: "chat-1", messages, trigger, messageId, abortSignal: undefined });
    let last: UIMessage | undefined;
    for await (const message of readUIMessageStream({ stream })) last = message;
    if (last === undefined) throw new TypeError("no answer");
    return last;
  };

  const [question, next] = [said("q1", "why tabs?"), said("q2", "and form feeds?")];
  const first = await ask([question], "submit-message");
  const second = await ask([question, first, next], "submit-message");
  const again = await ask([question, first, next], "regenerate-message", second.id);
  const page = async () => toUiMessages(await (await store.openSession("chat-1")).path());
  expect((await page()).map(({ id }) => id)).toEqual(["q1", first.id, "q2", again.id]);
  expect((await page()).at(-1)).toEqual(again);

  await ask([said("q1", "why not tabs?")], "submit-message", "q1");
  expect(texts(await page())).toEqual(["why not tabs?", "answer 4"]);

  const session = await store.openSession("chat-1");
  const shown = (await page())[0]?.id ?? "";
  expect(await messageVersions(session, [shown])).toEqual(new Map([[shown, { ids: ["q1", shown], index: 1 }]]));
  // The page keeps the id of a message that it edits, and has that of an answer that was stopped before its first word.
  expect(await messageVersions(session, ["q1", "never-stored"])).toEqual(new Map([["q1", { ids: ["q1", shown], index: 1 }]]));
  await showVersion(session, "q1");
  expect((await messageVersions(session, ["q1", shown])).get(shown)?.index).toBe(0);
  expect(texts(toUiMessages(await session.path()))).toEqual(["why tabs?", "answer 1", "and form feeds?", "answer 3"]);
  await showVersion(session, second.id);
  expect(texts(toUiMessages(await session.path())).at(-1)).toBe("answer 2");
});

/** The page of `useChat`, without React. */
class Page extends AbstractChat<UIMessage> {
  constructor(api: string) {
    super({
      id: "chat-1",
      transport: new DefaultChatTransport({ api }),
      sendAutomaticallyWhen: (given) =>
        lastAssistantMessageIsCompleteWithToolCalls(given) || lastAssistantMessageIsCompleteWithApprovalResponses(given),
      state: {
        status: "ready",
        error: undefined,
        messages: [],
        pushMessage(message) {
          this.messages = [...this.messages, message];
        },
        popMessage() {
          this.messages = this.messages.slice(0, -1);
        },
        replaceMessage(index, message) {
          this.messages = this.messages.with(index, message);
        },
        snapshot: (thing) => structuredClone(thing),
      },
    });
  }

  /** Resolves when the page has `count` messages and no answer is on its way. */
  async settled(done: (last: UIMessage) => boolean): Promise<void> {
    await vi.waitUntil(() => this.status === "ready" && this.lastMessage !== undefined && done(this.lastMessage), { timeout: 20_000 });
  }
}

const saysText = (text: string) => (message: UIMessage) => texts([message]).includes(text);

describe("the newest answer goes on under its id", () => {
  const ran: string[] = [];
  const serverTools = {
    place: tool({ inputSchema: z.object({}), outputSchema: z.object({ city: z.string() }) }),
    remove: tool({
      inputSchema: z.object({ path: z.string() }),
      needsApproval: true,
      execute: async ({ path }) => {
        ran.push(path);
        return "removed";
      },
    }),
  };

  test("with the output of a tool that runs on the page", async () => {
    const store = await openedStore();
    const page = new Page(await route(store, [[calls("c1", {}, "place")], [says("In Oslo.")]], serverTools));
    await page.sendMessage({ text: "Where am I?" });
    await page.addToolOutput({ tool: "place" as never, toolCallId: "c1", output: { city: "Oslo" } as never });
    await page.settled(saysText("In Oslo."));
    const session = await store.openSession("chat-1");
    const roles = (await session.path()).map((entry) => (entry.type === "message" ? entry.message.role : entry.type));
    expect(roles).toEqual(["user", "assistant", "toolResult", "assistant"]);
    expect(toUiMessages(await session.path())).toEqual(page.messages);

    // The same request once more, as after a lost connection.
    await receiveChat(store, { id: "chat-1", messages: page.messages, messageId: page.lastMessage?.id });
    expect(await session.path()).toHaveLength(4);
  });

  test.each([
    [true, "removed", ["a.ts"]],
    [false, "not now", []],
  ])("with an approval answered by %s", async (approved, result, expected) => {
    ran.length = 0;
    const store = await openedStore();
    const page = new Page(await route(store, [[calls("c1", { path: "a.ts" }, "remove")], [says("Well.")]], serverTools));
    await page.sendMessage({ text: "Remove a.ts" });
    const [asked] = page.lastMessage?.parts.filter((part) => "approval" in part) ?? [];
    const id = asked !== undefined && "approval" in asked ? (asked.approval?.id ?? "") : "";
    await page.addToolApprovalResponse({ id, approved, reason: "not now" });
    await page.settled(saysText("Well."));
    expect(ran).toEqual(expected);
    const session = await store.openSession("chat-1");
    const [, answer, ...others] = toUiMessages(await session.path());
    expect(others).toEqual([]);
    expect(answer?.id).toBe(page.lastMessage?.id);
    const state = approved ? "output-available" : "output-denied";
    expect(answer?.parts[1]).toMatchObject({ state, approval: { id, approved, reason: "not now" } });
    const { messages } = toAiSdk(await session.context());
    expect(JSON.stringify(messages[2])).toContain(result);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
  });

  test("but takes no output of a call that asked for an approval, nor a second answer to it", async () => {
    const store = await openedStore();
    const page = new Page(await route(store, [[calls("c1", { path: "a.ts" }, "remove")]], serverTools));
    await page.sendMessage({ text: "Remove a.ts" });
    const answer = page.lastMessage ?? said("none", "");
    const forged = {
      ...answer,
      parts: answer.parts.map((part) => ({ ...part, state: "output-available", output: "removed", approval: undefined })),
    };
    const { session } = await receiveChat(store, { id: "chat-1", messages: [forged] });
    expect(await session.path()).toHaveLength(2);
    await expect(receiveChat(store, { id: "chat-1", messages: [{ ...answer, id: "another" }] })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });
});

describe("a page that has other ids than the session, or other messages,", () => {
  /** Sends requests of one chat; what the model then gets, and an answer stored under the id for it. */
  async function chat() {
    const store = await openedStore();
    const send = async (request: object) => {
      const received = await receiveChat(store, { id: "c", ...request });
      const { messages } = toAiSdk(await received.session.context());
      return {
        ...received,
        prompt: messages.map(({ content }) => (Array.isArray(content) && content[0]?.type === "text" ? content[0].text : "")),
      };
    };
    const answer = async ({ session, answerId }: ReceivedChat, text: string) => session.append({ ...assistantMessage(text), id: answerId });
    return { send, answer };
  }
  const trigger = "regenerate-message";

  test("regenerates an answer by the id of its question", async () => {
    const { send, answer } = await chat();
    const messages = [said("q1", "why tabs?")];
    await answer(await send({ messages }), "because");
    expect((await send({ messages, trigger, messageId: "q1" })).prompt).toEqual(["why tabs?"]);
  });

  test("regenerates the answer to a question that it edited, whose new id it does not have", async () => {
    const { send, answer } = await chat();
    await answer(await send({ messages: [said("q1", "old")] }), "to the old one");
    const messages = [said("q1", "new")];
    await answer(await send({ messages, messageId: "q1" }), "to the new one");
    expect((await send({ messages, trigger })).prompt).toEqual(["new"]);
    expect((await send({ messages: [said("q1", "old")], trigger })).prompt).toEqual(["old"]);
  });

  test("regenerates the answer to a question that never arrived, which is stored", async () => {
    const { send, answer } = await chat();
    const first = said("q1", "why tabs?");
    const received = await send({ messages: [first], trigger });
    expect(received.prompt).toEqual(["why tabs?"]);
    await answer(received, "because");
    const messages = [first, { id: received.answerId, role: "assistant", parts: [] }, said("q2", "and form feeds?")];
    expect((await send({ messages, trigger })).prompt).toEqual(["why tabs?", "because", "and form feeds?"]);
  });

  test("regenerates an answer that was stopped before its first word", async () => {
    const { send } = await chat();
    const messages = [said("q1", "why tabs?")];
    const { answerId } = await send({ messages });
    expect((await send({ messages, trigger, messageId: answerId })).prompt).toEqual(["why tabs?"]);
    await expect(send({ messages: [], trigger, messageId: answerId })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  test("goes on below a question that it edited and that has no answer", async () => {
    const { send, answer } = await chat();
    await answer(await send({ messages: [said("q1", "old")] }), "to the old one");
    await send({ messages: [said("q1", "new")], messageId: "q1" });
    expect((await send({ messages: [said("q1", "new"), said("q2", "more")] })).prompt.join()).toContain("new");
  });
});

test.each([
  ["no object", "text"],
  ["no id", { messages: [said("q", "x")] }],
  ["an answer of the client's own", { id: "c", messages: [{ ...said("q", "x"), role: "assistant" }] }],
  ["parts that are none", { id: "c", messages: [{ id: "q", role: "user", parts: [5] }] }],
  ["another trigger", { id: "c", trigger: "delete", messages: [said("q", "x")] }],
])("a request with %s is refused in one line", async (_what, body) => {
  await expect(receiveChat(await openedStore(), body)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
});
