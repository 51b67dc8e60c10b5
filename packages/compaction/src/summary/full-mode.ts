import type { ContextMessage, SessionContext } from "@bough/session-core";
import { assertSmaller, buildSource, type WrittenPart } from "./part.js";
import { buildFullPreface, IN_SUMMARY_TAGS, NO_TOOLS } from "./prompt-texts.js";
import type { SummarizerClient } from "./summarizer-client.js";
import { collectMessages, computeOutputCap, type SummaryJob } from "./summary-job.js";
import { buildNormalTask, buildPrompt } from "./task-prompt.js";

/** The answer needs room in the window too: at least this share of it, where no larger cap is set, up to so many tokens. */
const ANSWER_SHARE = 0.05;
const ANSWER_TOKENS = 4_096;

/**
 * The live request of a job that may be summarised in full mode; null: simple mode. A request that lacks one of the
 * messages to be summarised (it came later, or the request guard left it out) will not do: it would be lost. Nor will one
 * that with the instruction and its answer is larger than the window: its provider would refuse it.
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
 * The live request without the calls of some tools and their results (Anthropic refuses a request with a client's
 * tool_search pairs). The same object where there are none, so that it stays byte for byte what the provider has cached.
 */
function stripToolCalls(context: SessionContext, names: readonly string[]): SessionContext {
  const gone = new Set<string>();
  const messages: ContextMessage[] = [];
  const entries: string[] = [];
  for (const [at, message] of context.messages.entries()) {
    const left = stripCalls(message, names, gone);
    if (left === null) continue;
    messages.push(left);
    entries.push(context.entries[at] ?? "");
  }
  // What is left, and not the ids: one that was taken out may have been used again by a call that stays.
  const isWhole = messages.length === context.messages.length && messages.every((message, at) => message === context.messages[at]);
  return isWhole ? context : { ...context, messages, entries };
}

/** null: nothing of the message is left. `gone`: ids of the calls that were taken out so far. */
function stripCalls(message: ContextMessage, names: readonly string[], gone: Set<string>): ContextMessage | null {
  if (message.role === "toolResult") return gone.has(message.toolCallId) ? null : message;
  if (message.role !== "assistant") return message;
  const content = message.content.filter((block) => {
    if (block.type !== "toolCall") return true;
    // An id may occur again in a later reply.
    if (names.includes(block.name)) gone.add(block.id);
    else gone.delete(block.id);
    return !gone.has(block.id);
  });
  if (content.length === message.content.length) return message;
  // A thought without the words or calls that came of it is no message.
  return content.every(({ type }) => type === "thinking") ? null : { ...message, content };
}

/**
 * Asks behind the live conversation, which the provider has in its cache: its messages as they were sent, and one
 * instruction more. The answer stands in `<summary>` (VS Code's rule). The previous summary is in the conversation.
 *
 * @throws as `Asker.ask`; {SummaryRejectedError} also when the answer is not smaller than what it replaces.
 */
export async function writeFull(asker: SummarizerClient, context: SessionContext): Promise<WrittenPart> {
  const { job } = asker;
  const messages = [...collectMessages(job.plan.summarize), ...collectMessages(job.plan.prefix)];
  const answer = await asker.send({
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
