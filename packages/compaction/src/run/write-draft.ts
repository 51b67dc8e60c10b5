import type { SessionContext } from "@bough/session-core";
import { asksModel } from "../plan/breaker.js";
import {
  type Compactable,
  type CompactionPlan,
  coveredMessages,
  coveredTokens,
  keepRuleOf,
  type NothingBecause,
  planCompaction,
} from "../plan/plan-compaction.js";
import { stripComposed } from "../summary/compose.js";
import { summarize } from "../summary/summarize.js";
import type { WrittenSummary } from "../summary/summary-job.js";
import { messageTokens } from "../tokens/message-tokens.js";
import { callHook } from "./call-hook.js";
import { composeDraft, type DraftRequest, draftFromHook } from "./compose-draft.js";
import type { Draft } from "./draft.js";
import type { Engine } from "./engine.js";

/** A draft, or why there is none. Failures are thrown. */
export type DraftResult =
  | { readonly kind: "draft"; readonly draft: Draft }
  | { readonly kind: "nothing-to-compact"; readonly reason: NothingBecause }
  | { readonly kind: "cancelled"; readonly by: "hook" };

/**
 * Plans, asks the hooks, has the summary written and puts the entry together. Writes nothing into the session.
 *
 * @throws what the summarisers throw, where the settings want no extract. @throws the reason of the signal.
 * @throws {HookResultError} a hook supplied what is no compaction.
 */
export async function writeDraft(engine: Engine, order: DraftRequest): Promise<DraftResult> {
  const { signal, trigger, instructions, state, span } = order;
  const plan = planFor(engine, order);
  if (plan.kind === "nothing-to-compact") return plan;
  const maxTokens = maxBodyTokens(order, plan);
  if (maxTokens < LEAST_TOKENS) return { kind: "nothing-to-compact", reason: "too-little-text" };
  const stored = span.context.compaction?.payload.summary;
  const previousSummary = stored === undefined ? null : stripComposed(stored);
  const about = { sessionId: engine.session.id, trigger, instructions, plan, previousSummary, tokensBefore: state.use.totalTokens, signal };
  const answer = await callHook(engine, "beforeCompact", about, signal);
  signal.throwIfAborted();
  if (answer?.cancel === true) return { kind: "cancelled", by: "hook" };
  if (answer?.compaction !== undefined) return { kind: "draft", draft: draftFromHook(order, plan, answer.compaction) };
  const compacting = await callHook(engine, "compacting", { trigger, messages: coveredMessages(plan), signal }, signal);
  signal.throwIfAborted();
  const askedModel = engine.candidates(trigger).length > 0 && asksModel(engine.memory.breaker, state.settings.breaker);
  const written = await summary(engine, order, { plan, previousSummary, hook: compacting ?? {}, askedModel, maxTokens });
  signal.throwIfAborted();
  const draft = await composeDraft(engine, order, plan, { written, askedModel, preserveData: compacting?.preserveData });
  return { kind: "draft", draft };
}

/** Less than this no summary, nor an extract, can stand for: a model would be paid for nothing. */
const LEAST_TOKENS = 40;

/** How large the body of a summary may be, in tokens, so that with its frame it is smaller than what it replaces. */
function maxBodyTokens({ state, span }: DraftRequest, plan: Compactable): number {
  const frameTokens = messageTokens(state.meter.counter, { role: "compactionSummary", summary: "" }, state.model);
  return coveredTokens(plan) + span.previousSummaryTokens - frameTokens;
}

function planFor(engine: Engine, { trigger, state, span, keepFrom, again }: DraftRequest): CompactionPlan {
  const { settings, limits } = state;
  const byHand = trigger === "manual" || trigger === "memory_pressure";
  const keep = { ...settings.keep, recentTokens: limits.keepRecentTokens };
  return planCompaction({
    items: span.items,
    keep: keepRuleOf(keep, {
      limitTokens: limits.limitTokens,
      mostKeptTokens: limits.mostKeptTokens,
      ratio: engine.memory.calibration.ratio,
      trigger: trigger === "manual" ? "manual" : "automatic",
      keepFrom,
    }),
    minMessages: byHand ? settings.trigger.manualMinMessages : settings.trigger.minMessages,
    inForce: again === true ? null : (span.context.compaction?.entryId ?? null),
  });
}

/** Of what a summary may take; the rest is for files, the host's state and how to look things up. */
const BODY_SHARE = 0.75;

interface SummaryTask {
  readonly plan: Compactable;
  readonly previousSummary: string | null;
  readonly hook: { readonly prompt?: string | undefined; readonly context?: readonly string[] | undefined };
  readonly askedModel: boolean;
  readonly maxTokens: number;
}

async function summary(
  engine: Engine,
  order: DraftRequest,
  { plan, previousSummary, hook, askedModel, maxTokens }: SummaryTask,
): Promise<WrittenSummary> {
  const { state, span, trigger, signal, instructions, attemptId } = order;
  return summarize(
    {
      kind: "compaction",
      trigger,
      plan,
      previousSummary,
      instructions,
      cwd: (await engine.session.record()).cwd,
      hook,
      settings: state.settings,
      counter: state.meter.counter,
      windowTokens: state.limits.windowTokens,
      reserveTokens: state.limits.reserveTokens,
      candidates: engine.candidates(trigger),
      full: {
        context: liveRequest(engine.memory.lastRequest, span.context),
        usedTokens: state.use.totalTokens,
        limitTokens: state.limits.limitTokens,
      },
      forceSimple: trigger === "context_limit_retry",
      skipModel: !askedModel,
      model: state.model === null ? null : { modelId: state.model.modelId, provider: state.model.provider },
      maxTokens,
      wantedTokens: Math.floor(BODY_SHARE * state.limits.summaryTokens),
      signal,
      onProgress: ({ stage, chars }) => engine.emit({ type: "compactionProgress", attemptId, stage, chars }),
    },
    engine.options.sleep === undefined ? {} : { sleep: engine.options.sleep },
  );
}

/** The request as it would be sent now: the last one, byte for byte, and what came after it. */
function liveRequest(last: SessionContext | null, now: SessionContext): SessionContext {
  const at = last === null ? -1 : now.entries.lastIndexOf(last.entries.at(-1) ?? "");
  if (last === null || at === -1) return now;
  return { ...now, messages: [...last.messages, ...now.messages.slice(at + 1)], entries: [...last.entries, ...now.entries.slice(at + 1)] };
}
