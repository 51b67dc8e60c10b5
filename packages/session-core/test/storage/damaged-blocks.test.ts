import { crc32, deflateRawSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { userMessage } from "../../src/entry/builders.js";
import { openStore } from "../../src/store/open-store.js";
import type { Store } from "../../src/store/store.js";
import { exportBough } from "../../src/transfer/export.js";
import { entryNamed } from "../world/grow.js";
import { collected, findingsOf, openedStore, raw, storePath } from "../world/stores.js";

const NAMES = ["u1", "a1", "d1", "u2"];
const WHOLE = ["u1", "a1"];

/**
 * A closed store of packed sessions: `damaged` has two blocks, one of 64 entries and then a small one of `NAMES`; `whole` has one.
 * The entries of both take turns, so that their row numbers are interleaved.
 */
async function packedStore(): Promise<string> {
  const path = storePath();
  const store = await openStore({ path, durability: "normal" });
  const damaged = await store.createSession({ id: "damaged" });
  await damaged.write(Array.from({ length: 63 }, (_, at) => ({ kind: "entry", entry: entryNamed(`n${at}`) })));
  const whole = await store.createSession({ id: "whole" });
  await whole.append(entryNamed("u1"));
  await damaged.append(entryNamed("n63"));
  for (const name of NAMES) await damaged.append(entryNamed(name));
  await whole.append(entryNamed("a1"));
  await store.pack();
  await store.close();
  return path;
}

interface Block {
  readonly seq: number;
  readonly data: Buffer;
}

/** The small block of the session `damaged`. */
const smallBlock = (path: string) =>
  raw(path, (file) => file.prepare("SELECT seq, data FROM payload_block WHERE session_seq = 1 AND entries = ?").get(NAMES.length)) as Block;

function change(path: string, sql: string, ...parameters: readonly unknown[]): void {
  raw(path, (file) => {
    file.pragma("foreign_keys = OFF");
    file.pragma("ignore_check_constraints = ON");
    file.prepare(sql).run(...parameters);
  });
}

/** What reading each entry gives: its text, or the code of the error. */
async function readEach(store: Store, id: string, names: readonly string[]): Promise<readonly string[]> {
  const session = await store.openSession(id);
  const read = names.map((name) =>
    session.entry(name).then(
      (entry) => entry.id,
      (error: { readonly code?: string }) => error.code ?? String(error),
    ),
  );
  return Promise.all(read);
}

const DAMAGED = NAMES.map(() => "PAYLOAD_DAMAGED");
const FIRST = Array.from({ length: 64 }, (_, at) => `n${at}`);

/** Nothing but the entries of the damaged block is affected. */
async function expectOthersWhole(path: string): Promise<void> {
  const store = await openStore({ path, durability: "normal" });
  try {
    expect(await readEach(store, "whole", WHOLE)).toEqual(WHOLE);
    const whole = await store.openSession("whole");
    expect((await whole.context()).entries).toEqual(WHOLE);
    expect(await collected(exportBough(whole))).toHaveLength(WHOLE.length + 2);
    expect((await store.search({ query: "a1", sessionId: "whole" })).hits).toMatchObject([{ entryId: "a1" }]);
    await store.search({ query: "a1" });
    await (await store.openSession("damaged")).append(entryNamed("u9"));
    await whole.append(entryNamed("u9"));
    await store.pack();
    expect(await readEach(store, "whole", [...WHOLE, "u9"])).toEqual([...WHOLE, "u9"]);
    expect(raw(path, (file) => file.prepare("SELECT row_count FROM session WHERE id = 'whole'").pluck().get())).toBe(0);
    expect(await findingsOf(store, "whole")).toEqual([]);
    await store.backup(`${path}.backup`);
    await store.deleteSession("damaged");
    expect(await findingsOf(store)).toEqual([]);
  } finally {
    await store.close();
  }
}

describe("a damaged block", () => {
  test("is named by verify whichever of its bytes is changed, and each of its entries is told by a typed error", async () => {
    const path = await packedStore();
    const { seq, data } = smallBlock(path);
    for (let at = 0; at < data.length; at++) {
      const flipped = Buffer.from(data);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      change(path, "UPDATE payload_block SET data = ? WHERE seq = ?", flipped, seq);
      const store = await openStore({ path, mode: "read-only" });
      const found = await findingsOf(store, "damaged");
      expect(found.map(({ rule, message }) => [rule, message.split(":")[0]])).toEqual([["damaged-block", `Block ${seq}`]]);
      expect(await readEach(store, "damaged", NAMES)).toEqual(DAMAGED);
      expect(await readEach(store, "damaged", ["n0", "n63"])).toEqual(["n0", "n63"]);
      expect(await readEach(store, "whole", WHOLE)).toEqual(WHOLE);
      await store.close();
    }
    await expectOthersWhole(path);
  });
});

/** The data of a block, made by hand: its first line, and what follows. */
const dataOf = (numbers: unknown, body: string | Buffer) =>
  deflateRawSync(Buffer.concat([Buffer.from(`${JSON.stringify(numbers)}\n`), Buffer.from(body)]));

const FORGED: readonly (readonly [what: string, data: (whole: Buffer) => Buffer])[] = [
  ["is empty", () => Buffer.alloc(0)],
  ["is cut off", (data) => data.subarray(0, data.length - 5)],
  ["has no first line", () => deflateRawSync(Buffer.from("0,0"))],
  ["has a first line that is no list", () => dataOf({ a: 1 }, "{}")],
  ["has a first line of words", () => dataOf(["0", "x", 1, "y", 1, "z", 1, 1], "")],
  ["has fractions for sizes", () => dataOf([0, 0.5, 1, 0.5, 1, 0, 1, 0], "x")],
  ["has entries in reverse", () => dataOf([0, 1, 5, 1, -3, 1, 1, 1], "1234")],
  ["has sizes below zero", () => dataOf([0, 8, 1, -4, 1, 0, 1, 0], "1234")],
  ["has the same entry twice", () => dataOf([0, 1, 0, 1, 2, 1, 1, 1], "1234")],
];

describe("a block whose checksum is right, but whose data", () => {
  test.each(FORGED)("%s, is damaged", async (_what, forge) => {
    const path = await packedStore();
    const { seq, data } = smallBlock(path);
    const forged = forge(data);
    change(path, "UPDATE payload_block SET data = ?, checksum = ?, payload_bytes = 4 WHERE seq = ?", forged, crc32(forged), seq);
    const store = await openStore({ path, mode: "read-only" });
    expect((await findingsOf(store, "damaged")).map(({ rule }) => rule)).toEqual(["damaged-block"]);
    expect(await readEach(store, "damaged", NAMES)).toEqual(DAMAGED);
    await store.close();
    await expectOthersWhole(path);
  });
});

test("a block that decompresses to more than its size is damaged, and no more of it is decompressed", async () => {
  const path = await packedStore();
  const { seq } = smallBlock(path);
  const bomb = dataOf([0, 1, 1, 1, 1, 1, 1, 1], Buffer.alloc(2 ** 25));
  change(path, "UPDATE payload_block SET data = ?, checksum = ?, payload_bytes = 4 WHERE seq = ?", bomb, crc32(bomb), seq);
  const store = await openedStore({ path, mode: "read-only" });
  const session = await store.openSession("damaged");
  await expect(session.entry("u1")).rejects.toMatchObject({
    code: "PAYLOAD_DAMAGED",
    message: expect.stringContaining("larger than its size"),
    cause: { cause: { code: "ERR_BUFFER_TOO_LARGE" } },
  });
});

const HUGE = "9223372036854775807";
const COLUMNS: readonly (readonly [what: string, set: string, told?: string])[] = [
  ["another codec, as of a later version", "codec = 2", "codec 2 is unknown.*update Bough"],
  ["a codec that nobody has", `codec = ${HUGE}`],
  ["another checksum", "checksum = checksum + 1"],
  ["a checksum below zero", "checksum = -1"],
  ["another number of entries", "entries = entries + 1"],
  ["no entries", "entries = 0"],
  ["a first row before", "first_seq = first_seq - 1"],
  ["a first row after", "first_seq = first_seq + 1"],
  ["a first row far away", `first_seq = -${HUGE}`],
  ["a last row before", "last_seq = last_seq - 1"],
  ["a last row after", "last_seq = last_seq + 1"],
  ["a last row far away", `last_seq = ${HUGE}`],
  ["another size", "payload_bytes = payload_bytes + 1"],
  ["a size below zero", "payload_bytes = -1"],
  ["a size that no memory holds", `payload_bytes = ${HUGE}`],
];

describe("a block whose row has", () => {
  test.each(COLUMNS)("%s, is named by verify, and its entries are told by a typed error", async (_what, set, told = "") => {
    const path = await packedStore();
    const { seq } = smallBlock(path);
    change(path, `UPDATE payload_block SET ${set} WHERE seq = ?`, seq);
    const store = await openStore({ path, mode: "read-only" });
    const found = await findingsOf(store);
    expect(found.filter(({ rule }) => rule === "damaged-block").map(({ message }) => message)).toEqual([
      expect.stringMatching(new RegExp(`^Block ${seq}\\b.*${told}`)),
    ]);
    expect(new Set(found.map(({ sessionId }) => sessionId))).toEqual(new Set(["damaged"]));
    expect(await readEach(store, "damaged", NAMES)).toEqual(DAMAGED);
    expect(await readEach(store, "damaged", FIRST)).toEqual(FIRST);
    await store.close();
    await expectOthersWhole(path);
  });

  test("a range that includes entries of the next block, leaves those readable", async () => {
    const path = await packedStore();
    change(path, "UPDATE payload_block SET last_seq = last_seq + 3 WHERE entries = 64");
    const store = await openedStore({ path, mode: "read-only" });
    expect((await findingsOf(store)).map(({ rule }) => rule)).toEqual(["damaged-block"]);
    expect(await readEach(store, "damaged", NAMES)).toEqual(NAMES);
    expect(await readEach(store, "damaged", ["n0", "n63"])).toEqual(["PAYLOAD_DAMAGED", "PAYLOAD_DAMAGED"]);
  });

  test("another session, leaves that session readable", async () => {
    const path = await packedStore();
    const { seq } = smallBlock(path);
    change(path, "UPDATE payload_block SET session_seq = 2 WHERE seq = ?", seq);
    const store = await openedStore({ path, mode: "read-only" });
    const found = await findingsOf(store);
    expect(found.map(({ rule, sessionId, entryId }) => [rule, sessionId, entryId])).toEqual([
      ["damaged-block", "whole", null],
      ...NAMES.map((name) => ["missing-payload", "damaged", name]),
    ]);
    expect(await readEach(store, "damaged", NAMES)).toEqual(DAMAGED);
    expect(await readEach(store, "damaged", FIRST)).toEqual(FIRST);
    expect(await readEach(store, "whole", WHOLE)).toEqual(WHOLE);
  });

  test("a session that is not there, is a dangling reference", async () => {
    const path = await packedStore();
    const { seq } = smallBlock(path);
    change(path, "UPDATE payload_block SET session_seq = 99 WHERE seq = ?", seq);
    const store = await openStore({ path, mode: "read-only" });
    const found = await findingsOf(store);
    expect(found.map(({ rule, entryId }) => [rule, entryId])).toEqual([
      ["dangling-reference", null],
      ...NAMES.map((name) => ["missing-payload", name]),
    ]);
    expect(found[0]?.message).toContain(`Row ${seq} of table payload_block`);
    expect(await readEach(store, "damaged", NAMES)).toEqual(DAMAGED);
    await store.close();
  });
});

describe("blocks", () => {
  test("that hold the same entries are told, also where both can be read", async () => {
    const path = await packedStore();
    const { seq } = smallBlock(path);
    const first = raw(path, (file) => file.prepare("SELECT first_seq FROM payload_block WHERE seq = ?").pluck().get(seq));
    const forged = '{"message":{"role":"user","content":"forged"}}';
    const data = dataOf([0, forged.length], forged);
    change(
      path,
      `INSERT INTO payload_block (session_seq, first_seq, last_seq, entries, payload_bytes, codec, checksum, data)
       VALUES (1, ?, ?, 1, ?, 1, ?, ?)`,
      ...[first, first, forged.length, crc32(data), data],
    );
    const found = await findingsOf(await openedStore({ path, mode: "read-only" }));
    expect(found.filter(({ rule }) => rule === "damaged-block").map(({ message }) => message)).toEqual([
      expect.stringMatching(new RegExp(`^Block ${seq}\\b`)),
    ]);
  });

  test("that are missing are told by each entry that they held", async () => {
    const path = await packedStore();
    change(path, "DELETE FROM payload_block WHERE seq = ?", smallBlock(path).seq);
    const store = await openStore({ path, mode: "read-only" });
    expect((await findingsOf(store)).map(({ rule, entryId }) => [rule, entryId])).toEqual(NAMES.map((name) => ["missing-payload", name]));
    expect(await readEach(store, "damaged", NAMES)).toEqual(DAMAGED);
    await store.close();
    await expectOthersWhole(path);
  });
});

test("a session whose count of rows is wrong does not keep the others from being packed", async () => {
  const path = await packedStore();
  change(path, "UPDATE session SET row_count = 5, active_at_ms = 0 WHERE id = 'damaged'");
  const store = await openedStore({ path });
  await (await store.openSession("whole")).append(userMessage("new"));
  expect(await store.pack()).toMatchObject({ entries: 1 });
  expect(await store.pack({ scope: "old" })).toMatchObject({ entries: 0 });
});
