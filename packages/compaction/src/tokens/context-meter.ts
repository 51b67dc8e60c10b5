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
import { findModelFamily, type ModelFamily, type ModelName } from "./known-models.js";
import { messageTokens } from "./message-tokens.js";
import type { TokenCounter } from "./token-counter.js";

/** Token counts of a context. */
export interface Measured {
  /** All messages together. */
  readonly total: number;
  /** `perMessage[i]`: tokens of `messages[i]`. */
  readonly perMessage: readonly number[];
  /** The largest message. */
  readonly largest: number;
  /** The system prompt. */
  readonly system: number;
}

/** Counting fewer messages than this is faster than reading their counts from the store. */
const MIN_TO_LOAD = 32;

/**
 * Counts the contexts of one session repeatedly. Each message is counted once: contexts share message objects, so a message at
 * the same position as in the last context is recognized by identity; and counts of entries are stored, so that another
 * process need not repeat them. Measuring after an append counts what was appended.
 */
export class ContextMeter {
  readonly counter: TokenCounter;
  readonly model: ModelName;
  /** The family of `model`. */
  readonly family: ModelFamily;
  readonly #session: Session;
  readonly #stored: StoredCounts;
  readonly #known = new WeakMap<ContextMessage, number>();
  #last: { readonly messages: readonly ContextMessage[]; readonly measured: Measured } | null = null;
  #system: { readonly text: string; readonly tokens: number } | null = null;

  constructor(session: Session, counter: TokenCounter, model: ModelName = null) {
    this.counter = counter;
    this.model = model;
    this.family = findModelFamily(model);
    this.#session = session;
    this.#stored = new StoredCounts(session, counter, model);
  }

  /** Counts a context of this session. `leafId`: the end of its path; default the leaf of the session handle. */
  async measure(context: SessionContext, leafId: EntryId | null = this.#session.leafId): Promise<Measured> {
    const same = this.#countSame(context.messages);
    this.#stored.begin(same === (this.#last?.messages.length ?? 0), leafId);
    const perMessage = this.#last === null ? [] : this.#last.measured.perMessage.slice(0, same);
    await this.#load(context, same);
    for (let at = same; at < context.messages.length; at += 1) {
      const message = context.messages[at];
      if (message !== undefined) perMessage.push(this.#tokensOf(message, context.entries, at));
    }
    const measured = { ...sumAndLargest(perMessage), perMessage, system: this.#systemTokens(context.system) };
    this.#last = { messages: context.messages, measured };
    if (this.#stored.isBatchFull) await this.#stored.save();
    return measured;
  }

  /** Stores the counts that are not in the store yet. */
  async flush(): Promise<void> {
    await this.#stored.save();
  }

  /** The number of leading messages that the last context has too. */
  #countSame(messages: readonly ContextMessage[]): number {
    const before = this.#last?.messages ?? [];
    const most = Math.min(before.length, messages.length);
    let at = 0;
    while (at < most && before[at] === messages[at]) at += 1;
    return at;
  }

  /** Loads the stored counts of the messages from index `from` on, if they are many. */
  async #load({ messages, entries, compaction }: SessionContext, from: number): Promise<void> {
    const uncounted = new Map<EntryId, ContextMessage>();
    for (let at = from; at < messages.length; at += 1) {
      const [message, id] = [messages[at], entries[at]];
      if (message !== undefined && id !== undefined && !this.#known.has(message) && isOwn(entries, at)) uncounted.set(id, message);
    }
    if (uncounted.size < MIN_TO_LOAD) return;
    for (const [id, tokens] of await this.#stored.load([...uncounted.keys()].filter((id) => id !== compaction?.entryId))) {
      const message = uncounted.get(id);
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

/** True if the message is the entry's own, and not the synthetic result of its call, which follows with the same id. */
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

/** Counts are stored in batches: a transaction for each would cost as much as an append. */
const BATCH = 64;

/** The token counts that a store keeps of unedited entries, for one counter. An edit changes an entry only on its own path. */
class StoredCounts {
  readonly #session: Session;
  readonly #name: string;
  readonly #pending = new Map<EntryId, number>();
  /** The leaf of the path that the pending counts are about. */
  #leafId: EntryId | null = null;

  constructor(session: Session, counter: TokenCounter, model: ModelName) {
    this.#session = session;
    // Providers count images differently.
    this.#name = `${counter.name} ${findModelFamily(model).imageRule}`;
  }

  get isBatchFull(): boolean {
    return this.#pending.size >= BATCH;
  }

  /** Stored counts of entries of the current path, given oldest first, without entries that an edit changes. */
  async load(ids: readonly EntryId[]): Promise<ReadonlyMap<EntryId, number>> {
    const known = new Map(await this.#session.tokenCounts.get(this.#name, ids));
    if (known.size > 0) for (const id of await this.#editedEntries(ids[0])) known.delete(id);
    return known;
  }

  /**
   * Starts counts of the path that ends at `leafId`. Pending counts are discarded unless the path only grew (`continues`):
   * an entry may have been counted as an edit on the other path shows it.
   */
  begin(continues: boolean, leafId: EntryId | null): void {
    if (!continues) this.#pending.clear();
    this.#leafId = leafId;
  }

  add(id: EntryId, tokens: number): void {
    this.#pending.set(id, tokens);
  }

  /** Stores the pending counts. A store that cannot be written is ignored: the counts are only a cache. */
  async save(): Promise<void> {
    if (this.#pending.size === 0) return;
    const counts = new Map(this.#pending);
    this.#pending.clear();
    try {
      for (const id of await this.#editedEntries(counts.keys().next().value)) counts.delete(id);
      await this.#session.tokenCounts.save(this.#name, counts);
    } catch (error) {
      if (!isStoreError(error)) throw error;
    }
  }

  /** Entries that an edit on the path changes. An edit comes after its target, so it is below the oldest of them. */
  async #editedEntries(oldest: EntryId | undefined): Promise<ReadonlySet<EntryId>> {
    const leafId = this.#leafId;
    if (leafId === null || oldest === undefined) return new Set();
    const stopAt = await this.#session.tree.commonAncestor(leafId, oldest);
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
