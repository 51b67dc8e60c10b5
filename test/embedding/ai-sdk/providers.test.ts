import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { recordSteps, recordStream, stepEntries, toAiSdk } from "@bough/adapters/ai-sdk";
import { openStore, type Session, userMessage } from "@bough/session-core";
import {
  generateText,
  type LanguageModel,
  type ModelMessage,
  simulateStreamingMiddleware,
  stepCountIs,
  streamText,
  tool,
  wrapLanguageModel,
} from "ai";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { strictServer, WIRES, type Wire } from "./strict-servers.js";

// The packages of the providers against servers that refuse what the real ones refuse: a reply of a thinking model that is not
// repeated as it was, with the ids, encrypted content and signatures of its thinking.

const tools = { read: tool({ inputSchema: z.object({ path: z.string() }), execute: async ({ path }) => ({ path, lines: 3 }) }) };

function storePath(): string {
  const folder = mkdtempSync(join(tmpdir(), "bough-providers-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "sessions.db");
}

/** Runs with the session of a store that is opened for it and closed after it. */
async function reopened<T>(path: string, run: (session: Session) => Promise<T>): Promise<T> {
  const store = await openStore({ path });
  try {
    return await run(await store.openOrCreateSession("chat"));
  } finally {
    await store.close();
  }
}

/** One call of a program that knows only the stored session. */
type Turn = (session: Session, model: LanguageModel, wire: Wire, steps: number) => Promise<string>;

const request = async (session: Session, model: LanguageModel, { providerOptions }: Wire, steps: number) =>
  ({ model, tools, providerOptions, maxRetries: 0, stopWhen: stepCountIs(steps), ...toAiSdk(await session.context()) }) as const;

const RECORDERS: Readonly<Record<string, Turn>> = {
  recordSteps: async (session, model, wire, steps) => {
    const recorder = recordSteps(session);
    const { text, warnings } = await generateText({ ...(await request(session, model, wire, steps)), ...recorder });
    await recorder.done();
    expect(warnings ?? []).toEqual([]);
    return text;
  },
  stepEntries: async (session, model, wire, steps) => {
    const result = await generateText(await request(session, model, wire, steps));
    await session.write(result.steps.flatMap((step) => stepEntries(step)).map((entry) => ({ kind: "entry", entry })));
    return result.text;
  },
  recordStream: async (session, model, wire, steps) => {
    if (typeof model === "string" || model.specificationVersion !== "v3") throw new TypeError("a model of the packages is an object");
    const streaming = wrapLanguageModel({ model, middleware: simulateStreamingMiddleware() });
    const result = streamText(await request(session, streaming, wire, steps));
    for await (const _ of recordStream(session, result.fullStream, { model: streaming }));
    return result.text;
  },
};

describe.each(WIRES)("$name", (wire) => {
  test.each(Object.entries(RECORDERS))("a tool loop that %s stored goes on after the store was reopened", async (_name, turn) => {
    const path = storePath();
    const { baseURL, requests } = await strictServer(wire);
    const model = wire.model(baseURL);
    await reopened(path, (session) => session.append(userMessage("How wide is a tab?")));
    await reopened(path, (session) => turn(session, model, wire, 1));
    expect(await reopened(path, (session) => turn(session, model, wire, 5))).toBe("Tabs count as one.");
    await reopened(path, (session) => session.append(userMessage("And form feeds?")));
    expect(await reopened(path, (session) => turn(session, model, wire, 5))).toBe("Form feeds too.");
    expect(requests).toHaveLength(4);
    await reopened(path, async (session) => {
      const { usage } = await session.statistics();
      const [first] = usage;
      expect(first).toMatchObject({ inputTokens: expect.any(Number), outputTokens: 120 });
    });
  });

  test("a request without what the provider needs back is refused", async () => {
    const path = storePath();
    const { baseURL } = await strictServer(wire);
    const model = wire.model(baseURL);
    await reopened(path, (session) => session.append(userMessage("How wide is a tab?")));
    await reopened(path, (session) => RECORDERS["recordSteps"]?.(session, model, wire, 1) ?? Promise.reject(new TypeError("no recorder")));
    const context = await reopened(path, (session) => session.context());
    const options = { model, tools, providerOptions: wire.providerOptions, maxRetries: 0 };
    const prompt = toAiSdk(context);
    const without = JSON.stringify(prompt.messages, (key, value: unknown) => (key === "providerOptions" ? undefined : value));
    await expect(generateText({ ...options, messages: JSON.parse(without) as ModelMessage[] })).rejects.toMatchObject({ statusCode: 400 });
    const { text } = await generateText({ ...options, ...prompt });
    expect(text).toBe("");
  });
});
