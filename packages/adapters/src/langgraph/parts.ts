import type { EntryId, EntryInput } from "@bough/session-core";
import { groupBy } from "@bough/session-core/engine";
import { isMessage } from "./langchain-json.js";
import { identityOf, type MessageIdentity, messageEntry } from "./messages.js";
import type { PartsKind, StoredChange, StoredPart } from "./stored-checkpoint.js";

/** A part of a value: the JSON text of an element, or `"key":value`; for a message also the entry that stores it. */
export interface Part {
  readonly text: string;
  readonly entry?: EntryId | undefined;
  /** The entry of the first version of the message: the target of later context edits. */
  readonly target?: EntryId | undefined;
}

/** A value in parts. `weight`: the size of the changes that it is stored as; see `StoredChange`. */
export interface Parts {
  readonly kind: PartsKind;
  readonly parts: readonly Part[];
  readonly weight: number;
}

/** The value before: the checkpoint entry that has it, and its parts. */
export interface Base {
  readonly at: EntryId;
  readonly value: Parts;
  /** True if it is a value of the calling graph. A plan then omits none of its messages that the subgraph does not take over. */
  readonly isForeign: boolean;
}

/** The writes for a new value. */
export interface PartsPlan {
  readonly value: Parts;
  readonly change: StoredChange;
  /** Messages that are new or changed, and edits that leave out those that were removed. */
  readonly entries: readonly EntryInput[];
}

/** A range of the parts before, and the texts that replace it. */
interface Difference {
  readonly start: number;
  readonly remove: number;
  readonly texts: readonly string[];
}

/**
 * Plans a new value as a change of `base`: messages that `base` has too keep their entries, whatever their place.
 *
 * @param texts The texts of all parts of the new value.
 * @param newId Returns the id of the next entry.
 */
export function planParts(kind: PartsKind, base: Base | undefined, texts: readonly string[], newId: () => EntryId): PartsPlan {
  const usable = base?.value.kind === kind ? base : undefined;
  const before = usable?.value.parts ?? [];
  const differences = differencesOf(before, texts);
  // A subgraph whose list has nothing of the caller's begins with a list of its own.
  if (usable?.isForeign && removedCount(differences) === before.length) return planParts(kind, undefined, texts, newId);
  const insertion = new Insertion(
    differences.flatMap(({ start, remove }) => before.slice(start, start + remove)),
    newId,
  );
  const splices = differences.map(({ start, remove, texts }) => {
    const insert = texts.map((text) => (kind === "list" ? insertion.element(text) : { text }));
    return { start, remove, insert };
  });
  const parts = applySplices(before, splices);
  const change = toChange(kind, usable, splices, parts);
  const entries = usable?.isForeign ? insertion.entries : [...insertion.entries, ...insertion.omissions()];
  return { value: { kind, parts, weight: change.weight }, change, entries };
}

/** A splice whose parts are ready for use. */
export interface Splice<T> {
  readonly start: number;
  readonly remove: number;
  readonly insert: readonly T[];
}

/** The parts after the splices of a change. */
export function applySplices<T>(before: readonly T[], splices: readonly Splice<T>[]): readonly T[] {
  const after: (readonly T[])[] = [];
  let taken = 0;
  for (const { start, remove, insert } of splices) {
    after.push(before.slice(taken, start), insert);
    taken = start + remove;
  }
  return [...after, before.slice(taken)].flat();
}

/**
 * The ranges that differ: between what both have at the beginning and at the end, each run of parts that differ at the same place,
 * and what one of them has more. Linear; not the shortest change where parts were both inserted and changed.
 */
function differencesOf(before: readonly Part[], texts: readonly string[]): readonly Difference[] {
  const prefix = countEqual(before.length, texts.length, (at) => before[at]?.text === texts[at]);
  const most = [before.length - prefix, texts.length - prefix] as const;
  const suffix = countEqual(...most, (at) => before[before.length - 1 - at]?.text === texts[texts.length - 1 - at]);
  const [oldEnd, newEnd] = [before.length - suffix, texts.length - suffix];
  const both = Math.min(oldEnd, newEnd);
  const differences: Difference[] = [];
  let start: number | undefined;
  for (let at = prefix; at < both; at += 1) {
    if (before[at]?.text !== texts[at]) start ??= at;
    else if (start !== undefined) {
      differences.push({ start, remove: at - start, texts: texts.slice(start, at) });
      start = undefined;
    }
  }
  start ??= both;
  if (start < Math.max(oldEnd, newEnd)) differences.push({ start, remove: oldEnd - start, texts: texts.slice(start, newEnd) });
  return differences;
}

