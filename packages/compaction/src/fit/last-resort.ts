import type { ContextMessage } from "@bough/session-core";
import type { CompactionSettings } from "../settings/settings.js";
import { cutMessage } from "./cut-message.js";
import { markDropped } from "./drop-messages.js";
import { findPromptIndex, groupRequest, isSummary, type RequestGroup } from "./layout.js";
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

/** What is there to decide by. */
export interface LastResortOptions {
  readonly budget: FitBudget;
  readonly settings: CompactionSettings["request"];
  readonly count: CountMessage;
}

/**
 * Makes a request fit from which everything that is old is gone already: the prompt and what hangs on it are larger than
 * the window. The first of these that fits, else the smallest:
 *
 * 1. tool results (and output of commands, and what a host put in) share the room that is left;
 * 2. the same without summaries;
 * 3. the newest prompt alone, or the newest reply where nobody said anything;
 * 4. only where even the prompt alone does not fit: the same three, with the prompt among what is cut. Not where the host
 *    wants an error instead (`failWhenTooLarge`).
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

// A result of fewer tokens tells a model nothing; then something else must go.
const LEAST_TOKENS = 64;
// Of a prompt, beginning and end say as much.
const PROMPT_HEAD_SHARE = 0.5;

/** How room is shared out. */
export interface DistributeOptions {
  readonly budget: FitBudget;
  /** Of a result that is cut, this share of what stays is its head. */
  readonly headShare: number;
  /** The newest prompt is cut too, where it is too long. */
  readonly cutsPrompt: boolean;
  readonly count: CountMessage;
}

/**
 * Cuts tool results, output of commands, what a host put in and, when asked, the newest prompt, so that the request comes
 * down to the target: the small ones stay whole, the large ones are cut to the same size, at least 64 tokens. Linear,
 * but for sorting the sizes.
 */
export function distributeBudget(parts: RequestParts, sharing: DistributeOptions): FitStep {
  const promptAt = findPromptIndex(parts.messages);
  const places = parts.messages.flatMap((message, at) => (mayBeCut(message, at === promptAt, sharing) ? [at] : []));
  const sizes = places.map((at) => parts.tokens[at] ?? 0);
  const fixedTokens = sumTokens(parts) - sizes.reduce((total, size) => total + size, 0);
  const budgetTokens = Math.max(LEAST_TOKENS, cutoff(sizes, sharing.budget.targetTokens - fixedTokens));
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

/** The height up to which all are filled when a sum is shared out: the small ones whole, the rest alike. */
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
