import type { SessionContext } from "@bough/session-core";
import type { Asker } from "./asker.js";
import { messagesOf, type SummaryJob } from "./job.js";
import { assertSmaller, summarySource, type WrittenPart } from "./part.js";
import { fullPreface, IN_SUMMARY_TAGS } from "./prompts/shared.js";
import { NO_TOOLS } from "./prompts/system.js";
import { normalTask, promptText } from "./prompts/task-prompt.js";

/**
 * The live request of a job that may be summarised in full mode; null: simple mode. A request that lacks one of the
 * messages to be summarised (it came later, or the request guard left it out) will not do: it would be lost.
 */
export function fullContext({ full, settings, forceSimple, kind, plan, previousSummary }: SummaryJob): SessionContext | null {
  if (full === null || kind === "branch") return null;
  const { mode } = settings.summary;
  if (mode === "simple" || (mode === "auto" && forceSimple)) return null;
  const shown = new Set(full.context.entries);
  const { compaction } = full.context;
  if (previousSummary !== null && (compaction === null || !shown.has(compaction.entryId))) return null;
  const covered = [...plan.summarize, ...plan.prefix].filter(({ messages }) => messages.length > 0);
  return covered.every(({ id }) => shown.has(id)) ? full.context : null;
}

/**
 * Asks behind the live conversation, which the provider has in its cache: its messages as they were sent, and one
 * instruction more. The answer stands in `<summary>` (VS Code's rule). The previous summary is in the conversation.
 *
 * @throws as `Asker.ask`; {SummaryRejectedError} also when the answer is not smaller than what it replaces.
 */
export async function writeFull(asker: Asker, context: SessionContext): Promise<WrittenPart> {
  const { job } = asker;
  const messages = [...messagesOf(job.plan.summarize), ...messagesOf(job.plan.prefix)];
  const answer = await asker.ask({
    stage: "full",
    system: context.system ?? "",
    prompt: fullPrompt(job, Math.max(0, context.messages.length - messages.length - (context.compaction === null ? 0 : 1))),
    needsTag: true,
    context,
    source: summarySource(job, { about: "history", messages, previous: job.previousSummary }),
  });
  assertSmaller(job, answer.body, job.maxTokens);
  return { body: answer.body, title: answer.title, method: answer.extracted ? "extract" : "normal" };
}

function fullPrompt(job: SummaryJob, keptMessages: number): string {
  const task = normalTask(job, "history", false);
  const words = [task.text, task.needsTag ? null : IN_SUMMARY_TAGS, NO_TOOLS].filter((part) => part !== null).join("\n\n");
  const asked = promptText(job, "history", { text: words, needsTag: true }, { conversation: null, previous: null });
  return `${fullPreface(keptMessages)}\n\n${asked}`;
}
