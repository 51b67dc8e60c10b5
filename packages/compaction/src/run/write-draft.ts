import { redact } from "@bough/formats/secrets";
import type { EntryId, SessionContext } from "@bough/session-core";
import { HookResultError } from "../errors/compaction-errors.js";
import { asksModel } from "../plan/decide.js";
import { groupMessages, unsentStart, withMetadata } from "../plan/message-groups.js";
import {
  type Compactable,
  type CompactionPlan,
  coveredMessages,
  coveredTokens,
  keepRuleOf,
  type NothingBecause,
  planCompaction,
} from "../plan/plan-compaction.js";
import type { PathItem } from "../plan/span.js";
import { stripComposed } from "../summary/compose.js";
import { summarize } from "../summary/summarize.js";
import type { WrittenSummary } from "../summary/summary-job.js";
import { messageTokens } from "../tokens/message-tokens.js";
import { callHook } from "./call-hook.js";
import { commonDraft, commonPayload, composeDraft, type DraftRequest } from "./compose-draft.js";
import type { ContextState } from "./context-state.js";
import type { Draft, DraftPayload } from "./draft.js";
import type { Engine } from "./engine.js";
import type { Compacting, SuppliedCompaction } from "./options.js";

/** A draft, or why there is none. */
type DraftResult =
  | { readonly kind: "draft"; readonly draft: Draft }
  | { readonly kind: "nothing-to-compact"; readonly reason: NothingBecause }
  | { readonly kind: "cancelled"; readonly by: "hook" };

/**
 * Plans a compaction, calls the hooks, lets the summarizers write the summary and makes the entry. The session is unchanged.
 *
 * @throws the error of the last summarizer, if the setting `summary.onFailure` is `fail`; the reason of the signal.
 * @throws {HookResultError} the hook `beforeCompact` supplied a compaction that cannot be used.
 */
export async function writeDraft(engine: Engine, request: DraftRequest): Promise<DraftResult> {
  const { signal, trigger, instructions, state, span } = request;
  const plan = planFor(engine, request);
  if (plan.kind === "nothing-to-compact") return plan;
  const maxTokens = maxBodyTokens(request, plan);
  if (maxTokens < MIN_TOKENS) return { kind: "nothing-to-compact", reason: "too-little-text" };
  const stored = span.context.compaction?.payload.summary;
  const previousSummary = stored === undefined ? null : stripComposed(stored);
  const about = { sessionId: engine.session.id, trigger, instructions, plan, previousSummary, tokensBefore: state.use.totalTokens, signal };
  const before = await callHook(engine, "beforeCompact", about, signal);
  signal.throwIfAborted();
  if (before?.cancel === true) return { kind: "cancelled", by: "hook" };
  if (before?.compaction !== undefined) return { kind: "draft", draft: draftFromHook(request, plan, before.compaction) };
  const compacting: Compacting = { trigger, messages: coveredMessages(plan), signal };
  const hook = (await callHook(engine, "compacting", compacting, signal)) ?? {};
  signal.throwIfAborted();
  const askedModel = engine.candidates(trigger).length > 0 && asksModel(engine.state.breaker, state.settings.breaker);
  const written = await writeSummary(engine, request, { plan, previousSummary, hook, askedModel, maxTokens });
  signal.throwIfAborted();
  const draft = await composeDraft(engine, request, plan, {
    written,
    // A source that is too small for a summary is extracted without a call.
    askedModel: askedModel && written.calls > 0,
    preserveData: hook.preserveData,
  });
  return { kind: "draft", draft };
}

function planFor(engine: Engine, { trigger, state, span, keepFrom, again }: DraftRequest): CompactionPlan {
  const { settings, limits } = state;
  const isAskedFor = trigger === "manual" || trigger === "memory_pressure";
  const keep = { ...settings.keep, recentTokens: limits.keepRecentTokens };
  return planCompaction({
    items: span.items,
    keep: keepRuleOf(keep, {
      limitTokens: limits.limitTokens,
      mostKeptTokens: limits.mostKeptTokens,
      ratio: engine.state.calibration.ratio,
      trigger: trigger === "manual" ? "manual" : "automatic",
      keepFrom,
    }),
    minMessages: isAskedFor ? settings.trigger.manualMinMessages : settings.trigger.minMessages,
    inForce: again === true ? null : (span.context.compaction?.entryId ?? null),
  });
}

/** No useful summary or extract has fewer tokens than this, so no model is called for less. */
const MIN_TOKENS = 40;

