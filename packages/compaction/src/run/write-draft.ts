import { redact } from "@bough/formats/secrets";
import { type ContextMessage, type EntryId, type ModelSetting, type SessionContext, type ThinkingBlock, textOf } from "@bough/session-core";
import { HookResultError } from "../errors/compaction-errors.js";
import { SummaryRejectedError } from "../errors/summarizer-errors.js";
import { findLastThinking } from "../fit/thinking.js";
import { asksModel } from "../plan/decide.js";
import {
  type Compactable,
  type CompactionPlan,
  coveredItems,
  coveredMessages,
  coveredTokens,
  groupMessages,
  keepRuleOf,
  type NothingBecause,
  planCompaction,
  type Trigger,
  unsentStart,
  withMetadata,
} from "../plan/plan-compaction.js";
import { coveredFileLists, type PathItem, type Span } from "../plan/span.js";
import type { CompactionSettings } from "../settings/settings.js";
import { composeSummary, hasRecallTools, readCurrentPrompt, type SummaryParts, stripComposed } from "../summary/compose.js";
import { cutToTokens } from "../summary/part.js";
import { summarize } from "../summary/summarize.js";
import type { WrittenSummary } from "../summary/summarizer-client.js";
import { findModelFamily } from "../tokens/known-models.js";
import { messageTokens } from "../tokens/message-tokens.js";
import type { ContextState } from "./context-state.js";
import type { Draft, DraftPayload } from "./draft.js";
import { callHook, type Engine, readHostState } from "./engine.js";
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

/** A draft to write. */
interface DraftRequest {
  readonly attemptId: string;
  readonly trigger: Trigger;
  readonly instructions: string | null;
  /** The first entry of the kept tail; undefined: the settings decide. */
  readonly keepFrom?: EntryId | undefined;
  /** Plan even if nothing came after the compaction in force. */
  readonly again?: boolean | undefined;
  readonly signal: AbortSignal;
  readonly state: ContextState;
  readonly span: Span;
}

/** A summary that a summarizer wrote. */
interface SummaryForDraft {
  readonly written: WrittenSummary;
  readonly askedModel: boolean;
  /** From the hook `compacting`. */
  readonly preserveData: unknown;
}

/**
 * Makes the compaction entry of a summary: its body with file lists, host state and notes, and the fields that describe it.
 *
 * @throws {SummaryRejectedError} `larger-than-source`: the summary has at least as many tokens as what it replaces.
 */
async function composeDraft(
  engine: Engine,
  request: DraftRequest,
  plan: Compactable,
  { written, askedModel, preserveData }: SummaryForDraft,
): Promise<Draft> {
  const { span, state } = request;
  const messages = coveredMessages(plan);
  const files = await coveredFileLists(engine.session, span, coveredItems(plan));
  const parts = {
    kind: "compaction",
    body: written.body,
    messages,
    previous: span.context.compaction?.payload.summary ?? null,
    prompt: currentPrompt(request, plan),
    files,
    cwd: (await engine.session.record()).cwd,
    host: await readHostState(engine, request.signal),
    covers: coveredRange(plan),
    recall: engine.options.recall ?? hasRecallTools(engine.session),
    settings: state.settings,
    model: state.model,
  } as const;
  const { summary, tokens } = fitSummary(parts, state, coveredTokens(plan) + span.previousSummaryTokens);
  const { native } = written;
  // The provider's own compaction stands for all that it replaced, thinking too.
  const thinking = native === undefined ? lastThinking(messages, state.model, state.settings.request.reattachThinking) : null;
  const payload: DraftPayload = {
    ...commonPayload(request, plan),
    summary,
    details: native === undefined ? files : { ...files, native },
    ...(native === undefined ? {} : { provider: native.provider, model: native.model }),
    method: written.method,
    shortSummary: written.shortSummary,
    fidelity: written.fidelity,
    ...(written.title === null ? {} : { title: written.title }),
    ...(written.usage === undefined ? {} : { usage: written.usage }),
    ...(thinking === null ? {} : { lastThinking: thinking }),
    ...(preserveData === undefined ? {} : { preserveData }),
  };
  const { fidelity, failures, requestId = null, usage = null } = written;
  const sentTokens =
    native === undefined ? tokens : messageTokens(state.meter.counter, { role: "compactionSummary", summary, native }, state.model);
  return { ...commonDraft(request, plan, payload, sentTokens), askedModel, fidelity, failures, requestId, usage };
}

/** The fields that every compaction entry of this package has. */
function commonPayload({ attemptId, trigger, instructions, state }: DraftRequest, plan: Compactable) {
  return {
    type: "compaction",
    firstKeptEntryId: plan.firstKeptEntryId,
    tokensBefore: state.use.systemTokens + state.use.toolTokens + state.use.messageTokens,
    trigger,
    attemptId,
    covers: { ...coveredRange(plan), messages: coveredMessages(plan).length },
    ...(instructions === null ? {} : { instructions }),
  } as const;
}

