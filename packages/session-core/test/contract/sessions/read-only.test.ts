import { expect, test } from "vitest";
import { userMessage } from "../../../src/index.js";
import { grow } from "../../world/grow.js";
import { lastingPlace, openedStore } from "../../world/stores.js";
import { allWrites } from "../../world/writes.js";

test("a store that is opened for reading reads, and refuses every write", async () => {
  const place = lastingPlace();
  const writer = await openedStore(place);
  await grow("u1", { store: writer, session: { id: "s" } });
  const reader = await openedStore({ ...place, mode: "read-only" });
  for (const write of allWrites(reader)) await expect(write(), String(write)).rejects.toMatchObject({ code: "STORE_READ_ONLY" });
  const session = await writer.openSession("s");
  expect(await session.record()).toMatchObject({ entryCount: 1, title: null, archivedAtMs: null });
  expect((await writer.listSessions({ empty: true })).items).toHaveLength(1);
  await session.append(userMessage("more"));
  expect((await (await reader.openSession("s")).context()).messages).toHaveLength(2);
});
