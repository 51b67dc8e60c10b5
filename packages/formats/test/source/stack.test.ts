import { expect, test } from "vitest";
import { listOf, push, removeWhile, stackOf } from "../../src/source/stack.js";

test("a stack keeps its earlier states, whatever is pushed and removed later", () => {
  const three = stackOf([1, 2, 3]);
  const four = push(three, 4);
  const { removed, rest } = removeWhile(four, (number) => number > 1);
  expect([removed, listOf(rest), listOf(three), listOf(four), listOf(four, 2)]).toEqual([2, [1], [1, 2, 3], [1, 2, 3, 4], [3, 4]]);
  expect(removeWhile(stackOf<number>([]), () => true)).toEqual({ removed: undefined, rest: undefined });
  expect(rest?.below).toBe(undefined);
  expect(four?.below).toBe(three);
});
