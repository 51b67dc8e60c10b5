import type { ContextMessage, EntryId } from "@bough/session-core";

/** The messages of a request: `entries[i]` is the entry of `messages[i]`, `tokens[i]` its token count. */
export interface RequestParts {
  readonly messages: readonly ContextMessage[];
  readonly entries: readonly EntryId[];
  readonly tokens: readonly number[];
}

/** Counts the tokens of a changed message. */
export type CountMessage = (message: ContextMessage) => number;

/** A message with its token count. */
export interface CountedMessage {
  readonly message: ContextMessage;
  readonly tokens: number;
}

/** Messages that were cut, by the message and how it was cut. Valid for one counter. */
export class CutMemo {
  readonly #cut = new WeakMap<ContextMessage, Map<string, CountedMessage>>();

  /** The cut form of a message; `cut` makes it the first time. */
  get(message: ContextMessage, how: string, cut: () => CountedMessage): CountedMessage {
    const known = this.#cut.get(message) ?? new Map<string, CountedMessage>();
    this.#cut.set(message, known);
    const made = known.get(how) ?? cut();
    known.set(how, made);
    return made;
  }
}

/** The request after a step, and what the step changed. */
export interface FitStep {
  readonly parts: RequestParts;
  readonly changes: readonly Change[];
}

/** The result of a step that changes nothing: the same object, no changes. */
export function keepParts(parts: RequestParts): FitStep {
  return { parts, changes: [] };
}

/** The tokens of all messages. */
export function sumTokens({ tokens }: RequestParts): number {
  let total = 0;
  for (const one of tokens) total += one;
  return total;
}

/** The parts at the indexes that `stays` accepts, in order. Linear. */
export function filterParts({ messages, entries, tokens }: RequestParts, stays: (at: number) => boolean): RequestParts {
  return {
    messages: messages.filter((_, at) => stays(at)),
    entries: entries.filter((_, at) => stays(at)),
    tokens: tokens.filter((_, at) => stays(at)),
  };
}

/** The parts with some messages replaced, by index. Linear. */
export function replaceParts({ messages, entries, tokens }: RequestParts, changed: ReadonlyMap<number, CountedMessage>): RequestParts {
  return {
    messages: messages.map((message, at) => changed.get(at)?.message ?? message),
    entries,
    tokens: tokens.map((one, at) => changed.get(at)?.tokens ?? one),
  };
}

/** The tokens that the changed messages have fewer than before. */
export function countSavedTokens({ tokens }: RequestParts, changed: ReadonlyMap<number, CountedMessage>): number {
  let saved = 0;
  for (const [at, now] of changed) saved += (tokens[at] ?? 0) - now.tokens;
  return saved;
}

/**
 * The pass or step that dropped messages: the three passes of `dropOldest`, the pass of `byPriority`, results without a call
 * (`orphans`), and, as the last resort, `summaries` and then `all-but-prompt`.
 */
export type RemovalPass = "old-replies" | "old-messages" | "turn-replies" | "priority" | "orphans" | "summaries" | "all-but-prompt";

/** One change to a request. `tokens` is the number saved, unless its description says that they were added. */
export type Change =
  | { readonly kind: "removed-messages"; readonly pass: RemovalPass; readonly messages: number; readonly tokens: number }
  /** Results were moved behind their calls. */
  | { readonly kind: "moved-results"; readonly messages: number }
  /** Calls without a result got a synthetic one. Added `tokens`. */
  | { readonly kind: "closed-calls"; readonly calls: number; readonly tokens: number }
  /** Calls without a result were removed from their replies. */
  | { readonly kind: "dropped-calls"; readonly calls: number; readonly tokens: number }
  /** Old images were replaced by a line of text. `bytes` of base64. */
  | { readonly kind: "images"; readonly images: number; readonly bytes: number; readonly tokens: number }
  /** Old tool results were cut to a number of characters. */
  | { readonly kind: "trimmed"; readonly results: number; readonly tokens: number }
  /** The middle of tool results and output of commands was removed; as the last resort also of messages of the host. */
  | { readonly kind: "cut-tool-results"; readonly results: number; readonly tokens: number }
  /** The middle of the newest prompt was removed. */
  | { readonly kind: "cut-prompt"; readonly tokens: number }
  /** A thinking block was put before the first reply, which belongs to `entry`. Added `tokens`. */
  | { readonly kind: "reattached-thinking"; readonly entry: EntryId; readonly tokens: number };

/** The tokens that the messages of a request may have, apart from system message and tools. May be negative. */
export interface FitBudget {
  /** Above this, messages are dropped or cut. */
  readonly limitTokens: number;
  /** Messages are dropped down to this, so that the next request is not over the limit at once. */
  readonly targetTokens: number;
}

/**
 * The budget of the messages under a limit for messages and system message. Copilot CLI drops messages until a request is below its share of the
 * limit: exactly that share is too much.
 */
export function computeBudget(limitTokens: number, systemTokens: number, targetShare: number): FitBudget {
  const target = targetShare < 1 ? Math.ceil(limitTokens * targetShare) - 1 : limitTokens;
  return { limitTokens: limitTokens - systemTokens, targetTokens: target - systemTokens };
}
