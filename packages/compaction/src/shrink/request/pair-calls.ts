import type { AssistantMessage, ContextMessage, DanglingCalls, EntryId, ModelSetting, ToolResultMessage } from "@bough/session-core";
import type { CompactionSettings } from "../../settings/settings.js";
import type { Change } from "./change.js";
import { isGemini } from "./model-family.js";
import { type CountMessage, type RequestParts, type Shaping, unchanged } from "./request-parts.js";
import { callsOf, isUnanswered, matchResults } from "./result-places.js";

// Session-core's words for the same thing.
const NO_RESULT = "No result was recorded for this call.";

/** What is done with calls that have no result. VS Code's rule: Gemini refuses them, so there they are dropped. */
export function danglingRule(setting: CompactionSettings["request"]["danglingCalls"], model: ModelSetting | null): DanglingCalls {
  if (setting !== "auto") return setting;
  return isGemini(model) ? "drop" : "close";
}

/**
 * Each reply is followed by the results of its calls, in their order, and there is no other result. Providers refuse
 * anything else, so this holds for every request, also for one that fits (Copilot CLI's rule).
 *
 * A context of session-core is in order already and has a synthetic result for each call without one; `drop` takes such
 * calls out too. Linear; one pass that allocates nothing where all is well.
 */
export function pairCalls(parts: RequestParts, dangling: DanglingCalls, count: CountMessage): Shaping {
  if (isPaired(parts.messages, dangling)) return unchanged(parts);
  const placed = placedPieces(parts, dangling, count);
  return {
    parts: {
      messages: placed.map(({ message }) => message),
      entries: placed.map(({ entry }) => entry),
      tokens: placed.map(({ tokens }) => tokens),
    },
    changes: changesOf(parts, placed, dangling),
  };
}

function isPaired(messages: readonly ContextMessage[], dangling: DanglingCalls): boolean {
  for (let at = 0; at < messages.length; ) {
    const next = afterReply(messages, at, dangling);
    if (next === undefined) return false;
    at = next;
  }
  return true;
}

/** The place behind this message and the results of its calls; undefined: they are not as they must be. */
function afterReply(messages: readonly ContextMessage[], at: number, dangling: DanglingCalls): number | undefined {
  const message = messages[at];
  if (message?.role === "toolResult") return undefined;
  let next = at + 1;
  if (message?.role !== "assistant") return next;
  for (const block of message.content) {
    if (block.type !== "toolCall") continue;
    const result = messages[next];
    if (result?.role !== "toolResult" || result.toolCallId !== block.id || isUnanswered(result, dangling)) return undefined;
    next += 1;
  }
  return next;
}

/** A message of the new order; `from`: its place in the old one, null for one that is new. */
interface Piece {
  readonly message: ContextMessage;
  readonly entry: EntryId;
  readonly tokens: number;
  readonly from: number | null;
}

function placedPieces(parts: RequestParts, dangling: DanglingCalls, count: CountMessage): readonly Piece[] {
  const results = matchResults(parts.messages, dangling);
  const placed: Piece[] = [];
  for (const [at, message] of parts.messages.entries()) {
    if (message.role === "toolResult") continue;
    const piece = pieceAt(parts, at);
    if (piece === undefined) continue;
    const places = message.role === "assistant" ? results.get(at) : undefined;
    if (message.role !== "assistant" || places === undefined) placed.push(piece);
    else for (const one of replyPieces(parts, { ...piece, message }, places, dangling, count)) placed.push(one);
  }
  return placed;
}

function pieceAt({ messages, entries, tokens }: RequestParts, at: number): Piece | undefined {
  const message = messages[at];
  const entry = entries[at];
  return message === undefined || entry === undefined ? undefined : { message, entry, tokens: tokens[at] ?? 0, from: at };
}

function replyPieces(
  parts: RequestParts,
  reply: Piece & { readonly message: AssistantMessage },
  places: readonly (number | undefined)[],
  dangling: DanglingCalls,
  count: CountMessage,
): readonly Piece[] {
  const results = callsOf(reply.message).flatMap(({ id, name }, call): readonly Piece[] => {
    const place = places[call];
    const found = place === undefined ? undefined : pieceAt(parts, place);
    if (found !== undefined) return [found];
    if (dangling === "drop") return [];
    const message = closing(id, name);
    return [{ message, entry: reply.entry, tokens: count(message), from: null }];
  });
  if (results.length === places.length) return [reply, ...results];
  const message = withoutOpenCalls(reply.message, places);
  return says(message) ? [{ ...reply, message, tokens: count(message) }, ...results] : results;
}

function closing(toolCallId: string, toolName: string): ToolResultMessage {
  return { role: "toolResult", toolCallId, toolName, content: [{ type: "text", text: NO_RESULT }], isError: true, synthetic: true };
}

function withoutOpenCalls(message: AssistantMessage, places: readonly (number | undefined)[]): AssistantMessage {
  let call = -1;
  const content = message.content.filter((block) => {
    if (block.type !== "toolCall") return true;
    call += 1;
    return places[call] !== undefined;
  });
  return { ...message, content };
}

// Thoughts alone are no reply: several providers refuse one that ends with them.
function says({ content }: AssistantMessage): boolean {
  return content.some((block) => block.type !== "thinking");
}

function changesOf(parts: RequestParts, placed: readonly Piece[], dangling: DanglingCalls): readonly Change[] {
  const changes: Change[] = [];
  const kept = new Set(placed.map(({ from }) => from));
  const orphans = parts.messages.flatMap((message, at) =>
    message.role === "toolResult" && !kept.has(at) && !isUnanswered(message, dangling) ? [parts.tokens[at] ?? 0] : [],
  );
  if (orphans.length > 0) changes.push({ kind: "removed-messages", pass: "orphans", messages: orphans.length, tokens: sum(orphans) });
  const moved = placed.filter(({ from }, at) => isBehind(from, placed[at - 1]?.from)).length;
  if (moved > 0) changes.push({ kind: "moved-results", messages: moved });
  const closed = placed.filter(({ from }) => from === null);
  if (closed.length > 0) changes.push({ kind: "closed-calls", calls: closed.length, tokens: sum(closed.map(({ tokens }) => tokens)) });
  const calls = callCount(parts.messages) - callCount(placed.map(({ message }) => message));
  if (calls > 0)
    changes.push({ kind: "dropped-calls", calls, tokens: sum(parts.tokens) - sum(placed.map(({ tokens }) => tokens)) - sum(orphans) });
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
