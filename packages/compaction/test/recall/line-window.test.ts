import { expect, test } from "vitest";
import { PatternTime, takeLines } from "../../src/recall/line-window.js";

test("the entries of an answer share the time of a pattern", () => {
  const time = new PatternTime();
  const before = time.leftMs;
  expect(takeLines("one\ntwo", { grep: "T.O" }, time)).toBe("2: two");
  expect(time.leftMs).toBeLessThan(before);
  time.leftMs = 0;
  expect(() => takeLines("a".repeat(40), { grep: "(a+)+b" }, time)).toThrow("grep takes too long");
});

test.each([
  ["(", /no regular expression/],
  ["\\p{Nothing}", /no regular expression/],
])("the pattern %s is refused", (grep, reason) => {
  expect(() => takeLines("one", { grep })).toThrow(reason);
});
