import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../../.ci/test-runs.js";
import { userMessage } from "../../../src/entry/builders.js";
import { ValueChangedError } from "../../../src/errors/session-errors.js";
import type { Session } from "../../../src/session/session.js";
import { grow, treeNames } from "../../world/grow.js";
import { openedStore, raw, storePath } from "../../world/stores.js";

async function keysOf(session: Session, range: Parameters<Session["values"]["list"]>[0] = {}): Promise<string> {
  const values = await session.values.list(range);
  expect((await session.values.keys(range)).map(({ key }) => key)).toEqual(values.map(({ key }) => key));
  return values.map(({ key }) => key).join(" ");
}

async function withKeys(...keys: readonly string[]): Promise<Session> {
  const { session } = await grow("");
  await session.write(keys.map((key) => ({ kind: "value", key, value: { key } })));
  return session;
}

describe("a conditional write of a value", () => {
  test("is done where the present value is the expected one, whatever the order of its members", async () => {
    const { session } = await grow("");
    await session.values.set("job", { id: 1, state: { at: 2, by: "a" } });
    await session.values.set("job", "done", { ifEquals: { state: { by: "a", at: 2 }, id: 1 } });
    expect(await session.values.get("job")).toBe("done");
  });

  test("fails with the present value where another writer has changed it, and writes nothing", async () => {
    const { store, session } = await grow("");
    await session.values.set("job", { owner: "a" });
    const other = await store.openSession(session.id);
    await other.values.set("job", { owner: "b" });
    const late = session.values.set("job", { owner: "c" }, { ifEquals: { owner: "a" } });
    await expect(late).rejects.toBeInstanceOf(ValueChangedError);
    await expect(late).rejects.toMatchObject({ code: "VALUE_CHANGED", key: "job", actual: '{"owner":"b"}', sessionId: session.id });
    expect(await session.values.get("job")).toEqual({ owner: "b" });
  });

  test("with `ifEquals: undefined` is done only where the key has no value", async () => {
    const { session } = await grow("");
    await session.values.set("lock", "a", { ifEquals: undefined });
    const second = session.values.set("lock", "b", { ifEquals: undefined });
    await expect(second).rejects.toMatchObject({ code: "VALUE_CHANGED", actual: '"a"' });
    expect(await session.values.get("lock")).toBe("a");
  });

  test("keeps `ifEquals: undefined` also where it has to wait behind a write before it", async () => {
    const { session } = await grow("");
    const outcomes = await Promise.allSettled(
      ["a", "b", "c"].map((value) => session.write([{ kind: "value", key: "lock", value, ifEquals: undefined }])),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
    expect(await session.values.get("lock")).toBe("a");
  });

  test("tells null from a missing value", async () => {
    const { session } = await grow("");
    await expect(session.values.set("k", 1, { ifEquals: null })).rejects.toMatchObject({ code: "VALUE_CHANGED", actual: undefined });
    await session.values.set("k", null);
    await expect(session.values.set("k", 1, { ifEquals: undefined })).rejects.toMatchObject({ code: "VALUE_CHANGED", actual: "null" });
    await session.values.set("k", 1, { ifEquals: null });
    expect(await session.values.get("k")).toBe(1);
  });

  test("can remove a value", async () => {
    const session = await withKeys("a");
    await session.values.set("a", undefined, { ifEquals: { key: "a" } });
    expect(await keysOf(session)).toBe("");
  });

  test("that fails undoes the whole batch: entries, values, labels and moves", async () => {
    const { session } = await grow("u1 a1");
    const batch = session.write([
      { kind: "entry", entry: { ...userMessage("x"), id: "u2" } },
      { kind: "label", entryId: "u2", label: "new" },
      { kind: "value", key: "other", value: 1 },
      { kind: "value", key: "version", value: 2, ifEquals: 1 },
    ]);
    await expect(batch).rejects.toMatchObject({ code: "VALUE_CHANGED" });
    expect(await treeNames(session)).toBe(">u1 u1>a1");
    expect(await session.values.list()).toEqual([]);
    expect(await session.labels.list()).toEqual([]);
  });

  test("sees the values that the same batch has written", async () => {
    const { session } = await grow("");
    await session.write([
      { kind: "value", key: "n", value: 1, ifEquals: undefined },
      { kind: "value", key: "n", value: 2, ifEquals: 1 },
      { kind: "deleteValues", prefix: "n" },
      { kind: "value", key: "n", value: 3, ifEquals: undefined },
    ]);
    expect(await session.values.get("n")).toBe(3);
  });

  test("recognizes any value that was stored, members in any order, and no other one", async () => {
    const store = await openedStore();
    const { session } = await grow("", { store });
    const json = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.constantFrom(JSON.parse('{"__proto__":{"a":1},"constructor":null,"":[]}'), -0, 1e-7, "", [[]], { 2: 1, 1: 2, a: 0 }),
    );
    await fc.assert(
      fc.asyncProperty(json, json, async (value, other) => {
        const text = (one: unknown) => JSON.stringify(sorted(one));
        await session.values.set("k", value);
        const attempt = session.values.set("k", other, { ifEquals: reversed(value) });
        await expect(attempt).resolves.toBeUndefined();
        const again = session.values.set("k", 1, { ifEquals: value });
        if (text(value) === text(other)) await expect(again).resolves.toBeUndefined();
        else await expect(again).rejects.toMatchObject({ code: "VALUE_CHANGED" });
      }),
      { numRuns: runs(200) },
    );
  });

  test("shows a long present value cut, on one line", async () => {
    const { session } = await grow("");
    await session.values.set("k", `line\n${"x".repeat(5000)}`);
    const failure: unknown = await session.values.set("k", 1, { ifEquals: 2 }).catch((error: unknown) => error);
    expect(String(failure)).toContain('it is "line\\nxxx');
    expect(String(failure).length).toBeLessThan(300);
    expect(String(failure)).not.toContain("\n");
  });
});

