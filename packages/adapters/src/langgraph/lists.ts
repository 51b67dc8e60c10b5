import type { EntryId, EntryInput } from "@bough/session-core";
import { identityOf, type MessageIdentity, messageEntry, toStoredMessage } from "./messages.js";
import type { ListChange, StoredElement } from "./stored-checkpoint.js";

/** An element of a list: its JSON text, and for a message the entry that stores it. */
export interface Element {
  readonly text: string;
  readonly entry?: EntryId | undefined;
  /** The entry of the first version of the message: the target of later context edits. */
  readonly target?: EntryId | undefined;
}

/** A list of a channel. `weight`: the size of the changes that it is stored as; see `ListChange`. */
export interface List {
  readonly elements: readonly Element[];
  readonly weight: number;
}

/** What has to be written for a new version of a list. */
export interface ListPlan {
  readonly list: List;
  readonly change: ListChange;
  /** Messages that are new or changed, and edits that leave out those that were removed. */
  readonly entries: readonly EntryInput[];
}

/** The list before: the checkpoint entry that has it, and its elements. */
export interface ListBase {
  readonly at: EntryId;
  readonly list: List;
  /** Whether it is a list of the calling graph. What a subgraph does not take over is not removed. */
  readonly isForeign: boolean;
}

/**
 * Plans a new version of a list as a change of `base`: messages that `base` has too keep their entries, whatever their place.
 *
 * @param texts The elements as JSON texts.
 * @param newId Returns the id of the next entry.
 */
export function planList(base: ListBase | undefined, texts: readonly string[], newId: () => EntryId): ListPlan {
  const before = base?.list.elements ?? [];
  const start = commonPrefix(before, texts);
  const end = commonSuffix(before, texts, start);
  const useful = base !== undefined && (!base.isForeign || start + end > 0) ? base : undefined;
  const removed = useful === undefined ? [] : before.slice(start, before.length - end);
  const inserting = new Insertion(removed, newId);
  const inserted = texts.slice(start, texts.length - end).map((text) => inserting.element(text));
  const elements = [...before.slice(0, start), ...inserted, ...before.slice(before.length - end)];
  const change = toChange(useful, { start, remove: removed.length, inserted }, elements);
  const entries = useful?.isForeign ? inserting.entries : [...inserting.entries, ...inserting.omissions()];
  return { list: { elements, weight: change.weight }, change, entries };
}

/** Applies a change to the elements that it is a change of. */
export function applyChange<T>(before: readonly T[], change: Pick<ListChange, "start" | "remove">, insert: readonly T[]): readonly T[] {
  return [...before.slice(0, change.start), ...insert, ...before.slice(change.start + change.remove)];
}

function commonPrefix(before: readonly Element[], texts: readonly string[]): number {
  let at = 0;
  while (at < before.length && at < texts.length && before[at]?.text === texts[at]) at += 1;
  return at;
}

function commonSuffix(before: readonly Element[], texts: readonly string[], start: number): number {
  let count = 0;
  const most = Math.min(before.length, texts.length) - start;
  while (count < most && before[before.length - 1 - count]?.text === texts[texts.length - 1 - count]) count += 1;
  return count;
}

/** A change without a base is written when the changes since the last one are as large as the list: twice its size at most. */
function toChange(
  base: ListBase | undefined,
  { start, remove, inserted }: { readonly start: number; readonly remove: number; readonly inserted: readonly Element[] },
  elements: readonly Element[],
): ListChange {
  const weight = (base?.list.weight ?? 0) + CHANGE_SIZE + sizeOf(inserted);
  if (base === undefined || weight >= sizeOf(elements))
    return { base: null, start: 0, remove: 0, insert: elements.map(toStored), weight: 0 };
  return { base: base.at, start, remove, insert: inserted.map(toStored), weight };
}

/** About the size of a change that inserts nothing, in characters. */
const CHANGE_SIZE = 100;

function sizeOf(elements: readonly Element[]): number {
  return elements.reduce((size, { text, entry }) => size + (entry === undefined ? text.length : entry.length) + 3, 0);
}

function toStored({ text, entry }: Element): StoredElement {
  return entry ?? [JSON.parse(text)];
}

/** Finds or creates the entries of the elements of one insertion. */
class Insertion {
  readonly entries: EntryInput[] = [];
  readonly #newId: () => EntryId;
  /** The removed elements that no inserted one has taken over, by their text. */
  readonly #removed = new Map<string, Element[]>();
  /** The removed messages by id and class; made when a message is new. */
  #versions: Map<string, Element> | undefined;

  constructor(removed: readonly Element[], newId: () => EntryId) {
    for (const element of removed) this.#removed.set(element.text, [...(this.#removed.get(element.text) ?? []), element]);
    this.#newId = newId;
  }

  element(text: string): Element {
    const moved = this.#take(text);
    if (moved !== undefined) return moved;
    const json: unknown = JSON.parse(text);
    const identity = identityOf(json);
    const message = toStoredMessage(json);
    if (identity === undefined || message === undefined) return { text };
    const target = this.#olderVersion(identity)?.target;
    const entry = this.#newId();
    this.entries.push(messageEntry(entry, message, target));
    return { text, entry, target: target ?? entry };
  }

  /** Edits that leave the removed messages out of the context. */
  omissions(): readonly EntryInput[] {
    const targets = [...this.#removed.values()].flat().flatMap(({ target }) => target ?? []);
    return targets.map((targetId) => ({ type: "context_edit", id: this.#newId(), targetId, replacement: null }));
  }

  #take(text: string): Element | undefined {
    return this.#removed.get(text)?.shift();
  }

  /** The removed message with the same id and class, which the new one replaces. */
  #olderVersion(identity: MessageIdentity): Element | undefined {
    if (identity.id === undefined) return undefined;
    this.#versions ??= new Map([...this.#removed.values()].flat().flatMap(versionOf));
    const found = this.#versions.get(keyOf(identity));
    return found && this.#take(found.text);
  }
}

function versionOf(element: Element): readonly (readonly [key: string, element: Element])[] {
  const identity = element.target === undefined ? undefined : identityOf(JSON.parse(element.text));
  return identity === undefined ? [] : [[keyOf(identity), element]];
}

function keyOf({ id, name }: MessageIdentity): string {
  return `${name} ${id}`;
}