function countEqual(oneLength: number, otherLength: number, isEqual: (at: number) => boolean): number {
  const most = Math.min(oneLength, otherLength);
  let count = 0;
  while (count < most && isEqual(count)) count += 1;
  return count;
}

function removedCount(differences: readonly Difference[]): number {
  return differences.reduce((sum, { remove }) => sum + remove, 0);
}

/** A change without a base is written when the changes since the last one are as large as the value: twice its size at most. */
function toChange(kind: PartsKind, base: Base | undefined, splices: readonly Splice<Part>[], parts: readonly Part[]): StoredChange {
  const size = splices.reduce((sum, { insert }) => sum + SPLICE_SIZE + sizeOf(insert), CHANGE_SIZE);
  const weight = (base?.value.weight ?? 0) + size;
  if (base === undefined || weight >= sizeOf(parts)) return { kind, base: null, splices: [[0, 0, parts.map(toStored[kind])]], weight: 0 };
  return { kind, base: base.at, splices: splices.map(({ start, remove, insert }) => [start, remove, insert.map(toStored[kind])]), weight };
}

/** About the size of a change without splices, and of a splice that inserts nothing, in characters. */
const CHANGE_SIZE = 90;
const SPLICE_SIZE = 10;

function sizeOf(parts: readonly Part[]): number {
  return parts.reduce((size, { text, entry }) => size + (entry === undefined ? text.length : entry.length) + 3, 0);
}

const toStored: Readonly<Record<PartsKind, (part: Part) => StoredPart>> = {
  list: ({ text, entry }) => entry ?? [JSON.parse(text)],
  members: ({ text }) => [JSON.parse(`{${text}}`)],
};

/** The text of a stored part that is not the id of an entry. */
export function textOfPart(kind: PartsKind, [json]: readonly [json: unknown]): string {
  const text = JSON.stringify(json);
  return kind === "list" ? text : text.slice(1, -1);
}

/** The JSON text of a value. */
export function textOfParts({ kind, parts }: Parts): string {
  const text = parts.map((part) => part.text).join(",");
  return kind === "list" ? `[${text}]` : `{${text}}`;
}

/** Finds or creates the entries of inserted elements. */
class Insertion {
  readonly entries: EntryInput[] = [];
  readonly #newId: () => EntryId;
  /** The removed parts that no inserted one has taken over, by their text. */
  readonly #removed: ReadonlyMap<string, Part[]>;
  /** The removed messages by id and class; made when a message is new. */
  #versions: Map<string, Part> | undefined;

  constructor(removed: readonly Part[], newId: () => EntryId) {
    this.#removed = groupBy(removed, ({ text }) => text);
    this.#newId = newId;
  }

  element(text: string): Part {
    const moved = this.#removed.get(text)?.shift();
    if (moved !== undefined) return moved;
    const json: unknown = JSON.parse(text);
    if (!isMessage(json)) return { text };
    const target = this.#olderVersion(identityOf(json))?.target;
    const entry = this.#newId();
    this.entries.push(messageEntry(entry, json, target));
    return { text, entry, target: target ?? entry };
  }

  /** Edits that leave the removed messages out of the context. */
  omissions(): readonly EntryInput[] {
    const targets = [...this.#removed.values()].flat().flatMap(({ target }) => target ?? []);
    return targets.map((targetId) => ({ type: "context_edit", id: this.#newId(), targetId, replacement: null }));
  }

  /** The removed message with the same id and class, which the new one replaces. */
  #olderVersion(identity: MessageIdentity): Part | undefined {
    if (identity.id === undefined) return undefined;
    this.#versions ??= new Map([...this.#removed.values()].flat().flatMap(versionOf));
    const found = this.#versions.get(keyOf(identity));
    return found && this.#removed.get(found.text)?.shift();
  }
}

function versionOf(part: Part): readonly (readonly [key: string, part: Part])[] {
  const json: unknown = part.target === undefined ? undefined : JSON.parse(part.text);
  return isMessage(json) ? [[keyOf(identityOf(json)), part]] : [];
}

function keyOf({ id, name }: MessageIdentity): string {
  return `${name} ${id}`;
}
