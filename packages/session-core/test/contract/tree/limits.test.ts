import { expect, test } from "vitest";
import type { EntryListing } from "../../../src/port/records.js";
import { grow, names } from "../../world/grow.js";

test.each([
  [Number.POSITIVE_INFINITY, 3],
  [1e99, 3],
  [2.5, 2],
  [0, 0],
  [-1, 0],
  [Number.NaN, 0],
])("a limit of %d gives %d rows and no error of the database", async (limit, rows) => {
  const { store, session } = await grow("u1 a1 u2");
  expect((await session.scan({ limit })).items).toHaveLength(rows);
  expect((await session.scan({ limit, order: "down" })).items).toHaveLength(rows);
  expect(await session.tree.outline({ limit })).toHaveLength(rows);
  expect(await session.tree.path(session.leafId, limit)).toHaveLength(rows);
  expect(await session.entriesSince(0, limit)).toHaveLength(rows);
  expect((await store.listSessions({ limit })).items).toHaveLength(Math.min(rows, 1));
  expect((await store.search({ query: "u1", limit })).hits).toHaveLength(Math.min(rows, 1));
  expect(await session.leafMoves(limit)).toEqual([]);
});

test.each([
  [Number.NEGATIVE_INFINITY, "u1 a1 u2", ""],
  [0, "u1 a1 u2", ""],
  [1, "a1 u2", ""],
  [1.5, "a1 u2", "u1"],
  [Number.POSITIVE_INFINITY, "", "u1 a1 u2"],
  [Number.NaN, "", ""],
])("after the number %d are the entries %j, and before it %j", async (number, after, before) => {
  const { session } = await grow("u1 a1 u2");
  for (const list of [(listing: EntryListing) => session.list(listing), (listing: EntryListing) => session.tree.outline(listing)]) {
    expect(names(await list({ afterSeq: number }))).toBe(after);
    expect(names(await list({ beforeSeq: number }))).toBe(before);
  }
});

test.each([
  [Number.NEGATIVE_INFINITY, 1, 0],
  [999.5, 1, 0],
  [1000.5, 0, 1],
  [Number.POSITIVE_INFINITY, 0, 1],
  [Number.NaN, 0, 0],
])("with the time %d, of a session that was active at 1000, %d is active since then and %d before", async (time, since, until) => {
  const { store } = await grow("", { session: { createdAtMs: 1000 } });
  expect((await store.listSessions({ empty: true, sinceMs: time })).items).toHaveLength(since);
  expect((await store.listSessions({ empty: true, untilMs: time })).items).toHaveLength(until);
});
