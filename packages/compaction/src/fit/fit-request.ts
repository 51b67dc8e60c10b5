import type { ContextMessage, DanglingCalls, EntryId, ModelSetting, ThinkingBlock } from "@bough/session-core";
import { isMissing, listToolCalls, pairCalls } from "@bough/session-core/internals";
import type { CompactionSettings } from "../settings/settings.js";
import { findModelFamily, type ModelFamily } from "../tokens/known-models.js";
import { dropInPasses, groupRequest, planByPriority, planOldestFirst } from "./drop-messages.js";
import { applyLastResort } from "./last-resort.js";
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
  /** The family of `model`, if the caller has it. */
  readonly family?: ModelFamily | undefined;
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
    (parts) => pairRequest(parts, resolveDanglingCalls(settings.danglingCalls, input), count),
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
  const isOrdered = resolveDanglingCalls(danglingCalls, input) === "close" && (input.summarizedThinking ?? null) === null;
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

/** How calls without a result are handled. `auto`: dropped for Gemini, which rejects them; for other models a result is added. */
function resolveDanglingCalls(
  setting: CompactionSettings["request"]["danglingCalls"],
  { model, family = findModelFamily(model) }: Pick<FitInput, "model" | "family">,
): DanglingCalls {
  if (setting !== "auto") return setting;
  return family.refusesDanglingCalls ? "drop" : "close";
}

/**
 * Puts each result after its call, as session-core does for a context, and reports the changes. This applies to every
 * request, also to one that fits, because a host may pass messages of its own. Linear; a request in order is not copied.
 */
function pairRequest(parts: RequestParts, dangling: DanglingCalls, count: CountMessage): FitStep {
  const paired = pairCalls(parts.messages, dangling);
  if (paired === undefined) return keepParts(parts);
  const pieces = paired.flatMap(({ message, index, isAdded }): readonly PairedPart[] => {
    const entry = parts.entries[index];
    if (entry === undefined) return [];
    const tokens = parts.messages[index] === message ? (parts.tokens[index] ?? 0) : count(message);
    return [{ message, entry, tokens, from: isAdded ? null : index }];
  });
  return {
    parts: {
      messages: pieces.map(({ message }) => message),
      entries: pieces.map(({ entry }) => entry),
      tokens: pieces.map(({ tokens }) => tokens),
    },
    changes: describePairing(parts, pieces, dangling),
  };
}

/** A message of the new order; `from`: its index in the old one, null for one that was added. */
interface PairedPart {
  readonly message: ContextMessage;
  readonly entry: EntryId;
  readonly tokens: number;
  readonly from: number | null;
}

function describePairing(parts: RequestParts, pieces: readonly PairedPart[], dangling: DanglingCalls): readonly Change[] {
  const changes: Change[] = [];
  const kept = new Set(pieces.map(({ from }) => from));
  const orphans = parts.messages.flatMap((message, at) =>
    message.role === "toolResult" && !kept.has(at) && !isMissing(message, dangling) ? [parts.tokens[at] ?? 0] : [],
  );
  if (orphans.length > 0) changes.push({ kind: "removed-messages", pass: "orphans", messages: orphans.length, tokens: sum(orphans) });
  const moved = pieces.filter(({ from }, at) => isMoved(from, pieces[at - 1]?.from)).length;
  if (moved > 0) changes.push({ kind: "moved-results", messages: moved });
  const closed = pieces.filter(({ from }) => from === null);
  if (closed.length > 0) changes.push({ kind: "closed-calls", calls: closed.length, tokens: sum(closed.map(({ tokens }) => tokens)) });
  const calls = countCalls(parts.messages) - countCalls(pieces.map(({ message }) => message));
  if (calls > 0)
    changes.push({ kind: "dropped-calls", calls, tokens: sum(parts.tokens) - sum(pieces.map(({ tokens }) => tokens)) - sum(orphans) });
  return changes;
}

function isMoved(from: number | null, before: number | null | undefined): boolean {
  return from !== null && typeof before === "number" && from < before;
}

function countCalls(messages: readonly ContextMessage[]): number {
  return sum(messages.map((message) => (message.role === "assistant" ? listToolCalls(message).length : 0)));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
