import type { EntryId } from "@bough/session-core";
import { isObject, type JsonObject, objectAt, stringAt } from "@bough/session-core/wire";
import { isResponse, textOf, toParts, toResultContent } from "./parts.js";

/** What is compared of two versions of a message: digests of what a model reads of it. */
export interface MessageFacts {
  readonly id: string;
  readonly kind: "user" | "gemini" | "note";
  readonly digest: string;
  /** Digests of the results in it, by the id of the call. */
  readonly results: ReadonlyMap<string, string>;
}

/** A message of the conversation as it is at a line of the log, and its entries. */
export interface Place extends MessageFacts {
  /** The line of the version that became entries. */
  readonly line: number;
  /** The entry before it. */
  readonly before: EntryId | null;
  /** Its first and last entry; both are `before` if it has none of its own. */
  readonly first: EntryId | null;
  readonly last: EntryId | null;
  /** The entries of its results, by the id of the call. */
  readonly resultIds: ReadonlyMap<string, EntryId>;
}

/** The messages of the conversation in order. Looking a message up by its id costs the same for any number of messages. */
export class Places {
  #list: Place[] = [];
  /** The number of the first message with an id. */
  readonly #numbers = new Map<string, number>();

  get all(): readonly Place[] {
    return this.#list;
  }

  /** The number of a message, from 0; undefined: there is none with this id. */
  numberOf(id: unknown): number | undefined {
    return typeof id === "string" ? this.#numbers.get(id) : undefined;
  }

  add(place: Place): void {
    if (!this.#numbers.has(place.id)) this.#numbers.set(place.id, this.#list.length);
    this.#list.push(place);
  }

  /** Puts another state of a message in its place. */
  update(number: number, place: Place): void {
    this.#list[number] = place;
  }

  /** Keeps the first `count` messages, and returns the others. Costs their number. */
  keep(count: number): readonly Place[] {
    const others = this.#list.splice(count);
    for (const [at, { id }] of others.entries()) if (this.#numbers.get(id) === count + at) this.#numbers.delete(id);
    return others;
  }

  /** Replaces all messages. */
  replace(places: readonly Place[]): void {
    this.keep(0);
    for (const place of places) this.add(place);
  }
}

/**
 * The ends of the conversation that were cut off: by a rewind, or by a shorter list. Gemini CLI writes a shorter list and then the whole
 * one again when it resumes a session, so a message that comes back at its place is the one that was cut off.
 */
export class CutEnds {
  /** By the entry before them. */
  readonly #ends = new Map<EntryId | null, (readonly Place[])[]>();

  add(end: readonly Place[]): void {
    const [first] = end;
    if (first === undefined) return;
    const known = this.#ends.get(first.before);
    if (known === undefined) this.#ends.set(first.before, [end]);
    else known.push(end);
  }

  /**
   * Takes the message with this id out, with the notes before it, if it stood behind this entry; empty: it did not. The messages behind
   * it stay cut off.
   */
  take(id: string, before: EntryId | null): readonly Place[] {
    const ends = this.#ends.get(before) ?? [];
    for (const [number, end] of [...ends.entries()].reverse()) {
      const at = end.findIndex((place) => place.kind !== "note" || place.id === id);
      if (end[at]?.id !== id) continue;
      ends.splice(number, 1);
      this.add(end.slice(at + 1));
      return end.slice(0, at + 1);
    }
    return [];
  }
}

/** What is known of a message that is never compared: no digests, which take longer than parsing it. */
export function plainFactsOf(record: JsonObject): MessageFacts {
  const { id, type } = record;
  const kind = type === "user" || type === "gemini" ? type : "note";
  return { id: typeof id === "string" ? id : "", kind, digest: "", results: NONE };
}

const NONE: ReadonlyMap<string, string> = new Map<string, string>();

/** Reads what is compared of a message. */
export function factsOf(record: JsonObject): MessageFacts {
  const parts = toParts(record.content);
  const answers = parts.filter(isResponse).map((part) => [callIdOf(part), [part]] as const);
  const recorded = callsIn(record).map((call) => [stringAt(call, "id") ?? "", toParts(call.result)] as const);
  const results = [...answers, ...recorded].filter(([, answer]) => answer.length > 0);
  return {
    ...plainFactsOf(record),
    digest: digest(textOf(parts)),
    results: new Map(results.map(([id, answer]) => [id, digest(shownText(answer))])),
  };
}

/** How complete a version of a message is: a reply is written again when its tokens, its calls and their results are known. */
export function scoreOf(record: JsonObject): number {
  const calls = callsIn(record);
  const ended = calls.filter(hasEnded);
  return (calls.length + ended.length) * 4 + (isObject(record.tokens) ? 2 : 0) + (toParts(record.content).length > 0 ? 1 : 0);
}

/** Whether a call has a result. */
export function hasEnded({ status }: JsonObject): boolean {
  return status === "success" || status === "error" || status === "cancelled";
}

/** The calls that are recorded in a reply. */
export function callsIn({ toolCalls }: JsonObject): readonly JsonObject[] {
  return Array.isArray(toolCalls) ? toolCalls.filter(isObject) : [];
}

function callIdOf(part: JsonObject): string {
  return stringAt(objectAt(part, "functionResponse") ?? {}, "id") ?? "";
}

/** The text of an answer. */
function shownText(answer: readonly JsonObject[]): string {
  return toResultContent(answer)
    .map((block) => stringAt(block, "text") ?? "")
    .join("\n");
}

const SPACE = 0x20;

/**
 * 64 bits that are the same for texts that differ in white space only: the parts of a text are joined and cut anew when it is sent to
 * the model. Two sums by multiplication, because a cryptographic digest takes several times as long.
 */
function digest(text: string): string {
  let [low, high] = [0x811c9dc5, 0x9dc5811c];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code <= SPACE) continue;
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x85ebca6b) ^ (high >>> 15);
  }
  return `${low.toString(36)}${high.toString(36)}`;
}

