import { toAiSdk } from "@bough/session-core";
import { convertToModelMessages, type UIMessage, validateUIMessages } from "ai";
import { describe, expect, test } from "vitest";
import { openedStore } from "../../../../session-core/test/world/stores.js";
import { fromUiMessages } from "../../../src/ai-sdk/from-ui-messages.js";
import { toUiMessages } from "../../../src/ai-sdk/to-ui-messages.js";

const PIXEL = "iVBORw0KGgo=";
const part = (state: string, rest: object) => ({ type: "tool-read", toolCallId: "c1", input: { path: "a" }, state, ...rest });
const assistant = (...parts: readonly object[]) => ({ id: "a1", role: "assistant", parts: [{ type: "step-start" }, ...parts] });

const MESSAGES: Readonly<Record<string, object>> = {
  "a question with metadata and files": {
    id: "u1",
    role: "user",
    metadata: { sentAt: 5 },
    parts: [
      { type: "text", text: "Look" },
      { type: "file", mediaType: "image/png", filename: "a.png", url: `data:image/png;base64,${PIXEL}` },
      { type: "file", mediaType: "application/pdf", url: "https://a.example/a.pdf" },
      { type: "file", mediaType: "text/plain", url: "data:text/plain,hi" },
      { type: "data-note", id: "n1", data: { pinned: true } },
    ],
  },
  instructions: { id: "s1", role: "system", parts: [{ type: "text", text: "Be brief." }] },
  "thinking, sources, data and several steps": assistant(
    { type: "reasoning", text: "hm", state: "done", providerMetadata: { anthropic: { signature: "c2ln" } } },
    { type: "text", text: "First", state: "done", providerMetadata: { openai: { itemId: "msg_1" } } },
    part("output-available", { output: { lines: 3 }, callProviderMetadata: { google: { thoughtSignature: "dGhv" } } }),
    { type: "step-start" },
    { type: "source-url", sourceId: "s1", url: "https://a.example/", title: "A" },
    { type: "source-document", sourceId: "s2", mediaType: "text/plain", title: "B" },
    { type: "data-weather", id: "w1", data: { sun: true } },
    { type: "text", text: "Second", state: "done" },
  ),
  "a call that runs": assistant(part("input-available", {})),
  "a call whose input is not complete": assistant(part("input-streaming", { input: { pa: 1 } })),
  "a call that failed": assistant(part("output-error", { errorText: "no such file" })),
  "a call that asks": assistant(part("approval-requested", { approval: { id: "p1" } })),
  "a call that was allowed": assistant(part("approval-responded", { approval: { id: "p1", approved: true } })),
  "a call that was allowed and ran": assistant(
    part("output-available", { output: "ok", approval: { id: "p1", approved: true, reason: "fine" } }),
  ),
  "a call that was denied": assistant(part("output-denied", { approval: { id: "p1", approved: false, reason: "not now" } })),
  "a dynamic tool with a preliminary output": assistant({
    type: "dynamic-tool",
    toolName: "mcp_x",
    toolCallId: "c9",
    title: "X",
    state: "output-available",
    input: { a: 1 },
    output: [1, null],
    preliminary: true,
  }),
  "a tool that the provider ran": assistant(
    { ...part("output-available", { output: [{ url: "u" }] }), providerExecuted: true },
    { type: "text", text: "found", state: "done" },
  ),
  "text that is still arriving, without a step": { id: "a1", role: "assistant", parts: [{ type: "text", text: "Fi", state: "streaming" }] },
  "an answer without parts": { id: "a1", role: "assistant", parts: [] },
};

async function stored(messages: readonly UIMessage[]) {
  const session = await (await openedStore()).createSession({});
  await session.write(fromUiMessages(messages).map((entry) => ({ kind: "entry", entry })));
  return session;
}

describe("a message of a page comes back as it was", () => {
  test.each(Object.entries(MESSAGES))("%s", async (_name, message) => {
    const given = message as UIMessage;
    const back = toUiMessages(await (await stored([given])).path());
    expect(back).toEqual([given]);
    if (given.parts.length > 0) await validateUIMessages({ messages: back });
  });

  test("also in a conversation, where two answers may follow each other", async () => {
    const list = Object.values(MESSAGES).map((message, at) => ({ ...message, id: `m${at}` }) as UIMessage);
    expect(toUiMessages(await (await stored(list)).path())).toEqual(list);
  });
});

test("the model reads the same as the SDK would make of the page", async () => {
  const message = MESSAGES["a call that failed"] as UIMessage;
  const own = toAiSdk(await (await stored([message])).context()).messages;
  expect(own).toEqual(await convertToModelMessages([message]));
});
