import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { aiSdkSummarizer } from "../../src/ai-sdk/summarizer.js";
import { openAiCompatibleSummarizer } from "../../src/summarizers/openai-compatible.js";
import { remoteSummarizer } from "../../src/summarizers/remote.js";
import type { Summarizer, SummaryRequest } from "../../src/summarizers/summarizer.js";
import type { ModelServer } from "../model/model-server.js";

/** Sent as the key to every server of these tests; no message of an error may hold it. */
export const KEY = "sk-test-0123456789abcdef";

/** A summarizer with a model behind it, and what its protocol can say. */
export interface Shipped {
  readonly name: string;
  readonly over: (server: Pick<ModelServer, "baseURL" | "summarizeURL">) => Summarizer;
  /** It speaks chat completions: it streams, continues a live request, and receives a finish reason. */
  readonly chats: boolean;
}

/** Every shipped summarizer that asks a model. */
export const SHIPPED: readonly Shipped[] = [
  { name: "aiSdkSummarizer", over: ({ baseURL }) => aiSdkSummarizer(testModel(baseURL)), chats: true },
  {
    name: "openAiCompatibleSummarizer",
    over: ({ baseURL }) => openAiCompatibleSummarizer({ baseURL, model: "test-model", apiKey: KEY }),
    chats: true,
  },
  {
    name: "remoteSummarizer",
    over: ({ summarizeURL }) => remoteSummarizer(summarizeURL, { headers: { authorization: `Bearer ${KEY}` } }),
    chats: false,
  },
];

/** A language model of the AI SDK over a test server. */
export function testModel(baseURL: string) {
  return createOpenAICompatible({ name: "test", baseURL, apiKey: KEY, includeUsage: true })("test-model");
}

/** A request with a conversation in its prompt. */
export function summaryRequest(more: Partial<SummaryRequest> = {}): SummaryRequest {
  return { system: "You summarize.", prompt: "User: build a parser.\nAssistant: built.\n\nSummarize.", ...more };
}
