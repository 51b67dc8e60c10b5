import { expect, test } from "vitest";
import { aiSdkSummarizer } from "../../src/ai-sdk/summarizer.js";
import { startModelServer } from "../model/model-server.js";
import { summaryRequest, testModel } from "../summarizers/shipped.js";

// Options of this adapter only; the behavior of all adapters is tested in over-a-server.

test("sends the host's provider options, headers and temperature with each call", async () => {
  const server = await startModelServer();
  const summarizer = aiSdkSummarizer(testModel(server.baseURL), {
    temperature: 0.3,
    headers: { "x-interaction-type": "conversation-compaction" },
    providerOptions: { test: { user: "bough-summaries" } },
  });
  await summarizer(summaryRequest());
  const { body, headers } = await server.request(0);
  expect(body).toMatchObject({ temperature: 0.3, user: "bough-summaries" });
  expect(headers["x-interaction-type"]).toBe("conversation-compaction");
});

test("uses the request's temperature if the host set none, and sends none if neither is set", async () => {
  const server = await startModelServer();
  const summarizer = aiSdkSummarizer(testModel(server.baseURL));
  await summarizer(summaryRequest({ temperature: 0 }));
  await summarizer(summaryRequest());
  expect((await server.request(0)).body["temperature"]).toBe(0);
  expect((await server.request(1)).body).not.toHaveProperty("temperature");
});

test("returns the id of the response", async () => {
  const server = await startModelServer();
  expect(await aiSdkSummarizer(testModel(server.baseURL))(summaryRequest())).toMatchObject({ requestId: expect.stringMatching(/./) });
});
