import { isAbsolute } from "node:path";
import type { SessionId, Store } from "@bough/session-core";
import { checkArgument, withMethods } from "@bough/session-core/arguments";
import { isThere } from "../source/source-file.js";

/**
 * Finds the sessions that were imported from other programs and are only in the store now: every file that they came from is gone, or the
 * last sync found that its program had removed them from it. Cost: one row for each session and one stat for each file.
 *
 * @example
 * const orphans = await findOrphanedSessions(store);
 * const { items } = await store.listSessions();
 * for (const { id, title } of items) if (orphans.has(id)) console.log(title);
 */
export async function findOrphanedSessions(store: Store): Promise<ReadonlySet<SessionId>> {
  checkArgument("store", store, withMethods("a store", "openSession"));
  const orphans = new Set<SessionId>();
  const present = new Set<SessionId>();
  const files = new Map<string, boolean>();
  for (const { sessionId, path, goneAtMs } of await store.sources.sessionSources()) {
    // An adapter names no file: the framework gave it the session.
    if (!isAbsolute(path)) continue;
    const exists = files.get(path) ?? isThere(path);
    files.set(path, exists);
    (exists && goneAtMs === null ? present : orphans).add(sessionId);
  }
  return new Set([...orphans].filter((id) => !present.has(id)));
}
