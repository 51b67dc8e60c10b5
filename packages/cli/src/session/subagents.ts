import { type EntryId, type SessionId, SessionNotFoundError, type SessionRecord, type Store } from "@bough/session-core";
import { groupBy } from "@bough/session-core/engine";
import { listSessions } from "./paging.js";

/** Lists the subagent sessions of a session, recursively. One query per session and page. */
export async function listSubagents(store: Store, parentId: string): Promise<readonly SessionRecord[]> {
  const byId = new Map<string, SessionRecord>();
  const parents = [parentId];
  for (let at = 0; at < parents.length; at += 1) {
    for (const record of await listChildren(store, parents[at] ?? parentId)) {
      // Imported sessions may have cyclic parents.
      if (byId.has(record.id) || record.id === parentId) continue;
      byId.set(record.id, record);
      parents.push(record.id);
    }
  }
  return [...byId.values()];
}

/** Lists the subagent sessions that a session itself started, the most recently active first. */
async function listChildren(store: Store, parentId: string): Promise<readonly SessionRecord[]> {
  return listSessions(store, { parentId, kind: "subagent", archived: "all", empty: true });
}

/** The sessions of subagents by the entry that started them; those of which nobody recorded it are left out. */
export async function childrenByEntry(store: Store, parentId: string): Promise<ReadonlyMap<EntryId, SessionRecord[]>> {
  const found = groupBy(await listChildren(store, parentId), ({ parent }) => parent?.entryId ?? "");
  found.delete("");
  return found;
}

/** Deletes a session and those of its subagents, which are returned. Ignores that another process has deleted one of these already. */
export async function deleteWithSubagents(store: Store, id: SessionId): Promise<readonly SessionRecord[]> {
  const subagents = await listSubagents(store, id);
  for (const subagent of subagents) await deleteIfExists(store, subagent.id);
  await store.deleteSession(id);
  return subagents;
}

async function deleteIfExists(store: Store, id: SessionId): Promise<void> {
  try {
    await store.deleteSession(id);
  } catch (error) {
    if (!(error instanceof SessionNotFoundError)) throw error;
  }
}
