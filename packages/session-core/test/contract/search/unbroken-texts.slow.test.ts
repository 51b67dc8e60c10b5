import { describe, expect, test } from "vitest";
import { toolResult, userMessage } from "../../../src/entry/builders.js";
import type { Store } from "../../../src/store/store.js";
import { grow } from "../../world/grow.js";
import { findingsOf } from "../../world/stores.js";

const MIB = 1024 * 1024;

/** A session with an entry before and after one with a long text. */
async function around(longText: string) {
  const { store, session } = await grow("");
  await session.append({ ...userMessage("earlier words"), id: "before" });
  await session.append({ ...toolResult("call", longText, { toolName: "bash" }), id: "long" });
  await session.append({ ...userMessage("later words"), id: "after" });
  return { store, session };
}

async function found(store: Store, query: string): Promise<string> {
  const { hits } = await store.search({ query });
  return hits
    .map(({ entryId }) => entryId)
    .sort()
    .join(" ");
}

describe("a text of 9 MB without a blank", () => {
  test("is indexed with the entries before and after it, and found by the words around it", async () => {
    const { store } = await around(`leading ${"x".repeat(9 * MIB)} trailing`);
    expect(await store.catchUpSearch()).toBe(0);
    expect(await found(store, "words")).toBe("after before");
    for (const query of ["leading", "trailing", "raili", "/trail[i]ng/"]) expect(await found(store, query)).toBe("long");
    expect(await findingsOf(store)).toEqual([]);
  });

  test("of letters of two code units does not stop the index either", async () => {
    const { store } = await around(`leading ${"𝒜".repeat((9 * MIB) / 2)} trailing`);
    expect(await store.catchUpSearch()).toBe(0);
    expect(await found(store, "words")).toBe("after before");
    expect(await found(store, "raili")).toBe("long");
  });
});

test("a text that is too long for the index is found by each search, like one that is not indexed yet", async () => {
  const { store, session } = await around(`leading ${"word ".repeat(100)}${" ".repeat(17 * MIB)} trailing`);
  const queries = ["leading", "raili", '"word trailing"', "/trail[i]ng/", "words"];
  const scanned = await Promise.all(queries.map((query) => found(store, query)));
  expect(scanned).toEqual([...Array(4).fill("long"), "after before"]);
  expect(await store.catchUpSearch()).toBe(0);
  for (const [at, query] of queries.entries()) expect([query, await found(store, query)]).toEqual([query, scanned[at]]);
  const inSession = await store.search({ query: "leading", sessionId: session.id });
  expect(inSession.hits.map(({ entryId }) => entryId)).toEqual(["long"]);
  expect(await findingsOf(store)).toEqual([]);
});
