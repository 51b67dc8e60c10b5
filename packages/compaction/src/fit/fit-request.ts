import type { ContextMessage, EntryId, ModelSetting, ThinkingBlock } from "@bough/session-core";
import type { CompactionSettings } from "../settings/settings.js";
import { danglingRule, pairRequest } from "../shrink/request/pair-calls.js";
import { dropInPasses, planByPriority, planOldestFirst } from "./drop-messages.js";
import { limitImages } from "./image-budget.js";
import { applyLastResort } from "./last-resort.js";
import { groupRequest } from "./layout.js";
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
import { capResults, trimResults } from "./trim-results.js";

/** A request as the session gives it, and what it must fit. */
export interface FitInput {
  readonly messages: readonly ContextMessage[];
  /** `entries[i]` is the entry behind `messages[i]`. */
  readonly entries: readonly EntryId[];
  /** `tokens[i]` is what `messages[i]` has. */
  readonly tokens: readonly number[];
  /** Counts a message that was changed, as `tokens` were counted. */
  readonly count: CountMessage;
  /** What messages and instructions may have together: the window after tools and margins; with the guard off, without margins. */
  readonly limitTokens: number;
  /** What the instructions have. */
  readonly systemTokens: number;
  readonly settings: CompactionSettings["request"];
  /** The model's whole window: the cap of a tool result is a share of it. */
  readonly windowTokens: number;
  readonly model: ModelSetting | null;
  /** The last thinking block of what a compaction covers, where it was kept with it. */
  readonly summarizedThinking?: ThinkingBlock | null | undefined;
  /** What is known of a context as session-core builds it, each result behind its call: so a request that fits costs no pass. */
  readonly known?: { readonly totalTokens: number; readonly largestTokens: number } | undefined;
}

/** A request as it is sent. */
export interface FittedRequest {
  readonly messages: readonly ContextMessage[];
  readonly entries: readonly EntryId[];
  readonly tokens: readonly number[];
  /** The sum of `tokens`, without the instructions. */
  readonly totalTokens: number;
  /** Messages and instructions are within the limit. */
  readonly fits: boolean;
  /** What was done, in the order in which it was done; empty: the messages are those of the session. */
  readonly changes: readonly Change[];
}

/**
 * Makes one request valid and fit; the session is not changed. Pure; linear in the request; where
 * nothing applies the very same arrays come back, after looks that allocate nothing.
 *
 * In this order: each result behind its call; image budget; trimming of old results; the cap of single results; then,
 * only over the limit, messages are left out by the guard's rule and at last what is left is cut. A thinking block that
 * was left out comes back at the end, where there is room.
 *
 * Never left out: the newest prompt. A reply and the results of its calls stay or go together.
 *
 * @example
 * const shaped = fitRequest({ ...measured, limitTokens: 120_000, systemTokens: 4_000, settings: settings.request, ... });
 * if (!shaped.fits) throw new Error("The newest prompt alone is too long for this model");
 */
export function fitRequest(input: FitInput): FittedRequest {
  const { settings, count, known } = input;
  if (known !== undefined && isUnchanged(input, known)) return returnAsGiven(input, known.totalTokens);
  const given: RequestParts = { messages: input.messages, entries: input.entries, tokens: input.tokens };
  const budget = computeBudget(input.limitTokens, input.systemTokens, settings.targetShare);
  const cap = { capTokens: Math.floor(settings.toolResultShare * input.windowTokens), headShare: settings.toolResultHeadShare };
  const shaped = runSteps(given, [
    (parts) => pairRequest(parts, danglingRule(settings.danglingCalls, input.model), count),
    (parts) => limitImages(parts, settings.imageBytes, count),
    (parts) => trimResults(parts, settings.trimChars, count),
    (parts) => capResults(parts, cap, count),
    (parts) => dropToFit(parts, budget, input),
    (parts) => restoreThinking(parts, budget, input),
  ]);
  const totalTokens = sumTokens(shaped.parts);
  const { messages, entries, tokens } = shaped.parts;
  return { messages, entries, tokens, totalTokens, fits: totalTokens <= budget.limitTokens, changes: shaped.changes };
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

function runSteps(given: RequestParts, rules: readonly ((parts: RequestParts) => FitStep)[]): FitStep {
  return rules.reduce<FitStep>((before, rule) => {
    const { parts, changes } = rule(before.parts);
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
  const rule = {
    setting: input.settings.reattachThinking,
    model,
    before: input,
    summarized: summarizedThinking,
    limitTokens: budget.limitTokens,
  };
  return reattachThinking(parts, sumTokens(parts), rule, input.count);
}
