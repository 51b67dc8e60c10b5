import { InvalidArgumentError } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { type OpenAiCompatibleOptions, openAiCompatibleSummarizer } from "../../src/summarizers/openai-compatible.js";
import type { SummaryReply } from "../../src/summarizers/summarizer.js";
import { fail, raw, startModelServer, text } from "../model/model-server.js";
import { KEY, summaryRequest } from "./shipped.js";

const whole = (message: object, more: object = {}) =>
  raw(
    JSON.stringify({ model: "local", choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: "stop" }], ...more }),
  );
const stream = (...frames: readonly string[]) => raw(frames.join(""), "text/event-stream; charset=utf-8");
const delta = (content: unknown, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`;

async function ask(baseURL: string, more: Partial<OpenAiCompatibleOptions> = {}): Promise<SummaryReply | string> {
  return openAiCompatibleSummarizer({ baseURL, model: "local", ...more })(summaryRequest());
}

describe("an answer is read", () => {
  test("when the server does not stream", async () => {
    const server = await startModelServer();
    server.reply(whole({ content: "## Goal" }, { usage: { prompt_tokens: 30, completion_tokens: 2, total_tokens: 32 } }));
    expect(await ask(server.baseURL)).toEqual({ text: "## Goal", model: "local", usage: { input: 30, output: 2, totalTokens: 32 } });
  });

  test("with what the provider read from its cache counted apart", async () => {
    const server = await startModelServer();
    const usage = { prompt_tokens: 30, completion_tokens: 2, total_tokens: 32, prompt_tokens_details: { cached_tokens: 20 } };
    server.reply(whole({ content: "## Goal" }, { usage }));
    expect(await ask(server.baseURL)).toMatchObject({ usage: { input: 10, cacheRead: 20, output: 2, totalTokens: 32 } });
  });

  test("without what the model thought in a field of its own (DeepSeek, llama.cpp, vLLM)", async () => {
    const server = await startModelServer();
    server.reply(text("## Goal", { reasoning: "They want a summary." }));
    const heard: string[] = [];
    const summarizer = openAiCompatibleSummarizer({ baseURL: server.baseURL, model: "local" });
    expect(await summarizer(summaryRequest({ onText: (piece) => heard.push(piece) }))).toMatchObject({ text: "## Goal" });
    expect(heard.join("")).toBe("## Goal");
  });

  test("without what the model thought in a part of its own (Mistral)", async () => {
    const server = await startModelServer();
    server.reply(
      stream(
        delta([{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }]),
        delta([{ type: "text", text: "## Goal" }], "stop"),
        "data: [DONE]\n\n",
      ),
    );
    expect(await ask(server.baseURL)).toMatchObject({ text: "## Goal" });
  });

  test("between comments that keep the connection open (OpenRouter), and with CRLF", async () => {
    const server = await startModelServer();
    const frames = [": OPENROUTER PROCESSING\n\n", delta("## "), ": OPENROUTER PROCESSING\n\n", delta("Goal", "stop"), "data: [DONE]\n\n"];
    server.reply(stream(...frames.map((frame) => frame.replaceAll("\n", "\r\n"))));
    expect(await ask(server.baseURL)).toMatchObject({ text: "## Goal" });
  });

  test("when the server ends it without a reason, or without a last event", async () => {
    const server = await startModelServer();
    server.reply(text("## Goal", { finish: null }), stream(delta("## Goal", "stop")));
    expect(await ask(server.baseURL)).toMatchObject({ text: "## Goal" });
    expect(await ask(server.baseURL)).toMatchObject({ text: "## Goal" });
  });

  test("with null where nothing is meant", async () => {
    const server = await startModelServer();
    server.reply(whole({ content: "## Goal", tool_calls: null, refusal: null, function_call: null }, { usage: null, error: null }));
    expect(await ask(server.baseURL)).toEqual({ text: "## Goal", model: "local", usage: undefined });
  });
});

describe("an answer is a failure", () => {
  test("when the stream contains one", async () => {
    const server = await startModelServer();
    server.reply(stream(delta("## Go"), `data: ${JSON.stringify({ error: { message: "Overloaded", code: 529 } })}\n\n`));
    await expect(ask(server.baseURL)).rejects.toMatchObject({ failure: "overloaded", status: 529 });
  });

  test("with the server's own text, of whatever kind it is", async () => {
    const server = await startModelServer();
    server.reply(fail(400, "model 'local' is not loaded\n"), fail(400, "<html><h1>400</h1></html>"));
    await expect(ask(server.baseURL)).rejects.toMatchObject({ message: expect.stringMatching(/: 400 model 'local' is not loaded$/) });
    await expect(ask(server.baseURL)).rejects.toMatchObject({ message: expect.stringMatching(/: 400 Bad Request$/) });
  });

  test("when the stream or its finish reason is an overflow", async () => {
    const server = await startModelServer();
    const error = { error: { code: 400, type: "exceed_context_size_error", n_ctx: 4096 } };
    server.reply(stream(`data: ${JSON.stringify(error)}\n\n`), stream(delta("", "model_context_window_exceeded"), "data: [DONE]\n\n"));
    await expect(ask(server.baseURL)).rejects.toMatchObject({ failure: "overflow" });
    await expect(ask(server.baseURL)).rejects.toMatchObject({ failure: "overflow" });
  });

  test.each([
    ["no JSON", raw("<html>", "application/json")],
    ["a JSON of another kind", raw('["a"]')],
    ["an event that is no JSON", stream("data: {\n\n")],
    ["an empty body", stream()],
  ])("when it is %s", async (_what, answer) => {
    const server = await startModelServer();
    server.reply(answer);
    await expect(ask(server.baseURL)).rejects.toMatchObject({ code: "SUMMARIZER_CALL", failure: "network" });
  });
});

describe("the address", () => {
  test("may end in a slash, and may have a query", async () => {
    const server = await startModelServer();
    await ask(`${server.baseURL}/?api-version=7`);
    expect(server.requests[0]?.path).toBe("/v1/chat/completions?api-version=7");
  });

  test("may hold a name and a password, which are sent as a header and never shown", async () => {
    const server = await startModelServer();
    server.reply(fail(401, "the password hunter22 is wrong"));
    const error = await ask(server.baseURL.replace("http://", "http://me:hunter22@")).catch((thrown: unknown) => thrown);
    expect(server.requests[0]?.headers.authorization).toBe(`Basic ${Buffer.from("me:hunter22").toString("base64")}`);
    expect(error).toMatchObject({ failure: "auth", message: expect.not.stringContaining("hunter22") });
  });

  test.each(["p@ss/word", "geheim€", "100%"])("may hold a password of any characters: %s", async (password) => {
    const server = await startModelServer();
    server.reply(fail(401, `the password ${password} is wrong`));
    const url = server.baseURL.replace("http://", `http://me:${encodeURIComponent(password)}@`);
    const error = await ask(url).catch((thrown: unknown) => thrown);
    expect(server.requests[0]?.headers.authorization).toBe(`Basic ${Buffer.from(`me:${password}`).toString("base64")}`);
    expect(error).toMatchObject({ failure: "auth", message: expect.not.stringContaining(password) });
  });

  test("may hold a password with a percent sign that is not written as URLs write it", async () => {
    const server = await startModelServer();
    await ask(server.baseURL.replace("http://", "http://me:half%off@"));
    expect(server.requests[0]?.headers.authorization).toBe(`Basic ${Buffer.from("me:half%off").toString("base64")}`);
  });

  test.each(["", "localhost:1234", "ftp://host/v1", "/v1"])("is rejected if it is not a URL: %j", (baseURL) => {
    expect(() => openAiCompatibleSummarizer({ baseURL, model: "m" })).toThrow(InvalidArgumentError);
  });
});

