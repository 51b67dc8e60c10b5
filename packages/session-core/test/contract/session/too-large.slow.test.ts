import { expect, test } from "vitest";
import { MAX_JSON_LENGTH } from "../../../src/entry/json.js";
import { type EntryInput, userMessage } from "../../../src/index.js";
import { findingsOf, openedStore } from "../../world/stores.js";

// JSON writes a control character as six.
const control = "\u0001".repeat(Math.ceil(MAX_JSON_LENGTH / 6) + 1);

test.each<[string, () => EntryInput]>([
  ["whose JSON is longer than a row can be", () => userMessage(control)],
  // The same text eighteen times: one string in memory, and JSON of 540 million characters; a string has at most 2 ** 29 - 24.
  [
    "whose JSON is longer than a string can be",
    () => userMessage(Array.from({ length: 18 }, () => ({ type: "text", text: control.slice(0, 5_000_000) }))),
  ],
])("an entry %s is refused with the limit, and the store goes on", async (_what, entry) => {
  const store = await openedStore();
  const session = await store.createSession({ id: "s" });
  await session.append({ ...userMessage("before"), id: "before" });
  const refused = { code: "TOO_LARGE", limit: MAX_JSON_LENGTH, message: expect.stringContaining(String(MAX_JSON_LENGTH)) };
  // The first runs at once; the second is queued, and copied when it is handed in.
  const [first, second] = await Promise.allSettled([session.append(entry()), session.append(entry())]);
  expect([first, second]).toMatchObject([{ reason: refused }, { reason: refused }]);
  await session.append({ ...userMessage("after"), id: "after" });
  expect((await session.path()).map(({ id }) => id)).toEqual(["before", "after"]);
  expect(await findingsOf(store)).toEqual([]);
});

test("a value and metadata that large are refused too", async () => {
  const store = await openedStore();
  const session = await store.createSession({ id: "s" });
  await expect(session.values.set("k", control)).rejects.toMatchObject({ code: "TOO_LARGE" });
  await expect(store.createSession({ metadata: { control } })).rejects.toMatchObject({ code: "TOO_LARGE" });
  expect((await store.listSessions({ empty: true })).items.map(({ id }) => id)).toEqual(["s"]);
});