/** What a new list of messages, which replaces the list of the conversation, means for the tree. */
export type Change =
  /** The messages from number `from` on are new, after the last message. */
  | { readonly kind: "append"; readonly from: number }
  /** The conversation goes on after its first `kept` messages: the rest is a branch that was left. */
  | { readonly kind: "branch"; readonly kept: number; readonly from: number }
  /** Some messages are no longer sent to the model; those from number `from` on are new. */
  | { readonly kind: "omit"; readonly omitted: readonly Place[]; readonly from: number }
  /** Message number `snapshot` is a summary. `kept`: the messages after it, if they are the last ones before it. */
  | { readonly kind: "compact"; readonly snapshot: number; readonly kept: readonly Place[]; readonly from: number };

/**
 * Compares the conversation with the list that replaces it.
 *
 * @param listed the messages of the new list; `snapshot`: the number of the one that is a new summary, -1: none.
 */
export function compareLists(current: readonly Place[], listed: readonly MessageFacts[], snapshot: number): Change {
  const ids = new Set(listed.map(({ id }) => id));
  const known = current.filter(({ kind, id }) => kind !== "note" || ids.has(id));
  if (snapshot >= 0) return compaction(known, listed, snapshot);
  let common = 0;
  while (common < known.length && isSame(known[common], listed[common])) common += 1;
  if (common === known.length) return { kind: "append", from: common };
  const rest = known.slice(common);
  const isListed = rest.map(({ id }) => ids.has(id));
  const stays = rest.filter((_, at) => isListed[at]);
  const isInOrder = stays.every(({ id }, at) => listed[common + at]?.id === id);
  if (stays.length > 0 && isListed.at(-1) === true && isInOrder) {
    return { kind: "omit", omitted: rest.filter((_, at) => isListed[at] !== true), from: common + stays.length };
  }
  return { kind: "branch", kept: common, from: common };
}

function isSame(place: Place | undefined, listed: MessageFacts | undefined): boolean {
  if (place === undefined || listed === undefined) return false;
  return place.id === listed.id || (place.kind === listed.kind && place.digest === listed.digest && sameResults(place, listed));
}

function sameResults(place: MessageFacts, listed: MessageFacts): boolean {
  return [...listed.results].every(([id, text]) => place.results.get(id) === text);
}

/** The messages after a summary and the model's acknowledgement are kept if they are the end of the conversation, under any ids. */
function compaction(known: readonly Place[], listed: readonly MessageFacts[], snapshot: number): Change {
  const rest = listed.slice(snapshot + 1);
  for (const from of [1, 0]) {
    const tail = rest.slice(from);
    const first = known.findIndex((place) => isSame(place, tail[0]));
    if (tail.length === 0 || first === -1) continue;
    const kept = known.slice(first);
    const count = kept.findIndex((place, at) => !isSame(place, tail[at]));
    if (count === -1) return { kind: "compact", snapshot, kept, from: snapshot + 1 + from + kept.length };
  }
  return { kind: "compact", snapshot, kept: [], from: snapshot + 1 };
}
