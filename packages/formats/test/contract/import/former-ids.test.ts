import type { EntryId } from "@bough/session-core";
import type { SourceRecord, SourceSession } from "@bough/session-core/engine";
import { expect, test } from "vitest";
import { treeNames } from "../../../../session-core/test/world/grow.js";
import { findingsOf, openedStore } from "../../../../session-core/test/world/stores.js";
import { imported, sourceOf } from "../../world/sources.js";

/** The source as a later version of its reader gives it: each id is another one, and names the one before. */
function renamed(source: SourceSession): SourceSession {
  const later = (id: EntryId) => `new-${id}`;
  const records = [...source.records()].map((record): SourceRecord => {
    if (record.kind === "entry") {
      const parentId = record.parentId === null ? null : later(record.parentId);
      const payload = JSON.parse(JSON.stringify(record.payload).replace(/"firstKeptEntryId":"/, '"firstKeptEntryId":"new-'));
      return { ...record, id: later(record.id), formerId: record.id, parentId, payload };
    }
    if (record.kind === "label") return { ...record, entryId: later(record.entryId) };
    return record.kind === "leaf" && record.entryId !== null ? { ...record, entryId: later(record.entryId) } : record;
  });
  return { ...source, records: () => records };
}

test("an entry that a reader gave another id before is found under it, and what is new follows it", async () => {
  const store = await openedStore();
  await imported(store, sourceOf("u1 a1 u2 a1>u3"));
  expect(await imported(store, renamed(sourceOf("u1 a1 u2 a1>u3")))).toMatchObject({
    outcome: "unchanged",
    entriesKnown: 4,
    sessionId: "s",
  });
  const longer = renamed(sourceOf("u1 a1 u2 a1>u3 a3", [{ kind: "label", entryId: "u2", label: "x", createdAtMs: 7 }]));
  expect(await imported(store, longer)).toMatchObject({ outcome: "extended", entriesAdded: 1, sessionId: "s", problems: [] });
  const session = await store.openSession("s");
  expect(await treeNames(session)).toBe(">u1 u1>a1 a1>u2 a1>u3 u3>new-a3");
  expect(session.leafId).toBe("new-a3");
  expect(await session.labels.list()).toMatchObject([{ entryId: "u2", label: "x" }]);
  expect(await imported(store, longer)).toMatchObject({ outcome: "unchanged", entriesKnown: 5 });
  expect(await findingsOf(store)).toEqual([]);
});

test("references in a payload name the stored entry", async () => {
  const store = await openedStore();
  await imported(store, sourceOf("u1 a1 u2"));
  expect(await imported(store, renamed(sourceOf("u1 a1 u2 c1:u2 u3")))).toMatchObject({ entriesAdded: 2, problems: [] });
  expect(await (await store.openSession("s")).entry("new-c1")).toMatchObject({ firstKeptEntryId: "u2" });
});

test("a new session gets the ids of today", async () => {
  const store = await openedStore();
  await imported(store, renamed(sourceOf("u1 a1")));
  expect((await store.openSession("s")).leafId).toBe("new-a1");
});

test("a sync keeps no position where it found an entry under a former id: later lines name the ids of today", async () => {
  const store = await openedStore();
  const sync = async (source: SourceSession) => {
    const positioned = { ...source, position: () => ({ offset: 10, line: 2, state: {} }) };
    const path = "/sessions/s.jsonl";
    await store.storage.importSession(positioned, { format: "test", path, sync: { checksumAt: () => 1 } });
    return (await store.storage.sourceSessions(path)).map(({ position }) => position?.offset ?? null);
  };
  expect(await sync(sourceOf("u1 a1"))).toEqual([10]);
  expect(await sync(renamed(sourceOf("u1 a1")))).toEqual([null]);
});
