import { hash } from "node:crypto";
import type { EntryId } from "@bough/session-core";
import { groupBy } from "@bough/session-core/engine";
import { compactionSummaryText, isObject, type JsonObject, stringAt, tryStringify } from "@bough/session-core/wire";
import type { KeptEntries } from "../source/payloads.js";
import { isOutput, summaryIn } from "./items.js";

/**
 * The newest items that are always remembered. No window of a model has more: an item of the few words that a call and its output have at
 * least takes thirty tokens, and the largest windows have a million.
 */
export const KNOWN_ITEMS = 1 << 15;

/** An item of the window, by a hash of its content, and its entry. */
type WindowItem = readonly [key: string, entryId: EntryId];

/** An item of the list that replaces a history. `entryId`: the entry that it repeats, null for the summary; undefined: no entry has it. */
export interface ListedItem {
  readonly item: JsonObject;
  readonly entryId: EntryId | null | undefined;
}

/**
 * The items that Codex sends, as far as they can be in the list of a coming compaction: those since the last one, and those that it kept.
 * Codex writes this list without the identity of repeated items, so they are recognized by their content. Memory: 200 bytes an item, and at
 * most `2 * KNOWN_ITEMS` of them: a session without a compaction may have a million.
 */
export class Window {
  #items: WindowItem[];
  /** The number of older items that were dropped. */
  #dropped = 0;
  /** The number of items before each turn, dropped ones included. */
  #turns: number[];

  /** `state`: that of an earlier reading. */
  constructor(state: JsonObject = {}) {
    this.#items = pairsIn(state.items);
    this.#turns = Array.isArray(state.turns) ? state.turns.filter((count: unknown) => typeof count === "number") : [];
  }

  /** The state at the time when the window had this number of items, dropped ones included. */
  state(items = this.length): JsonObject {
    return { items: this.#items.slice(0, this.#indexOf(items)), turns: this.#turns.map((count) => this.#indexOf(count)) };
  }

  /** The number of items, dropped ones included. */
  get length(): number {
    return this.#dropped + this.#items.length;
  }

  /** The number of remembered items among the first `count`. */
  #indexOf(count: number): number {
    return Math.max(0, count - this.#dropped);
  }

  add(item: JsonObject, entryId: EntryId): void {
    const key = keyOf(item);
    if (key === undefined) return;
    this.#items.push([key, entryId]);
    if (this.#items.length < 2 * KNOWN_ITEMS) return;
    this.#items = this.#items.slice(-KNOWN_ITEMS);
    this.#dropped += KNOWN_ITEMS;
  }

  startTurn(): void {
    this.#turns.push(this.length);
  }

  /** Removes the items of the turns from this one on. */
  rollBack(turn: number): void {
    this.#items.length = Math.min(this.#items.length, this.#indexOf(this.#turns[turn] ?? 0));
    this.#turns.length = Math.min(this.#turns.length, turn);
  }

  /** Returns the items of a list that have a content. An entry of several items is repeated if the list has all of them. */
  find(list: readonly unknown[], message: string): readonly ListedItem[] {
    const waiting = groupBy(this.#items, ([key]) => key);
    const listed = list.filter(isObject).flatMap((item): ListedItem[] => {
      if (isSummary(item, message)) return [{ item, entryId: null }];
      const key = keyOf(item);
      return key === undefined ? [] : [{ item, entryId: waiting.get(key)?.shift()?.[1] }];
    });
    const found = countBy(listed.map(({ entryId }) => entryId));
    const all = countBy<EntryId | null | undefined>(this.#items.map(([, entryId]) => entryId));
    return listed.map((one) =>
      one.entryId === null || found.get(one.entryId) === all.get(one.entryId) ? one : { ...one, entryId: undefined },
    );
  }

  /** Starts the window after a compaction that keeps these entries. */
  restart(kept: readonly (EntryId | null)[]): KeptEntries {
    const ids = [...new Set(kept)];
    const isKept = new Set(ids);
    const first = this.#items.findIndex(([, id]) => isKept.has(id));
    const tail = first === -1 ? [] : [...new Set(this.#items.slice(first).map(([, id]) => id))];
    const firstKeptEntryId = tail[0] ?? null;
    const isTail = ids[0] === null && ids.length === tail.length + 1 && tail.every((id, at) => ids[at + 1] === id);
    this.#items = this.#items.filter(([, id]) => isKept.has(id));
    this.#dropped = 0;
    this.#turns = this.#turns.map(() => 0);
    if (firstKeptEntryId === null || isTail) return { firstKeptEntryId };
    return { firstKeptEntryId, keptEntryIds: ids };
  }
}

/** The message of a compaction, or the summary of another program as it is written for Codex. */
function isSummary(item: JsonObject, message: string): boolean {
  if (item.type === "compaction" || item.type === "compaction_summary") return true;
  const text = item.role === "user" ? textOf(item.content) : undefined;
  return text !== undefined && (text === message || text === compactionSummaryText(summaryIn(message).summary));
}

/** Returns a hash of an item's content; undefined: it has none by which it could be recognized. */
function keyOf(item: JsonObject): string | undefined {
  const said = saidBy(item);
  return said === undefined ? undefined : hash("sha256", said, "base64").slice(0, 11);
}

function saidBy(item: JsonObject): string | undefined {
  const callId = stringAt(item, "call_id");
  if (callId !== undefined) return `${isOutput(item) ? "output" : "call"} ${callId}`;
  if (item.type === "reasoning") return stringAt(item, "encrypted_content") ?? tryStringify(item.summary);
  const text = item.type === "message" || item.type === "agent_message" ? textOf(item.content) : undefined;
  return text === undefined || text === "" ? undefined : `${stringAt(item, "role") ?? ""} ${text}`;
}

/** The texts and the addresses of images of a content. */
function textOf(content: unknown): string | undefined {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return undefined;
  const parts = content.filter(isObject).map((part) => stringAt(part, "text") ?? stringAt(part, "image_url") ?? tryStringify(part));
  return parts.join("\n");
}

function countBy<T>(ids: readonly T[]): ReadonlyMap<T, number> {
  const counts = new Map<T, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

function pairsIn(value: unknown): WindowItem[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((pair: unknown) => (Array.isArray(pair) && pair.length === 2 ? [[String(pair[0]), String(pair[1])] as const] : []));
}
