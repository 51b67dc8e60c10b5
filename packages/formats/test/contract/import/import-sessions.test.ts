import type { ImportOutcome, SessionImport, Store } from "@bough/session-core";
import type { SourceSession } from "@bough/session-core/engine";
import { describe, expect, test } from "vitest";
import { treeNames } from "../../../../session-core/test/world/grow.js";
import { findingsOf, openedStore } from "../../../../session-core/test/world/stores.js";
import { sourceOf } from "../../world/sources.js";

const session = (sessionId: string, words: string): SourceSession => sourceOf(words, [], { sessionId });

const importOf = (source: SourceSession): SessionImport => ({
  source,
  options: { format: "test", path: `/sessions/${source.header.sessionId}.jsonl` },
});

/** `session outcome entries`, or the message of an error. */
const told = (outcome: ImportOutcome): string =>
  outcome.status === "fulfilled"
    ? `${outcome.value.sessionId} ${outcome.value.outcome} ${outcome.value.entriesAdded}`
    : String(outcome.reason.message);

async function importAll(store: Store, ...sources: readonly SourceSession[]): Promise<readonly string[]> {
  return (await store.importSessions(sources.map(importOf))).map(told);
}

/** The session, of which the reader fails behind the records. */
function torn(source: SourceSession): SourceSession {
  return {
    ...source,
    *records() {
      yield* source.records();
      throw new Error("the disk has a hole");
    },
  };
}

describe("importing sessions together", () => {
  test("gives what importing them one after the other gives", async () => {
    const [together, apart] = [await openedStore(), await openedStore()];
    const sources = [session("a", "u1 a1 u2"), session("b", ""), session("a", "u1 a1 u2 a2"), session("c", "u9")];
    const expected: string[] = [];
    for (const source of sources) expected.push(...(await importAll(apart, source)));
    expect(await importAll(together, ...sources)).toEqual(expected);
    expect(expected).toEqual(["a created 3", "b created 0", "a extended 1", "c created 1"]);
    expect(await findingsOf(together)).toEqual([]);
    expect(await together.importSessions([])).toEqual([]);
  });

  test("one that fails rolls back alone", async () => {
    const store = await openedStore();
    await importAll(store, session("old", "u1"));
    const failing = [torn(session("bad", "u1 a1")), torn(session("old", "u1 a1 u2"))];
    expect(await importAll(store, session("a", "u1 a1"), ...failing, session("b", "u3"))).toEqual([
      "a created 2",
      "the disk has a hole",
      "the disk has a hole",
      "b created 1",
    ]);
    expect(await store.findSession("bad")).toBeUndefined();
    expect(await treeNames(await store.openSession("old"))).toBe(">u1");
    expect(await treeNames(await store.openSession("a"))).toBe(">u1 u1>a1");
    expect(await findingsOf(store)).toEqual([]);
  });

  test("another conversation with the id of one before it becomes a session of its own", async () => {
    const store = await openedStore();
    const [first, second] = await importAll(store, session("a", "u1 a1"), session("a", "u7 a7"));
    expect(first).toBe("a created 2");
    expect(second).toMatch(/^a\S+ created 2$/);
    expect(await treeNames(await store.openSession("a"))).toBe(">u1 u1>a1");
    expect(await findingsOf(store)).toEqual([]);
  });
});
