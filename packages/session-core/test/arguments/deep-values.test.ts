import { expect, test } from "vitest";
import type { Store } from "../../src/store/store.js";
import { openedStore } from "../world/stores.js";

/** A value in so many lists. */
function nested(levels: number): Record<string, unknown> {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return { deep: value };
}

const WRITES: readonly (readonly [string, (store: Store) => Promise<unknown>])[] = [
  ["metadata.deep[0]", (store) => store.createSession({ metadata: nested(600) })],
  ["entry.data.deep[0]", async (store) => (await store.createSession()).append({ type: "custom", customType: "x", data: nested(600) })],
  ["k.deep[0]", async (store) => (await store.createSession()).values.set("k", nested(600))],
];

test.each(WRITES)("a value that is nested too deep is refused with the start of its path: %s", async (start, write) => {
  const refused = write(await openedStore());
  await expect(refused).rejects.toMatchObject({ code: "UNSERIALIZABLE_VALUE", path: expect.stringMatching(/^.{20,60}$/) });
  await expect(refused).rejects.toThrow(start);
  await expect(refused).rejects.toThrow(/^.{40,140}… is a cycle, or more than 500 levels/);
});
