import { expect, test } from "vitest";
import { CallNames } from "../../src/source/call-names.js";

test("a snapshot keeps the names that are taken after it, whatever they are", () => {
  const names = new CallNames({ __proto__: null, c1: "read", c2: 3 });
  names.add("__proto__", "write");
  const state = names.snapshot();
  expect([names.take("c1"), names.take("__proto__"), names.take("c1"), names.take("c9")]).toEqual(["read", "write", undefined, undefined]);
  const saved: unknown = JSON.parse(JSON.stringify(state()));
  const later = new CallNames(saved);
  expect(["c1", "c2", "__proto__"].map((id) => later.take(id))).toEqual(["read", "3", "write"]);
  expect([new CallNames(undefined).snapshot()(), new CallNames(7).take("c1")]).toEqual([undefined, undefined]);
});