describe("a redirect", () => {
  test("is followed on the same host, where it keeps the method", async () => {
    const server = await startModelServer();
    server.reply(fail(308, "", { location: "/v2/chat/completions" }), "## Goal");
    expect(await ask(server.baseURL, { apiKey: KEY })).toMatchObject({ text: "## Goal" });
    expect(server.requests.map(({ path }) => path)).toEqual(["/v1/chat/completions", "/v2/chat/completions"]);
    expect(server.requests[1]?.raw.equals(server.requests[0]?.raw ?? Buffer.of())).toBe(true);
  });

  test.each([302, 307, 308])("to another host is refused, and neither key nor conversation is sent there: %i", async (status) => {
    const [server, other] = [await startModelServer(), await startModelServer()];
    server.reply(fail(status, "", { location: `${other.baseURL}/chat/completions` }));
    await expect(ask(server.baseURL, { apiKey: KEY })).rejects.toMatchObject({ failure: "bad-request", status });
    expect(other.requests).toHaveLength(0);
  });

  test("in a circle ends", async () => {
    const server = await startModelServer();
    server.otherwise(fail(307, "", { location: "/v1/chat/completions" }));
    await expect(ask(server.baseURL)).rejects.toMatchObject({ failure: "bad-request" });
    expect(server.requests).toHaveLength(6);
  });
});

