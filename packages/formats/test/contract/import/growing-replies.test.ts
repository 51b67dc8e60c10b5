import type { SourceRecord } from "@bough/session-core/engine";
import { expect, test } from "vitest";
import { entryNamed, pathNames } from "../../../../session-core/test/world/grow.js";
import { findingsOf, openedStore } from "../../../../session-core/test/world/stores.js";
import { imported, sourceOf } from "../../world/sources.js";

/** A source in which a reply with this id has as many texts so far. */
function replying(texts: number) {
  const content = Array.from({ length: texts }, (_, at) => ({ type: "text", text: `part ${at}` }));
  const payload = { type: "message", message: { role: "assistant", content } };
  const reply: SourceRecord = { kind: "entry", line: 3, id: "a1", parentId: "u1", createdAtMs: 2, payload };
  return sourceOf("u1", [reply]);
}

test("a reply that each import met half written is followed by the leaf every time, until it is whole", async () => {
  const store = await openedStore();
  for (const texts of [1, 2, 3, 4]) {
    await imported(store, replying(texts));
    const session = await store.openSession("s");
    const path = await session.path();
    expect(path.at(-1)).toMatchObject({ message: { content: Array(texts).fill(expect.anything()) } });
  }
  expect(await findingsOf(store)).toEqual([]);
});

test("a leaf that a person has moved on stays when the reply grows", async () => {
  const store = await openedStore();
  await imported(store, replying(1));
  const session = await store.openSession("s");
  await session.append(entryNamed("u9"));
  await imported(store, replying(2));
  await session.refresh();
  expect(await pathNames(session)).toBe("u1 a1 u9");
});
