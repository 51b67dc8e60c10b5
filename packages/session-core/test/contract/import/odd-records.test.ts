import { describe, expect, test } from "vitest";
import { userMessage } from "../../../src/entry/builders.js";
import { InvalidEntryError } from "../../../src/errors/session-errors.js";
import type { SourceRecord } from "../../../src/port/source.js";
import { findingsOf, openedStore } from "../../world/stores.js";

const entry = (id: string, parentId: string | null, createdAtMs = 5): SourceRecord => ({
  kind: "entry",
  line: 1,
  id,
  parentId,
  createdAtMs,
  payload: userMessage(id),
});

async function imported(records: readonly SourceRecord[], writtenAtMs?: number) {
  const store = await openedStore();
  const from = () =>
    store.importSession(
      { header: { sessionId: "s", kind: "conversation" }, records: () => records },
      { format: "x", path: "/x", writtenAtMs },
    );
  const [first, again] = [await from(), await from()];
  const session = await store.openSession("s");
  return { store, session, first, again, path: await session.path() };
}

describe("a record of a reader", () => {
  test.each(["a b", "", "x".repeat(129), "a\0b", "\ud800", "a\u001b[2Jb"])(
    "with the id %j gets another, by which others find it",
    async (id) => {
      const { store, session, first, again, path } = await imported([
        entry("r", null),
        entry(id, "r"),
        entry("e", id),
        { kind: "label", entryId: id, label: "odd" },
        { kind: "leaf", name: "other", entryId: id },
      ]);
      const [, odd] = path;
      expect(path).toMatchObject([
        { id: "r" },
        { id: expect.stringMatching(/^[0-9a-f]{16}$/), parentId: "r" },
        { id: "e", parentId: odd?.id },
      ]);
      expect(await session.labels.list()).toMatchObject([{ entryId: odd?.id, label: "odd" }]);
      expect(await session.leaves()).toMatchObject([{ name: "main" }, { name: "other", entryId: odd?.id }]);
      expect(first.problems).toMatchObject([{ code: "invalid-record", message: expect.stringContaining(`imported as ${odd?.id}`) }]);
      expect(again).toMatchObject({ outcome: "unchanged", entriesAdded: 0 });
      expect(await findingsOf(store)).toEqual([]);
    },
  );

  test("stays one entry if an earlier version of the reader did not say which files the host read for it", async () => {
    const store = await openedStore();
    const message = { role: "custom" as const, customType: "mention", content: "one" };
    const nestedCalls = { calls: [{ name: "Read", arguments: { file_path: "/app/a.ts" }, status: "ok" }] };
    const imports = [message, { ...message, nestedCalls }, message].map((one) => () => {
      const records: SourceRecord[] = [
        { kind: "entry", line: 1, id: "e", parentId: null, createdAtMs: 5, payload: { type: "message", message: one } },
      ];
      return store.importSession({ header: { sessionId: "s", kind: "conversation" }, records: () => records }, { format: "x", path: "/x" });
    });
    expect((await imports[0]?.())?.outcome).toBe("created");
    expect(await imports[1]?.()).toMatchObject({ sessionId: "s", outcome: "unchanged" });
    expect(await imports[2]?.()).toMatchObject({ sessionId: "s", outcome: "unchanged" });
  });

  test("that names an entry of its own session as its original is no copy", async () => {
    const { store, path } = await imported([
      entry("r", null, 0),
      {
        kind: "entry",
        line: 2,
        id: "e",
        parentId: "r",
        createdAtMs: 5,
        payload: userMessage("e"),
        origin: { sessionId: "s", entryId: "r" },
      },
    ]);
    expect(path).toMatchObject([{ id: "r" }, { id: "e" }]);
    expect(await findingsOf(store)).toEqual([]);
  });

  test.each([
    [1_000.75, 1_000],
    [-0.5, -1],
    [Number.NaN, 7],
    [Number.POSITIVE_INFINITY, 7],
    [1e18, 7],
  ])("with the time %d has the time %d", async (given, kept) => {
    const label: SourceRecord = { kind: "label", entryId: "r", label: "x", createdAtMs: given };
    const { store, session, again, path } = await imported([entry("r", null, given), label], 7.5);
    expect(path).toMatchObject([{ createdAtMs: kept }]);
    expect((await session.record()).createdAtMs).toBe(7);
    expect(await session.labels.list()).toMatchObject([{ label: "x", createdAtMs: kept === 7 ? 0 : kept }]);
    expect(again).toMatchObject({ outcome: "unchanged", problems: [] });
    expect(await findingsOf(store)).toEqual([]);
  });
});

test.each([1_000.5, Number.NaN])("a header with the time %d is refused, also where the session exists", async (createdAtMs) => {
  const { store } = await imported([entry("r", null, 0)]);
  const source = {
    header: { sessionId: "s", kind: "conversation", createdAtMs },
    records: () => [entry("r", null, 0), entry("e", "r", 0)],
  } as const;
  await expect(store.importSession(source, { format: "x", path: "/x" })).rejects.toThrow(InvalidEntryError);
});
