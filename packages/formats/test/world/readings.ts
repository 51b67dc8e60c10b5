import type { Session, Store } from "@bough/session-core";
import { searchesOf } from "../../../session-core/test/world/searches.js";
import { collected, findingsOf } from "../../../session-core/test/world/stores.js";
import { exportBough } from "../../src/transfer/export.js";

// Everything that can be read of a session and of a store, without what may differ from store to store: the numbers of entries.

type Reading = (session: Session, of: string, other: string, store: Store) => Promise<unknown>;

const OF_SESSION = {
  record: (session) => session.record(),
  context: (session) => session.context(),
  contextAt: (session, of) => session.context({ leafId: of }),
  settings: (session, of) => session.settings(of),
  path: (session, of) => session.path(of),
  leafPath: (session) => session.path(),
  scan: (session, of) => pages((cursor) => session.scan({ leafId: of, order: "down", limit: 2, cursor })),
  scanSome: (session, of, other) => session.scan({ leafId: of, stopAt: other, types: ["message"], roles: ["user", "assistant"] }),
  outline: (session) => session.tree.outline(),
  outlinePath: (session, of) => session.tree.path(of, 3),
  newest: (session) => session.list({ order: "newest", limit: 5 }),
  custom: (session) => session.list({ customType: "note" }),
  entry: (session, of) => session.entry(of),
  entriesById: (session, of, other) => session.entriesById([other, of, "nobody"]),
  entriesSince: async (session, of) => session.entriesSince((await session.entry(of)).seq),
  tips: (session) => session.tree.tips(),
  branchPoints: (session) => session.tree.branchPoints(),
  roots: (session) => session.tree.children(null),
  children: (session, of) => session.tree.children(of),
  siblings: (session, of) => session.tree.siblings(of),
  tipBelow: (session, of) => session.tree.tipBelow(of),
  commonAncestor: (session, of, other) => session.tree.commonAncestor(of, other),
  labels: (session) => session.labels.list(),
  labelsWith: (session) => session.labels.list("A"),
  values: (session) => session.values.list(),
  valuesDown: (session) => session.values.list({ prefix: "k", order: "desc", after: "k/2", limit: 3 }),
  valueKeys: (session) => session.values.keys("k"),
  leaves: (session) => session.leaves(),
  leafMoves: (session) => session.leafMoves(),
  tokenCounts: (session, of, other) => session.tokenCounts.get("c", [of, other]),
  statistics: (session) => session.statistics(),
  fileOperations: (session, of) => session.fileOperations({ toId: of }),
  shortIds: (session, of, other) => session.shortIds([of, other]),
  resolve: (session, of) => session.resolve(of.slice(0, 2)),
  export: async (session) => (await collected(exportBough(session))).join(""),
  totals: (session, _of, _other, store) => store.totalsOf([session.id, "nobody"]),
  lists: (session, _of, _other, store) => listsOf(store, session.id),
  search: (session, _of, _other, store) => searchesOf(store, session.id),
  searchAll: (_session, _of, _other, store) => searchesOf(store, undefined),
  byName: (session, _of, _other, store) => store.resolveSession(session.id.slice(0, 1)),
} satisfies Readonly<Record<string, Reading>>;

export type ReadingName = keyof typeof OF_SESSION;

export const readings = Object.keys(OF_SESSION).filter((name): name is ReadingName => name in OF_SESSION);

/** What one reading gives. `of`, `other`: ids of entries, which may not exist. */
export async function readOf(name: ReadingName, store: Store, session: Session, of: string, other: string): Promise<unknown> {
  const read: Reading = OF_SESSION[name];
  return plain(await read(session, of, other, store));
}

/** All that a store holds, by what can be read of it. */
export async function stateOf(store: Store): Promise<unknown> {
  const sessions = await everySession(store);
  const states = sessions.map(async ({ id }) => {
    const session = await store.openSession(id);
    const tip = session.leafId ?? "nobody";
    const read = readings.map(async (name) => [name, await settled(readOf(name, store, session, tip, tip))]);
    return [id, Object.fromEntries(await Promise.all(read))];
  });
  return {
    sessions: Object.fromEntries(await Promise.all(states)),
    order: sessions.map(({ id }) => id),
    statistics: plain(await store.statistics()),
    findings: await findingsOf(store),
  };
}

async function everySession(store: Store) {
  return pages((cursor) => store.listSessions({ kind: "all", archived: "all", empty: true, limit: 2, cursor }));
}

async function listsOf(store: Store, id: string): Promise<unknown> {
  const filters = [
    {},
    { empty: true },
    { kind: "subagent", empty: true },
    { archived: true, empty: true },
    { under: ["/home/ada"], empty: true },
    { cwd: "/\0", empty: true },
    { parentId: id, kind: "all", empty: true },
    { metadata: { owner: "x\0y" }, empty: true },
    { agent: "bough", empty: true },
  ] as const;
  return Promise.all(
    filters.map(async (filter) => (await pages((cursor) => store.listSessions({ ...filter, limit: 2, cursor }))).map((one) => one.id)),
  );
}

/** The items of all pages. */
async function pages<T>(
  page: (cursor: string | undefined) => Promise<{ readonly items: readonly T[]; readonly next: string | null }>,
): Promise<T[]> {
  const items: T[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const one = await page(cursor);
    items.push(...one.items);
    cursor = one.next;
  }
  return items;
}

async function settled(reading: Promise<unknown>): Promise<unknown> {
  return reading.catch((error: unknown) => `${error}`);
}

const NUMBERS = new Set(["seq", "parentSeq"]);

function plain(value: unknown): unknown {
  if (value instanceof Map) return [...value].map(([key, held]) => [key, plain(held)]);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([key, held]) => (NUMBERS.has(key) ? [] : [[key, plain(held)]])));
}
