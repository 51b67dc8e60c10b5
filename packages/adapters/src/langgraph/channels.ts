import { type Entry, type EntryId, type EntryInput, EntryNotFoundError, type Session } from "@bough/session-core";
import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { applyChange, type Element, type List, type ListBase, planList } from "./lists.js";
import { pack, packElements, unpack, unpackElements } from "./serialized.js";
import { restored } from "./shared.js";
import {
  checkpointEntryId,
  checkpointOf,
  type ListChange,
  type StoredCheckpoint,
  type StoredElement,
  type StoredValue,
} from "./stored-checkpoint.js";

/** A checkpoint with the id of its entry. */
export interface FoundCheckpoint {
  readonly entryId: EntryId;
  readonly stored: StoredCheckpoint;
}

/** Lists that were read or written last, over all threads. */
const CACHED_LISTS = 64;

/** Keeps the lists that were used last. A list is the state of a channel at one checkpoint; it never changes. */
export class ListCache {
  readonly #lists = new Map<string, List>();

  get(key: string): List | undefined {
    const list = this.#lists.get(key);
    if (list !== undefined) this.set(key, list);
    return list;
  }

  set(key: string, list: List): void {
    this.#lists.delete(key);
    this.#lists.set(key, list);
    for (const oldest of this.#lists.keys()) {
      if (this.#lists.size <= CACHED_LISTS) return;
      this.#lists.delete(oldest);
    }
  }
}

/** The values of the channels of one thread, as they are stored. */
export class Channels {
  readonly #session: Session;
  readonly #serde: SerializerProtocol;
  readonly #cache: ListCache;

  constructor(session: Session, serde: SerializerProtocol, cache: ListCache) {
    this.#session = session;
    this.#serde = serde;
    this.#cache = cache;
  }

  /** The checkpoint of an entry, or undefined. */
  async checkpoint(entryId: EntryId): Promise<StoredCheckpoint | undefined> {
    const [entry] = await entriesOf(this.#session, [entryId]);
    return entry && checkpointOf(entry);
  }

  /** The checkpoint of a namespace, or undefined. */
  async find(ns: string, id: string): Promise<FoundCheckpoint | undefined> {
    const entryId = checkpointEntryId(ns, id);
    const stored = await this.checkpoint(entryId);
    return stored && { entryId, stored };
  }

  /** The values of all channels at a checkpoint. */
  async values({ entryId, stored }: FoundCheckpoint): Promise<Record<string, unknown>> {
    const values: [channel: string, value: unknown][] = [];
    for (const [channel, at] of Object.entries(stored.at)) {
      const holder = at === entryId ? stored : await this.checkpoint(at);
      const value = holder?.values[channel];
      if (value !== undefined) values.push([channel, await this.#value(value, at, channel)]);
    }
    return Object.fromEntries(values);
  }

  async #value(value: StoredValue, at: EntryId, channel: string): Promise<unknown> {
    if (!("list" in value)) return unpack(this.#serde, value);
    const { elements } = await this.#list(at, channel);
    return unpackElements(
      this.#serde,
      elements.map(({ text }) => text),
    );
  }

  /**
   * Plans the value of a channel at the new checkpoint `entryId`.
   *
   * @param above The checkpoint that has the value before, if there is one; `isForeign`: it is one of the calling graph.
   */
  async plan(
    entryId: EntryId,
    channel: string,
    value: unknown,
    above: (FoundCheckpoint & { readonly isForeign: boolean }) | undefined,
    newId: () => EntryId,
  ): Promise<{ readonly value: StoredValue; readonly entries: readonly EntryInput[] }> {
    const texts = Array.isArray(value) ? await packElements(this.#serde, value) : undefined;
    if (texts === undefined || texts.length === 0) return { value: await pack(this.#serde, value), entries: [] };
    const at = above?.stored.at[channel];
    const list = at === undefined ? undefined : await this.#listAt(at, channel);
    const base: ListBase | undefined = list && at && above ? { at, list, isForeign: above.isForeign } : undefined;
    const plan = planList(base, texts, newId);
    this.#cache.set(this.#key(entryId, channel), plan.list);
    return { value: { list: plan.change }, entries: plan.entries };
  }

  /** The list that a checkpoint stores for a channel; undefined if it stores another kind of value. */
  async #listAt(at: EntryId, channel: string): Promise<List | undefined> {
    const known = this.#cache.get(this.#key(at, channel));
    if (known !== undefined) return known;
    const value = (await this.checkpoint(at))?.values[channel];
    return value !== undefined && "list" in value ? this.#list(at, channel) : undefined;
  }

  /** Reads the changes up to the last one without a base, then the messages of the resulting list. */
  async #list(at: EntryId, channel: string): Promise<List> {
    const changes: ListChange[] = [];
    let known: List | undefined;
    for (let next: EntryId | null = at; next !== null; ) {
      known = this.#cache.get(this.#key(next, channel));
      if (known !== undefined) break;
      const value: StoredValue | undefined = (await this.checkpoint(next))?.values[channel];
      if (value === undefined || !("list" in value)) throw new EntryNotFoundError(this.#session.id, next);
      changes.push(value.list);
      next = value.list.base;
    }
    const [newest] = changes;
    if (newest === undefined) return known ?? { elements: [], weight: 0 };
    const start: readonly (Element | StoredElement)[] = known?.elements ?? [];
    const elements = changes.reduceRight((list, change) => applyChange(list, change, change.insert), start);
    const list = { elements: await this.#elements(elements), weight: newest.weight };
    this.#cache.set(this.#key(at, channel), list);
    return list;
  }

  async #elements(given: readonly (Element | StoredElement)[]): Promise<readonly Element[]> {
    const ids = given.filter((element) => typeof element === "string");
    const messages = new Map((await entriesOf(this.#session, ids)).map((entry) => [entry.id, toElement(entry)]));
    return given.map((element) => {
      if (typeof element !== "string") return "text" in element ? element : { text: JSON.stringify(element[0]) };
      const found = messages.get(element);
      if (found === undefined) throw new EntryNotFoundError(this.#session.id, element);
      return found;
    });
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

/** The entries of these ids that exist. */
export async function entriesOf(session: Session, ids: readonly EntryId[]): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  for (const id of ids) {
    try {
      found.push(await session.entry(id));
    } catch (error) {
      if (!(error instanceof EntryNotFoundError)) throw error;
    }
  }
  return found;
}
