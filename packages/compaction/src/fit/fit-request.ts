import type { ContextMessage, EntryId, ModelSetting, ThinkingBlock } from "@bough/session-core";
import type { CompactionSettings } from "../settings/settings.js";
import { dropInPasses, groupRequest, planByPriority, planOldestFirst } from "./drop-messages.js";
import { applyLastResort } from "./last-resort.js";
import { danglingRule, pairRequest } from "./pair-request.js";
import { reattachThinking } from "./reattach-thinking.js";
import {
  type Change,
  type CountMessage,
  computeBudget,
  type FitBudget,
  type FitStep,
  keepParts,
  type RequestParts,
  sumTokens,
} from "./request-parts.js";
import { capResults, limitImages, trimResults } from "./trim-content.js";

/** A request as the session provides it, and the limit it must fit. */
export interface FitInput {
  readonly messages: readonly ContextMessage[];
  /** `entries[i]` is the entry of `messages[i]`. */
  readonly entries: readonly EntryId[];
  /** `tokens[i]` is the token count of `messages[i]`. */
  readonly tokens: readonly number[];
  /** Counts a changed message in the same way as `tokens`. */
  readonly count: CountMessage;
  /**
   * The most tokens of messages and system message: the context window less tools and margins; with `fit: "off"` without
   * margins.
   */
  readonly limitTokens: number;
  /** Tokens of the system message. */
  readonly systemTokens: number;
  readonly settings: CompactionSettings["request"];
  /** The model's context window; the cap of a tool result is a share of it. */
  readonly windowTokens: number;
  readonly model: ModelSetting | null;
  /** The last thinking block of the summarized messages, if the compaction stored it. */
  readonly summarizedThinking?: ThinkingBlock | null | undefined;
  /**
   * Known totals of a context built by session-core, in which each result follows its call. With them a request that fits
   * is returned without a pass over its messages.
   */
  readonly known?: { readonly totalTokens: number; readonly largestTokens: number } | undefined;
}

/** A request ready to be sent. */
export interface FittedRequest {
  readonly messages: readonly ContextMessage[];
  readonly entries: readonly EntryId[];
  readonly tokens: readonly number[];
  /** The sum of `tokens`, without the system message. */
  readonly totalTokens: number;
  /** Messages and system message are within the limit. */
  readonly fits: boolean;
  /** The changes in the order in which they were made; empty: the messages are those of the session. */
  readonly changes: readonly Change[];
}

/**
 * Makes one request valid and fit for the context window. The session is not changed. Pure; linear in the request. If no
 * step applies, the same arrays are returned and nothing is allocated.
 *
 * The steps, in order: put each result after its call; limit image bytes; trim old results; cap single results. Only if
 * the request is then over the limit: drop messages by the rule `settings.fit`, and as the last resort cut the remaining
 * ones. Finally the last dropped thinking block is put back if it fits.
 *
 * The newest prompt is never dropped. A reply and the results of its calls are kept or dropped together.
 *
 * @example
 * const fitted = fitRequest({ ...measured, limitTokens: 120_000, systemTokens: 4_000, settings: settings.request, ... });
 * if (!fitted.fits) throw new Error("The newest prompt alone is too long for this model");
 */
export function fitRequest(input: FitInput): FittedRequest {
  const { settings, count, known } = input;
  if (known !== undefined && isUnchanged(input, known)) return returnAsGiven(input, known.totalTokens);
  const given: RequestParts = { messages: input.messages, entries: input.entries, tokens: input.tokens };
  const budget = computeBudget(input.limitTokens, input.systemTokens, settings.targetShare);
  const cap = { capTokens: Math.floor(settings.toolResultShare * input.windowTokens), headShare: settings.toolResultHeadShare };
  const fitted = runSteps(given, [
    (parts) => pairRequest(parts, danglingRule(settings.danglingCalls, input.model), count),
    (parts) => limitImages(parts, settings.imageBytes, count),
    (parts) => trimResults(parts, settings.trimChars, count),
    (parts) => capResults(parts, cap, count),
    (parts) => dropToFit(parts, budget, input),
    (parts) => restoreThinking(parts, budget, input),
  ]);
  const totalTokens = sumTokens(fitted.parts);
  const { messages, entries, tokens } = fitted.parts;
  return { messages, entries, tokens, totalTokens, fits: totalTokens <= budget.limitTokens, changes: fitted.changes };
}

function isUnchanged(input: FitInput, { totalTokens, largestTokens }: NonNullable<FitInput["known"]>): boolean {
  const { imageBytes, trimChars, toolResultShare, danglingCalls } = input.settings;
  const hasCap = toolResultShare > 0 && largestTokens > Math.floor(toolResultShare * input.windowTokens);
  const isOrdered = danglingRule(danglingCalls, input.model) === "close" && (input.summarizedThinking ?? null) === null;
  return isOrdered && !hasCap && imageBytes === 0 && trimChars === 0 && totalTokens + input.systemTokens <= input.limitTokens;
}

function returnAsGiven({ messages, entries, tokens }: FitInput, totalTokens: number): FittedRequest {
  return { messages, entries, tokens, totalTokens, fits: true, changes: [] };
}

function runSteps(given: RequestParts, steps: readonly ((parts: RequestParts) => FitStep)[]): FitStep {
  return steps.reduce<FitStep>((before, step) => {
    const { parts, changes } = step(before.parts);
    return { parts, changes: [...before.changes, ...changes] };
  }, keepParts(given));
}

function dropToFit(parts: RequestParts, budget: FitBudget, { settings, count }: FitInput): FitStep {
  if (sumTokens(parts) <= budget.limitTokens) return keepParts(parts);
  const groups = groupRequest(parts, settings.protectedTools);
  const passes = settings.fit === "byPriority" ? planByPriority(groups) : planOldestFirst(groups);
  return runSteps(parts, [
    (whole) => dropInPasses(whole, passes, budget),
    (left) => (sumTokens(left) <= budget.limitTokens ? keepParts(left) : applyLastResort(left, { budget, settings, count })),
  ]);
}

function restoreThinking(parts: RequestParts, budget: FitBudget, input: FitInput): FitStep {
  const { model, summarizedThinking = null } = input;
  const options = {
    setting: input.settings.reattachThinking,
    model,
    before: input,
    summarized: summarizedThinking,
    limitTokens: budget.limitTokens,
  };
  return reattachThinking(parts, sumTokens(parts), options, input.count);
}
