import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import * as core from "../../../src/index.js";
import { findingsOf, lastingPlace, openedStore } from "../../world/stores.js";

type Body = Record<string, unknown>;

/** How one provider is asked and read, and what its server sends and demands. */
interface Provider {
  readonly name: string;
  readonly request: (context: core.SessionContext) => object;
  readonly read: (reply: Body) => core.EntryInput | readonly core.EntryInput[];
  /** A reply that thinks and calls the tool `add`. */
  readonly calling: Body;
  readonly answering: Body;
  /** The error of a request that is not what the provider demands after `calling`; undefined: it is. */
  readonly refusal: (body: Body) => string | undefined;
}

const list = (value: unknown): readonly Body[] => (Array.isArray(value) ? value : []);

const anthropic: Provider = {
  name: "Anthropic",
  request: (context) => ({ model: "claude", ...core.toAnthropic(context) }),
  read: (reply) => core.fromAnthropic(reply),
  calling: {
    id: "msg_1",
    model: "claude-1",
    role: "assistant",
    content: [
      { type: "thinking", thinking: "Add them.", signature: "EqQB/signed==" },
      { type: "redacted_thinking", data: "EmwKhidden" },
      { type: "text", text: "Adding." },
      { type: "tool_use", id: "toolu_1", name: "add", input: { a: 1, b: 2 } },
    ],
    stop_reason: "tool_use",
    usage: { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 3 },
  },
  answering: { id: "msg_2", model: "claude-1", content: [{ type: "text", text: "3" }], stop_reason: "end_turn" },
  refusal: ({ messages }) => {
    const reply = list(messages).find(({ role }) => role === "assistant");
    const [thinking, redacted] = list(reply?.["content"]);
    if (thinking?.["thinking"] !== "Add them." || thinking["signature"] !== "EqQB/signed==")
      return "Invalid `signature` in `thinking` block";
    return redacted?.["data"] === "EmwKhidden" ? undefined : "`redacted_thinking` blocks cannot be modified";
  },
};

const ENCRYPTED = "gAAAAencrypted";

const responses: Provider = {
  name: "OpenAI Responses",
  request: (context) => ({ model: "gpt", store: false, include: ["reasoning.encrypted_content"], ...core.toOpenAiResponses(context) }),
  read: (reply) => core.fromOpenAiResponses(reply),
  calling: {
    id: "resp_1",
    model: "gpt-1",
    status: "completed",
    output: [
      {
        type: "reasoning",
        id: "rs_1",
        summary: [
          { type: "summary_text", text: "Add" },
          { type: "summary_text", text: "them" },
        ],
        encrypted_content: ENCRYPTED,
      },
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        phase: "commentary",
        content: [{ type: "output_text", text: "Adding.", annotations: [] }],
      },
      { type: "function_call", id: "fc_1", call_id: "call_1", name: "add", arguments: '{"a":1,"b":2}', status: "completed" },
    ],
    usage: { input_tokens: 13, output_tokens: 5, input_tokens_details: { cached_tokens: 3 }, total_tokens: 18 },
  },
  answering: { model: "gpt-1", status: "completed", output: [{ type: "message", content: [{ type: "output_text", text: "3" }] }] },
  refusal: ({ input }) => {
    const items = list(input);
    const at = items.findIndex(({ type }) => type === "reasoning");
    const [reasoning, message, call] = items.slice(at, at + 3);
    if (reasoning?.["id"] !== "rs_1" || reasoning["encrypted_content"] !== ENCRYPTED)
      return "Item 'fc_1' was provided without its required 'reasoning' item";
    if (
      list(reasoning["summary"])
        .map(({ text }) => text)
        .join() !== "Add,them"
    )
      return "The summary was changed";
    if (message?.["id"] !== "msg_1" || message["phase"] !== "commentary")
      return "Item 'rs_1' was provided without its required following item";
    return call?.["id"] === "fc_1" && call["call_id"] === "call_1" ? undefined : "No tool call found";
  },
};

const chatRequest = (provider: string) => (context: core.SessionContext) => ({
  model: "m",
  messages: core.toOpenAiChat(context, { provider }),
});

const chat = (message: Body): Body => ({
  id: "c",
  model: "m-1",
  choices: [{ message, finish_reason: "tool_calls" }],
  usage: { prompt_tokens: 13, completion_tokens: 5 },
});

const add = { id: "call_1", type: "function", function: { name: "add", arguments: '{"a":1,"b":2}' } };

const replyIn = ({ messages }: Body): Body | undefined => list(messages).find(({ role }) => role === "assistant");

const google: Provider = {
  name: "Google in the format of OpenAI's chat completions",
  request: chatRequest("google"),
  read: (reply) => core.fromOpenAiChat(reply, { provider: "google" }),
  calling: chat({
    role: "assistant",
    content: null,
    tool_calls: [{ ...add, extra_content: { google: { thought_signature: "CvsBsigned" } } }],
  }),
  answering: chat({ role: "assistant", content: "3" }),
  refusal: (body) => {
    const [call] = list(replyIn(body)?.["tool_calls"]);
    const { google: extra } = (call?.["extra_content"] ?? {}) as { google?: Body };
    return extra?.["thought_signature"] === "CvsBsigned" ? undefined : "Function call is missing a thought_signature";
  },
};

