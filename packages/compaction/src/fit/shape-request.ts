import type { ContextMessage, DanglingCalls, EntryId, LeftOutThinking, ModelSetting } from "@bough/session-core";
import { isMissing, listToolCalls, pairCalls } from "@bough/session-core/wire";
import type { CompactionSettings } from "../settings/settings.js";
import { findModelFamily, type ModelFamily } from "../tokens/known-models.js";
import { type Change, type CountMessage, CutMemo, type FitStep, keepParts, type RequestParts } from "./request-parts.js";
import { leaveOut } from "./thinking.js";
import { capResults, limitImages, trimResults } from "./trim-content.js";

/** The settings, the model and the counter on which the content of every request depends, whatever its size. */
export interface RequestShape {
  readonly settings: CompactionSettings["request"];
  /** The model's context window; the cap of a tool result is a share of it. */
  readonly windowTokens: number;
  readonly model: ModelSetting | null;
  /** The model rejects signed thinking whose prefix changed, so a message has the same form in every request. */
  readonly bindsThinking?: boolean | undefined;
  /** Thinking that the model would reject. */
  readonly leftOut?: readonly LeftOutThinking[] | undefined;
  /** The family of `model`, if the caller has it. */
  readonly family?: ModelFamily | undefined;
  /** Counts a changed message in the same way as the given tokens. */
  readonly count: CountMessage;
  /** Keeps the cut messages, so that the next request has the same objects and does not count them again. */
  readonly cuts?: CutMemo | undefined;
  /**
   * The largest message of a context built by session-core, in which each result follows its call. With it a request that
   * nothing changes is returned without a pass over its messages.
   */
  readonly largestTokens?: number | undefined;
}

/**
 * Makes a request as every request of these settings is made, whether it fits or not: puts each result after its call; leaves out
 * thinking that the model would reject; limits image bytes; trims old results; caps single results. The decision to compact counts
 * this form, because it is the one that is sent. Deterministic; shaping a shaped request changes nothing. Linear; the same arrays if
 * nothing changes.
 *
 * For a model that binds thinking to its prefix nothing is trimmed, capped or replaced: a result that is whole while it is new, or in
 * a larger window, and cut afterwards changes what stands before later thinking. One that does not fit is cut by `fitShaped`.
 */
export function shapeRequest(given: RequestParts, shape: RequestShape): FitStep {
  if (isUnchanged(shape)) return keepParts(given);
  const { settings, count, cuts = new CutMemo(), bindsThinking = false, leftOut = [] } = shape;
  const imageBytes = bindsThinking ? 0 : settings.imageBytes;
  const trimChars = bindsThinking ? 0 : settings.trimChars;
  const cap = { capTokens: capTokensOf(shape), headShare: settings.toolResultHeadShare };
  return runSteps(given, [
    (parts) => pairRequest(parts, resolveDanglingCalls(settings.danglingCalls, shape), count),
    (parts) => leaveOut(parts, leftOut, count, cuts),
    (parts) => limitImages(parts, imageBytes, count, cuts),
    (parts) => trimResults(parts, trimChars, count, cuts),
    (parts) => (bindsThinking ? keepParts(parts) : capResults(parts, cap, count, cuts)),
  ]);
}

function isUnchanged(shape: RequestShape): boolean {
  const { largestTokens, settings, bindsThinking = false, leftOut = [] } = shape;
  if (largestTokens === undefined || leftOut.length > 0) return false;
  const { imageBytes, trimChars, toolResultShare, danglingCalls } = settings;
  const hasCap = !bindsThinking && toolResultShare > 0 && largestTokens > capTokensOf(shape);
  return resolveDanglingCalls(danglingCalls, shape) === "close" && !hasCap && (bindsThinking || (imageBytes === 0 && trimChars === 0));
}

function capTokensOf({ settings, windowTokens }: RequestShape): number {
  return Math.floor(settings.toolResultShare * windowTokens);
}

/** Runs steps one after the other and collects their changes. */
export function runSteps(given: RequestParts, steps: readonly ((parts: RequestParts) => FitStep)[]): FitStep {
  return steps.reduce<FitStep>((before, step) => {
    const { parts, changes } = step(before.parts);
    return { parts, changes: [...before.changes, ...changes] };
  }, keepParts(given));
}

/** Resolves the setting for calls without a result. `auto` drops them for Gemini, which rejects them; for other models it adds a result. */
function resolveDanglingCalls(
  setting: CompactionSettings["request"]["danglingCalls"],
  { model, family = findModelFamily(model) }: Pick<RequestShape, "model" | "family">,
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
