import { once } from "node:events";
import { createServer } from "node:http";
import { generateText } from "ai";
import { expect, onTestFinished, test } from "vitest";
import { chooseChatModel } from "../../src/agent/chat-model.js";

test.each(["anthropic", "openai-compatible"] as const)("a model of %s is asked with the parameters of its URL", async (provider) => {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.writeHead(401).end("{}");
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new TypeError("no port");
  const baseUrl = `http://127.0.0.1:${address.port}/v1?api-version=2025-01-01&key=a%2Fb`;
  const model = await chooseChatModel({}, {}, { model: "m", baseUrl, provider })?.languageModel();
  if (model === undefined) throw new TypeError("no model");
  await expect(generateText({ model, prompt: "Hello", maxRetries: 0 })).rejects.toThrow();
  expect(asked).toEqual([expect.stringMatching(/^\/v1\/[a-z/]+\?api-version=2025-01-01&key=a%2Fb$/)]);
});
