import { crc32, deflateRawSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { openStore } from "../../src/store/open-store.js";
import { change, dataOf, expectOthersWhole, NAMES, packedStore, readEach, smallBlock } from "../world/packed-stores.js";
import { findingsOf, openedStore } from "../world/stores.js";

const FORGED: readonly (readonly [what: string, data: (whole: Buffer) => Buffer, told: string])[] = [
  ["is empty", () => Buffer.alloc(0), "no JSON"],
  ["is no compressed data", () => Buffer.from([7, 7, 7, 7]), "cannot be decompressed"],
  ["is cut off", (data) => data.subarray(0, data.length - 5), "size differs"],
  ["has no first line", () => deflateRawSync(Buffer.from("0,0")), "no JSON"],
  ["has a first line that is no list", () => dataOf({ a: 1 }, "{}"), "not a list of whole numbers"],
  ["has a first line of words", () => dataOf(["0", "x", 1, "y", 1, "z", 1, 1], ""), "not a list of whole numbers"],
  ["has fractions for sizes", () => dataOf([0, 0.5, 1, 0.5, 1, 0, 1, 0], "x"), "not a list of whole numbers"],
  ["has entries in reverse", () => dataOf([0, 1, 5, 1, -3, 1, 1, 1], "1234"), "impossible numbers"],
  ["has sizes below zero", () => dataOf([0, 8, 1, -4, 1, 0, 1, 0], "1234"), "impossible numbers"],
  ["has the same entry twice", () => dataOf([0, 1, 0, 1, 2, 1, 1, 1], "1234"), "impossible numbers"],
  ["does not begin with the first entry", () => dataOf([1, 1, 1, 1, 1, 1, 0, 1], "1234"), "impossible numbers"],
  ["has no size for the last entry", () => dataOf([0, 1, 1, 1, 1, 2, 1], "1234"), "impossible numbers"],
  ["has too many entries", () => dataOf([0, 1, 1, 1, 1, 1, 1, 1, 1, 0], "1234"), "row numbers differ"],
  ["has entries up to another one", () => dataOf([0, 1, 1, 1, 1, 1, 9, 1], "1234"), "row numbers differ"],
  ["has less than its size", () => dataOf([0, 1, 1, 1, 1, 1, 1, 1], "123"), "size differs"],
  ["has other sizes", () => dataOf([0, 1, 1, 1, 1, 1, 1, 2], "1234"), "size differs"],
];

describe("a block whose checksum is right, but whose data", () => {
  test.each(FORGED)("%s, is damaged", async (_what, forge, told) => {
    const path = await packedStore();
    const { seq, data } = smallBlock(path);
    const forged = forge(data);
    change(path, "UPDATE payload_block SET data = ?, checksum = ?, payload_bytes = 4 WHERE seq = ?", forged, crc32(forged), seq);
    const store = await openStore({ path, mode: "read-only" });
    expect(await findingsOf(store, "damaged")).toMatchObject([{ rule: "damaged-block", message: expect.stringContaining(told) }]);
    // Only the start of a block is decompressed for its first entries, so these may be readable.
    const outcomes = await readEach(store, "damaged", NAMES);
    expect(outcomes.filter((outcome, at) => outcome !== NAMES[at] && outcome !== "PAYLOAD_DAMAGED")).toEqual([]);
    expect(outcomes.at(-1)).toBe("PAYLOAD_DAMAGED");
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
