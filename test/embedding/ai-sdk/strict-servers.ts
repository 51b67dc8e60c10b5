import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { isDeepStrictEqual } from "node:util";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import type { LanguageModel } from "ai";
import { onTestFinished } from "vitest";

type Json = Record<string, unknown>;
type ProviderOptions = Record<string, Record<string, string | boolean>>;

/** What a thinking model says, in the form of its provider, and what it demands of a request. */
export interface Wire {
  readonly name: string;
  /** Two steps that think and call `read`, an answer, and one more answer. */
  readonly replies: readonly Json[];
  readonly providerOptions: ProviderOptions;
  readonly model: (baseURL: string) => LanguageModel;
  /** What a reply says, as a request must repeat it. */
  readonly said: (reply: Json) => readonly unknown[];
  /** What a request repeats of earlier replies. `known`: all that was said so far. */
  readonly repeated: (body: Json, known: readonly unknown[]) => readonly unknown[];
}

/** A model on loopback that answers 400 unless a request repeats all earlier replies as they were. */
export async function strictServer(wire: Wire): Promise<{ readonly baseURL: string; readonly requests: readonly Json[] }> {
  const requests: Json[] = [];
  let answered = 0;
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(Buffer.from(piece));
    const body = JSON.parse(Buffer.concat(pieces).toString()) as Json;
    requests.push(body);
    const demanded = wire.replies.slice(0, answered).flatMap(wire.said);
    const isRepeated = isDeepStrictEqual(wire.repeated(body, demanded), demanded);
    const reply = isRepeated
      ? wire.replies[answered++]
      : { type: "error", error: { type: "invalid", code: 400, status: "", message: "changed" } };
    response.writeHead(isRepeated ? 200 : 400, { "content-type": "application/json" }).end(JSON.stringify(reply));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value : []);
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const summary = (text: string) => ({ type: "summary_text", text });
const reasoning = (id: string, ...texts: readonly string[]) => ({
  type: "reasoning",
  id,
  encrypted_content: `gAAAA-${id}`,
  summary: texts.map(summary),
});
const functionCall = (n: number, path: string) => ({
  type: "function_call",
  id: `fc_${n}`,
  call_id: `call_${n}`,
  name: "read",
  arguments: JSON.stringify({ path }),
  status: "completed",
});
const spoken = (id: string, text: string, phase: string) => ({
  type: "message",
  id,
  role: "assistant",
  phase,
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
});
const response = (id: string, ...output: readonly Json[]) => ({
  id,
  object: "response",
  created_at: 1_760_000_000,
  model: "gpt-5.2-2026",
  status: "completed",
  output,
  usage: {
    input_tokens: 90,
    input_tokens_details: { cached_tokens: 60 },
    output_tokens: 30,
    output_tokens_details: { reasoning_tokens: 20 },
  },
});

/** What is compared of an item of the Responses API: a call is known by its `call_id`. */
function openAiItem(item: Json): unknown {
  const { type, role, id, encrypted_content, summary: texts, call_id, name, arguments: input, phase, content } = item;
  if (type === "reasoning") return { id, encrypted_content, summary: texts };
  if (type === "function_call") return { call_id, name, input };
  return role === "assistant" ? { id, phase, text: list(content)[0]?.["text"] } : item;
}

const isSaid = ({ type, role }: Json) => type !== "function_call_output" && (role === undefined || role === "assistant");

function openAiWire(store: boolean): Wire {
  return {
    name: `OpenAI Responses, ${store ? "items that it stores" : "encrypted reasoning"}`,
    providerOptions: { openai: { store } },
    model: (baseURL) => createOpenAI({ baseURL, apiKey: "-" }).responses("gpt-5.2"),
    replies: [
      response(
        "r1",
        reasoning("rs_1", "Look at the lexer.", "Then the parser."),
        spoken("msg_1", "I look.", "commentary"),
        functionCall(1, "lexer.ts"),
      ),
      response("r2", reasoning("rs_2"), functionCall(2, "a.ts"), functionCall(3, "b.ts")),
      response("r3", reasoning("rs_3", "Clear."), spoken("msg_3", "Tabs count as one.", "final_answer")),
      response("r4", reasoning("rs_4"), spoken("msg_4", "Form feeds too.", "final_answer")),
    ],
    said: (reply) => list(reply["output"]).map(openAiItem),
    // An item that the server stored is named by its id; a name that it does not know stays as it is, and is refused.
    repeated: ({ input }, known) =>
      list(input)
        .filter(isSaid)
        .map((item) =>
          item["type"] === "item_reference" ? (known.find((one) => (one as Json)["id"] === item["id"]) ?? item) : openAiItem(item),
        ),
  };
}