/** Maximum tokens of the body of a summary, so that the compaction makes the context smaller. */
function maxBodyTokens({ state, span }: DraftRequest, plan: Compactable): number {
  const frameTokens = messageTokens(state.meter.counter, { role: "compactionSummary", summary: "" }, state.model);
  return coveredTokens(plan) + span.previousSummaryTokens - frameTokens;
}

/** Share of a summary's tokens for its body; the rest is for file lists, host state and the note on the covered range. */
const BODY_SHARE = 0.75;

interface SummaryInput {
  readonly plan: Compactable;
  readonly previousSummary: string | null;
  readonly hook: { readonly prompt?: string | undefined; readonly context?: readonly string[] | undefined };
  readonly askedModel: boolean;
  readonly maxTokens: number;
}

async function writeSummary(
  engine: Engine,
  { state, trigger, signal, instructions, attemptId }: DraftRequest,
  { plan, previousSummary, hook, askedModel, maxTokens }: SummaryInput,
): Promise<WrittenSummary> {
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
        context: currentRequest(engine.state.lastRequest, state),
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

/** The request as it would be sent now: the last one, byte for byte, and the messages appended since. */
function currentRequest(last: SessionContext | null, { context, sent }: ContextState): SessionContext {
  const { messages, entries } = sent.parts;
  const at = last === null ? -1 : entries.lastIndexOf(last.entries.at(-1) ?? "");
  if (last === null || at === -1) return { ...context, messages, entries };
  return { ...context, messages: [...last.messages, ...messages.slice(at + 1)], entries: [...last.entries, ...entries.slice(at + 1)] };
}

/**
 * The draft of a compaction that the hook `beforeCompact` supplied. Secrets in its summary are masked according to the setting;
 * missing fields are taken from the plan.
 */
function draftFromHook(request: DraftRequest, plan: Compactable, supplied: SuppliedCompaction): Draft {
  const { summary: given, firstKeptEntryId = plan.firstKeptEntryId, details, title, shortSummary } = supplied;
  if (typeof given !== "string" || given.trim() === "")
    throw new HookResultError("beforeCompact", "its summary must be a text that is not empty");
  if (firstKeptEntryId !== null && typeof firstKeptEntryId !== "string")
    throw new HookResultError("beforeCompact", "firstKeptEntryId must be an entry's id or null");
  const chosen = planWithCut(request, plan, firstKeptEntryId);
  const { state } = request;
  const summary = state.settings.summary.redact ? redact(given) : given;
  const payload: DraftPayload = {
    ...commonPayload(request, chosen),
    summary,
    firstKeptEntryId,
    method: "hook",
    fromHook: true,
    ...(details === undefined ? {} : { details }),
    ...(title === undefined ? {} : { title }),
    ...(shortSummary === undefined ? {} : { shortSummary }),
  };
  const tokens = messageTokens(state.meter.counter, { role: "compactionSummary", summary }, state.model);
  return {
    ...commonDraft(request, chosen, payload, tokens),
    askedModel: false,
    fidelity: null,
    failures: [],
    requestId: null,
    usage: null,
  };
}

/** The plan with the cut point that the hook chose. @throws {HookResultError} the path cannot be cut there. */
function planWithCut({ span: { items } }: DraftRequest, plan: Compactable, firstKeptEntryId: EntryId | null): Compactable {
  if (firstKeptEntryId === plan.firstKeptEntryId) return plan;
  const at = firstKeptEntryId === null ? items.length : items.findIndex(({ id }) => id === firstKeptEntryId);
  const reason = invalidCutReason(items, at);
  if (reason !== null) throw new HookResultError("beforeCompact", `firstKeptEntryId ${firstKeptEntryId ?? "null"} ${reason}`);
  return { kind: "whole-turns", summarize: items.slice(0, at), prefix: [], keep: items.slice(at), firstKeptEntryId };
}

/** Returns the reason why a path cannot be cut at an item, by the same rules as a plan; null: it can. */
function invalidCutReason(items: readonly PathItem[], at: number): string | null {
  if (at === -1) return "is not on the part of the path that is compacted";
  if (!items.slice(0, at).some(({ messages }) => messages.length > 0)) return "leaves nothing to summarize";
  const unsent = unsentStart(items);
  if (unsent !== null && at > unsent) return "would summarize a prompt that the model has not answered";
  const isCutPoint = groupMessages(items).some(({ start }) => start === at || withMetadata(items, start) === at);
  return at === items.length || isCutPoint ? null : "is not a cut point: it would separate a call from its result";
}
