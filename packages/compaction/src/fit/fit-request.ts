import type { ContextMessage, EntryId, LeftOutThinking, ThinkingBlock } from "@bough/session-core";
import { dropInPasses, groupRequest, planByPriority, planOldestFirst } from "./drop-messages.js";
import { applyLastResort } from "./last-resort.js";
import {
  type Change,
  CutMemo,
  computeBudget,
  type FitBudget,
  type FitStep,
  keepParts,
  type RequestParts,
  sumTokens,
} from "./request-parts.js";
import { type RequestShape, runSteps, shapeRequest } from "./shape-request.js";
import { leaveOutBehindChange, reattachThinking } from "./thinking.js";

/** A shaped request and the limit that it must fit. */
export interface FitLimit extends Pick<RequestShape, "settings" | "model" | "count" | "bindsThinking" | "cuts"> {
  /**
   * The most tokens of messages and system message: the context window less tools and margins; with `fit: "off"` without
   * margins.
   */
  readonly limitTokens: number;
  /** Tokens of the system message. */
  readonly systemTokens: number;
  /** The last thinking block of the summarized messages, if the compaction stored it. */
  readonly summarizedThinking?: ThinkingBlock | null | undefined;
}

/**
 * A request as the session provides it: `entries[i]` is the entry of `messages[i]` and `tokens[i]` its token count. And how it
 * is shaped and fitted.
 */
export interface FitInput extends RequestParts, RequestShape, FitLimit {}

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
  /** Thinking that was left out because the changes stand before it. */
  readonly leftOut: readonly LeftOutThinking[];
}

/**
 * Makes one request valid and fit for the context window. The session is not changed. Pure; linear in the request. If no
 * step applies, the same arrays are returned and nothing is allocated.
 *
 * `shapeRequest` comes first. Only if the request is then over the limit: messages are dropped by the rule `settings.fit`, and
 * as the last resort the remaining ones are cut. Finally the last dropped thinking block is put back if it fits; but for a model that
 * binds thinking to its prefix, the thinking behind the first change is left out.
 *
 * The newest prompt is never dropped. A reply and the results of its calls are kept or dropped together.
 *
 * @example
 * const fitted = fitRequest({ ...measured, limitTokens: 120_000, systemTokens: 4_000, settings: settings.request, ... });
 * if (!fitted.fits) throw new Error("The newest prompt alone is too long for this model");
 */
export function fitRequest(input: FitInput): FittedRequest {
  const { messages, entries, tokens } = input;
  return fitShaped(shapeRequest({ messages, entries, tokens }, input), input);
}

/** Makes a request that `shapeRequest` has shaped fit. See `fitRequest`. */
export function fitShaped(shaped: FitStep, input: FitLimit): FittedRequest {
  const budget = computeBudget(input.limitTokens, input.systemTokens, input.settings.targetShare);
  const fitted = runSteps(shaped.parts, [
    (parts) => dropToFit(parts, budget, input),
    (parts) => (input.bindsThinking === true ? keepParts(parts) : restoreThinking(parts, budget, shaped, input)),
  ]);
  const { parts, leftOut } =
    input.bindsThinking === true
      ? leaveOutBehindChange(fitted.parts, shaped.parts, input.count, input.cuts ?? new CutMemo())
      : { parts: fitted.parts, leftOut: [] };
  const totalTokens = sumTokens(parts);
  const changes = [...shaped.changes, ...fitted.changes];
  return { ...parts, totalTokens, fits: totalTokens <= budget.limitTokens, changes, leftOut };
}

function dropToFit(parts: RequestParts, budget: FitBudget, { settings, count }: FitLimit): FitStep {
  if (sumTokens(parts) <= budget.limitTokens) return keepParts(parts);
  const groups = groupRequest(parts, settings.protectedTools);
  const passes = settings.fit === "byPriority" ? planByPriority(groups) : planOldestFirst(groups);
  return runSteps(parts, [
    (whole) => dropInPasses(whole, passes, budget),
    (left) => (sumTokens(left) <= budget.limitTokens ? keepParts(left) : applyLastResort(left, { budget, settings, count })),
  ]);
}

function restoreThinking(parts: RequestParts, budget: FitBudget, shaped: FitStep, input: FitLimit): FitStep {
  const { model, summarizedThinking = null } = input;
  const options = {
    setting: input.settings.reattachThinking,
    model,
    before: shaped.parts,
    summarized: summarizedThinking,
    limitTokens: budget.limitTokens,
  };
  return reattachThinking(parts, sumTokens(parts), options, input.count);
}