describe("updating a value", () => {
  test("by several handles at once loses no update", async () => {
    const { store, session } = await grow("");
    const other = await store.openSession(session.id);
    const increment = (count: unknown) => Number(count ?? 0) + 1;
    await Promise.all([session, other].flatMap((one) => Array.from({ length: 15 }, () => one.values.update("count", increment))));
    expect(await session.values.get("count")).toBe(30);
  });

  test("returns the new value, and removes it where that is undefined", async () => {
    const session = await withKeys("a");
    expect(await session.values.update("a", (present) => [present])).toEqual([{ key: "a" }]);
    expect(await session.values.update("a", () => undefined)).toBeUndefined();
    expect(await keysOf(session)).toBe("");
  });

  test("waits for a change that is a promise", async () => {
    const { session } = await grow("");
    expect(await session.values.update("a", async (present) => ({ present: present ?? "none" }))).toEqual({ present: "none" });
  });

  test("may change the object that it gets", async () => {
    const { session } = await grow("");
    await session.values.set("list", { items: [1] });
    await session.values.update("list", (present) => {
      (present as { items: number[] }).items.push(2);
      return present;
    });
    expect(await session.values.get("list")).toEqual({ items: [1, 2] });
  });

  test("that throws writes nothing", async () => {
    const session = await withKeys("a");
    const failing = session.values.update("a", () => {
      throw new RangeError("no");
    });
    await expect(failing).rejects.toThrow(RangeError);
    expect(await session.values.get("a")).toEqual({ key: "a" });
  });
});