const deepseek: Provider = {
  name: "DeepSeek",
  request: chatRequest("deepseek"),
  read: (reply) => core.fromOpenAiChat(reply, { provider: "deepseek" }),
  calling: chat({ role: "assistant", content: "Adding.", reasoning_content: "Add them.", tool_calls: [add] }),
  answering: chat({ role: "assistant", content: "3", reasoning_content: "Done." }),
  refusal: (body) => (replyIn(body)?.["reasoning_content"] === "Add them." ? undefined : "Missing reasoning_content"),
};

const openrouter: Provider = {
  name: "OpenRouter",
  request: chatRequest("openrouter"),
  read: (reply) => core.fromOpenAiChat(reply, { provider: "openrouter" }),
  calling: chat({
    role: "assistant",
    content: "",
    reasoning: "Add them.",
    reasoning_details: [{ type: "reasoning.encrypted", data: "opaque" }],
    tool_calls: [add],
  }),
  answering: chat({ role: "assistant", content: "3" }),
  refusal: (body) => {
    const [detail] = list(replyIn(body)?.["reasoning_details"]);
    return detail?.["data"] === "opaque" && replyIn(body)?.["reasoning"] === "Add them." ? undefined : "Missing reasoning_details";
  },
};

const PROVIDERS = [anthropic, responses, google, deepseek, openrouter];

/** A server that first calls the tool, and then refuses a request that is not what the provider demands. */
async function serverOf({ calling, answering, refusal }: Pick<Provider, "calling" | "answering" | "refusal">): Promise<string> {
  let asked = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const problem = asked === 0 ? undefined : refusal(JSON.parse(Buffer.concat(chunks).toString("utf8")));
    response.writeHead(problem === undefined ? 200 : 400, { "content-type": "application/json" });
    response.end(JSON.stringify(problem === undefined ? (asked === 0 ? calling : answering) : { error: { message: problem } }));
    asked += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function ask(url: string, provider: Provider, session: core.Session): Promise<void> {
  const body = JSON.stringify(provider.request(await session.context()));
  const reply = (await (await fetch(url, { method: "POST", body })).json()) as Body;
  await session.append(provider.read(reply));
}

/** Question, call and result, stored; and the session as another process reads it. */
async function storedCall(url: string, provider: Provider): Promise<core.Session> {
  const place = lastingPlace();
  const store = await core.openStore({ ...place, durability: "normal" });
  const session = await store.createSession({ id: "s" });
  await session.append(core.userMessage("1 + 2?"));
  await ask(url, provider, session);
  const { messages } = await session.context({ danglingCalls: "drop" });
  expect(messages[0]).toMatchObject({ role: "user" });
  const [call] = (await session.context()).messages.flatMap((message) => (message.role === "toolResult" ? [message.toolCallId] : []));
  await session.append(core.toolResult(call ?? "", "3", { toolName: "add" }));
  await store.pack({ scope: "all" });
  await store.close();
  const again = await openedStore(place);
  expect(await findingsOf(again)).toEqual([]);
  return again.openSession("s");
}

describe.each(PROVIDERS)("a tool loop with a thinking model of $name", (provider) => {
  test("goes on after it was stored and read", async () => {
    const url = await serverOf(provider);
    const session = await storedCall(url, provider);
    await ask(url, provider, session);
    await session.append(core.userMessage("Thanks. And 2 + 2?"));
    await ask(url, provider, session);
    expect((await session.statistics()).usage[0]).toMatchObject({ outputTokens: expect.any(Number) });
    expect((await session.statistics()).usage.reduce((sum, { inputTokens }) => sum + inputTokens, 0)).toBeGreaterThan(0);
  });

  test("is refused by its server without what it demands", async () => {
    const url = await serverOf(provider);
    const session = await storedCall(url, provider);
    const [, reply] = (await session.context()).messages;
    const content = reply?.role === "assistant" ? reply.content : [];
    const bare = content.filter(({ type }) => type !== "thinking").map(({ providerOptions: _options, ...block }) => block);
    const [, { id: targetId = "" } = {}] = (await session.scan()).items;
    await session.append({ type: "context_edit", targetId, replacement: { content: bare } } as core.EntryInput);
    await expect(ask(url, provider, session)).rejects.toThrow(/it is the error "/);
  });

  test.each(PROVIDERS.filter((other) => other !== provider))("sends nothing of it to $name", async (other) => {
    const session = await storedCall(await serverOf(provider), provider);
    const sent = JSON.stringify(other.request(await session.context()));
    for (const secret of [
      "signed",
      "hidden",
      "opaque",
      ENCRYPTED,
      "rs_1",
      "fc_1",
      "reasoning_content",
      "reasoning_details",
      "extra_content",
    ]) {
      expect(sent.replaceAll("reasoning.encrypted_content", "")).not.toContain(secret);
    }
    expect(sent).toContain("add");
  });
});
