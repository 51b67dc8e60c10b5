import type { SessionMasks } from "@bough/formats/secrets";
import { type Entry, EntryNotFoundError, type SearchPage, type SearchRequest, type Session, type Store } from "@bough/session-core";
import { describeCall, isPrivate, previewOf } from "@bough/session-core/view";
import { formatSpeaker } from "./entry-text.js";

/** An entry near a hit. */
export interface Neighbor {
  /** The number of entries before (negative) or after the hit. */
  readonly distance: number;
  readonly entryId: string;
  readonly speaker: string;
  /** Its beginning, on one line. */
  readonly preview: string;
}

/** The call of a result is among this many entries above it: calls of one reply run side by side. */
const CALL_REACH = 40;

/** One session, or all sessions of a store, each opened when it is needed. */
export class EntrySource {
  readonly #target: Session | Store;
  readonly #includePrivate: boolean;
  readonly #sessions = new Map<string, Promise<Session>>();

  readonly #masks: SessionMasks | undefined;

  constructor(target: Session | Store, includePrivate: boolean, masks: SessionMasks | undefined) {
    this.#target = target;
    this.#includePrivate = includePrivate;
    this.#masks = masks;
  }

  get isStore(): boolean {
    return isStore(this.#target);
  }

  search(request: SearchRequest): Promise<SearchPage> {
    return this.#target.search(request);
  }

  /** undefined: the entry or its session was deleted. */
  async find(sessionId: string, entryId: string): Promise<Entry | undefined> {
    try {
      const session = await this.#open(sessionId);
      return (await this.#maskIn(session))(await session.entry(entryId));
    } catch (error) {
      if (error instanceof EntryNotFoundError) return undefined;
      throw error;
    }
  }

  /** Of a tool result, what tells most of its call, such as its file; null: the entry is no result, or has no call nearby. */
  async callOf(sessionId: string, entry: Entry): Promise<string | null> {
    if (entry.type !== "message" || entry.message.role !== "toolResult") return null;
    const { toolCallId } = entry.message;
    const session = await this.#open(sessionId);
    const mask = await this.#maskIn(session);
    const { items } = await session.scan({ leafId: entry.id, order: "up", limit: CALL_REACH });
    for (const stored of items) {
      const above = mask(stored);
      if (above.type !== "message" || above.message.role !== "assistant") continue;
      const call = above.message.content.find((block) => block.type === "toolCall" && block.id === toolCallId);
      if (call?.type !== "toolCall") continue;
      return describeCall(call).detail || null;
    }
    return null;
  }

  /** The entries before and after one on its path, oldest first, without private ones. */
  async neighbors(sessionId: string, entryId: string, count: number): Promise<readonly Neighbor[]> {
    const session = await this.#open(sessionId);
    const { items } = await session.scan({ leafId: entryId, order: "up", limit: count + 1 });
    const mask = await this.#maskIn(session);
    const before = items.slice(1).map((entry, at) => toNeighbor(mask(entry), -at - 1));
    const after = (await readFollowing(session, entryId, count)).map((entry, at) => toNeighbor(mask(entry), at + 1));
    return [...before.reverse(), ...after].filter((one) => this.#includePrivate || !one.isPrivate).map(({ isPrivate: _, ...one }) => one);
  }

  /** The title of a session, or a label in it, without its secrets if they are masked. */
  async title(sessionId: string, title: string): Promise<string> {
    return (await this.#masks?.maskTitle(title, () => this.#open(sessionId))) ?? title;
  }

  async #maskIn(session: Session): Promise<(entry: Entry) => Entry> {
    const masker = await this.#masks?.of(session);
    return (entry) => masker?.maskEntry(entry) ?? entry;
  }

  #open(sessionId: string): Promise<Session> {
    if (!isStore(this.#target)) return Promise.resolve(this.#target);
    const opened = this.#sessions.get(sessionId) ?? this.#target.openSession(sessionId);
    this.#sessions.set(sessionId, opened);
    return opened;
  }
}

function isStore(target: Session | Store): target is Store {
  return "openSession" in target;
}

function toNeighbor(entry: Entry, distance: number): Neighbor & { readonly isPrivate: boolean } {
  return { distance, entryId: entry.id, speaker: formatSpeaker(entry), preview: previewOf(entry), isPrivate: isPrivate(entry) };
}

/**
 * The entries after an entry: on the session's current path if it is on it, else up to the next branch point. Cost: the entries, not
 * the length of the path.
 */
export async function readFollowing(session: Session, id: string, count: number, leafId = session.leafId): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  for (let at = id; found.length < count && at !== leafId; ) {
    const child = await findNext(session, at, leafId);
    if (child === undefined) break;
    found.push(await session.entry(child));
    at = child;
  }
  return found;
}

/** The child on the path of the leaf; of an entry that is not on it, the only child. */
async function findNext(session: Session, id: string, leafId: string | null): Promise<string | undefined> {
  const children = await session.tree.children(id);
  if (children.length < 2) return children[0]?.id;
  for (const child of children) {
    if (leafId !== null && (await session.tree.commonAncestor(child.id, leafId)) === child.id) return child.id;
  }
  return undefined;
}
