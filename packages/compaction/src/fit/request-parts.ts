import type { ContextMessage, EntryId } from "@bough/session-core";

/** The messages of a request: `entries[i]` is behind `messages[i]`, which has `tokens[i]`. */
export interface RequestParts {
  readonly messages: readonly ContextMessage[];
  readonly entries: readonly EntryId[];
  readonly tokens: readonly number[];
}

/** Counts the tokens of a message that a rule has changed. */
export type CountMessage = (message: ContextMessage) => number;

/** A message with its tokens. */
export interface CountedMessage {
  readonly message: ContextMessage;
  readonly tokens: number;
}

/** What a rule made of a request. */
export interface FitStep {
  readonly parts: RequestParts;
  readonly changes: readonly Change[];
}

/** The answer of a rule that has nothing to do: the same object. */
export function keepParts(parts: RequestParts): FitStep {
  return { parts, changes: [] };
}

/** Tokens of all messages. */
export function sumTokens({ tokens }: RequestParts): number {
  let total = 0;
  for (const one of tokens) total += one;
  return total;
}

/** The parts at the places that `stays` accepts, in their order. Linear. */
export function filterParts({ messages, entries, tokens }: RequestParts, stays: (at: number) => boolean): RequestParts {
  return {
    messages: messages.filter((_, at) => stays(at)),
    entries: entries.filter((_, at) => stays(at)),
    tokens: tokens.filter((_, at) => stays(at)),
  };
}

/** The parts with other messages at some places. Linear. */
export function replaceParts({ messages, entries, tokens }: RequestParts, changed: ReadonlyMap<number, CountedMessage>): RequestParts {
  return {
    messages: messages.map((message, at) => changed.get(at)?.message ?? message),
    entries,
    tokens: tokens.map((one, at) => changed.get(at)?.tokens ?? one),
  };
}

/** Tokens that the changed messages have less than before. */
export function countSavedTokens({ tokens }: RequestParts, changed: ReadonlyMap<number, CountedMessage>): number {
  let saved = 0;
  for (const [at, now] of changed) saved += (tokens[at] ?? 0) - now.tokens;
  return saved;
}

/**
 * Why messages were left out: the pass of Copilot CLI's truncator, VS Code's priorities, results without a call
 * (`orphans`), and, where all that was not enough, the `summaries`, and then everything but the prompt, its `turn` included.
 */
export type RemovalPass = "old-replies" | "old-messages" | "turn-replies" | "priority" | "orphans" | "summaries" | "all-but-prompt";

/** One thing that was done to a request. `tokens` is what it saved, unless it says that it added them. */
export type Change =
  | { readonly kind: "removed-messages"; readonly pass: RemovalPass; readonly messages: number; readonly tokens: number }
  /** Results were put behind their calls again. */
  | { readonly kind: "moved-results"; readonly messages: number }
  /** Calls without a result were given one that says so. Added `tokens`. */
  | { readonly kind: "closed-calls"; readonly calls: number; readonly tokens: number }
  /** Calls without a result were taken out of their replies. */
  | { readonly kind: "dropped-calls"; readonly calls: number; readonly tokens: number }
  /** Old images became a line of text. `bytes` of base64. */
  | { readonly kind: "images"; readonly images: number; readonly bytes: number; readonly tokens: number }
  /** Old tool results were cut by characters. */
  | { readonly kind: "trimmed"; readonly results: number; readonly tokens: number }
  /** Tool results and output of commands lost their middle; where nothing else was left to go, what a host put in too. */
  | { readonly kind: "cut-tool-results"; readonly results: number; readonly tokens: number }
  /** The newest prompt lost its middle. */
  | { readonly kind: "cut-prompt"; readonly tokens: number }
  /** A thinking block was put before the first reply, which is of `entry`. Added `tokens`. */
  | { readonly kind: "reattached-thinking"; readonly entry: EntryId; readonly tokens: number };

/** How many tokens the messages of a request may have, beside instructions and tools. May be negative. */
export interface FitBudget {
  /** Above this something must go. */
  readonly limitTokens: number;
  /** Once something goes, this is aimed at, so that the next request does not come too late at once. */
  readonly targetTokens: number;
}

/** The room under a limit for messages and instructions. */
export function computeBudget(limitTokens: number, systemTokens: number, targetShare: number): FitBudget {
  return { limitTokens: limitTokens - systemTokens, targetTokens: Math.floor(limitTokens * targetShare) - systemTokens };
}
