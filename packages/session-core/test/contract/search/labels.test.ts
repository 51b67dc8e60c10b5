import { describe, expect, test } from "vitest";
import { toolResult, userMessage } from "../../../src/entry/builders.js";
import type { SearchRequest } from "../../../src/port/search.js";
import { copySessions } from "../../../src/store/copy-sessions.js";
import type { Store } from "../../../src/store/store.js";
import { grow } from "../../world/grow.js";
import { openedStore } from "../../world/stores.js";

/** A store with a session of these texts of the user, named e0, e1 and so on. */
async function said(...texts: readonly string[]) {
  const { store, session } = await grow("");
  for (const [at, text] of texts.entries()) await session.append({ ...userMessage(text), id: `e${at}`, createdAtMs: 1000 * (at + 1) });
  return { store, session };
}

/** The ids that a search finds, in order, the same by the scan of entries that are not indexed and by the index. */
async function found(store: Store, request: SearchRequest | string): Promise<string> {
  const asked = typeof request === "string" ? { query: request, relax: true } : request;
  const ids = async () => {
    const { hits, total } = await store.search(asked);
    if (asked.limit === undefined) expect(hits).toHaveLength(total);
    return hits.map(({ entryId }) => entryId ?? "title").join(" ");
  };
  const scanned = await ids();
  await store.catchUpSearch();
  expect(await ids()).toBe(scanned);
  return scanned;
}

describe("a search finds an entry by its label", () => {
  test("after titles and before entries that have the words, once", async () => {
    const { store, session } = await said("golden moment, twice a golden moment", "here", "the golden moment as well");
    await session.labels.set("e1", "Golden moment");
    await session.labels.set("e2", "my golden moment");
    expect(await found(store, "golden moment")).toBe("e2 e1 e0");
    await store.renameSession(session.id, "A golden moment");
    expect(await found(store, "golden moment")).toBe("title e2 e1 e0");
    for (const query of ["gold", '"golden moment"', "/golden.mom/i", "mom*", "gölden"]) expect(await found(store, query)).toContain("e1");
  });

  test("page by page", async () => {
    const { store, session } = await said("golden", "one", "golden", "two", "golden");
    for (const id of ["e1", "e3", "e4"]) await session.labels.set(id, "golden");
    for (const query of ["golden", "is it golden?"]) {
      const pages: string[] = [];
      let cursor: string | null | undefined;
      while (cursor !== null) {
        const page = await store.search({ query, relax: true, limit: 2, ...(cursor === undefined ? {} : { cursor }) });
        expect(page.total).toBe(5);
        pages.push(page.hits.map(({ entryId }) => entryId).join(" "));
        cursor = page.next;
      }
      expect(pages).toEqual(["e4 e3", "e1 e2", "e0"]);
    }
  });

  test("with the label in the hit and in front of the snippet, its words marked", async () => {
    const { store, session } = await said("it works now");
    await session.labels.set("e0", "golden moment");
    for (const query of ["golden moment", "what was the golden moment of yesterday?"]) {
      const [hit] = (await store.search({ query, relax: true })).hits;
      expect(hit).toMatchObject({
        entryId: "e0",
        type: "message",
        role: "user",
        label: "golden moment",
        snippet: "[golden moment] it works now",
      });
      expect(hit?.matches.map(([start, end]) => hit.snippet.slice(start, end))).toEqual(["golden", "moment"]);
    }
    expect((await store.search({ query: "works" })).hits[0]).toMatchObject({ label: null, snippet: "it works now" });
  });

  test("as it is now: not by the label before, nor by a removed one", async () => {
    const { store, session } = await said("here");
    await session.labels.set("e0", "golden");
    await session.labels.set("e0", "silver");
    expect([await found(store, "golden"), await found(store, "silver")]).toEqual(["", "e0"]);
    await session.labels.set("e0", "");
    expect(await found(store, "silver")).toBe("");
  });

  test("where the entry meets the conditions; a label is in no place of a text and in no call", async () => {
    const { store, session } = await said("here");
    await session.append({ ...toolResult("call", "output", { toolName: "bash" }), id: "r1", createdAtMs: 5_000 });
    for (const id of ["e0", "r1"]) await session.labels.set(id, "golden");
    const query = "golden";
    expect(await found(store, { query, roles: ["user"] })).toBe("e0");
    expect(await found(store, { query, sinceMs: 4_000 })).toBe("r1");
    expect(await found(store, { query, cwd: "/elsewhere" })).toBe("");
    expect(await found(store, { query, sessionId: session.id })).toBe("r1 e0");
    expect(await found(store, { query, places: ["prose"] })).toBe("");
    expect(await found(store, { query, tool: "bash" })).toBe("");
  });

  test("of a command that the user kept out of the conversation only on demand", async () => {
    const { store, session } = await said("here");
    await session.append({
      ...{
        type: "message",
        message: {
          role: "bashExecution",
          command: "pwd",
          output: "/",
          exitCode: 0,
          cancelled: false,
          truncated: false,
          excludeFromContext: true,
          timestamp: 1,
        },
      },
      id: "b1",
    });
    await session.labels.set("b1", "golden");
    expect(await found(store, "golden")).toBe("");
    expect(await found(store, { query: "golden", includePrivate: true })).toBe("b1");
  });

  test("in a question, where its words count as those of the entry", async () => {
    const { store, session } = await said("it works", ...Array.from({ length: 21 }, () => "…"), "the parser works");
    await session.labels.set("e0", "golden parser");
    expect(await found(store, "where was the golden parser with the lexer?")).toBe("e0 e22");
    const [best] = (await store.search({ query: "where was the golden parser?", relax: true })).hits;
    expect([best?.entryId, (best?.score ?? 0) > 0.3]).toEqual(["e0", true]);
    const { matched } = await store.search({ query: "where was the golden lexer then?", relax: true });
    expect(matched).toEqual({ kind: "ranked", misspelt: [] });
  });

  test("once for an entry that forks have: the original, or the fork that has the label", async () => {
    const { store, session } = await said("here", "the golden end");
    await session.labels.set("e0", "golden");
    const forks = [await store.forkSession(session.id), await store.forkSession(session.id)];
    const shown = async () => {
      const { hits } = await store.search({ query: "golden" });
      return hits.map(({ sessionId, entryId, copies }) => [sessionId, entryId, copies.length]);
    };
    expect(await shown()).toEqual([
      [session.id, "e0", 2],
      [session.id, "e1", 2],
    ]);
    await forks[1]?.labels.set("e1", "golden egg");
    expect(await shown()).toEqual([
      [forks[1]?.id, "e1", 2],
      [session.id, "e0", 2],
    ]);
    expect(await found(store, { query: "egg", sessionId: session.id })).toBe("");
  });

  test("in a store that it was copied to", async () => {
    const { store, session } = await said("here");
    await session.labels.set("e0", "golden");
    const target = await openedStore();
    await copySessions(store, target);
    expect(await found(target, "golden")).toBe("e0");
  });
});
