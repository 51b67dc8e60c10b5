import type { EntryId } from "@bough/session-core";
import { isObject, type JsonObject, objectAt, objectsAt, stringAt } from "@bough/session-core/wire";
import { isResponse, textOf, toParts, toResultContent } from "./parts.js";

/** The facts by which two versions of a message are compared: digests of the content that a model reads. */
export interface MessageFacts {
  readonly id: string;
  readonly kind: "user" | "gemini" | "note";
  readonly digest: string;
  /** The ids of the calls in it. */
  readonly calls: ReadonlySet<string>;
  /** Digests of the results in it, by the id of the call. */
  readonly results: ReadonlyMap<string, string>;
}

/** A message of the conversation as it is at a line of the log, and its entries. */
export interface Place extends MessageFacts {
  /** The line of the version that became entries. */
  readonly line: number;
  /** Its number among all messages that became entries, in the order of the entries. */
  readonly order: number;
  /** The entry before it. */
  readonly before: EntryId | null;
  /** The end of the conversation after it: its last entry, or the compaction that kept it. */
  readonly leafId: EntryId | null;
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

  /** Gives messages the ids that a list has for them. */
  rename(ids: ReadonlyMap<Place, string>): void {
    if (ids.size > 0) this.replace(this.#list.map((place) => (ids.has(place) ? { ...place, id: ids.get(place) ?? place.id } : place)));
  }

  /** Keeps the first `count` messages, and returns the others. Costs their number. */
  keep(count: number): readonly Place[] {
    const others = this.#list.splice(count);
    for (const [at, { id }] of others.entries()) if (this.#numbers.get(id) === count + at) this.#numbers.delete(id);
    return others;
  }

  /** The id of the last message with entries among the first `count` ones; "": none. */
  lastId(count: number): string {
    for (let at = count - 1; at >= 0; at -= 1) {
      const place = this.#list[at];
      if (place !== undefined && hasEntries(place)) return place.id;
    }
    return "";
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
  /** By the id of the last message before them that has entries; "": none. */
  readonly #ends = new Map<string, (readonly Place[])[]>();

  add(before: string, end: readonly Place[]): void {
    if (end.length === 0) return;
    const known = this.#ends.get(before);
    if (known === undefined) this.#ends.set(before, [end]);
    else known.push(end);
  }

  /**
   * Takes the message with this id out, with the notes before it, if it stood behind the message `before`; empty: it did not. The messages
   * behind it stay cut off.
   */
  take(id: string, before: string): readonly Place[] {
    const ends = this.#ends.get(before) ?? [];
    for (const [number, end] of [...ends.entries()].reverse()) {
      const at = end.findIndex((place) => place.id === id || (place.kind !== "note" && hasEntries(place)));
      const found = end[at];
      if (found?.id !== id) continue;
      ends.splice(number, 1);
      this.add(hasEntries(found) ? id : before, end.slice(at + 1));
      return end.slice(0, at + 1);
    }
    return [];
  }
}

/** True if a message became entries of its own: one that only has known results, or the answer to a summary, did not. */
export function hasEntries({ first, before }: Place): boolean {
  return first !== null && first !== before;
}

/** Returns the facts of a message that is never compared: without digests, which take longer than parsing it. */
export function plainFactsOf(record: JsonObject): MessageFacts {
  const { id, type } = record;
  const kind = type === "user" || type === "gemini" ? type : "note";
  return { id: typeof id === "string" ? id : "", kind, digest: "", calls: NO_CALLS, results: NO_RESULTS };
}

const NO_CALLS: ReadonlySet<string> = new Set<string>();
const NO_RESULTS: ReadonlyMap<string, string> = new Map<string, string>();

/** Reads the facts by which a message is compared. */
export function factsOf(record: JsonObject): MessageFacts {
  const parts = toParts(record.content);
  const answers = parts.filter(isResponse).map((part) => [callIdOf(part), [part]] as const);
  const recorded = callsIn(record).map((call) => [stringAt(call, "id") ?? "", toParts(call.result)] as const);
  const results = [...answers, ...recorded].filter(([, answer]) => answer.length > 0);
  return {
    ...plainFactsOf(record),
    digest: digest(textOf(parts)),
    calls: new Set([...callsIn(record), ...parts.map((part) => objectAt(part, "functionCall") ?? {})].flatMap(({ id }) => stringOf(id))),
    results: new Map(results.map(([id, answer]) => [id, digest(shownText(answer))])),
  };
}

/** Rates the completeness of a version of a message: Gemini CLI writes a reply again when its tokens, calls and their results are known. */
export function scoreOf(record: JsonObject): number {
  const calls = callsIn(record);
  const ended = calls.filter(hasEnded);
  return (calls.length + ended.length) * 4 + (isObject(record.tokens) ? 2 : 0) + (toParts(record.content).length > 0 ? 1 : 0);
}

/** True if a call has a result. */
export function hasEnded({ status }: JsonObject): boolean {
  return status === "success" || status === "error" || status === "cancelled";
}

/** The calls that are recorded in a reply. */
export function callsIn(record: JsonObject): readonly JsonObject[] {
  return objectsAt(record, "toolCalls");
}

function callIdOf(part: JsonObject): string {
  return stringAt(objectAt(part, "functionResponse") ?? {}, "id") ?? "";
}

const stringOf = (value: unknown): readonly string[] => (typeof value === "string" ? [value] : []);

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

/** A message of the conversation that a list repeats, and the number of the message in the list. */
interface Repeated {
  readonly place: Place;
  readonly at: number;
}

/** The digest of a message without a text. */
const NO_TEXT = digest("");

/** The change of the tree by a new list of messages, which replaces that of the conversation. `same`: the messages at the start of both. */
export type Change =
  /** The messages from number `from` on are new, after the last message. */
  | { readonly kind: "append"; readonly from: number; readonly same: readonly Repeated[] }
  /** The conversation continues after its first `kept` messages: the rest is a branch that was left. */
  | { readonly kind: "branch"; readonly kept: number; readonly from: number; readonly same: readonly Repeated[] }
  /** Some messages are no longer sent to the model; those from number `from` on are new. */
  | { readonly kind: "omit"; readonly omitted: readonly Place[]; readonly from: number; readonly same: readonly Repeated[] }
  /**
   * Message number `snapshot` is a summary. `context`: the messages before it that are known; `kept`: those after it, if they are the
   * last ones of the conversation.
   */
  | {
      readonly kind: "compact";
      readonly snapshot: number;
      readonly context: readonly Repeated[];
      readonly kept: readonly Repeated[];
      readonly from: number;
    };

/**
 * Compares the conversation with the list that replaces it.
 *
 * @param listed the messages of the new list; `snapshot`: the number of the one that is a new summary, -1: none; `isAcknowledged`: true if
 *   the model's answer to the summary follows it.
 */
export function compareLists(
  current: readonly Place[],
  listed: readonly MessageFacts[],
  snapshot: number,
  isAcknowledged: boolean,
): Change {
  const ids = new Set(listed.map(({ id }) => id));
  const known = current.filter(({ kind, id }) => kind !== "note" || ids.has(id));
  if (snapshot >= 0) return compaction(known, listed, snapshot, isAcknowledged);
  const { places: common, next, pairs: same } = align(known, 0, listed, 0);
  if (common === known.length) return { kind: "append", from: next, same };
  const rest = known.slice(common);
  const isListed = rest.map(({ id }) => ids.has(id));
  const stays = rest.filter((_, at) => isListed[at]);
  const isInOrder = stays.every(({ id }, at) => listed[next + at]?.id === id);
  if (stays.length > 0 && isListed.at(-1) === true && isInOrder) {
    return { kind: "omit", omitted: rest.filter((_, at) => isListed[at] !== true), from: next + stays.length, same };
  }
  return { kind: "branch", kept: common, from: next, same };
}

/** The common start of the conversation and a list. `places`, `next`: the numbers of the first messages in each that differ. */
interface Alignment {
  readonly places: number;
  readonly next: number;
  readonly pairs: readonly Repeated[];
}

/**
 * Compares the conversation and a list message by message. A message that only has results of known calls may be in one of them and not in
 * the other: Gemini CLI writes results in the reply, in a message of their own, or both.
 */
function align(known: readonly Place[], firstPlace: number, listed: readonly MessageFacts[], firstListed: number): Alignment {
  let [at, next] = [firstPlace, firstListed];
  const pairs: Repeated[] = [];
  for (let place = known[at]; place !== undefined; place = known[at]) {
    const message = listed[next];
    if (isSame(place, message)) {
      pairs.push({ place, at: next });
      next += 1;
      at += 1;
    } else if (isEcho(place)) at += 1;
    else if (message !== undefined && repeatsResults(message, known[at - 1])) next += 1;
    else break;
  }
  while (at === known.length && repeatsResults(listed[next], known.at(-1))) next += 1;
  return { places: at, next, pairs };
}

/** A message that has no entries because all of its results were known. */
function isEcho({ kind, first, before, results }: Place): boolean {
  return kind === "user" && first === before && results.size > 0;
}

/** True if a message only has results that the message before it has too. */
function repeatsResults(listed: MessageFacts | undefined, before: Place | undefined): boolean {
  return (
    listed !== undefined && before !== undefined && listed.digest === NO_TEXT && listed.results.size > 0 && sameResults(before, listed)
  );
}

function isSame(place: Place | undefined, listed: MessageFacts | undefined): boolean {
  if (place === undefined || listed === undefined) return false;
  if (place.id === listed.id) return true;
  return place.kind === listed.kind && place.digest === listed.digest && isSubset(listed.calls, place.calls) && sameResults(place, listed);
}

const isSubset = (some: ReadonlySet<string>, all: ReadonlySet<string>): boolean => [...some].every((one) => all.has(one));

/** Compares the calls of the results, not their content: Gemini CLI cuts long results when it sends a list again. */
function sameResults(place: MessageFacts, listed: MessageFacts): boolean {
  return [...listed.results.keys()].every((id) => place.results.has(id));
}

/** The messages after a summary and the model's answer to it are kept if they are the end of the conversation, under any ids. */
function compaction(known: readonly Place[], listed: readonly MessageFacts[], snapshot: number, isAcknowledged: boolean): Change {
  const context = listed.slice(0, snapshot).flatMap((message, at) => {
    const place = known.find((one) => isSame(one, message));
    return place === undefined ? [] : [{ place, at }];
  });
  const tail = snapshot + (isAcknowledged ? 2 : 1);
  for (const [first, place] of known.entries()) {
    if (isEcho(place) || !isSame(place, listed[tail])) continue;
    const { places, next, pairs } = align(known, first, listed, tail);
    if (places === known.length) return { kind: "compact", snapshot, context, kept: pairs, from: next };
  }
  return { kind: "compact", snapshot, context, kept: [], from: snapshot + 1 };
}
