import { ReadFromStartError } from "@bough/session-core/engine";
import { isObject, type JsonObject, numberAt, objectAt, parseJsonObject, stringAt } from "@bough/session-core/wire";

/**
 * A chat before its last request was added, for a later reading that replays the changes from there on. Changes of earlier requests need
 * the whole log.
 */
export interface SavedChat {
  /** The members of the chat, without its requests. */
  readonly members: JsonObject;
  /** The keys of its requests, and of those that were undone. */
  readonly live: readonly string[];
  readonly undone: readonly string[];
}

/** The most requests that are saved, and the most characters of the other members: the state of a reading is small. */
const MOST_REQUESTS = 1000;
const MOST_CHARS = 1 << 15;

/** A request of a chat, and where it is in the tree of requests. */
export interface RequestNode {
  /** Unique in the chat. */
  readonly key: string;
  request: JsonObject;
  /** The line at which it first appeared. */
  readonly line: number;
  /** The request before it; undefined: it is the first one. */
  parent: RequestNode | undefined;
}

type Container = object;

/**
 * Replays the log of a chat's changes (`kind` 0: the whole state; 1: a value is set; 2: a list is cut at `i`, then values are added;
 * 3: a member is deleted). Requests that are cut off or replaced stay as branches, with their last content.
 *
 * Memory: the state of the chat, and the requests that were undone.
 */
export class MutationLog {
  #state: unknown;
  readonly #nodes = new Map<string, RequestNode>();
  #live: readonly RequestNode[] = [];
  /** Their keys. */
  #taken = new Set<string>();
  /** The requests of an earlier reading, which must not change. */
  readonly #saved: SavedChat | undefined;

  constructor(saved?: SavedChat) {
    this.#saved = saved;
    if (saved === undefined) return;
    this.#state = { ...saved.members, requests: saved.live.map((requestId) => ({ requestId })) };
    this.#note(0);
  }

