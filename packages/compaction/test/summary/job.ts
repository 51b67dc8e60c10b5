import type { ContextMessage, SessionContext } from "@bough/session-core";
import type { PathItem } from "../../src/plan/span.js";
import { readSettings, type SettingsSource } from "../../src/settings/read-settings.js";
import type { Summarizer, SummaryReply, SummaryRequest } from "../../src/summarizers/summarizer.js";
import type { SummaryJob } from "../../src/summary/summarizer-client.js";
import type { TokenCounter } from "../../src/tokens/token-counter.js";

/** A token is a word: budgets can be counted by hand, and need no table. */
export const words: TokenCounter = { name: "words", count: (text) => text.split(/\s+/).filter((word) => word !== "").length };

/** A message of the person. */
export const user = (content: string): ContextMessage => ({ role: "user", content });
/** An answer in words. */
export const said = (text: string): ContextMessage => ({ role: "assistant", content: [{ type: "text", text }] });

/** One entry for each message. */
export function items(messages: readonly ContextMessage[], start = 1): readonly PathItem[] {
  return messages.map((message, at) => ({ id: `e${start + at}`, type: "message", messages: [message], tokens: textTokens(message) }));
}

function textTokens(message: ContextMessage): number {
  return words.count(JSON.stringify(message));
}

/** So many turns of a question and an answer, of some ninety words each. */
export function conversation(turns: number): readonly ContextMessage[] {
  return Array.from({ length: turns }, (_one, at) => [
    user(`question${at + 1} ${"please mend it ".repeat(15)}`),
    said(`answer${at + 1} ${"it is mended ".repeat(15)}`),
  ]).flat();
}

/** What a model does when it is called: answers, or throws. */
export type Script = (request: SummaryRequest, call: number) => string | SummaryReply | Promise<string | SummaryReply>;

/** A model by a script. A summarizer is the port to a model, so a function is one. */
export function scripted(script: Script | readonly (string | SummaryReply | Error)[]) {
  const asked: SummaryRequest[] = [];
  const summarizer: Summarizer = async (request) => {
    asked.push(request);
    if (typeof script === "function") return script(request, asked.length);
    const answer = script[asked.length - 1] ?? new Error("the script is over");
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { summarizer, asked };
}

/** A job, by default for ten turns of history. */
export function job(given: Partial<Omit<SummaryJob, "settings">> = {}, settings: SettingsSource = {}): SummaryJob {
  return {
    kind: "compaction",
    trigger: "manual",
    plan: { summarize: items(conversation(10)), prefix: [] },
    previousSummary: null,
    instructions: null,
    hook: {},
    counter: words,
    windowTokens: 200_000,
    reserveTokens: 30_000,
    candidates: [],
    full: null,
    forceSimple: false,
    skipModel: false,
    model: null,
    maxTokens: 900,
    ...given,
    settings: readSettings(settings),
  };
}

/** A live request that takes so much of a window of 200,000 tokens. */
export function live(context: SessionContext, usedTokens = 1_000) {
  return { context, usedTokens, limitTokens: 200_000 };
}

/** The live request behind a job. */
export function liveContext(messages: readonly ContextMessage[]): SessionContext {
  return {
    messages,
    entries: messages.map((_one, at) => `e${at + 1}`),
    model: null,
    thinkingLevel: null,
    system: "Be careful.",
    compaction: null,
  };
}
