import { describe, expect, test } from "vitest";
import { EntryNotFoundError, UnserializableValueError, ValueTooLargeError } from "../../../src/errors/session-errors.js";
import { contextNames, grow, pathNames } from "../../world/grow.js";

describe("a label", () => {
  test("is found whatever the case of its letters, also beyond ASCII", async () => {
    const { session } = await grow("u1 a1");
    await session.labels.set("u1", "Übergabe");
    expect(await session.labels.list("über")).toMatchObject([{ entryId: "u1" }]);
    expect(await session.resolve("übergabe")).toBe("u1");
  });

  test("never moves the leaf, is no entry and is no parent", async () => {
    const { session } = await grow("u1 a1 u2");
    await session.labels.set("a1", "good");
    expect(session.leafId).toBe("u2");
    expect(await pathNames(session)).toBe("u1 a1 u2");
    expect(await contextNames(session)).toBe("u1 a1 u2");
  });

  test("takes the place of the one before, and can be taken away", async () => {
    const { session } = await grow("u1 a1");
    await session.labels.set("a1", "first");
    await session.labels.set("a1", "second");
    expect(await session.labels.list()).toMatchObject([{ entryId: "a1", label: "second" }]);
    await session.labels.remove("a1");
    expect(await session.labels.list()).toEqual([]);
  });

  test("that is white space takes it away", async () => {
    const { session } = await grow("u1");
    await session.labels.set("u1", "x");
    await session.labels.set("u1", " \n ");
    expect(await session.labels.list()).toEqual([]);
  });

  test("is kept on one line, without control characters or half of a surrogate pair", async () => {
    const { session } = await grow("u1");
    await session.labels.set("u1", ` two\r\nlines\u001b[31m\u2028 and \ud83d half `);
    expect((await session.labels.list())[0]?.label).toBe("two lines [31m and \ufffd half");
  });

  test("is found by a part of it, whatever the case, oldest entry first", async () => {
    const { session } = await grow("u1 a1 u2");
    await session.labels.set("u2", "Parser works");
    await session.labels.set("u1", "parser broken");
    await session.labels.set("a1", "other");
    expect((await session.labels.list("PARSER")).map(({ entryId }) => entryId)).toEqual(["u1", "u2"]);
    expect(await session.labels.list("%")).toEqual([]);
  });

  test("of an entry that is not there is refused", async () => {
    const { session } = await grow("u1");
    await expect(session.labels.set("zz", "x")).rejects.toThrow(EntryNotFoundError);
  });

  test("belongs to its session, though another has an entry of the same id", async () => {
    const { store, session } = await grow("u1");
    const { session: other } = await grow("u1", { store });
    await session.labels.set("u1", "mine");
    expect(await other.labels.list()).toEqual([]);
  });
});

describe("a value", () => {
  test("is kept under its key, replaced by the next, and taken away by undefined", async () => {
    const { session } = await grow("");
    await session.values.set("tools", ["bash"]);
    await session.values.set("tools", { active: ["read"], none: null });
    expect(await session.values.get("tools")).toEqual({ active: ["read"], none: null });
    await session.values.set("tools", undefined);
    expect(await session.values.get("tools")).toBeUndefined();
  });

  test("may be null, which is not the same as none", async () => {
    const { session } = await grow("");
    await session.values.set("k", null);
    expect(await session.values.get("k")).toBeNull();
  });

  test("is listed with others by the start of its key, in order; no character is a pattern", async () => {
    const { session } = await grow("");
    for (const key of ["b", "a%2", "a_1", "ab"]) await session.values.set(key, 0);
    expect((await session.values.list("a")).map(({ key }) => key)).toEqual(["a%2", "a_1", "ab"]);
    expect((await session.values.list("a_")).map(({ key }) => key)).toEqual(["a_1"]);
    expect((await session.values.list()).map(({ key }) => key)).toEqual(["a%2", "a_1", "ab", "b"]);
  });

  test("may have 16 MiB of JSON and not a byte more", async () => {
    const { session } = await grow("");
    const most = 16 * 1024 * 1024;
    await session.values.set("k", "x".repeat(most - 2));
    const large = session.values.set("k", "é".repeat(most / 2));
    await expect(large).rejects.toThrow(ValueTooLargeError);
    await expect(large).rejects.toMatchObject({ key: "k", bytes: most + 2, limitBytes: most });
    expect(await session.values.get("k")).toHaveLength(most - 2);
  });

  test("that JSON cannot hold is refused", async () => {
    const { session } = await grow("");
    await expect(session.values.set("k", { n: 1n })).rejects.toThrow(UnserializableValueError);
    expect(await session.values.list()).toEqual([]);
  });

  test.each(["", "k".repeat(201), "\ud800", "a\udc00b"])(
    "needs a key of 1 to 200 characters, without a lone surrogate: %j",
    async (key) => {
      const { session } = await grow("");
      await expect(session.values.set(key, 1)).rejects.toMatchObject({
        code: "INVALID_ENTRY",
        path: "key",
        message: expect.stringMatching(/^Not a valid key of a value: must /),
      });
    },
  );

  test("is never in the context", async () => {
    const { session } = await grow("u1");
    await session.values.set("k", "secret");
    expect(JSON.stringify(await session.context())).not.toContain("secret");
  });
});
