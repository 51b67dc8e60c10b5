import type { OutlineRow, Session, SessionRecord, Store } from "@bough/session-core";

/** Rows that are read at once: enough that pages cost nothing, few enough that none is large. */
const PAGE = 5000;

/** The whole outline of a session, parents first; `after`: only what arrived after this sequence number. */
export async function readOutline(session: Session, after = 0): Promise<readonly OutlineRow[]> {
  const rows: OutlineRow[] = [];
  for (let afterSeq = after; ; ) {
    const page = await session.outline({ afterSeq, limit: PAGE });
    for (const row of page) rows.push(row);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return rows;
    afterSeq = last.seq;
  }
}

/**
 * The sessions that a session's tool calls started, and those that they started themselves: nobody looks for them
 * without it. One query a session.
 */
export async function listSubagents(store: Store, parentId: string): Promise<readonly SessionRecord[]> {
  const found = new Map<string, SessionRecord>();
  const parents = [parentId];
  for (let at = 0; at < parents.length; at += 1) {
    for (const record of await listChildren(store, parents[at] ?? parentId)) {
      // Records of other programs may name each other in a circle.
      if (found.has(record.id) || record.id === parentId) continue;
      found.set(record.id, record);
      parents.push(record.id);
    }
  }
  return [...found.values()];
}

async function listChildren(store: Store, parentId: string): Promise<readonly SessionRecord[]> {
  const records: SessionRecord[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await store.listSessions({ parentId, kind: "subagent", archived: "all", empty: true, cursor });
    for (const record of page.items) records.push(record);
    if (page.next === null) return records;
    cursor = page.next;
  }
}
