import { type Entry, type EntryId, type EntryInput, EntryNotFoundError, type Session } from "@bough/session-core";
import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { applyChange, type Element, type List, type ListBase, planList } from "./lists.js";
import { RecentlyUsed } from "./recently-used.js";
import { pack, packElements, unpack, unpackElements } from "./serialized.js";
import { restored } from "./shared.js";
import { checkpointEntryId, checkpointOf, type ListChange, type StoredCheckpoint, type StoredValue } from "./stored-checkpoint.js";

/** A checkpoint with the id of its entry. */
export interface FoundCheckpoint {
  readonly entryId: EntryId;
  readonly stored: StoredCheckpoint;
}

/** What stores the value of a channel at a checkpoint: the value, the entries of its messages, and the list that it then is. */
interface PlannedValue {
  readonly value: StoredValue;
  readonly entries: readonly EntryInput[];
  readonly list?: List;
}

/** A stored change whose elements are ready for use: messages by the id of their entry. */
interface Change extends Pick<ListChange, "base" | "start" | "remove" | "weight"> {
  readonly insert: readonly (EntryId | Element)[];
}

/** What was read and written last, over all threads: 16 Mi characters of lists, of their changes, and of messages. */
export class ChannelCache {
  readonly lists = new RecentlyUsed<List>(MOST_CHARACTERS, ({ elements }) => charactersOf(elements));
  readonly changes = new RecentlyUsed<Change>(MOST_CHARACTERS, ({ insert }) => charactersOf(insert));
  readonly messages = new RecentlyUsed<Element>(MOST_CHARACTERS, ({ text }) => text.length + 100);
}

const MOST_CHARACTERS = 2 ** 24;

function charactersOf(elements: readonly (EntryId | Element)[]): number {
  return elements.reduce((sum, element) => sum + 20 + (typeof element === "string" ? 0 : element.text.length), 100);
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
    for (const [channel, at] of Object.entries(stored.at)) {
      const list = at !== entryId && this.#cache.lists.get(this.#key(at, channel));
      if (list) {
        values.push([channel, await this.#unpackList(list)]);
        continue;
      }
      const holder = at === entryId ? stored : await this.checkpoint(at);
      const value = holder?.values[channel];
      if (value === undefined) throw new EntryNotFoundError(this.#session.id, at);
      const isList = "list" in value;
      values.push([channel, isList ? await this.#unpackList(await this.#list(at, channel, value.list)) : await unpack(this.#serde, value)]);
    }
    return Object.fromEntries(values);
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
    const texts = Array.isArray(value) ? await packElements(this.#serde, value) : undefined;
    if (texts === undefined || texts.length === 0) return { value: await pack(this.#serde, value), entries: [] };
    const at = above?.stored.at[channel];
    const list = at === undefined ? undefined : await this.#list(at, channel);
    const base: ListBase | undefined = list && at && above ? { at, list, isForeign: above.isForeign } : undefined;
    const plan = planList(base, texts, newId);
    return { value: { list: plan.change }, entries: plan.entries, list: plan.list };
  }

  /** Remembers a list that has been written. */
  remember(entryId: EntryId, channel: string, list: List): void {
    this.#cache.lists.set(this.#key(entryId, channel), list);
  }

  /** The list that a checkpoint stores for a channel; undefined if it stores another kind of value. */
  async #list(at: EntryId, channel: string): Promise<List | undefined>;
  async #list(at: EntryId, channel: string, stored: ListChange): Promise<List>;
  async #list(at: EntryId, channel: string, stored?: ListChange): Promise<List | undefined> {
    const cached = this.#cache.lists.get(this.#key(at, channel));
    if (cached !== undefined) return cached;
    const newest = stored === undefined ? await this.#change(at, channel) : this.#toChange(at, channel, stored);
    if (newest === undefined) return undefined;
    const list = { elements: await this.#elements(newest, channel), weight: newest.weight };
    this.#cache.lists.set(this.#key(at, channel), list);
    return list;
  }

  /** Reads the changes up to the last one without a base, then the messages of the resulting list. */
  async #elements(newest: Change, channel: string): Promise<readonly Element[]> {
    const changes = [newest];
    let base: List | undefined;
    for (let next = newest.base; next !== null && base === undefined; ) {
      base = this.#cache.lists.get(this.#key(next, channel));
      if (base !== undefined) break;
      const change = await this.#change(next, channel);
      if (change === undefined) throw new EntryNotFoundError(this.#session.id, next);
      changes.push(change);
      next = change.base;
    }
    const start: readonly (EntryId | Element)[] = base?.elements ?? [];
    return this.#withMessages(changes.reduceRight((list, change) => applyChange(list, change, change.insert), start));
  }

  /** The change that a checkpoint stores for a channel; undefined if it stores another kind of value. */
  async #change(at: EntryId, channel: string): Promise<Change | undefined> {
    const cached = this.#cache.changes.get(this.#key(at, channel));
    if (cached !== undefined) return cached;
    const value = (await this.checkpoint(at))?.values[channel];
    return value !== undefined && "list" in value ? this.#toChange(at, channel, value.list) : undefined;
  }

  #toChange(at: EntryId, channel: string, stored: ListChange): Change {
    const insert = stored.insert.map((element) => (typeof element === "string" ? element : { text: JSON.stringify(element[0]) }));
    const change = { ...stored, insert };
    this.#cache.changes.set(this.#key(at, channel), change);
    return change;
  }

  /** Reads the messages of those elements that are only ids of entries. */
  async #withMessages(given: readonly (EntryId | Element)[]): Promise<readonly Element[]> {
    const ids = given.filter((element) => typeof element === "string");
    const found = new Map(ids.map((id) => [id, this.#cache.messages.get(this.#key(id, ""))]));
    const missing = ids.filter((id) => found.get(id) === undefined);
    for (const [id, entry] of await this.#session.entriesById(missing)) {
      const element = toElement(entry);
      found.set(id, element);
      this.#cache.messages.set(this.#key(id, ""), element);
    }
    return given.map((element) => {
      const message = typeof element === "string" ? found.get(element) : element;
      if (message === undefined) throw new EntryNotFoundError(this.#session.id, String(element));
      return message;
    });
  }

  async #unpackList({ elements }: List): Promise<unknown> {
    return unpackElements(
      this.#serde,
      elements.map(({ text }) => text),
    );
  }

  #key(entryId: EntryId, channel: string): string {
    return `${this.#session.id}\n${entryId}\n${channel}`;
  }
}

/** The element whose message an entry stores. */
function toElement(entry: Entry): Element {
  const holder: object | null = entry.type === "message" ? entry.message : entry.type === "context_edit" ? entry.replacement : null;
  const langchain: unknown = holder === null ? undefined : Reflect.get(holder, "langchain");
  const target = entry.type === "context_edit" ? entry.targetId : entry.id;
  return { text: JSON.stringify(restored(holder, langchain)), entry: entry.id, target };
}