  /** The chat as it is now, to be saved later; undefined: it is too large, or requests of it are undone. */
  save(): (() => SavedChat) | undefined {
    const { requests: _, ...members } = this.members;
    const [live, count] = [this.#live, this.#nodes.size];
    if (count > MOST_REQUESTS || live.some(({ request }) => isUndone(request))) return undefined;
    const text = JSON.stringify(members);
    if (text.length > MOST_CHARS) return undefined;
    return () => {
      const keys = live.map(({ key }) => key);
      const isLive = new Set(keys);
      const undone = [...this.#nodes.keys()].slice(0, count).filter((key) => !isLive.has(key));
      return { members: parseJsonObject(text) ?? {}, live: keys, undone: [...(this.#saved?.undone ?? []), ...undone] };
    };
  }

  /** True if a record may add or remove requests. */
  static changesList({ k }: JsonObject): boolean {
    return !Array.isArray(k) || k.length === 0 || (k.length === 1 && k[0] === "requests");
  }

  /** @throws {ReadFromStartError} the record changes a request that only an earlier reading knows. */
  #assertRest(record: JsonObject): void {
    if (this.#saved === undefined) return;
    const { k, i, v } = record;
    const path: readonly unknown[] = Array.isArray(k) ? k : [];
    const first = this.#saved.live.length;
    const isAppend = kindOf(record) === 2 && path.length === 1 && (i === undefined || (typeof i === "number" && i >= first));
    const isLater = path.length > 1 && typeof path[1] === "number" && path[1] >= first;
    const added: readonly unknown[] = isAppend && Array.isArray(v) ? v : [];
    const returns = added.some((one) => isObject(one) && this.#saved?.undone.includes(stringAt(one, "requestId") ?? "") === true);
    if (path.length === 0 || returns || (path[0] === "requests" && !isAppend && !isLater)) throw new ReadFromStartError();
  }

  /** The members of the chat. */
  get members(): JsonObject {
    return isObject(this.#state) ? this.#state : {};
  }

  /** Every request, in the order in which they appeared. */
  get requests(): readonly RequestNode[] {
    return [...this.#nodes.values()];
  }

  /** The requests that the chat has now. */
  get live(): readonly RequestNode[] {
    return this.#live;
  }

  /** Applies a record. False: its shape or its place is not known, and nothing was changed. */
  apply(record: JsonObject, line: number): boolean {
    this.#assertRest(record);
    const isApplied = this.#change(record);
    const path: readonly unknown[] = Array.isArray(record.k) ? record.k : [];
    if (isApplied && (path.length === 0 || (path[0] === "requests" && path.length <= 2))) this.#note(line);
    return isApplied;
  }

  #change(record: JsonObject): boolean {
    const kind = kindOf(record);
    if (kind === 0) {
      if (!isObject(record.v)) return false;
      this.#state = record.v;
      return true;
    }
    const path: readonly unknown[] = Array.isArray(record.k) ? record.k : [];
    const owner = this.#ownerOf(path);
    const key = path.at(-1);
    if (owner === undefined || (typeof key !== "string" && typeof key !== "number")) return false;
    if (kind === 1) return "v" in record && setMember(owner, key, record.v);
    if (kind === 2) return addElements(owner, key, record);
    return kind === 3 && Reflect.deleteProperty(owner, key);
  }

  /** The object or list with the last member of a path. */
  #ownerOf(path: readonly unknown[]): Container | undefined {
    let owner = this.#state;
    for (const key of path.slice(0, -1)) owner = memberOf(owner, key);
    return path.length > 0 && typeof owner === "object" && owner !== null ? owner : undefined;
  }

  /**
   * Notes the requests that the chat has now. Those that it no longer has keep their place. Cost: of the requests before the first changed
   * one, a comparison; most changes add a request at the end.
   */
  #note(line: number): void {
    const requests: readonly unknown[] = Array.isArray(this.members.requests) ? this.members.requests : [];
    const changed = this.#live.findIndex(({ key, request }, at) => request !== requests[at] || !isKeyOf(key, request, at));
    const same = changed === -1 ? this.#live : this.#live.slice(0, changed);
    if (changed !== -1) this.#taken = new Set(same.map(({ key }) => key));
    let parent = same.at(-1);
    const others = requests.slice(same.length).map((value, number) => {
      const request = isObject(value) ? value : { value };
      const key = this.#takeKey(request, same.length + number);
      const node = this.#nodes.get(key) ?? { key, request, line, parent };
      this.#nodes.set(key, node);
      node.request = request;
      node.parent = parent;
      parent = node;
      return node;
    });
    this.#live = [...same, ...others];
  }

  #takeKey(request: JsonObject, at: number): string {
    const own = ownKey(request, at);
    const key = this.#taken.has(own) ? `${own}#${at}` : own;
    this.#taken.add(key);
    return key;
  }
}

function ownKey(request: JsonObject, at: number): string {
  return stringAt(request, "requestId") ?? `request-${at}`;
}

/** True if a request with this key still has the id that it had when the key was taken. */
function isKeyOf(key: string, request: JsonObject, at: number): boolean {
  const own = ownKey(request, at);
  return key === own || key === `${own}#${at}`;
}

/** True if a request was undone: it stays in the chat until the next one is sent. */
export function isUndone({ shouldBeRemovedOnSend: undone }: JsonObject): boolean {
  return undone !== undefined && undone !== null && undone !== false;
}

function memberOf(owner: unknown, key: unknown): unknown {
  if (typeof owner !== "object" || owner === null || (typeof key !== "string" && typeof key !== "number")) return undefined;
  return Object.hasOwn(owner, key) ? Reflect.get(owner, key) : undefined;
}

/** Sets a member. An index beyond the end of a list would leave a hole. */
function setMember(owner: Container, key: string | number, value: unknown): boolean {
  if (Array.isArray(owner) && !(typeof key === "number" && Number.isInteger(key) && key >= 0 && key <= owner.length)) return false;
  // Defined, not assigned: a member may be named `__proto__`.
  return Reflect.defineProperty(owner, key, { value, enumerable: true, writable: true, configurable: true });
}

function addElements(owner: Container, key: string | number, { v, i }: JsonObject): boolean {
  const list = memberOf(owner, key) ?? [];
  if (!Array.isArray(list) || (v !== undefined && !Array.isArray(v))) return false;
  const kept = typeof i === "number" && Number.isInteger(i) && i >= 0 ? list.slice(0, i) : list;
  const added: readonly unknown[] = Array.isArray(v) ? v : [];
  return setMember(owner, key, [...kept, ...added]);
}

/** Some versions write the number as text. */
function kindOf({ kind }: JsonObject): number | undefined {
  return typeof kind === "number" ? kind : typeof kind === "string" && /^\d$/.test(kind) ? Number(kind) : undefined;
}

/** True if a record is one of a log of a chat's changes. */
export function isChange(record: JsonObject): boolean {
  const kind = kindOf(record);
  if (kind === 0) return isChat(objectAt(record, "v") ?? {});
  return (
    (kind === 1 || kind === 2 || kind === 3) &&
    Array.isArray(record.k) &&
    Object.keys(record).every((name) => /^(?:kind|k|v|i)$/.test(name))
  );
}

/** True if an object is the state of a chat. */
export function isChat(state: JsonObject): boolean {
  const isNamed = ["responderUsername", "requesterUsername", "initialLocation"].some((name) => typeof state[name] === "string");
  return isNamed || (typeof state.sessionId === "string" && numberAt(state, "creationDate") !== undefined);
}
