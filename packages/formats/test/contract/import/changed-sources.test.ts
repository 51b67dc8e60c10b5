import type { Store } from "@bough/session-core";
import type { SourceRecord, SourceSession, SyncedImport } from "@bough/session-core/engine";
import { describe, expect, test } from "vitest";
import { findingsOf, openedStore } from "../../../../session-core/test/world/stores.js";

// Programs such as opencode and Cursor write a record again: a reply while it is written, a call when its result is there.

const PATH = "/home/ada/.agent/s.db";

/** The text of each record by its id, in order, each below the one before; `c` is a compaction that keeps what its text names. */
function source(records: Readonly<Record<string, string>>, revision?: string): SourceSession {
  const ids = Object.keys(records);
  const entries = ids.map((id, at): SourceRecord => {
    const text = records[id] ?? "";
    const message = { role: id.startsWith("u") ? "user" : "assistant", content: [{ type: "text", text }] };
    const payload =
      id === "c" ? { type: "compaction", summary: "s", firstKeptEntryId: text, tokensBefore: 1 } : { type: "message", message };
    return { kind: "entry", line: at + 1, id, parentId: ids[at - 1] ?? null, createdAtMs: at, payload };
  });
  return { header: { sessionId: "s", kind: "conversation" }, revision, records: () => entries };
}

/** Syncs the source, as `syncSessions` does. */
async function synced(store: Store, records: Readonly<Record<string, string>>) {
  const known = (await store.storage.sourceSessions(PATH))[0];
  const sync: SyncedImport = { known, checksumAt: () => undefined };
  return store.storage.importSession(source(records), { format: "test", path: PATH, sync });
}

/** The texts on the path of the leaf. */
async function texts(store: Store): Promise<readonly string[]> {
  const path = await (await store.openSession("s")).path();
  return path.map((entry) => {
    if (entry.type !== "message") return entry.type;
    const { content } = entry.message as { content: readonly { text: string }[] };
    return content[0]?.text ?? "";
  });
}

describe("a record that its program wrote again", () => {
  test("is followed by the leaf, in the same session", async () => {
    const store = await openedStore();
    await synced(store, { u1: "hi", a1: "hel" });
    expect(await synced(store, { u1: "hi", a1: "hello" })).toMatchObject({
      sessionId: "s",
      outcome: "extended",
      problems: [],
      leafKept: null,
    });
    expect(await texts(store)).toEqual(["hi", "hello"]);
    await synced(store, { u1: "hi", a1: "hello!", u2: "more" });
    expect(await texts(store)).toEqual(["hi", "hello!", "more"]);
    expect((await store.listSessions()).items).toHaveLength(1);
  });

  test("takes what follows it along, once", async () => {
    const store = await openedStore();
    const after = { u2: "and", a2: "so" };
    await synced(store, { u1: "hi", a1: "running", ...after });
    await synced(store, { u1: "hi", a1: "done", ...after });
    expect(await texts(store)).toEqual(["hi", "done", "and", "so"]);
    expect(await synced(store, { u1: "hi", a1: "done", ...after })).toMatchObject({ outcome: "unchanged", entriesAdded: 0, problems: [] });
    await synced(store, { u1: "hi", a1: "done", ...after, u3: "on" });
    expect(await texts(store)).toEqual(["hi", "done", "and", "so", "on"]);
    await synced(store, { u1: "hi", a1: "twice", ...after, u3: "on" });
    expect(await texts(store)).toEqual(["hi", "twice", "and", "so", "on"]);
    expect(await findingsOf(store)).toEqual([]);
  });

  test("the first record may be one, and a compaction keeps the copies", async () => {
    const store = await openedStore();
    await synced(store, { u1: "hi", a1: "x", u2: "y", c: "u2", u3: "z" });
    expect(await synced(store, { u1: "hi there", a1: "x", u2: "y", c: "u2", u3: "z" })).toMatchObject({ problems: [] });
    expect(await texts(store)).toEqual(["hi there", "x", "y", "compaction", "z"]);
    const { messages } = await (await store.openSession("s")).context();
    expect(messages).toHaveLength(3);
    expect(await findingsOf(store)).toEqual([]);
  });

  test("may have become what it was before", async () => {
    const store = await openedStore();
    await synced(store, { u1: "hi", a1: "one" });
    await synced(store, { u1: "hi", a1: "two" });
    await synced(store, { u1: "hi", a1: "one" });
    expect(await synced(store, { u1: "hi", a1: "one" })).toMatchObject({ outcome: "unchanged" });
  });

  test("does not move a leaf that a person placed", async () => {
    const store = await openedStore();
    await synced(store, { u1: "hi", a1: "one", u2: "more" });
    await (await store.openSession("s")).moveLeaf("u1");
    await synced(store, { u1: "hi", a1: "two", u2: "more" });
    expect(await texts(store)).toEqual(["hi"]);
  });
});

test("a file that shares no record with what it gave before is still the same session", async () => {
  const store = await openedStore();
  await synced(store, { u1: "hi", a1: "one" });
  expect(await synced(store, { u8: "compacted", a8: "on" })).toMatchObject({ sessionId: "s", outcome: "extended" });
  expect(await texts(store)).toEqual(["compacted", "on"]);
});
