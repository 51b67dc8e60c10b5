import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { consumeStream, DefaultChatTransport, pipeUIMessageStreamToResponse, readUIMessageStream, streamText, type UIMessage } from "ai";
import { expect, onTestFinished, test } from "vitest";
import { messageVersions, receiveChat, showVersion } from "../../src/ai-sdk/chat.js";
import { recordSteps } from "../../src/ai-sdk/record.js";
import { toUiMessages } from "../../src/ai-sdk/to-ui-messages.js";
import { toAiSdk } from "../../src/context/converters/ai-sdk.js";
import type { Store } from "../../src/store/store.js";
import { openedStore } from "../world/stores.js";
import { says, scripted } from "./scripted-model.js";

/** A chat route on loopback whose model counts its answers. */
async function route(store: Store): Promise<string> {
  const model = scripted(Array.from({ length: 9 }, (_, at) => [says(`answer ${at + 1}`)]));
  const server: Server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(Buffer.from(piece));
    const { session, answerId } = await receiveChat(store, JSON.parse(Buffer.concat(pieces).toString()));
    const result = streamText({ model, ...toAiSdk(await session.context()), ...recordSteps(session, { id: answerId }) });
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
  await showVersion(session, "q1");
  expect(texts(toUiMessages(await session.path()))).toEqual(["why tabs?", "answer 1", "and form feeds?", "answer 3"]);
  await showVersion(session, second.id);
  expect(texts(toUiMessages(await session.path())).at(-1)).toBe("answer 2");
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
