import type { ContextMessage } from "@bough/session-core";
import type { CompactionSettings } from "../settings/settings.js";
import { cutMessage } from "./cut-message.js";
import { findPromptIndex, groupRequest, isSummary, markDropped, type RequestGroup } from "./drop-messages.js";
import {
  type Change,
  type CountedMessage,
  type CountMessage,
  countSavedTokens,
  type FitBudget,
  type FitStep,
  filterParts,
  keepParts,
  type RemovalPass,
  type RequestParts,
  replaceParts,
  sumTokens,
} from "./request-parts.js";

/** Limits and settings of the last resort. */
interface LastResortOptions {
  readonly budget: FitBudget;
  readonly settings: CompactionSettings["request"];
  readonly count: CountMessage;
}

/**
 * Fits a request whose prompt and running turn alone are larger than the context window. Returns the first attempt that
 * fits, else the smallest:
 *
 * 1. cut tool results, output of commands and messages of the host to equal size within the budget;
 * 2. the same without summaries;
 * 3. the same with only the newest prompt, or the newest reply if there is no prompt;
 * 4. the same three with the prompt cut as well, unless `failWhenTooLarge` is set.
 *
 * Linear: six attempts at most.
 */
export function applyLastResort(parts: RequestParts, { budget, settings, count }: LastResortOptions): FitStep {
  let last = keepParts(parts);
  for (const cutsPrompt of settings.failWhenTooLarge ? [false] : [false, true]) {
    for (const left of [keepParts, dropSummaries, keepPromptOnly]) {
      const removed = left(parts);
      const cut = distributeBudget(removed.parts, { budget, headShare: settings.toolResultHeadShare, cutsPrompt, count });
      last = { parts: cut.parts, changes: [...removed.changes, ...cut.changes] };
      if (sumTokens(last.parts) <= budget.limitTokens) return last;
    }
  }
  return last;
}

function dropSummaries(parts: RequestParts): FitStep {
  const { old, turn } = groupRequest(parts, []);
  return dropGroups(parts, [...old, ...turn].filter(isSummary), "summaries");
}

function keepPromptOnly(parts: RequestParts): FitStep {
  const { old, prompt, turn } = groupRequest(parts, []);
  const kept = prompt ?? turn.at(-1);
  const rest = [...old, ...turn].filter((group) => group !== kept);
  return dropGroups(parts, rest, "all-but-prompt");
}

function dropGroups(parts: RequestParts, groups: readonly RequestGroup[], pass: RemovalPass): FitStep {
  if (groups.length === 0) return keepParts(parts);
  const dropped = new Set<number>();
  for (const group of groups) markDropped(parts, group, dropped);
  const left = filterParts(parts, (at) => !dropped.has(at));
  const tokens = sumTokens(parts) - sumTokens(left);
  return { parts: left, changes: [{ kind: "removed-messages", pass, messages: dropped.size, tokens }] };
}

// A result of fewer tokens is of no use to a model; other messages are dropped instead.
const MIN_TOKENS = 64;
// The start and the end of a prompt are equally important.
const PROMPT_HEAD_SHARE = 0.5;

/** Options of distributing a budget. */
interface DistributeOptions {
  readonly budget: FitBudget;
  /** Share of a cut result that is taken from its start. */
  readonly headShare: number;
  /** The newest prompt may be cut too. */
  readonly cutsPrompt: boolean;
  readonly count: CountMessage;
}

/**
 * Cuts tool results, output of commands, messages of the host and, if `cutsPrompt`, the newest prompt, so that the
 * request meets the target. Small ones stay whole; large ones are cut to the same size, at least 64 tokens. Linear, plus
 * a sort of the sizes.
 */
function distributeBudget(parts: RequestParts, sharing: DistributeOptions): FitStep {
  const promptAt = findPromptIndex(parts.messages);
  const places = parts.messages.flatMap((message, at) => (mayBeCut(message, at === promptAt, sharing) ? [at] : []));
  const sizes = places.map((at) => parts.tokens[at] ?? 0);
  const fixedTokens = sumTokens(parts) - sizes.reduce((total, size) => total + size, 0);
  const budgetTokens = Math.max(MIN_TOKENS, cutoff(sizes, sharing.budget.targetTokens - fixedTokens));
  const changed = new Map<number, CountedMessage>();
  for (const at of places) {
    const message = parts.messages[at];
    if (message === undefined) continue;
    const headShare = at === promptAt ? PROMPT_HEAD_SHARE : sharing.headShare;
    const cut = cutMessage({ message, tokens: parts.tokens[at] ?? 0 }, { budgetTokens, headShare, count: sharing.count });
    if (cut.message !== message) changed.set(at, cut);
  }
  return changed.size === 0
    ? keepParts(parts)
    : { parts: replaceParts(parts, changed), changes: describeChanges(parts, changed, promptAt) };
}

function mayBeCut({ role }: ContextMessage, isPrompt: boolean, { cutsPrompt }: DistributeOptions): boolean {
  if (isPrompt) return cutsPrompt;
  return role === "toolResult" || role === "bashExecution" || role === "custom";
}

/** The size above which messages are cut so that all sizes together are at most `sum`; infinite if none needs to be cut. */
function cutoff(sizes: readonly number[], sum: number): number {
  let left = sum;
  for (const [at, size] of sizes.toSorted((one, other) => one - other).entries()) {
    const each = Math.floor(left / (sizes.length - at));
    if (size > each) return each;
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}

function describeChanges(parts: RequestParts, changed: ReadonlyMap<number, CountedMessage>, promptAt: number): readonly Change[] {
  const results = new Map([...changed].filter(([at]) => at !== promptAt));
  const prompt = new Map([...changed].filter(([at]) => at === promptAt));
  const changes: Change[] = [];
  if (results.size > 0) changes.push({ kind: "cut-tool-results", results: results.size, tokens: countSavedTokens(parts, results) });
  if (prompt.size > 0) changes.push({ kind: "cut-prompt", tokens: countSavedTokens(parts, prompt) });
  return changes;
}