/** The fields of a draft that do not depend on who wrote the summary. */
function commonDraft({ attemptId, trigger, span }: DraftRequest, plan: Compactable, payload: DraftPayload, summaryTokens: number) {
  return {
    attemptId,
    trigger,
    leafId: span.leafId,
    previousId: span.context.compaction?.entryId ?? null,
    covered: new Set(coveredItems(plan).map(({ id }) => id)),
    payload,
    coveredTokens: coveredTokens(plan) + span.previousSummaryTokens,
    summaryTokens,
    method: payload.method,
  };
}

function coveredRange(plan: Compactable) {
  const items = coveredItems(plan);
  return { fromEntryId: items[0]?.id ?? "", toEntryId: items.at(-1)?.id ?? "", entries: items.length };
}

/** Maximum size of a prompt quoted in the summary, as a share of the threshold; a longer one loses its middle. */
const PROMPT_SHARE = 0.125;

/**
 * The text of the newest prompt if it is summarized while its turn is still running, so that the context keeps it word
 * for word. null: it is in the kept tail, or its turn has ended, or the setting `userMessages` quotes it.
 */
function currentPrompt({ state, span }: DraftRequest, plan: Compactable): string | null {
  if (!state.turn.open || state.settings.userMessages.enabled) return null;
  if (plan.keep.some(({ messages }) => messages[0]?.role === "user")) return null;
  const newest = coveredMessages(plan).findLast(({ role }) => role === "user");
  const stored = span.context.compaction?.payload.summary;
  const carried = stored === undefined ? null : readCurrentPrompt(stored);
  const text = newest?.role === "user" ? textOf(newest.content) : carried;
  return text === null ? null : cutToTokens(text, Math.floor(PROMPT_SHARE * state.limits.thresholdTokens), state.meter.counter);
}

/** The last thinking block of the messages, byte for byte; null if the setting or the model does not need it. */
function lastThinking(
  messages: readonly ContextMessage[],
  model: ModelSetting | null,
  setting: CompactionSettings["request"]["reattachThinking"],
): ThinkingBlock | null {
  if (setting === "never" || (setting === "auto" && !findModelFamily(model).needsThinking)) return null;
  return findLastThinking(messages) ?? null;
}

/** The text of a summary, and its tokens as a message of the context. */
interface FittedSummary {
  readonly summary: string;
  readonly tokens: number;
}

/**
 * Composes a summary of at most `limits.summaryTokens` that has fewer tokens than `bound`, which is what it replaces. The
 * optional parts are left out step by step (host state, user messages and head; then the note of what is covered; then
 * the prompt and file lists); the file lists remain in the entry's `details`. A body that is still too long loses its middle.
 *
 * @throws {SummaryRejectedError} `larger-than-source`: even the body alone has at least `bound` tokens.
 */
function fitSummary(given: SummaryParts, state: ContextState, bound: number): FittedSummary {
  const { summaryTokens } = state.limits;
  const { counter } = state.meter;
  const parts = limitQuotedParts(given, summaryTokens);
  const steps = [parts, ...withFewerParts(parts)];
  for (const step of steps) {
    const whole = compose(step, state);
    const addedTokens = whole.tokens - counter.count(step.body);
    const isTooLong = whole.tokens > summaryTokens;
    // The body keeps at least half of the limit: while other parts take more than that, leave out the next one.
    if (isTooLong && addedTokens > summaryTokens / 2 && step !== steps.at(-1)) continue;
    const body = isTooLong ? cutToTokens(step.body, Math.max(1, summaryTokens - addedTokens), counter) : step.body;
    const fitted = isTooLong ? compose({ ...step, body }, state) : whole;
    if (fitted.tokens < bound) return fitted;
  }
  throw new SummaryRejectedError("larger-than-source", parts.body);
}

function compose(parts: SummaryParts, { meter, model }: ContextState): FittedSummary {
  const summary = composeSummary(parts);
  return { summary, tokens: messageTokens(meter.counter, { role: "compactionSummary", summary }, model) };
}

function withFewerParts(parts: SummaryParts): readonly SummaryParts[] {
  const { settings } = parts;
  const noQuotes = { ...settings, userMessages: { ...settings.userMessages, enabled: false }, keep: { ...settings.keep, head: false } };
  const bodyOnly = { ...noQuotes, summary: { ...settings.summary, fileLists: false, keepGoing: "never" as const } };
  return [
    { ...parts, host: null, settings: noQuotes },
    { ...parts, host: null, covers: null, settings: noQuotes },
    { ...parts, host: null, covers: null, prompt: null, settings: bodyOnly },
  ];
}

/** Characters (UTF-16 code units) of a token, at least, and tokens of a path with its line break, at most, in usual text. */
const CHARS_PER_TOKEN = 3;
const TOKENS_PER_PATH = 16;

/** Limits the parts that repeat content of the session, so that in a small window they leave room for the body. */
function limitQuotedParts(parts: SummaryParts, summaryTokens: number): SummaryParts {
  const chars = (share: number) => Math.floor(share * summaryTokens * CHARS_PER_TOKEN);
  const { keep, userMessages } = parts.settings;
  return {
    ...parts,
    mostPaths: Math.floor((0.2 * summaryTokens) / TOKENS_PER_PATH),
    settings: {
      ...parts.settings,
      keep: { ...keep, headChars: Math.min(keep.headChars, chars(0.2)) },
      userMessages: { ...userMessages, maxChars: Math.min(userMessages.maxChars, chars(0.4)) },
    },
  };
}