describe("a range of values", () => {
  test("is in the order of keys, or in the reverse", async () => {
    const session = await withKeys("b", "a/2", "a/1", "a", "c");
    expect(await keysOf(session)).toBe("a a/1 a/2 b c");
    expect(await keysOf(session, { order: "desc" })).toBe("c b a/2 a/1 a");
    expect(await keysOf(session, { prefix: "a/", order: "desc" })).toBe("a/2 a/1");
  });

  test("is read in pages, each after the last key of the page before", async () => {
    const session = await withKeys("a/1", "a/2", "a/3", "b/1");
    expect(await keysOf(session, { prefix: "a/", limit: 2 })).toBe("a/1 a/2");
    expect(await keysOf(session, { prefix: "a/", limit: 2, after: "a/2" })).toBe("a/3");
    expect(await keysOf(session, { prefix: "a/", limit: 2, after: "a/3" })).toBe("");
    expect(await keysOf(session, { prefix: "a/", order: "desc", limit: 2, after: "b/1" })).toBe("a/3 a/2");
    expect(await keysOf(session, { order: "desc", after: "a/2" })).toBe("a/1");
    expect(await keysOf(session, { limit: 0 })).toBe("");
  });

  test("of a prefix before the surrogates ends there", async () => {
    const session = await withKeys("\ud7ff", "\ud7ffa", "\ue000", "\uffff");
    expect(await keysOf(session, "\ud7ff")).toBe("\ud7ff \ud7ffa");
  });

  test("of keys has their sizes in bytes of UTF-8, and their times", async () => {
    const { session } = await grow("");
    await session.values.set("k", "é");
    expect(await session.values.keys()).toEqual([{ key: "k", bytes: 4, updatedAtMs: expect.any(Number) }]);
  });

  test("is what a filter over all keys gives, for any keys, prefix, start and order", async () => {
    const store = await openedStore();
    const key = fc.string({
      unit: fc.constantFrom("a", "b", "%", "\0", "é", "\ud7ff", "\ue000", "\uffff", "😀", "\u{10ffff}"),
      maxLength: 4,
    });
    const order = fc.constantFrom("asc" as const, "desc" as const);
    const compare = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other));
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(
          key.filter((one) => one !== ""),
          { maxLength: 12 },
        ),
        key,
        fc.option(key, { nil: undefined }),
        order,
        async (keys, prefix, after, direction) => {
          const { session } = await grow("", { store });
          await session.write(keys.map((one) => ({ kind: "value", key: one, value: 1 })));
          const sign = direction === "asc" ? 1 : -1;
          const expected = keys
            .filter((one) => one.startsWith(prefix) && (after === undefined || compare(one, after) * sign > 0))
            .sort((one, other) => compare(one, other) * sign);
          const listed = await session.values.list({ prefix, after, order: direction });
          expect(listed.map((value) => value.key)).toEqual(expected);
          if (prefix === "") return;
          await session.values.deletePrefix(prefix);
          const left = (await session.values.list()).map((value) => value.key);
          expect(left).toEqual(keys.filter((one) => !one.startsWith(prefix)).sort(compare));
        },
      ),
      { numRuns: runs(200) },
    );
  });
});

describe("a value larger than 64 KiB", () => {
  const LARGE = { text: "é".repeat(50_000) };
  const LARGE_BYTES = 100_011;

  /** How many texts lie in the table of large values. */
  function spilled(path: string): unknown {
    return raw(path, (file) => file.prepare("SELECT count(*) FROM large_value").pluck().get());
  }

  test("reads as any other, in a list and by its key, and takes any size before and after", async () => {
    const path = storePath();
    const { session } = await grow("", { store: await openedStore({ path }) });
    for (const value of [1, LARGE, { ...LARGE, again: true }, "small", LARGE]) {
      await session.values.set("k", value);
      expect(await session.values.get("k")).toEqual(value);
      expect(await session.values.list("k")).toEqual([{ key: "k", value, updatedAtMs: expect.any(Number) }]);
      expect(spilled(path)).toBe(typeof value === "object" ? 1 : 0);
      const inRow = raw(path, (file) => file.prepare("SELECT length(value_json) FROM value").pluck().get());
      expect(inRow).toBeLessThan(10);
    }
    expect(await session.values.keys()).toMatchObject([{ key: "k", bytes: LARGE_BYTES }]);
  });

  test("is compared as any other by a conditional write", async () => {
    const { session } = await grow("");
    await session.values.set("k", LARGE);
    await expect(session.values.set("k", 1, { ifEquals: { text: "é" } })).rejects.toMatchObject({ actual: expect.stringContaining("éé") });
    await session.values.set("k", 1, { ifEquals: { ...LARGE } });
    expect(await session.values.get("k")).toBe(1);
  });

  test("leaves nothing behind where it, its prefix or its session is deleted", async () => {
    const path = storePath();
    const { store, session } = await grow("", { store: await openedStore({ path }) });
    for (const key of ["a/1", "a/2", "b/1", "c/1"]) await session.values.set(key, LARGE);
    await session.values.set("b/1", undefined);
    await session.values.deletePrefix("a/");
    expect(spilled(path)).toBe(1);
    await store.deleteSession(session.id);
    expect(spilled(path)).toBe(0);
  });

  test("is not read by a list of keys, nor by a list of other values", async () => {
    const path = storePath();
    const { session } = await grow("", { store: await openedStore({ path }) });
    await session.values.set("a", LARGE);
    await session.values.set("b", 1);
    raw(path, (file) => file.exec("UPDATE large_value SET json = 'no JSON'"));
    const reader = await openedStore({ path });
    const again = await reader.openSession(session.id);
    expect(await again.values.keys()).toMatchObject([
      { key: "a", bytes: LARGE_BYTES },
      { key: "b", bytes: 1 },
    ]);
    expect(await again.values.list({ after: "a" })).toMatchObject([{ key: "b", value: 1 }]);
    await expect(again.values.get("a")).rejects.toMatchObject({ code: "STORE_DAMAGED" });
  });
});

