import { toAiSdk, toOpenAiChat } from "@bough/session-core";
import { generateText, jsonSchema, tool } from "ai";
import { describe, expect, test } from "vitest";
import { aiSdkSummarizer } from "../../src/ai-sdk/summarizer.js";
import { type ChatTool, openAiCompatibleSummarizer } from "../../src/summarizers/openai-compatible.js";
import { remoteSummarizer } from "../../src/summarizers/remote.js";
import { type RecordedRequest, startModelServer } from "../model/model-server.js";
import { liveContext } from "./live-session.js";
import { summaryRequest, testModel } from "./shipped.js";

const PARAMETERS = { type: "object" as const, properties: { path: { type: "string" as const } }, required: ["path"] };

/** The agent's tools; the summary must not run one. */
function agentTools() {
  const execute = async (): Promise<string> => expect.fail("a tool was run");
  return { read: tool({ description: "Reads a file", inputSchema: jsonSchema<{ path: string }>(PARAMETERS), execute }) };
}

const TASK = "Summarize the conversation above.";

/** The bytes of the JSON value that a body holds under a name, as they were sent. */
function bytesOf({ raw, body }: RecordedRequest, name: string): string {
  const value = JSON.stringify(body[name]);
  const text = raw.toString("utf8");
  // What is cut out is what was sent only if the sender writes JSON as we do; that it is found says so.
  expect(text).toContain(`"${name}":${value}`);
  return value;
}

function expectPrefix(agent: RecordedRequest, summary: RecordedRequest): void {
  const sent = bytesOf(agent, "messages");
  const task = JSON.stringify({ role: "user", content: TASK });
  expect(bytesOf(summary, "messages")).toBe(`${sent.slice(0, -1)},${task}]`);
  expect(bytesOf(summary, "tools")).toBe(bytesOf(agent, "tools"));
}

describe("full mode repeats the agent's request byte for byte and adds one user message", () => {
  test("through the AI SDK", async () => {
    const server = await startModelServer();
    const context = await liveContext();
    const tools = agentTools();
    const model = testModel(server.baseURL);

    const { system, messages } = toAiSdk(context);
    await generateText({ model, ...(system === undefined ? {} : { system }), messages, tools });
    await aiSdkSummarizer(model, { tools })(summaryRequest({ context, prompt: TASK }));

    const [agent, summary] = [await server.request(0), await server.request(1)];
    expectPrefix(agent, summary);
    expect(summary.body["tool_choice"]).toBe("none");
  });

  test("through fetch", async () => {
    const server = await startModelServer();
    const context = await liveContext();
    const tools: ChatTool[] = [{ type: "function", function: { name: "read", description: "Reads a file", parameters: PARAMETERS } }];

    const body = JSON.stringify({ model: "test-model", messages: toOpenAiChat(context), tools });
    await fetch(`${server.baseURL}/chat/completions`, { method: "POST", body });
    await openAiCompatibleSummarizer({ baseURL: server.baseURL, model: "test-model", tools })(summaryRequest({ context, prompt: TASK }));

    const [agent, summary] = [await server.request(0), await server.request(1)];
    expectPrefix(agent, summary);
    expect(summary.body["tool_choice"]).toBe("none");
  });

  test("with the agent's system prompt where the session does not store it", async () => {
    const server = await startModelServer();
    const context = { ...(await liveContext()), system: null };
    const system = "You help a user in a terminal.";
    await generateText({ model: testModel(server.baseURL), system, messages: [...toAiSdk(context).messages] });
    await aiSdkSummarizer(testModel(server.baseURL), { system })(summaryRequest({ context, prompt: TASK }));
    await openAiCompatibleSummarizer({ baseURL: server.baseURL, model: "test-model", system })(summaryRequest({ context, prompt: TASK }));
    await aiSdkSummarizer(testModel(server.baseURL), { system })(summaryRequest());
    const [agent, throughSdk, throughFetch, simple] = server.requests;
    expect(throughSdk?.body.messages?.slice(0, -1)).toEqual(agent?.body.messages);
    expect(throughFetch?.body.messages?.[0]).toEqual(agent?.body.messages?.[0]);
    expect(JSON.stringify(simple?.body.messages)).not.toContain(system);
  });

  test("without tools where the agent has none", async () => {
    const server = await startModelServer();
    const context = await liveContext();
    await aiSdkSummarizer(testModel(server.baseURL))(summaryRequest({ context }));
    await openAiCompatibleSummarizer({ baseURL: server.baseURL, model: "test-model" })(summaryRequest({ context }));
    for (const { body } of server.requests) expect([body["tools"], body["tool_choice"]]).toEqual([undefined, undefined]);
    expect(server.requests).toHaveLength(2);
  });
});

test("simple mode offers no tools, also where the agent has some", async () => {
  const server = await startModelServer();
  const tools = agentTools();
  await aiSdkSummarizer(testModel(server.baseURL), { tools })(summaryRequest());
  const chatTools: ChatTool[] = [{ type: "function", function: { name: "read", parameters: PARAMETERS } }];
  await openAiCompatibleSummarizer({ baseURL: server.baseURL, model: "m", tools: chatTools })(summaryRequest());
  expect(server.requests.map(({ body }) => body["tools"])).toEqual([undefined, undefined]);
  expect(server.requests).toHaveLength(2);
});

test("a remote endpoint cannot continue a live request, and fails without sending it", async () => {
  const server = await startModelServer();
  const asked = remoteSummarizer(server.summarizeURL)(summaryRequest({ context: await liveContext() }));
  await expect(asked).rejects.toMatchObject({ code: "SUMMARIZER_CALL", failure: "bad-request" });
  expect(server.requests).toHaveLength(0);
});
