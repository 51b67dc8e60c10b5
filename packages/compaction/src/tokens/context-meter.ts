import type { ContextMessage, EntryId, Session, SessionContext } from "@bough/session-core";
import { rules } from "@bough/session-core/internals";
import { COUNTER, SESSION } from "../arguments/shapes.js";
import type { TokenCounter } from "./counter.js";
import type { ImageModel } from "./image-tokens.js";
import { messageTokens } from "./message-tokens.js";
import { StoredCounts } from "./stored-counts.js";

/** Tokens of a context. */
export interface Measured {
  /** Of all messages together. */
  readonly total: number;
  /** `perMessage[i]` is what `messages[i]` has. */
  readonly perMessage: readonly number[];
  /** Of the message that has most. */
  readonly largest: number;
  /** Of the system prompt. */
  readonly system: number;
}

/** Fewer messages than this are counted faster than the store is asked for their counts. */
const WORTH_ASKING = 32;

/**
 * Counts contexts of one session, again and again. A message is counted once: contexts share their messages, so what
 * stands at the same place as in the last context is known by identity, and counts of entries are kept in the store, so
 * that another process need not count them again. A check after an append counts what was appended.
 */
export class ContextMeter {
  readonly #stored: StoredCounts;
  readonly #known = new WeakMap<ContextMessage, number>();
  #last: { readonly messages: readonly ContextMessage[]; readonly measured: Measured } | null = null;
  #system: { readonly text: string; readonly tokens: number } | null = null;

  constructor(
    private readonly session: Session,
    readonly counter: TokenCounter,
    readonly model: ImageModel = null,
  ) {
    rules.checkArgument("session", session, SESSION);
    rules.checkArgument("counter", counter, COUNTER);
    this.#stored = new StoredCounts(session, counter, model);
  }

  /** Tokens of a context of this session. `leafId`: where its path ends; default where the handle stands. */
  async measure(context: SessionContext, leafId: EntryId | null = this.session.leafId): Promise<Measured> {
    const same = this.#sameUpTo(context.messages);
    this.#stored.begin(same === (this.#last?.messages.length ?? 0), leafId);
    const perMessage = this.#last === null ? [] : this.#last.measured.perMessage.slice(0, same);
    await this.#load(context, same);
    for (let at = same; at < context.messages.length; at += 1) {
      const message = context.messages[at];
      if (message !== undefined) perMessage.push(this.#tokensOf(message, context.entries, at));
    }
    const measured = { ...summed(perMessage), perMessage, system: this.#systemTokens(context.system) };
    this.#last = { messages: context.messages, measured };
    if (this.#stored.isWorthSaving) await this.#stored.save();
    return measured;
  }

  /** Saves the counts that are not in the store yet. */
  async flush(): Promise<void> {
    await this.#stored.save();
  }

  #sameUpTo(messages: readonly ContextMessage[]): number {
    const before = this.#last?.messages ?? [];
    const most = Math.min(before.length, messages.length);
    let at = 0;
    while (at < most && before[at] === messages[at]) at += 1;
    return at;
  }

  /** Takes from the store what it knows of the messages from `from` on, where they are many. */
  async #load({ messages, entries, compaction }: SessionContext, from: number): Promise<void> {
    const asked = new Map<EntryId, ContextMessage>();
    for (let at = from; at < messages.length; at += 1) {
      const [message, id] = [messages[at], entries[at]];
      if (message !== undefined && id !== undefined && !this.#known.has(message) && isOwn(entries, at)) asked.set(id, message);
    }
    if (asked.size < WORTH_ASKING) return;
    for (const [id, tokens] of await this.#stored.load([...asked.keys()].filter((id) => id !== compaction?.entryId))) {
      const message = asked.get(id);
      if (message !== undefined) this.#known.set(message, tokens);
    }
  }

  #tokensOf(message: ContextMessage, entries: readonly EntryId[], at: number): number {
    const known = this.#known.get(message);
    if (known !== undefined) return known;
    const tokens = messageTokens(this.counter, message, this.model);
    this.#known.set(message, tokens);
    const id = entries[at];
    if (id !== undefined && isOwn(entries, at)) this.#stored.add(id, tokens);
    return tokens;
  }

  #systemTokens(text: string | null): number {
    if (text === null) return 0;
    if (this.#system?.text !== text) this.#system = { text, tokens: this.counter.count(text) };
    return this.#system.tokens;
  }
}

/** Whether the message is the entry's own: the synthetic result of a call stands behind it under the same id. */
function isOwn(entries: readonly EntryId[], at: number): boolean {
  return entries[at] !== entries[at - 1];
}

function summed(numbers: readonly number[]): Pick<Measured, "total" | "largest"> {
  let total = 0;
  let largest = 0;
  for (const one of numbers) {
    total += one;
    if (one > largest) largest = one;
  }
  return { total, largest };
}
