import type { NativeCompaction, SessionContext } from "@bough/session-core";
import { SummaryRejectedError } from "../errors/summarizer-errors.js";
import { isNativeSummarizer } from "../summarizers/native.js";
import type { Summarizer, SummaryReply } from "../summarizers/summarizer.js";
import { messageTokens } from "../tokens/message-tokens.js";
import { FOCUS_OF_PROVIDER } from "./prompt-texts.js";
import type { SummarizerClient, SummaryJob } from "./summarizer-client.js";

/** A compaction that the provider wrote. `text`: its summary; null: nothing but the provider can read it. */
export interface NativeSummary {
  readonly native: NativeCompaction;
  readonly text: string | null;
}

/**
 * Lets the provider compact what a job replaces. null: no summarizer of the job can, the job's messages are not the start of the last
 * request, or all calls failed.
 *
 * @throws the signal's reason; with `onFailure: "fail"` the failure, if no other summarizer follows.
 */
export async function writeNative(client: SummarizerClient, candidates: readonly Summarizer[]): Promise<NativeSummary | null> {
  const { job } = client;
  const context = candidates.length === 0 || job.skipModel ? null : selectReplaced(job);
  if (context === null) return null;
  try {
    return checkSize(
      job,
      await client.sendNative(candidates, context, job.instructions === null ? "" : FOCUS_OF_PROVIDER + job.instructions),
    );
  } catch (error) {
    client.recordFailure(error);
    if (job.candidates.length === 0 && job.settings.summary.onFailure === "fail") throw error;
    return null;
  }
}

/** Splits the candidates of a job: those that compact at the provider, and those that write a summary from a prompt. */
export function splitCandidates(candidates: readonly Summarizer[]): {
  readonly natives: readonly Summarizer[];
  readonly others: readonly Summarizer[];
} {
  return { natives: candidates.filter(isNativeSummarizer), others: candidates.filter((one) => !isNativeSummarizer(one)) };
}

/**
 * The start of the live request that a compaction replaces, byte for byte as it was sent; null: its messages are not the start of it, or
 * some are missing. The kept messages follow it without a change, so what is bound to their prefix stays valid.
 */
function selectReplaced({ full, plan, kind, model, previousSummary }: SummaryJob): SessionContext | null {
  if (full === null || kind === "branch") return null;
  const { context } = full;
  const covered = new Set([...plan.summarize, ...plan.prefix].filter(({ messages }) => messages.length > 0).map(({ id }) => id));
  const inForce = context.compaction?.entryId;
  if (previousSummary !== null && (inForce === undefined || context.entries[0] !== inForce)) return null;
  const end = context.entries.findLastIndex((id) => covered.has(id)) + 1;
  const entries = context.entries.slice(0, end);
  const shown = new Set(entries);
  if (end === 0 || ![...covered].every((id) => shown.has(id)) || !entries.every((id) => covered.has(id) || id === inForce)) return null;
  const asked = model === null ? context.model : { provider: model.provider, modelId: model.modelId };
  return { ...context, model: asked, messages: context.messages.slice(0, end), entries };
}

/** @throws {SummaryRejectedError} the compaction has as many tokens as what it replaces. */
function checkSize({ counter, maxTokens, model }: SummaryJob, { text, native }: SummaryReply): NativeSummary {
  if (native === undefined) throw new SummaryRejectedError("not-a-text");
  const tokens = messageTokens(counter, { role: "compactionSummary", summary: native.readable ? text : "", native }, model);
  if (tokens >= maxTokens) throw new SummaryRejectedError("larger-than-source", text);
  return { native, text: native.readable ? text : null };
}
