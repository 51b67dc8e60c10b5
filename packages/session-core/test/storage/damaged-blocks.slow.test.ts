import { crc32 } from "node:zlib";
import { describe, expect, test } from "vitest";
import { userMessage } from "../../src/entry/builders.js";
import { openStore } from "../../src/store/open-store.js";
import {
  change,
  DAMAGED,
  dataOf,
  expectOthersWhole,
  FIRST,
  NAMES,
  packedStore,
  readEach,
  smallBlock,
  WHOLE,
} from "../world/packed-stores.js";
import { findingsOf, openedStore, raw } from "../world/stores.js";

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

  test.each([
    [64, FIRST, NAMES],
    [NAMES.length, NAMES, FIRST],
  ])("another session, leaves that session readable (a block of %i)", async (entries, lost, kept) => {
    const path = await packedStore();
    change(path, "UPDATE payload_block SET session_seq = 2 WHERE session_seq = 1 AND entries = ?", entries);
    const store = await openedStore({ path, mode: "read-only" });
    const found = await findingsOf(store);
    expect(found.map(({ rule, sessionId, entryId }) => [rule, sessionId, entryId])).toEqual([
      ["damaged-block", "whole", null],
      ...lost.map((name) => ["missing-payload", "damaged", name]),
    ]);
    expect(await readEach(store, "damaged", lost)).toEqual(lost.map(() => "PAYLOAD_DAMAGED"));
    expect(await readEach(store, "damaged", kept)).toEqual(kept);
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
