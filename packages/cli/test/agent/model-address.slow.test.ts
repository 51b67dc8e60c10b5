import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { generateText } from "ai";
import { expect, onTestFinished, test, vi } from "vitest";
import { chooseChatModel } from "../../src/agent/chat-model.js";

/** The URL of a server that ends with the test. */
async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new TypeError("no port");
  return `http://127.0.0.1:${address.port}/v1`;
}

test.each(["anthropic", "openai-compatible"] as const)("a model of %s is asked with the parameters of its URL", async (provider) => {
  const asked: (string | undefined)[] = [];
  const url = await serve((request, response) => {
    asked.push(request.url);
    response.writeHead(401).end("{}");
  });
  const baseUrl = `${url}?api-version=2025-01-01&key=a%2Fb`;
  const model = await chooseChatModel({}, {}, { model: "m", baseUrl, provider })?.languageModel();
  if (model === undefined) throw new TypeError("no model");
  await expect(generateText({ model, prompt: "Hello", maxRetries: 0 })).rejects.toThrow();
  expect(asked).toEqual([expect.stringMatching(/^\/v1\/[a-z/]+\?api-version=2025-01-01&key=a%2Fb$/)]);
});

test("a model that the SDK does not know is asked without a word on the console", async () => {
  const reply = { type: "message", id: "1", role: "assistant", model: "m", content: [{ type: "text", text: "Hello" }] };
  const body = JSON.stringify({ ...reply, stop_reason: "end_turn", usage: { input_tokens: 1, output_tokens: 1 } });
  const baseUrl = await serve((_, response) => void response.writeHead(200, { "content-type": "application/json" }).end(body));
  const model = await chooseChatModel({}, {}, { model: "m", baseUrl, provider: "anthropic" })?.languageModel();
  if (model === undefined) throw new TypeError("no model");
  const said = [vi.spyOn(console, "info"), vi.spyOn(console, "warn")];
  onTestFinished(() => void vi.restoreAllMocks());
  const { text, warnings } = await generateText({ model, prompt: "Hello", maxRetries: 0 });
  expect([text, warnings?.length]).toEqual(["Hello", 1]);
  expect(said.flatMap(({ mock }) => mock.calls)).toEqual([]);
});
