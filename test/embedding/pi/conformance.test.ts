import { BoughPiStorage, BoughSessionRepo } from "@bough/adapters/pi";
import { openStore, type Store } from "@bough/session-core";
import {
  createSessionRepoConformance,
  createSessionRepoStreamingForkConformance,
  createStorageConformance,
} from "@earendil-works/pi-agent-core/harness/session/testing";
import { describe, expect, test } from "vitest";

// The cases that pi-agent-core exports for every storage of its sessions, unchanged.

async function storageFixture() {
  const store = await openStore({ path: ":memory:" });
  const storage = await BoughPiStorage.open(store, await store.createSession());
  const dispose = async () => {
    await storage.close();
    await store.close();
  };
  return { storage, [Symbol.asyncDispose]: dispose };
}

const stores = new Set<Store>();

async function newRepo() {
  const store = await openStore({ path: ":memory:" });
  stores.add(store);
  return new BoughSessionRepo(store);
}

async function closeStores() {
  await Promise.all([...stores].map((store) => store.close()));
  stores.clear();
}

const SUITES = {
  Storage: { cases: createStorageConformance(storageFixture), count: 21 },
  SessionRepo: { cases: createSessionRepoConformance(newRepo, closeStores), count: 17 },
  "SessionRepo, streaming forks": { cases: createSessionRepoStreamingForkConformance(newRepo, closeStores), count: 15 },
};

describe.each(Object.entries(SUITES))("pi's conformance of a %s", (_name, { cases, count }) => {
  let passed = 0;

  test.each(cases.map((one) => [`${one.group}: ${one.name}`, one] as const))("%s", async (_title, one) => {
    await one.run();
    passed += 1;
  });

  test(`is ${count} cases, and each was run`, () => {
    expect({ cases: cases.length, passed }).toEqual({ cases: count, passed: count });
  });
});
