import {
  type ContextMessage,
  type EntryId,
  type Session,
  type SessionContext,
  SessionNotFoundError,
  StoreBusyError,
  StoreClosedError,
  StoreFullError,
  StoreReadOnlyError,
} from "@bough/session-core";
import { rules } from "@bough/session-core/internals";
import { COUNTER, SESSION } from "../arguments/shapes.js";
import { messageTokens } from "./message-tokens.js";
import { type ModelName, modelFamily } from "./model-families.js";
import type { TokenCounter } from "./token-counter.js";

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

  readonly #session: Session;
  readonly counter: TokenCounter;
  readonly model: ModelName;

  constructor(session: Session, counter: TokenCounter, model: ModelName = null) {
    this.#session = session;
    this.counter = counter;
    this.model = model;

    rules.checkArgument("session", session, SESSION);
    rules.checkArgument("counter", counter, COUNTER);
    this.#stored = new StoredCounts(session, counter, model);
  }

  /** Tokens of a context of this session. `leafId`: where its path ends; default where the handle stands. */
  async measure(context: SessionContext, leafId: EntryId | null = this.#session.leafId): Promise<Measured> {
    const same = this.#sameUpTo(context.messages);
    this.#stored.begin(same === (this.#last?.messages.length ?? 0), leafId);
    const perMessage = this.#last === null ? [] : this.#last.measured.perMessage.slice(0, same);
    await this.#load(context, same);
    for (let at = same; at < context.messages.length; at += 1) {
      const message = context.messages[at];
      if (message !== undefined) perMessage.push(this.#tokensOf(message, context.entries, at));
    }
    const measured = { ...sumAndLargest(perMessage), perMessage, system: this.#systemTokens(context.system) };
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

function sumAndLargest(numbers: readonly number[]): Pick<Measured, "total" | "largest"> {
  let total = 0;
  let largest = 0;
  for (const one of numbers) {
    total += one;
    if (one > largest) largest = one;
  }
  return { total, largest };
}

/** So many new counts are written together: one transaction for each would cost as much as the appends. */
const BATCH = 64;

/**
 * The counts that a store keeps with its entries, for one way to count. Only what an entry says itself is kept there; what
 * an edit on some path makes of it is another text, and on another path it is not even that.
 */
export class StoredCounts {
  readonly #name: string;
  readonly #pending = new Map<EntryId, number>();
  /** Where the path ends that the pending counts are about. */
  #leafId: EntryId | null = null;

  readonly #session: Session;

  constructor(session: Session, counter: TokenCounter, model: ModelName) {
    this.#session = session;

    // Providers count images by rules of their own.
    this.#name = `${counter.name} ${modelFamily(model).imageRule}`;
  }

  get isWorthSaving(): boolean {
    return this.#pending.size >= BATCH;
  }

  /** What is known of entries of the current path, oldest first; those that an edit changes are left out. */
  async load(ids: readonly EntryId[]): Promise<ReadonlyMap<EntryId, number>> {
    const known = new Map(await this.#session.tokenCounts(this.#name, ids));
    if (known.size > 0) for (const id of await this.#edited(ids[0])) known.delete(id);
    return known;
  }

  /** The counts that follow are about the path that ends at `leafId`. `continues`: it only went on since the last ones. */
  begin(continues: boolean, leafId: EntryId | null): void {
    // What was counted on another branch may be what an edit there made of an entry.
    if (!continues) this.#pending.clear();
    this.#leafId = leafId;
  }

  add(id: EntryId, tokens: number): void {
    this.#pending.set(id, tokens);
  }

  /** Writes what was added. It is a cache: where it cannot be written, nothing is lost but time. */
  async save(): Promise<void> {
    if (this.#pending.size === 0) return;
    const counts = new Map(this.#pending);
    this.#pending.clear();
    try {
      for (const id of await this.#edited(counts.keys().next().value)) counts.delete(id);
      await this.#session.saveTokenCounts(this.#name, counts);
    } catch (error) {
      if (!isStoreError(error)) throw error;
    }
  }

  /** Entries that an edit on the path changes. An edit is younger than its target, so it stands below the oldest one. */
  async #edited(oldest: EntryId | undefined): Promise<ReadonlySet<EntryId>> {
    const leafId = this.#leafId;
    if (leafId === null || oldest === undefined) return new Set();
    const stopAt = await this.#session.commonAncestor(leafId, oldest);
    const { items } = await this.#session.scan({ leafId, types: ["context_edit"], ...(stopAt === null ? {} : { stopAt }) });
    return new Set(items.flatMap((entry) => (entry.type === "context_edit" ? [entry.targetId] : [])));
  }
}

function isStoreError(error: unknown): boolean {
  return (
    error instanceof StoreReadOnlyError ||
    error instanceof StoreBusyError ||
    error instanceof StoreFullError ||
    error instanceof StoreClosedError ||
    error instanceof SessionNotFoundError
  );
}
