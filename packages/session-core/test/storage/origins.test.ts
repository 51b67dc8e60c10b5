import { expect, test, vi } from "vitest";
import { imported, sourceOf } from "../../../formats/test/world/sources.js";
import { assistantMessage } from "../../src/entry/builders.js";
import { copySessions } from "../../src/index.js";
import { Connection } from "../../src/sqlite/file/connection.js";
import { openStore } from "../../src/store/open-store.js";
import { findingsOf, openedStore, raw, storePath } from "../world/stores.js";

/** Makes a closed store one of version 8, which counted every copy that an import brought, and not those of these forks. */
function takeBackTo8(path: string, forks: readonly string[] = ["fork"]): void {
  const ofForks = `session_seq IN (SELECT seq FROM session WHERE id IN (${forks.map((id) => `'${id}'`).join(", ")}))`;
  raw(path, (file) => {
    for (const statement of [
      "DROP INDEX source_session_held",
      "ALTER TABLE source_session DROP COLUMN held_until_ms",
      "ALTER TABLE session DROP COLUMN parent_found",
      "DROP INDEX entry_by_origin",
      "DROP INDEX entry_inherited",
      `UPDATE entry SET inherited = ${ofForks}`,
      `UPDATE usage_total SET inherited = 0 WHERE NOT ${ofForks}`,
      "ALTER TABLE entry DROP COLUMN origin",
      "ALTER TABLE usage_total DROP COLUMN recorded_replies",
      "UPDATE session SET parent_session_id = NULL, parent_entry_id = NULL WHERE id = 'copy'",
    ])
      file.exec(statement);
    file.pragma("user_version = 8");
  });
}

async function storeOf8(): Promise<string> {
  const path = storePath();
  const store = await openStore({ path });
  const used = { provider: "p", model: "m", usage: { output: 1 } };
  const reply = (id: string) =>
    ({ kind: "entry", line: 9, id, parentId: "u1", createdAtMs: 5, payload: assistantMessage("said", used) }) as const;
  await imported(store, sourceOf("u1", [reply("a1")], { sessionId: "original" }));
  await imported(store, sourceOf("u1", [reply("a1")], { sessionId: "copy" }));
  const own = await store.createSession({ id: "own" });
  await own.append(assistantMessage("silent", { model: "silent" }));
  await own.append(assistantMessage("own", used));
  await store.forkSession("own", { id: "fork" });
  await store.pack({ scope: "all" });
  await store.close();
  takeBackTo8(path);
  return path;
}

test("a store of version 8 is upgraded: copies of imports and forks know their origins, and count once", async () => {
  const store = await openedStore({ path: await storeOf8() });
  const { usage, inheritedUsage } = await store.statistics();
  expect(usage.map(({ model, replies, outputTokens, recordedReplies }) => [model, replies, outputTokens, recordedReplies])).toEqual([
    ["m", 2, 2, 2],
    ["silent", 1, 0, 0],
  ]);
  expect(inheritedUsage.map(({ model, replies }) => [model, replies])).toEqual([
    ["m", 2],
    ["silent", 1],
  ]);
  expect(await store.search({ query: "said" })).toMatchObject({ total: 1, hits: [{ copies: [{ sessionId: "copy", entryId: "a1" }] }] });
  expect(await store.search({ query: "own", types: ["message"] })).toMatchObject({ total: 1, hits: [{ copies: [{ sessionId: "fork" }] }] });
  expect((await store.findSession("copy"))?.parent).toMatchObject({ sessionId: "original", entryId: "a1" });
  expect(await findingsOf(store)).toEqual([]);
  await store.deleteSession("own");
  expect((await (await store.openSession("fork")).statistics()).usage).toHaveLength(2);
});

test("a store of version 8 that is read only shows the copies that it knows", async () => {
  const store = await openedStore({ path: await storeOf8(), mode: "read-only" });
  expect(await store.search({ query: "said" })).toMatchObject({ total: 2, hits: [{ copies: [] }, { copies: [] }] });
  expect((await store.statistics()).usage).toMatchObject([
    { model: "m", recordedReplies: 3 },
    { model: "silent", recordedReplies: 0 },
  ]);
});

test("a fork of a fork of a fork knows the original after the upgrade, in whatever order the sessions came into the store", async () => {
  const from = await openedStore({ path: storePath() });
  const original = await from.createSession({ id: "original" });
  await original.append(assistantMessage("said", { provider: "p", model: "m", usage: { output: 1 } }));
  for (const [source, id] of [
    ["original", "first"],
    ["first", "second"],
    ["second", "third"],
  ] as const)
    await from.forkSession(source, { id });
  const path = storePath();
  const to = await openStore({ path });
  for (const id of ["third", "second", "first", "original"]) await copySessions(from, to, { sessions: [id] });
  await to.close();
  takeBackTo8(path, ["first", "second", "third"]);
  const store = await openedStore({ path });
  expect(await store.search({ query: "said" })).toMatchObject({ total: 1, hits: [{ sessionId: "original" }] });
  expect((await store.search({ query: "said" })).hits[0]?.copies.map(({ sessionId }) => sessionId).toSorted()).toEqual([
    "first",
    "second",
    "third",
  ]);
  const origins = raw(path, (file) => file.prepare("SELECT DISTINCT origin FROM entry WHERE inherited = 1").pluck().all());
  expect(origins).toEqual([`original ${original.leafId}`]);
  expect((await store.statistics()).usage).toMatchObject([{ replies: 1 }]);
  expect(await findingsOf(store)).toEqual([]);
});

/** The number of rows that the statements of some work return. */
async function rowsRead(work: () => Promise<unknown>): Promise<number> {
  const [all, get] = [vi.spyOn(Connection.prototype, "all"), vi.spyOn(Connection.prototype, "get")];
  try {
    await work();
    return all.mock.results.reduce((rows, { value }) => rows + (Array.isArray(value) ? value.length : 0), get.mock.calls.length);
  } finally {
    vi.restoreAllMocks();
  }
}

test("an import of copies reads as many rows when 30 sessions have the entries as when five have them, wherever the original came", async () => {
  const store = await openedStore();
  const rows: number[] = [];
  for (let at = 0; at < 32; at += 1) {
    const createdAtMs = at === 2 ? 1 : 10 + at;
    const source = sourceOf("u1 a1 u2 a2 u3 a3", [], { sessionId: `copy${at}`, createdAtMs });
    rows.push(await rowsRead(() => imported(store, source)));
  }
  expect(rows.slice(5)).toEqual(Array.from({ length: 27 }, () => rows[5]));
  expect((await store.statistics()).inheritedEntries).toBe(31 * 6);
  expect(await findingsOf(store)).toEqual([]);
});