const claude = (id: string, stop_reason: string, ...content: readonly Json[]) => ({
  type: "message",
  id,
  model: "claude-opus-4-5",
  role: "assistant",
  content,
  stop_reason,
  stop_sequence: null,
  usage: { input_tokens: 20, output_tokens: 30, cache_read_input_tokens: 60, cache_creation_input_tokens: 10 },
});
const thinking = (n: number, text: string) => ({ type: "thinking", thinking: text, signature: `EqQB/${n}+sig==` });
const toolUse = (n: number, path: string) => ({ type: "tool_use", id: `toolu_${n}`, name: "read", input: { path } });

const anthropicWire: Wire = {
  name: "Anthropic",
  providerOptions: {},
  model: (baseURL) => createAnthropic({ baseURL, apiKey: "-" })("claude-opus-4-5"),
  replies: [
    claude(
      "m1",
      "tool_use",
      thinking(1, "Look at the lexer."),
      { type: "redacted_thinking", data: "EmwKhidden" },
      { type: "text", text: "I look." },
      toolUse(1, "lexer.ts"),
    ),
    claude("m2", "tool_use", thinking(2, ""), toolUse(2, "a.ts"), toolUse(3, "b.ts")),
    claude("m3", "end_turn", thinking(3, "Clear."), { type: "text", text: "Tabs count as one." }),
    claude("m4", "end_turn", { type: "text", text: "Form feeds too." }),
  ],
  said: (reply) => list(reply["content"]),
  repeated: ({ messages }) =>
    list(messages)
      .filter(({ role }) => role === "assistant")
      .flatMap(({ content }) => list(content)),
};

const gemini = (...parts: readonly Json[]) => ({
  candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }],
  usageMetadata: {
    promptTokenCount: 80,
    cachedContentTokenCount: 60,
    candidatesTokenCount: 10,
    thoughtsTokenCount: 20,
    totalTokenCount: 110,
  },
});
const signed = (part: Json, thoughtSignature: string) => ({ ...part, thoughtSignature });
const functionPart = (path: string) => ({ functionCall: { name: "read", args: { path } } });

const googleWire: Wire = {
  name: "Google",
  providerOptions: {},
  model: (baseURL) => createGoogleGenerativeAI({ baseURL, apiKey: "-" })("gemini-3-pro-preview"),
  replies: [
    gemini({ text: "Look at the lexer.", thought: true }, { text: "I look." }, signed(functionPart("lexer.ts"), "CpQB1==")),
    // Of several calls the first one is signed.
    gemini(signed(functionPart("a.ts"), "CpQB2=="), functionPart("b.ts")),
    gemini(signed({ text: "Tabs count as one." }, "CpQB3==")),
    gemini({ text: "Form feeds too." }),
  ],
  said: (reply) => list(reply["candidates"]).flatMap(({ content }) => list((content as Json)["parts"])),
  repeated: ({ contents }) =>
    list(contents)
      .filter(({ role }) => role === "model")
      .flatMap(({ parts }) => list(plain(parts)))
      .map((part) => withoutId(part)),
};

/** The provider adds ids of calls, which the server does not need. */
function withoutId(part: Json): Json {
  const { functionCall: called, ...rest } = part;
  if (called === undefined) return part;
  const { name, args } = called as Json;
  return { functionCall: { name, args }, ...rest };
}

export const WIRES: readonly Wire[] = [openAiWire(true), openAiWire(false), anthropicWire, googleWire];
