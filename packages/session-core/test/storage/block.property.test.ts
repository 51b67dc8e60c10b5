import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { toEntrySeq } from "../../src/ids/ids.js";
import {
  BLOCK_BYTES,
  BLOCK_ENTRIES,
  type BlockEntry,
  divideIntoBlocks,
  encodeBlock,
  encodeBlockAsync,
  OpenBlock,
} from "../../src/sqlite/file/block.js";

/** JSON texts as payloads are: short ones, long ones, of any characters, as large as a block and larger. */
const json = fc.oneof(
  { weight: 6, arbitrary: fc.json() },
  { weight: 3, arbitrary: fc.string({ unit: "binary" }).map((text) => JSON.stringify({ text })) },
  { weight: 1, arbitrary: fc.constantFrom("", '"\\u0000"', "𐍈".repeat(3_000)) },
  { weight: 1, arbitrary: fc.integer({ min: -2, max: 2 }).map((more) => "x".repeat(BLOCK_BYTES + more)) },
);

/** Entries whose row numbers rise, with gaps. */
const entries: fc.Arbitrary<readonly BlockEntry[]> = fc
  .array(fc.tuple(json, fc.integer({ min: 1, max: 1_000 })), { maxLength: 200, size: "max" })
  .map((drawn) => {
    let seq = 0;
    return drawn.map(([text, distance]) => {
      seq += distance;
      return { seq: toEntrySeq(seq), json: text };
    });
  });

const sizeOf = (block: readonly BlockEntry[]) => block.reduce((sum, { json: text }) => sum + Buffer.byteLength(text), 0);

test("any entries are divided in order into blocks of at most 64, which end with the entry that reaches 128 kB", () => {
  fc.assert(
    fc.property(entries, (given) => {
      const blocks = [...divideIntoBlocks(given)];
      expect(blocks.flat()).toEqual(given);
      for (const [at, block] of blocks.entries()) {
        expect(block.length).toBeGreaterThan(0);
        expect(block.length).toBeLessThanOrEqual(BLOCK_ENTRIES);
        expect(sizeOf(block.slice(0, -1))).toBeLessThan(BLOCK_BYTES);
        // A larger payload is alone.
        if (block.some(({ json: text }) => text.length > BLOCK_BYTES)) expect(block).toHaveLength(1);
        const next = blocks[at + 1]?.[0];
        if (next === undefined) continue;
        const isFull = block.length === BLOCK_ENTRIES || sizeOf(block) >= BLOCK_BYTES;
        expect(isFull || next.json.length > BLOCK_BYTES).toBe(true);
      }
    }),
    { numRuns: runs(30) },
  );
});

test("a block holds at most 64 entries and 128 kB", () => {
  expect([BLOCK_ENTRIES, BLOCK_BYTES]).toEqual([64, 131_072]);
});

test("any block gives back each of its entries, whole or only its start decompressed, and no other entry", async () => {
  await fc.assert(
    fc.asyncProperty(entries, fc.nat(), async (given, chosen) => {
      for (const block of divideIntoBlocks(given)) {
        const encoded = encodeBlock(block);
        expect(await encodeBlockAsync(block)).toEqual(encoded);
        expect(new OpenBlock(encoded).allEntries()).toEqual(block);
        const wanted = block[chosen % block.length];
        if (wanted === undefined) continue;
        const start = new OpenBlock(encoded, wanted.seq);
        for (const { seq, json: text } of block) expect([undefined, text]).toContain(start.textOf(seq));
        expect(start.textOf(wanted.seq)).toBe(wanted.json);
        const held = new Set<number>(block.map(({ seq }) => seq));
        for (const other of [0, wanted.seq - 1, wanted.seq + 1, encoded.first_seq - 1, encoded.last_seq + 1])
          if (!held.has(other)) expect(start.textOf(toEntrySeq(other))).toBeUndefined();
      }
    }),
    { numRuns: runs(20) },
  );
});
