import type { AssistantBlock, ContentBlock, ContextMessage, ModelSetting } from "@bough/session-core";
import { type FitInput, type FittedRequest, fitRequest } from "../../src/fit/fit-request.js";
import { readSettings } from "../../src/settings/read-settings.js";
import type { CompactionSettings, SettingsInput } from "../../src/settings/settings.js";

export const CLAUDE: ModelSetting = { provider: "anthropic", modelId: "claude-sonnet-4-5" };
export const GEMINI: ModelSetting = { provider: "google", modelId: "gemini-3-pro" };
export const GPT: ModelSetting = { provider: "openai", modelId: "gpt-5" };

/** Tokens of any image. */
export const IMAGE_TOKENS = 100;

/** One token for each UTF-16 unit of text, so that expected values follow from the lengths. */
export function count(message: ContextMessage): number {
  switch (message.role) {
    case "compactionSummary":
    case "branchSummary":
      return message.summary.length;
    case "bashExecution":
      return message.output.length;
    case "user":
    case "custom":
    case "toolResult":
    case "assistant":
      return typeof message.content === "string" ? message.content.length : sum(message.content.map(blockTokens));
  }
}

function blockTokens(block: ContentBlock | AssistantBlock): number {
  if (block.type === "text") return block.text.length;
  if (block.type === "thinking") return block.thinking.length;
  if (block.type === "image") return IMAGE_TOKENS;
  return block.type === "foreign" ? JSON.stringify(block.raw).length : 0;
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

/** Messages with their names, which are their entries' ids. */
export interface Talk {
  readonly messages: readonly ContextMessage[];
  readonly entries: readonly string[];
}

/**
 * A conversation in short. The first letter is the role: u user, a reply, k reply with calls, r result, s summary of a
 * compaction, b of a branch, c of a host, x a command; in brackets the call ids, each with its tool; behind the colon the
 * tokens, else 10: `talk("s u1:50 k1(c1,c2@skill) r1(c1) r2(c2):30")`.
 */
export function talk(words: string): Talk {
  const named = words.split(" ").map((word) => {
    const [, name = "", calls, size = "10"] = /^(\w+)(?:\(([^)]*)\))?(?::(\d+))?$/.exec(word) ?? [];
    return { name, message: messageOf(name, calls?.split(",") ?? [], "x".repeat(Number(size))) };
  });
  return { messages: named.map(({ message }) => message), entries: named.map(({ name }) => name) };
}

function messageOf(name: string, calls: readonly string[], text: string): ContextMessage {
  switch (name[0]) {
    case "u":
      return { role: "user", content: text };
    case "a":
      return { role: "assistant", content: [{ type: "text", text }] };
    case "k":
      return { role: "assistant", content: [{ type: "text", text }, ...calls.map(callOf)] };
    case "r":
      return { role: "toolResult", toolCallId: calls[0] ?? "", toolName: "bash", content: text, isError: false };
    case "s":
      return { role: "compactionSummary", summary: text };
    case "b":
      return { role: "branchSummary", summary: text, fromId: null };
    case "x":
      return { role: "bashExecution", command: "make", output: text };
    case "c":
      return { role: "custom", customType: "reminder", content: text };
  }
  throw new Error(`no such role: ${name}`);
}

function callOf(call: string): AssistantBlock {
  const [id = "", name = "bash"] = call.split("@");
  return { type: "toolCall", id, name, arguments: {} };
}

/** What a test sets of a request; the rest is the defaults and no limit. */
export interface Given {
  readonly limit?: number;
  readonly system?: number;
  readonly window?: number;
  readonly model?: ModelSetting | null;
  readonly leftOutThinking?: FitInput["summarizedThinking"];
  readonly settings?: NonNullable<SettingsInput["request"]>;
  readonly count?: FitInput["count"];
}

export function settingsOf(request: Given["settings"]): CompactionSettings["request"] {
  return readSettings({ request }).request;
}

export function inputOf({ messages, entries }: Talk, given: Given = {}): FitInput {
  const counter = given.count ?? count;
  return {
    messages,
    entries,
    tokens: messages.map(counter),
    count: counter,
    limitTokens: given.limit ?? 1_000_000,
    systemTokens: given.system ?? 0,
    settings: settingsOf({ targetShare: 0.95, ...given.settings }),
    windowTokens: given.window ?? 10_000_000,
    model: given.model ?? null,
    summarizedThinking: given.leftOutThinking,
  };
}

export function shape(conversation: Talk | string, given: Given = {}): FittedRequest {
  return fitRequest(inputOf(typeof conversation === "string" ? talk(conversation) : conversation, given));
}

/** The names of what is left; a synthetic result is its call's id and "!". */
export function names({ messages, entries }: Pick<FittedRequest, "messages" | "entries">): string {
  return messages
    .map((message, at) => (message.role === "toolResult" && message["synthetic"] === true ? `${message.toolCallId}!` : entries[at]))
    .join(" ");
}

/** The message of an entry; throws if it was dropped. */
export function messageAt(shaped: FittedRequest, name: string): ContextMessage {
  const message = shaped.messages[shaped.entries.indexOf(name)];
  if (message === undefined) throw new Error(`${name} is not in the request`);
  return message;
}

/** The text of a message that is no reply. */
export function textAt(shaped: FittedRequest, name: string): string {
  const message = messageAt(shaped, name);
  if (message.role === "compactionSummary" || message.role === "branchSummary") return message.summary;
  if (message.role === "bashExecution") return message.output;
  const { content } = message;
  return typeof content === "string" ? content : content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("|");
}
