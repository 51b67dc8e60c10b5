import type { ContextMessage, DanglingCalls, EntryId, ModelSetting } from "@bough/session-core";
import { callsOf, isMissing, pairCalls } from "@bough/session-core/internals";
import type { CompactionSettings } from "../settings/settings.js";
import { isGemini } from "../shrink/request/model-family.js";
import { type Change, type CountMessage, type FitStep, keepParts, type RequestParts } from "./request-parts.js";

/** What is done with calls that have no result. VS Code's rule: Gemini refuses them, so there they are dropped. */
export function danglingRule(setting: CompactionSettings["request"]["danglingCalls"], model: ModelSetting | null): DanglingCalls {
  if (setting !== "auto") return setting;
  return isGemini(model) ? "drop" : "close";
}

/**
 * Puts each result after its call, as session-core does for a context, and reports the changes. This applies to every
 * request, also to one that fits, because a host may pass messages of its own. Linear; a request in order is not copied.
 */
export function pairRequest(parts: RequestParts, dangling: DanglingCalls, count: CountMessage): FitStep {
  const paired = pairCalls(parts.messages, dangling);
  if (paired === undefined) return keepParts(parts);
  const pieces = paired.flatMap(({ message, index, isAdded }): readonly Piece[] => {
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
    changes: changesOf(parts, pieces, dangling),
  };
}

/** A message of the new order; `from`: its index in the old one, null for one that was added. */
interface Piece {
  readonly message: ContextMessage;
  readonly entry: EntryId;
  readonly tokens: number;
  readonly from: number | null;
}

function changesOf(parts: RequestParts, pieces: readonly Piece[], dangling: DanglingCalls): readonly Change[] {
  const changes: Change[] = [];
  const kept = new Set(pieces.map(({ from }) => from));
  const orphans = parts.messages.flatMap((message, at) =>
    message.role === "toolResult" && !kept.has(at) && !isMissing(message, dangling) ? [parts.tokens[at] ?? 0] : [],
  );
  if (orphans.length > 0) changes.push({ kind: "removed-messages", pass: "orphans", messages: orphans.length, tokens: sum(orphans) });
  const moved = pieces.filter(({ from }, at) => isBehind(from, pieces[at - 1]?.from)).length;
  if (moved > 0) changes.push({ kind: "moved-results", messages: moved });
  const closed = pieces.filter(({ from }) => from === null);
  if (closed.length > 0) changes.push({ kind: "closed-calls", calls: closed.length, tokens: sum(closed.map(({ tokens }) => tokens)) });
  const calls = callCount(parts.messages) - callCount(pieces.map(({ message }) => message));
  if (calls > 0)
    changes.push({ kind: "dropped-calls", calls, tokens: sum(parts.tokens) - sum(pieces.map(({ tokens }) => tokens)) - sum(orphans) });
  return changes;
}

function isBehind(from: number | null, before: number | null | undefined): boolean {
  return from !== null && typeof before === "number" && from < before;
}

function callCount(messages: readonly ContextMessage[]): number {
  return sum(messages.map((message) => (message.role === "assistant" ? callsOf(message).length : 0)));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
