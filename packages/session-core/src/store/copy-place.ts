import { createHash, type Hash } from "node:crypto";
import type { SessionId } from "../ids/ids.js";
import { pagesOf, type SessionFilter, type SessionKey } from "../port/records.js";
import type { CopiedEntry, CopiedState, SessionCopies } from "../port/session-copy.js";
import type { Store } from "./store.js";

/** A place that sessions are copied from or to: a store of this process, or one that another process serves. */
export interface CopyPlace {
  readonly copies: SessionCopies;
  /** All sessions, also archived and empty ones and those of subagents; with `parent` the sessions of its subagents. */
  listIds(parent?: SessionId): Promise<readonly SessionId[]>;
  /** Called after a copy into this place with the number of entries that it has added. */
  countAdded(entries: number): void;
  /** Digests that the other process computes. undefined: the store is one of this process, whose entries are read for them. */
  readonly far: FarDigests | undefined;
}

/** The digests of sessions in a store of another process, so that nothing is sent that both stores have. SHA-256, in hex. */
export interface FarDigests {
  /** Of each session all but its entries, as `digestOfState`; null: there is no such session. */
  ofStates(ids: readonly SessionId[]): Promise<readonly (string | null)[]>;
  /** The first entries of a session, as `digestOfEntries`. */
  ofEntries(session: SessionKey, count: number): Promise<string>;
  /** All of a session, as `digestOfSession`; null: there is no such session. */
  ofSession(session: SessionKey): Promise<string | null>;
}

/** A store of this process as a place of a copy. */
export function placeOf(store: Store): CopyPlace {
  return {
    copies: store.storage.copies,
    listIds: (parent) => listIds(store, parent === undefined ? { kind: "all" } : { kind: "subagent", parentId: parent }),
    countAdded: (entries) => store.maintenance.countAppended(entries),
    far: undefined,
  };
}

async function listIds(store: Store, filter: SessionFilter): Promise<readonly SessionId[]> {
  const ids = new Set<SessionId>();
  for await (const { items } of pagesOf((cursor) => store.listSessions({ ...filter, archived: "all", empty: true, cursor })))
    for (const { id } of items) ids.add(id);
  return [...ids];
}

/** The digest of a session without its entries. */
export function digestOfState(state: CopiedState): string {
  return addState(createHash("sha256"), state).digest("hex");
}

/** The digest of the first entries of a session. Cost: reads them. @throws the reason of `signal`. */
export async function digestOfEntries(copies: SessionCopies, session: SessionKey, count: number, signal?: AbortSignal): Promise<string> {
  return (await hashOfEntries(copies, session, count, signal)).digest("hex");
}

/** The digest of all that a session has. Cost: reads it. @throws the reason of `signal`. */
export async function digestOfSession(copies: SessionCopies, state: CopiedState, signal?: AbortSignal): Promise<string> {
  return addState(await hashOfEntries(copies, state.row, state.session.entryCount, signal), state).digest("hex");
}

/** The hash of the first entries of a session. */
export async function hashOfEntries(copies: SessionCopies, session: SessionKey, count: number, signal?: AbortSignal): Promise<Hash> {
  const hash = createHash("sha256");
  for (let after = 0; after < count; ) {
    signal?.throwIfAborted();
    const entries = await copies.entries(session, after, count);
    if (entries.length === 0) break;
    addEntries(hash, entries);
    after += entries.length;
  }
  return hash;
}

/** Adds entries to a hash. */
export function addEntries(hash: Hash, entries: readonly CopiedEntry[]): void {
  // Token counts are a cache, which may be filled meanwhile. Which entries are copies depends on the other sessions of a store.
  for (const { tokens: _cache, inherited: _copy, origin: _original, ...entry } of entries) hash.update(`${JSON.stringify(plain(entry))}\n`);
}

/** Adds all but the entries to a hash. */
export function addState(hash: Hash, { row: _own, ...state }: CopiedState): Hash {
  return hash.update(JSON.stringify(plain({ ...state, usage: usedBy(state) })));
}

/** The number of replies of each model, whether they are originals or copies. Sums of costs depend on the order in which they are added. */
export function usedBy({ usage }: Pick<CopiedState, "usage">): unknown {
  const replies = new Map<string, number>();
  for (const { provider, model, replies: more } of usage) {
    const name = JSON.stringify([provider, model]);
    replies.set(name, (replies.get(name) ?? 0) + more);
  }
  return [...replies].sort(([one], [other]) => (one < other ? -1 : 1));
}

/** True if both are the same as JSON, whatever the order of members. */
export function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(plain(one)) === JSON.stringify(plain(other));
}

/** Objects as lists of their members, ordered by name: engines need not give members in one order. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value)
    .map(([name, member]) => [name, plain(member)])
    .toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1));
}