describe("the request", () => {
  test("has no key if none is given, and the host's headers take precedence", async () => {
    const server = await startModelServer();
    await ask(server.baseURL);
    await ask(server.baseURL, { apiKey: KEY, headers: { authorization: "Token t-1234567", "x-title": "bough" } });
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([undefined, "Token t-1234567"]);
    expect(server.requests[1]?.headers["x-title"]).toBe("bough");
  });

  test("has each header once, however the host writes its name", async () => {
    const server = await startModelServer();
    await ask(server.baseURL, { apiKey: KEY, headers: { Authorization: "Token t-1234567", "Content-Type": "application/json" } });
    expect(server.requests[0]?.headers).toMatchObject({ authorization: "Token t-1234567", "content-type": "application/json" });
  });

  test("limits the output by the parameter that the server supports", async () => {
    const sent: Record<string, unknown>[] = [];
    const fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
      sent.push(JSON.parse(String(init?.body)));
      return Response.json({ choices: [{ message: { content: "a" }, finish_reason: "stop" }] });
    };
    const request = summaryRequest({ maxOutputTokens: 9 });
    await openAiCompatibleSummarizer({ baseURL: "https://api.openai.com/v1", model: "m", fetch })(request);
    await openAiCompatibleSummarizer({ baseURL: "http://127.0.0.1/v1", model: "m", fetch, temperature: 0 })(request);
    expect(sent[0]).toMatchObject({ max_completion_tokens: 9 });
    expect(sent[1]).toMatchObject({ max_tokens: 9, temperature: 0 });
    expect([sent[0]?.["max_tokens"], sent[0]?.["temperature"]]).toEqual([undefined, undefined]);
  });

  test("has the name of the output limit that the server asks for, and keeps it", async () => {
    const server = await startModelServer();
    server.reply(fail(400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."));
    const summarizer = openAiCompatibleSummarizer({ baseURL: server.baseURL, model: "m" });
    await summarizer(summaryRequest({ maxOutputTokens: 9 }));
    await summarizer(summaryRequest({ maxOutputTokens: 9 }));
    const limits = server.requests.map(({ body }) => [body["max_tokens"], body["max_completion_tokens"]]);
    expect(limits).toEqual([
      [9, undefined],
      [undefined, 9],
      [undefined, 9],
    ]);
  });

  test("keeps the name of the output limit that the host has chosen", async () => {
    const server = await startModelServer();
    server.reply(fail(400, "Use 'max_completion_tokens' instead."));
    await expect(
      openAiCompatibleSummarizer({ baseURL: server.baseURL, model: "m", maxTokensField: "max_tokens" })(
        summaryRequest({ maxOutputTokens: 9 }),
      ),
    ).rejects.toMatchObject({ failure: "bad-request" });
    expect(server.requests).toHaveLength(1);
  });
});
