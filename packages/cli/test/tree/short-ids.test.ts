import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { shortIds } from "../../src/tree/print-tree.js";

const shortIdsOf = (ids: readonly string[]) =>
  shortIds(
    ids,
    ids.map((id) => ({ id })),
  );

describe("short ids", () => {
  test("have four characters where that is enough, and more where it is not", () => {
    expect([...shortIdsOf(["abcdef", "abcdxy", "zz9999", "abc"]).entries()].sort()).toEqual([
      ["abc", "abc"],
      ["abcdef", "abcde"],
      ["abcdxy", "abcdx"],
      ["zz9999", "zz99"],
    ]);
  });

  test("match one entry only, unless an id is a prefix of another one", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 9 })), (ids) => {
        for (const [id, short] of shortIdsOf(ids)) {
          const named = ids.filter((other) => other.startsWith(short));
          expect(named.includes(id)).toBe(true);
          if (short !== id) expect(named).toEqual([id]);
        }
      }),
    );
  });
});