describe("deleting values by prefix", () => {
  test("removes those values and no other, of this session only", async () => {
    const session = await withKeys("a", "a/1", "a/2", "a0", "b");
    const { session: other } = await grow("");
    await other.values.set("a/1", 1);
    await session.values.deletePrefix("a/");
    expect(await keysOf(session)).toBe("a a0 b");
    expect(await keysOf(other)).toBe("a/1");
  });

  test("refuses an empty prefix", async () => {
    const session = await withKeys("a");
    await expect(session.values.deletePrefix("")).rejects.toMatchObject({ code: "INVALID_ARGUMENT", argument: "prefix" });
    await expect(session.write([{ kind: "deleteValues", prefix: "" }])).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(await keysOf(session)).toBe("a");
  });
});

describe("one value of many sessions", () => {
  test("is given by session, large ones too, of the sessions asked for or listed; those without it are missing", async () => {
    const store = await openedStore();
    const large = "x".repeat(100_000);
    for (const [id, value] of Object.entries({ a: 1, b: large, c: undefined, d: { deep: true } })) {
      const { session } = await grow("u1", { store, session: { id, metadata: { owner: id === "a" ? "u1" : "u2" } } });
      await session.values.set("k", value);
      await session.values.set("k2", "other");
    }
    const given = async (of?: Parameters<typeof store.valuesOf>[1]) =>
      [...(await store.valuesOf("k", of))].map(([id, { value }]) => [id, value]).toSorted();
    expect(await given()).toEqual([
      ["a", 1],
      ["b", large],
      ["d", { deep: true }],
    ]);
    expect(await given(["d", "nobody", "a", "c"])).toEqual([
      ["a", 1],
      ["d", { deep: true }],
    ]);
    expect(await given({ metadata: { owner: "u2" } })).toEqual([
      ["b", large],
      ["d", { deep: true }],
    ]);
    expect([...(await store.valuesOf("k", ["d", "a"])).keys()]).toEqual(["d", "a"]);
  });

  test("may be of more sessions than one query asks", async () => {
    const store = await openedStore();
    const ids = Array.from({ length: 1_101 }, (_, at) => `s${at}`);
    for (const id of ids) await store.createSession({ id });
    await (await store.openSession("s1100")).values.set("k", 1);
    expect([...(await store.valuesOf("k", ids)).keys()]).toEqual(["s1100"]);
  });
});

/** The same JSON value with the members of every object in an order that `compare` gives. */
function ordered(value: unknown, compare: (one: string, other: string) => number): unknown {
  if (Array.isArray(value)) return value.map((member: unknown) => ordered(member, compare));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).sort(([one], [other]) => compare(one, other));
  return Object.fromEntries(members.map(([name, member]) => [name, ordered(member, compare)]));
}

const sorted = (value: unknown) => ordered(value, (one, other) => (one < other ? -1 : 1));
const reversed = (value: unknown) => ordered(value, (one, other) => (one < other ? 1 : -1));
