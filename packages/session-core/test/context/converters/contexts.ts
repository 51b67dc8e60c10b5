import fc from "fast-check";
import type { ContextMessage, SessionContext } from "../../../src/context/context.js";
import type {
  AssistantBlock,
  AssistantMessage,
  ContentBlock,
  FileBlock,
  ToolResultMessage,
  UserMessage,
} from "../../../src/entry/message.js";

/** One red pixel. */
export const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

export function contextOf(messages: readonly ContextMessage[], system: string | null = null): SessionContext {
  return { messages, entries: messages.map((_, at) => `e${at}`), model: null, thinkingLevel: null, system, compaction: null };
}

export function user(content: string | ContentBlock[]): UserMessage {
  return { role: "user", content };
}

export function assistant(content: AssistantBlock[], provider = "anthropic"): AssistantMessage {
  return { role: "assistant", content, provider };
}

export function text(words: string): { type: "text"; text: string } {
  return { type: "text", text: words };
}

export function image(mimeType = "image/png"): { type: "image"; data: string; mimeType: string } {
  return { type: "image", data: PIXEL, mimeType };
}

export function file(fields: object): FileBlock {
  return { type: "file", mediaType: "application/pdf", data: "aGk=", filename: "plan.pdf", ...fields };
}

export function call(id: string, name = "read", args: Record<string, unknown> = { path: "a.ts" }): AssistantBlock {
  return { type: "toolCall", id, name, arguments: args };
}

export function result(toolCallId: string, content: string | ContentBlock[] = "done", isError = false): ToolResultMessage {
  return { role: "toolResult", toolCallId, toolName: "read", content, isError };
}

export function foreign(raw: { type: string } & Record<string, unknown>): { type: "foreign"; originalType: string; raw: unknown } {
  return { type: "foreign", originalType: raw.type, raw };
}

const words = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.constantFrom("", " ", "\n", "x\ud800", "`"));
// Few ids, so that they repeat; and some that no provider takes.
const ids = fc.constantFrom("call_0", "call_1", "a.b", "a:b", "", `fc|${"x".repeat(60)}`, `fc|${"x".repeat(61)}`, "é");

const anyFile: fc.Arbitrary<FileBlock> = fc
  .tuple(
    fc.constantFrom("application/pdf", "audio/wav", "audio/mpeg;rate=8000", "text/csv", "image/png", "image/*", "image/tiff", "video/mp4"),
    fc.constantFrom(
      { data: "aGk=" },
      { data: undefined, url: "https://example.org/a" },
      { data: undefined, url: "gs://a/b" },
      { data: "" },
    ),
    fc.option(words, { nil: undefined }),
  )
  .map(([mediaType, where, filename]) => file({ mediaType, filename, ...where }));

const saidBlock: fc.Arbitrary<ContentBlock> = fc.oneof(
  words.map(text),
  fc.constantFrom("image/png", "image/jpg", "image/svg+xml").map(image),
  fc.constant(foreign({ type: "document", source: { type: "text", media_type: "text/plain", data: "d" } })),
  fc.constant(foreign({ type: "unheard_of" })),
  anyFile,
);

const answerBlock: fc.Arbitrary<AssistantBlock> = fc.oneof(
  words.map(text),
  words.map((thinking) => ({ type: "thinking" as const, thinking, thinkingSignature: "c2ln" })),
  words.map((thinking) => ({ type: "thinking" as const, thinking })),
  fc.constant({ type: "thinking" as const, thinking: "", thinkingSignature: "cmVk", redacted: true }),
  fc.tuple(ids, words, fc.dictionary(words, words)).map(([id, name, args]) => call(id, name, args)),
  fc.constant(image()),
  anyFile,
  fc.tuple(fc.constantFrom("openai", "anthropic", "google"), words).map(([provider, thinking]) => ({
    type: "thinking" as const,
    thinking,
    providerOptions: { [provider]: { itemId: "rs_1", reasoningEncryptedContent: "e" } },
  })),
  fc.constant(foreign({ type: "server_tool_use", id: "srv1", name: "web_search", input: {} })),
  fc.constant(foreign({ type: "web_search_tool_result", tool_use_id: "srv1", content: [] })),
);

const anyMessage: fc.Arbitrary<ContextMessage> = fc.oneof(
  fc.oneof(words, fc.array(saidBlock, { maxLength: 3 })).map(user),
  fc
    .tuple(fc.array(answerBlock, { maxLength: 5 }), fc.constantFrom("anthropic", "openai"))
    .map(([blocks, provider]) => assistant(blocks, provider)),
  fc.tuple(ids, fc.array(saidBlock, { maxLength: 3 }), fc.boolean()).map(([id, content, isError]) => result(id, content, isError)),
  words.map((summary) => ({ role: "compactionSummary" as const, summary })),
  words.map((summary) => ({ role: "branchSummary" as const, summary, fromId: null })),
  fc.tuple(words, words).map(([command, output]) => ({ role: "bashExecution" as const, command, output })),
  words.map((content) => ({ role: "custom" as const, customType: "note", content })),
);

/** Contexts with everything in any order, also orders that `buildSessionContext` never gives. */
export const anyContext: fc.Arbitrary<SessionContext> = fc
  .tuple(fc.array(anyMessage, { maxLength: 14 }), fc.option(words))
  .map(([messages, system]) => contextOf(messages, system));

/** How many calls the replies of a context make. */
export function countCalls(context: SessionContext): number {
  const blocks = context.messages.flatMap((message): AssistantBlock[] => (message.role === "assistant" ? message.content : []));
  return blocks.filter((block) => block.type === "toolCall").length;
}

/** Every text inside a value, keys too. */
export function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [key, ...textsIn(member)]);
}
