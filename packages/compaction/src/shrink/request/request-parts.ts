import type { ContextMessage, EntryId } from "@bough/session-core";
import type { Change } from "./change.js";

/** The messages of a request: `entries[i]` is behind `messages[i]`, which has `tokens[i]`. */
export interface RequestParts {
  readonly messages: readonly ContextMessage[];
  readonly entries: readonly EntryId[];
  readonly tokens: readonly number[];
}

/** Counts the tokens of a message that a rule has changed. */
export type CountMessage = (message: ContextMessage) => number;

/** A message with its tokens. */
export interface Counted {
  readonly message: ContextMessage;
  readonly tokens: number;
}

/** What a rule made of a request. */
export interface Shaping {
  readonly parts: RequestParts;
  readonly changes: readonly Change[];
}

/** The answer of a rule that has nothing to do: the same object. */
export function unchanged(parts: RequestParts): Shaping {
  return { parts, changes: [] };
}

/** Tokens of all messages. */
export function tokensIn({ tokens }: RequestParts): number {
  let total = 0;
  for (const one of tokens) total += one;
  return total;
}

/** The parts at the places that `stays` accepts, in their order. Linear. */
export function partsWhere({ messages, entries, tokens }: RequestParts, stays: (at: number) => boolean): RequestParts {
  return {
    messages: messages.filter((_, at) => stays(at)),
    entries: entries.filter((_, at) => stays(at)),
    tokens: tokens.filter((_, at) => stays(at)),
  };
}

/** The parts with other messages at some places. Linear. */
export function partsWith({ messages, entries, tokens }: RequestParts, changed: ReadonlyMap<number, Counted>): RequestParts {
  return {
    messages: messages.map((message, at) => changed.get(at)?.message ?? message),
    entries,
    tokens: tokens.map((one, at) => changed.get(at)?.tokens ?? one),
  };
}

/** Tokens that the changed messages have less than before. */
export function savedBy({ tokens }: RequestParts, changed: ReadonlyMap<number, Counted>): number {
  let saved = 0;
  for (const [at, now] of changed) saved += (tokens[at] ?? 0) - now.tokens;
  return saved;
}
