import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../../../../.ci/test-runs.js";
import { entryNamed } from "../../world/grow.js";
import { openedStore } from "../../world/stores.js";

const id = fc.string({ unit: fc.constantFrom("a", "b", "-", "é", "😀", "1"), minLength: 1, maxLength: 9 });

test("a short id has at least four characters, or all, names one entry, and no shorter prefix does", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(id, { minLength: 1, maxLength: 40 }), async (ids) => {
      const store = await openedStore();
      const session = await store.createSession();
      for (const one of ids) await session.append({ ...entryNamed("u1"), id: one });
      for (const [whole, short] of await session.shortIds(ids)) {
        expect(whole.startsWith(short)).toBe(true);
        expect(short.isWellFormed()).toBe(true);
        expect(await session.resolve(short)).toBe(whole);
        const shorter = [...short].slice(0, -1).join("");
        if (shorter.length >= 4) expect(ids.filter((other) => other.startsWith(shorter)).length).toBeGreaterThan(1);
      }
      await store.close();
    }),
    { numRuns: runs(60) },
  );
});

test("a short id of a session names it alone in the store; its subagents do not count", async () => {
  const store = await openedStore();
  const ids = ["abcd-1", "abcd-2", "abxy", "abxyz", "019e19b4-eb48", "019e19b4-eb49", "019e19b4-eb48.agent-1"];
  for (const one of ids) await store.createSession({ id: one, kind: one.includes(".") ? "subagent" : "conversation" });
  const short = await store.shortIds(ids.slice(0, 6));
  expect([...short.values()]).toEqual(["abcd-1", "abcd-2", "abxy", "abxyz", "019e19b4-eb48", "019e19b4-eb49"]);
  for (const [whole, name] of short) expect((await store.resolveSession(name)).id).toBe(whole);
});
