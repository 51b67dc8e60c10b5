import { type Entry, EntryNotFoundError, type SearchPage, type SearchRequest, type Session, type Store } from "@bough/session-core";
import { isPrivate, previewOf } from "@bough/session-core/internals";
import { formatSpeaker } from "./entry-text.js";

/** An entry near a hit. */
export interface Neighbor {
  /** How many entries before (negative) or after the hit. */
  readonly distance: number;
  readonly entryId: string;
  readonly speaker: string;
  /** Its beginning, on one line. */
  readonly preview: string;
}

/** One session, or all sessions of a store, each opened when it is needed. */
export class EntrySource {
  readonly #target: Session | Store;
  readonly #includePrivate: boolean;
  readonly #sessions = new Map<string, Promise<Session>>();

  constructor(target: Session | Store, includePrivate: boolean) {
    this.#target = target;
    this.#includePrivate = includePrivate;
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
      return await (await this.#open(sessionId)).entry(entryId);
    } catch (error) {
      if (error instanceof EntryNotFoundError) return undefined;
      throw error;
    }
  }

  /** The entries before and after one on its path, oldest first, without private ones. */
  async neighbors(sessionId: string, entryId: string, count: number): Promise<readonly Neighbor[]> {
    const session = await this.#open(sessionId);
    const { items } = await session.scan({ leafId: entryId, order: "up", limit: count + 1 });
    const before = items.slice(1).map((entry, at) => toNeighbor(entry, -at - 1));
    const after = (await readFollowing(session, entryId, count)).map((entry, at) => toNeighbor(entry, at + 1));
    return [...before.reverse(), ...after].filter((one) => this.#includePrivate || !one.isPrivate).map(({ isPrivate: _, ...one }) => one);
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

/** The entries after an entry: on the session's current path if it is on it, else up to the next branch point. */
export async function readFollowing(session: Session, id: string, count: number): Promise<readonly Entry[]> {
  const { leafId } = session;
  if (leafId !== null && (await session.tree.commonAncestor(id, leafId)) === id)
    return (await session.scan({ leafId, stopAt: id, order: "down", limit: count })).items;
  const found: Entry[] = [];
  for (let at = id; found.length < count; ) {
    const [child, ...siblings] = await session.tree.children(at);
    if (child === undefined || siblings.length > 0) break;
    found.push(await session.entry(child.id));
    at = child.id;
  }
  return found;
}
