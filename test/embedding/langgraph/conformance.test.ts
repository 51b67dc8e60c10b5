import { BoughSaver } from "@bough/adapters/langgraph";
import { openStore, type Store } from "@bough/session-core";
import { type CheckpointSaverTestInitializer, deltaChannelHistoryTests, specTest } from "@langchain/langgraph-checkpoint-validation";
import * as vitest from "vitest";

// The suite expects the functions of a test runner as globals.
Object.assign(globalThis, vitest);

const stores = new Map<BoughSaver, Store>();
const initializer: CheckpointSaverTestInitializer<BoughSaver> = {
  checkpointerName: "BoughSaver",
  createCheckpointer: async () => {
    const store = await openStore({ path: ":memory:" });
    const saver = new BoughSaver(store);
    stores.set(saver, store);
    return saver;
  },
  destroyCheckpointer: async (saver) => {
    for await (const violation of stores.get(saver)?.verify() ?? []) vitest.expect(violation).toBeUndefined();
    await stores.get(saver)?.close();
    stores.delete(saver);
  },
};

specTest(initializer);
deltaChannelHistoryTests(initializer);

let finished = 0;
vitest.afterEach(({ task }) => {
  if (task.mode === "run") finished += 1;
});

vitest.test("all 726 specs of the suite have run, none was skipped", () => {
  vitest.expect(finished).toBe(726);
});
