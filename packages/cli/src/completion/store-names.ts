import { openStore, type SessionRecord, type Store } from "@bough/session-core";
import { findNewestHere } from "../session/choose-session.js";
import { readOutline } from "../session/paging.js";
import { shortSessionId } from "../session/short-ids.js";
import { locateStore, openOptions } from "../session/store-location.js";
import { sessionTitle } from "../session/titles.js";
import type { Io } from "../terminal/io.js";
import { shortIds } from "../tree/print-tree.js";
import type { Candidate, StoreNames } from "./candidates.js";

/** Sessions and entries that are offered. */
const MOST = 200;

/** Maximum number of sessions that are searched for names. */
const SEARCHED = 5000;

/** Maximum time that a key press waits for the store, in milliseconds. */
const MOST_WAIT_MS = 1500;

/** The names in the store that `--store` names, which is opened read-only for each question. */
export function storeNames(io: Io, given: string | undefined): StoreNames {
  return {
    sessions: (beginning) => withNames(io, given, (store) => sessionNames(store, beginning)),
    entries: (session, beginning) => withNames(io, given, (store) => entryNames(store, io, session, beginning)),
  };
}

async function withNames(
  io: Io,
  given: string | undefined,
  work: (store: Store) => Promise<readonly Candidate[]>,
): Promise<readonly Candidate[]> {
  const location = await locateStore(io, given);
  const store = await openStore({ ...openOptions(location), mode: "read-only", busyTimeoutMs: MOST_WAIT_MS });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Ids and titles, newest first. A title that several sessions have names none of them, so that their ids are offered. */
async function sessionNames(store: Store, beginning: string): Promise<readonly Candidate[]> {
  const { items } = await store.listSessions({ kind: "all", archived: "all", empty: true, limit: SEARCHED });
  if (beginning === "")
    return Promise.all(
      items
        .filter(isListed)
        .slice(0, MOST)
        .map((record) => idCandidate(store, record)),
    );
  const folded = beginning.toLowerCase();
  const counts = new Map<string, number>();
  for (const record of items) counts.set(sessionTitle(record), (counts.get(sessionTitle(record)) ?? 0) + 1);
  const byId = items.filter(({ id }) => id.startsWith(beginning)).slice(0, MOST);
  const byTitle = items.filter((record) => sessionTitle(record).toLowerCase().startsWith(folded) && !byId.includes(record)).slice(0, MOST);
  const ids = await Promise.all(
    [...byId, ...byTitle.filter((record) => counts.get(sessionTitle(record)) !== 1)].map((record) => idCandidate(store, record)),
  );
  const titles = byTitle.filter((record) => counts.get(sessionTitle(record)) === 1);
  return [...ids, ...titles.map((record) => ({ value: sessionTitle(record), description: record.id }))];
}

function isListed({ kind, archivedAtMs, entryCount }: SessionRecord): boolean {
  return kind === "conversation" && archivedAtMs === null && entryCount > 0;
}

async function idCandidate(store: Store, record: SessionRecord): Promise<Candidate> {
  return { value: await shortSessionId(store, record.id, { fullIds: false }), description: sessionTitle(record) };
}

/** Labels, the names of leaves, and ids, newest first. */
async function entryNames(store: Store, io: Io, name: string | undefined, beginning: string): Promise<readonly Candidate[]> {
  const record = name === undefined ? await findNewestHere(store, io) : await store.resolveSession(name);
  if (record === undefined) return [];
  const session = await store.openSession(record.id);
  const [outline, labels, leaves] = await Promise.all([readOutline(session), session.labels.list(), session.leaves()]);
  const previews = new Map(outline.map(({ id, preview }) => [id, preview]));
  const shown = outline.filter(({ id, role }) => (beginning === "" ? role === "user" || role === "assistant" : id.startsWith(beginning)));
  const newest = shown.slice(-MOST).reverse();
  const short = shortIds(
    newest.map(({ id }) => id),
    outline,
  );
  const named = [
    ...labels.map(({ label, entryId }) => ({ value: label, description: previews.get(entryId) ?? "" })),
    { value: "@leaf", description: "where the session stands" },
    { value: "@root", description: "the first entry" },
    ...leaves.filter(({ name: leaf }) => leaf !== "main").map(({ name: leaf }) => ({ value: `@${leaf}`, description: "a leaf" })),
  ];
  return [
    ...named.filter(({ value }) => value.toLowerCase().startsWith(beginning.toLowerCase())),
    ...newest.map(({ id, preview }) => ({ value: short.get(id) ?? id, description: preview })),
  ];
}
