import { userMessage } from "@bough/session-core";
import fc from "fast-check";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { serverPlace } from "../../../.ci/test-engine.js";
import { runs } from "../../../.ci/test-runs.js";
import { stateOf } from "../../formats/test/world/readings.js";
import { grow } from "../../session-core/test/world/grow.js";
import { actOf, Names, type Operation, operations, outcome, StoreUnderTest, TEXTS } from "../../session-core/test/world/operations.js";
import { searchesOf } from "../../session-core/test/world/searches.js";
import { openedStore } from "../../session-core/test/world/stores.js";

/** Does the operations to two stores, each at the same time of the clock, and compares what each of them came to. */
async function compare(taken: readonly Operation[], partitions: number): Promise<void> {
  const file = new StoreUnderTest(await openedStore({ path: ":memory:" }));
  const server = new StoreUnderTest(await openedStore(serverPlace(partitions)));
  const names = new Names();
  for (const [at, operation] of taken.entries()) {
    vi.setSystemTime(1_700_000_000_000 + at * 1000);
    const act = actOf(operation, names);
    const expected = await outcome(act, file);
    expect(await outcome(act, server), `operation ${at}: ${JSON.stringify(operation)}`).toEqual(expected);
  }
  expect(await stateOf(server.store)).toEqual(await stateOf(file.store));
  await Promise.all([file.store.close(), server.store.close()]);
}

describe.each([0, 4])("a store on a server with %i partitions", (partitions) => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
  });

  test("finds the same by every kind of query", async () => {
    vi.setSystemTime(1_700_000_000_000);
    const [file, server] = [await openedStore({ path: ":memory:" }), await openedStore(serverPlace(partitions))];
    for (const store of [file, server]) {
      const { session } = await grow("k1:a,b r1:a r2:b u1 a2 k3 r4:k3 n5 d6", { store, session: { id: "s", title: "alpha title" } });
      await session.write(TEXTS.map((content, at) => ({ kind: "entry", entry: { ...userMessage(content), id: `t${at}` } })));
    }
    expect(await searchesOf(server, undefined)).toEqual(await searchesOf(file, undefined));
  });

  test("does what a file does, and holds the same after it, whatever the operations", async () => {
    await fc.assert(
      fc.asyncProperty(operations, (taken) => compare(taken, partitions)),
      { numRuns: runs(partitions === 0 ? 25 : 8) },
    );
  });
});
