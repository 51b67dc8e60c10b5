import { type Entry, type EntryId, type EntryInput, EntryNotFoundError, type Session } from "@bough/session-core";
import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { applySplices, type Base, type Part, type Parts, planParts, type Splice, textOfPart, textOfParts } from "./parts.js";
import { pack, packParts, unpack, unpackText } from "./serialized.js";
import { restored } from "./shared.js";
import {
  checkpointEntryId,
  checkpointOf,
  memberOf,
  type StoredChange,
  type StoredCheckpoint,
  type StoredValue,
} from "./stored-checkpoint.js";

/** A checkpoint with the id of its entry. */
export interface FoundCheckpoint {
  readonly entryId: EntryId;
  readonly stored: StoredCheckpoint;
}

/** The stored form of a channel's value at a checkpoint: the value, the entries of its messages, and the parts that it then has. */
interface PlannedValue {
  readonly value: StoredValue;
  readonly entries: readonly EntryInput[];
  readonly parts?: Parts;
}

/** A stored change whose parts are ready for use: messages by the id of their entry. */
interface Change extends Pick<StoredChange, "kind" | "base" | "weight"> {
  readonly splices: readonly Splice<EntryId | Part>[];
}

/** A cache of the last reads and writes, over all threads: 16 Mi characters each of values, of their changes, and of messages. */
export class ChannelCache {
  readonly values = new RecentlyUsed<Parts>(MOST_CHARACTERS, ({ parts }) => charactersOf(parts));
  readonly changes = new RecentlyUsed<Change>(MOST_CHARACTERS, ({ splices }) => charactersOf(splices.flatMap(({ insert }) => insert)));
  readonly messages = new RecentlyUsed<Part>(MOST_CHARACTERS, ({ text }) => text.length + 100);
}

const MOST_CHARACTERS = 2 ** 24;

function charactersOf(parts: readonly (EntryId | Part)[]): number {
  return parts.reduce((sum, part) => sum + 20 + (typeof part === "string" ? 0 : part.text.length), 100);
}

/** The checkpoints of one thread and the values of their channels. */
export class Channels {
  readonly #session: Session;
  readonly #serde: SerializerProtocol;
  readonly #cache: ChannelCache;

  constructor(session: Session, serde: SerializerProtocol, cache: ChannelCache) {
    this.#session = session;
    this.#serde = serde;
    this.#cache = cache;
  }

