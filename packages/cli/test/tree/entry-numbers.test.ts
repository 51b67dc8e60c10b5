import { openStore } from "@bough/session-core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { Folds } from "../../src/tree/folds.js";
import { Layout } from "../../src/tree/layout.js";
import { TreeIndex } from "../../src/tree/tree-index.js";
import { grow, world } from "../world.js";

const CALLS = "user1 call1 res1 call2 res2 call3 res3 asst1 user2 asst2";

describe("~N", () => {
  test("counts the rows that bough tree prints: calls in a row once, results and settings not at all", async () => {
    const here = world();
    await here.withStore((store) => grow(store, "s1", CALLS, { title: "Parser" }));
    const { out } = await here.run(["tree", "s1", "--numbers"], { columns: 100 });
    expect(out.split("\n").map((line) => line.trimEnd())).toEqual([
      "Parser  s1",
      "user1 ~4 • user: said in user1",
      "call3 ~3 • 3 calls: read 3",
      "asst1 ~2 • assistant: replied in asst1",
      "user2 ~1 • user: said in user2",
      "asst2 ~0 • assistant: replied in asst2 ← leaf",
      "10 entries, 3 of them hidden; --all shows them; 2 more in rows of calls; --full shows them singly",
      "",
    ]);
    expect((await here.run(["show", "s1", "~4"])).out).toContain("said in user1");
    expect((await here.run(["show", "s1", "asst2~3"])).out).toContain("call3");
    expect((await here.run(["tree", "s1", "--all", "--numbers"])).err).toContain("default filter");
  });

  test("of a call: the leaf goes after its results, and bough says so", async () => {
    const here = world();
    await here.withStore((store) => grow(store, "s1", CALLS));
    const { out } = await here.run(["go", "s1", "~3"]);
    expect(out).toContain("The leaf is after 1 tool result of this entry");
    expect(await here.json("tree", "s1")).toMatchObject({ leafId: "res3" });
    expect(await here.json("fork", "s1", "--at", "call2")).toMatchObject({ session: { entryCount: 5 } });
  });

  test("agrees with the rows on the leaf's path of any session", async () => {
    const { store: path } = world();
    const store = await openStore({ path, durability: "normal" });
    const step = fc.record({
      kind: fc.constantFrom("u", "a", "call", "call", "call", "res", "res"),
      back: fc.option(fc.nat(30), { freq: 6 }),
    });
    let sessions = 0;
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), fc.option(fc.nat(30)), async (steps, labeled) => {
          sessions += 1;
          const ids = steps.map(({ kind }, at) => `${kind}${sessions}x${at}`);
          const names = steps.flatMap(({ back }, at) => [...(back === null || at === 0 ? [] : [`<${ids[back % at]}`]), ids[at] ?? ""]);
          const session = await grow(store, `s${sessions}`, names.join(" "));
          if (labeled !== null) await session.labels.set(ids[labeled % ids.length] ?? "", "here");
          const rows = await session.tree.outline();
          const labels = (await session.labels.list()).map(({ entryId }) => entryId);
          const index = TreeIndex.of(rows);
          const layout = new Layout(index, {
            filter: "default",
            leafId: session.leafId,
            leaves: await session.leaves(),
            labeled: new Set(labels),
            foldsCalls: true,
          });
          const onPath = layout.window(0, rows.length, Folds.none).filter((row) => row.isOnPath);
          const expected = onPath.map(({ at }) => index.idOf(at)).reverse();
          const resolved = await Promise.all(expected.map((_, up) => session.resolve(`~${up}`)));
          expect(resolved).toEqual(expected);
          await expect(session.resolve(`~${expected.length}`)).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
        }),
        { numRuns: runs(60) },
      );
    } finally {
      await store.close();
    }
  });
});
