import type { ContextMessage, SessionContext } from "@bough/session-core";
import { assertSmaller, buildSource, type WrittenPart } from "./part.js";
import { buildNormalTask, buildPrompt } from "./prompt.js";
import { buildFullPreface, IN_SUMMARY_TAGS, NO_TOOLS } from "./prompt-texts.js";
import type { SummarizerClient } from "./summarizer-client.js";
import { collectSource, computeOutputCap, type SummaryJob } from "./summary-job.js";

/** Tokens reserved for the answer if no larger cap is set: this share of the window, at most `ANSWER_TOKENS`. */
const ANSWER_SHARE = 0.05;
const ANSWER_TOKENS = 4_096;

/**
 * The live request of a job that can be summarized in full mode; null: simple mode. A request that lacks one of the
 * messages to be summarized, because it came later or was dropped to fit, cannot be used: the message would be lost. Nor
 * can one that exceeds the context window together with the instruction and its answer.
 */
export function selectFullContext(job: SummaryJob): SessionContext | null {
  const { full, settings, forceSimple, kind, plan, previousSummary } = job;
  if (full === null || kind === "branch") return null;
  const { mode } = settings.summary;
  if (mode === "simple" || (mode === "auto" && forceSimple)) return null;
  const shown = new Set(full.context.entries);
  const { compaction } = full.context;
  if (previousSummary !== null && (compaction === null || !shown.has(compaction.entryId))) return null;
  const covered = [...plan.summarize, ...plan.prefix].filter(({ messages }) => messages.length > 0);
  if (!covered.every(({ id }) => shown.has(id)) || !isWithinWindow(job, full)) return null;
  return stripToolCalls(full.context, settings.summary.stripTools);
}

function isWithinWindow(job: SummaryJob, { usedTokens, limitTokens }: NonNullable<SummaryJob["full"]>): boolean {
  const answerTokens = computeOutputCap(job) ?? Math.min(ANSWER_TOKENS, Math.floor(ANSWER_SHARE * limitTokens));
  return usedTokens + job.counter.count(buildFullPrompt(job, 0)) + answerTokens <= limitTokens;
}

/**
 * The last request without the calls of some tools and their results, because Anthropic rejects a client's tool_search
 * pairs. The same object if there are none, so that the provider's cached prefix stays valid.
 */
function stripToolCalls(context: SessionContext, names: readonly string[]): SessionContext {
  const removed = new Set<string>();
  const messages: ContextMessage[] = [];
  const entries: string[] = [];
  for (const [at, message] of context.messages.entries()) {
    const left = stripCalls(message, names, removed);
    if (left === null) continue;
    messages.push(left);
    entries.push(context.entries[at] ?? "");
  }
  // Compares messages, not ids: a removed id may also belong to a call that stays.
  const isWhole = messages.length === context.messages.length && messages.every((message, at) => message === context.messages[at]);
  return isWhole ? context : { ...context, messages, entries };
}

/** null: nothing of the message is left. `removed`: the ids of the calls removed so far. */
function stripCalls(message: ContextMessage, names: readonly string[], removed: Set<string>): ContextMessage | null {
  if (message.role === "toolResult") return removed.has(message.toolCallId) ? null : message;
  if (message.role !== "assistant") return message;
  const content = message.content.filter((block) => {
    if (block.type !== "toolCall") return true;
    // A later reply may reuse an id.
    if (names.includes(block.name)) removed.add(block.id);
    else removed.delete(block.id);
    return !removed.has(block.id);
  });
  if (content.length === message.content.length) return message;
  // A reply of thinking blocks alone is invalid.
  return content.every(({ type }) => type === "thinking") ? null : { ...message, content };
}

/**
 * Sends the live conversation, which the provider has cached, with one more instruction. The answer is in `<summary>`.
 * The previous summary is part of the conversation.
 *
 * @throws as `SummarizerClient.send`; {SummaryRejectedError} also if the answer is not smaller than the messages it
 * replaces.
 */
export async function writeFull(client: SummarizerClient, context: SessionContext): Promise<WrittenPart> {
  const { job } = client;
  const messages = collectSource(job);
  const answer = await client.send({
    stage: "full",
    system: context.system ?? "",
    prompt: buildFullPrompt(job, Math.max(0, context.messages.length - messages.length - (context.compaction === null ? 0 : 1))),
    task: buildFullPrompt(job, 0),
    needsTag: true,
    context,
    source: buildSource(job, { about: "history", messages, previous: job.previousSummary }),
  });
  assertSmaller(job, answer.body, job.maxTokens);
  return { body: answer.body, title: answer.title, method: answer.extracted ? "extract" : "normal" };
}

function buildFullPrompt(job: SummaryJob, keptMessages: number): string {
  const task = buildNormalTask(job, "history", false);
  const words = [task.text, task.needsTag ? null : IN_SUMMARY_TAGS, NO_TOOLS].filter((part) => part !== null).join("\n\n");
  const asked = buildPrompt(job, "history", { text: words, needsTag: true }, { conversation: null, previous: null });
  return `${buildFullPreface(keptMessages)}\n\n${asked}`;
}
