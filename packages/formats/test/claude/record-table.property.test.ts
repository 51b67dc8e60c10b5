import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import type { RecordKind } from "../../src/claude/record-kind.js";
import { RecordTable } from "../../src/claude/record-table.js";
import { UuidMap } from "../../src/claude/uuid-map.js";

/** Ids as records have them: UUIDs, some of which are alike, and what other programs write. */
const id = fc.oneof(
  fc.uuid(),
  fc.constantFrom("00000000-0000-0000-0000-000000000000", "0000000-00000-0000-0000-000000000001", "ABCDEF01-0000-4000-8000-000000000000"),
  fc.integer({ min: 0, max: 300 }).map((at) => `00000000-0000-4000-8000-${at.toString(16).padStart(12, "0")}`),
  fc.string({ minLength: 1 }),
);

test("a map of ids answers as a Map, whatever was set, set again and deleted", () => {
  const step = fc.record({ id, node: fc.nat(), isDeleted: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 600, size: "max" }), (steps) => {
      const [ours, map] = [new UuidMap(), new Map<string, number>()];
      for (const { id, node, isDeleted } of steps) {
        for (const one of [ours, map]) isDeleted ? one.delete(id) : one.set(id, node);
        expect(ours.get(id)).toBe(map.get(id));
      }
      expect(ours.size).toBe(map.size);
      expect([...ours.keys()].sort()).toEqual([...map.keys()].sort());
      for (const { id } of steps) expect([ours.get(id), ours.has(id)]).toEqual([map.get(id), map.has(id)]);
    }),
    { numRuns: runs(50) },
  );
});

test("ids that were chosen to have one hash are found in a time that does not grow with their square", () => {
  const hex = (word: number) => word.toString(16).padStart(8, "0");
  // The first and the last word are equal, so their difference, sum and product with fixed factors are known.
  const ids = Array.from({ length: 200_000 }, (_, at) => `${hex(at)}-0000-0000-0000-0000${hex(at)}`);
  const map = new UuidMap();
  for (const [at, one] of ids.entries()) map.set(one, at);
  expect(map.size).toBe(ids.length);
  expect(ids.every((one, at) => map.get(one) === at)).toBe(true);
});

describe("the records of an index", () => {
  const number = fc.integer({ min: -3, max: 2 ** 31 - 1 });
  const record = fc.record({
    kind: fc.constantFrom<RecordKind>("human", "reply", "side", "absorbed", "bad"),
    uuid: fc.oneof(id, fc.constant("")),
    line: fc.nat(),
    offset: fc.maxSafeNat(),
    bytes: fc.nat(),
    parent: number,
    reply: number,
    chain: fc.nat(),
    hasStepChild: fc.boolean(),
    object: fc.constantFrom(undefined, { type: "user" }),
  });

  test("are those that were added", () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 200, size: "max" }), (records) => {
        const table = new RecordTable();
        for (const one of records) table.push(one);
        const read = Array.from(table, ({ kind, uuid, line, offset, bytes, parent, reply, chain, hasStepChild, object }) => ({
          ...{ kind, uuid, line, offset, bytes, parent, reply, chain, hasStepChild, object },
        }));
        expect(read).toEqual(records);
        expect([table.length, table.get(-1), table.get(records.length)]).toEqual([records.length, undefined, undefined]);
      }),
      { numRuns: runs(50) },
    );
  });
});