  /** The checkpoint of an entry, or undefined. */
  async checkpoint(entryId: EntryId): Promise<StoredCheckpoint | undefined> {
    const entry = (await this.#session.entriesById([entryId])).get(entryId);
    return entry && checkpointOf(entry, this.#session.id);
  }

  /** The checkpoint of a namespace, in its last version; undefined if there is none. */
  async find(ns: string, id: string): Promise<FoundCheckpoint | undefined> {
    let found: FoundCheckpoint | undefined;
    for (let version = 1; ; version += 1) {
      const entryId = checkpointEntryId(ns, id, version);
      const stored = await this.checkpoint(entryId);
      if (stored === undefined) return found;
      found = { entryId, stored };
    }
  }

  /** The values of all channels at a checkpoint. */
  async values({ entryId, stored }: FoundCheckpoint): Promise<Record<string, unknown>> {
    const values: [channel: string, value: unknown][] = [];
    for (const [channel, at] of Object.entries(stored.at)) values.push([channel, await this.#value(entryId, stored, at, channel)]);
    return Object.fromEntries(values);
  }

  async #value(entryId: EntryId, stored: StoredCheckpoint, at: EntryId, channel: string): Promise<unknown> {
    const cached = this.#cache.values.get(this.#key(at, channel));
    if (cached !== undefined) return unpackText(this.#serde, textOfParts(cached));
    const holder = at === entryId ? stored : await this.checkpoint(at);
    const value = holder && memberOf(holder.values, channel);
    if (value === undefined) throw new EntryNotFoundError(this.#session.id, at);
    if (!("kind" in value)) return unpack(this.#serde, value);
    return unpackText(this.#serde, textOfParts(await this.#apply(at, channel, this.#toChange(at, channel, value))));
  }

  /**
   * Plans the value of a channel at a new checkpoint.
   *
   * @param above The checkpoint that has the value before, if there is one; `isForeign`: it is one of the calling graph.
   */
  async plan(
    channel: string,
    value: unknown,
    above: (FoundCheckpoint & { readonly isForeign: boolean }) | undefined,
    newId: () => EntryId,
  ): Promise<PlannedValue> {
    const packed = await packParts(this.#serde, value);
    if (packed === undefined) return { value: await pack(this.#serde, value), entries: [] };
    const at = above && memberOf(above.stored.at, channel);
    const before = at === undefined ? undefined : await this.#parts(at, channel);
    const base: Base | undefined = before && at && above ? { at, value: before, isForeign: above.isForeign } : undefined;
    const plan = planParts(packed.kind, base, packed.texts, newId);
    return { value: plan.change, entries: plan.entries, parts: plan.value };
  }

  /** Remembers a value that has been written. */
  remember(entryId: EntryId, channel: string, value: Parts): void {
    this.#cache.values.set(this.#key(entryId, channel), value);
  }

  /** The value that a checkpoint stores for a channel; undefined if it is not stored in parts. */
  async #parts(at: EntryId, channel: string): Promise<Parts | undefined> {
    const cached = this.#cache.values.get(this.#key(at, channel));
    if (cached !== undefined) return cached;
    const change = await this.#change(at, channel);
    return change && this.#apply(at, channel, change);
  }

  /** Reads the changes up to the last one without a base, then the messages of the resulting value. */
  async #apply(checkpointId: EntryId, channel: string, newest: Change): Promise<Parts> {
    const changes = [newest];
    let base: Parts | undefined;
    for (let next = newest.base; next !== null; ) {
      base = this.#cache.values.get(this.#key(next, channel));
      if (base !== undefined) break;
      const change = await this.#change(next, channel);
      if (change === undefined) throw new EntryNotFoundError(this.#session.id, next);
      changes.push(change);
      next = change.base;
    }
    const start: readonly (EntryId | Part)[] = base?.parts ?? [];
    const given = changes.reduceRight((parts, { splices }) => applySplices(parts, splices), start);
    const value = { kind: newest.kind, parts: await this.#withMessages(given), weight: newest.weight };
    this.remember(checkpointId, channel, value);
    return value;
  }

  /** The change that a checkpoint stores for a channel; undefined if it stores the value otherwise. */
  async #change(at: EntryId, channel: string): Promise<Change | undefined> {
    const cached = this.#cache.changes.get(this.#key(at, channel));
    if (cached !== undefined) return cached;
    const holder = await this.checkpoint(at);
    const value = holder && memberOf(holder.values, channel);
    return value !== undefined && "kind" in value ? this.#toChange(at, channel, value) : undefined;
  }

  #toChange(checkpointId: EntryId, channel: string, { kind, base, weight, splices }: StoredChange): Change {
    const change: Change = {
      kind,
      base,
      weight,
      splices: splices.map(([start, remove, insert]) => ({
        start,
        remove,
        insert: insert.map((part) => (typeof part === "string" ? part : { text: textOfPart(kind, part) })),
      })),
    };
    this.#cache.changes.set(this.#key(checkpointId, channel), change);
    return change;
  }

  /** Reads the messages of those parts that are only ids of entries. */
  async #withMessages(parts: readonly (EntryId | Part)[]): Promise<readonly Part[]> {
    const ids = parts.filter((part) => typeof part === "string");
    const known = new Map(ids.map((id) => [id, this.#cache.messages.get(this.#key(id, ""))]));
    const missing = ids.filter((id) => known.get(id) === undefined);
    for (const [id, entry] of await this.#session.entriesById(missing)) {
      const part = toPart(entry);
      known.set(id, part);
      this.#cache.messages.set(this.#key(id, ""), part);
    }
    return parts.map((part) => {
      const message = typeof part === "string" ? known.get(part) : part;
      if (message === undefined) throw new EntryNotFoundError(this.#session.id, String(part));
      return message;
    });
  }

  #key(entryId: EntryId, channel: string): string {
    return `${this.#session.id}\n${entryId}\n${channel}`;
  }
}

/** The part whose message an entry stores. */
function toPart(entry: Entry): Part {
  const holder: object | null = entry.type === "message" ? entry.message : entry.type === "context_edit" ? entry.replacement : null;
  const langchain: unknown = holder === null ? undefined : Reflect.get(holder, "langchain");
  const target = entry.type === "context_edit" ? entry.targetId : entry.id;
  return { text: JSON.stringify(restored(holder, langchain)), entry: entry.id, target };
}

/** Keeps the values that were used last, up to a total size. Values must not change. */
class RecentlyUsed<V> {
  readonly #most: number;
  readonly #sizeOf: (value: V) => number;
  readonly #values = new Map<string, { readonly value: V; readonly size: number }>();
  #size = 0;

  constructor(most: number, sizeOf: (value: V) => number) {
    this.#most = most;
    this.#sizeOf = sizeOf;
  }

  get(key: string): V | undefined {
    const found = this.#values.get(key);
    if (found === undefined) return undefined;
    // The order of a Map is that of insertion: the first key is the one that was not used for the longest time.
    this.#values.delete(key);
    this.#values.set(key, found);
    return found.value;
  }

  /** Stores a value; the one that was stored last is kept even if it is larger than the limit. */
  set(key: string, value: V): void {
    this.delete(key);
    const size = this.#sizeOf(value);
    this.#values.set(key, { value, size });
    this.#size += size;
    for (const oldest of this.#values.keys()) {
      if (this.#size <= this.#most || oldest === key) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#size -= this.#values.get(key)?.size ?? 0;
    this.#values.delete(key);
  }
}
