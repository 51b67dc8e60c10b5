import { expect, test } from "vitest";
import { grow } from "../../world/grow.js";

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
