import type { SearchRequest } from "../../src/port/search.js";
import type { Store } from "../../src/store/store.js";

/** A query of each kind that the syntax has, of words and texts that `operations` write. */
const QUERIES: readonly SearchRequest[] = [
  { query: "alpha" },
  { query: "ALP" },
  { query: "lph" },
  { query: "al" },
  { query: "alpha beta" },
  { query: '"alpha beta"' },
  { query: "bet*" },
  { query: "x\0y" },
  { query: "eclair" },
  { query: "strasse" },
  { query: "istanbul" },
  { query: "テキスト" },
  { query: "キス" },
  { query: "😀" },
  { query: "100%" },
  { query: "100%_" },
  { query: "back\\slash" },
  { query: "'quoted'" },
  { query: '"quoted' },
  { query: "/b[ea]t/" },
  { query: "/^ALPHA/i" },
  { query: "/\\u2028/" },
  { query: "/(/" },
  { query: "" },
  { query: "", types: ["message"], roles: ["user"] },
  { query: "", types: ["custom"] },
  { query: "alpha gamma", relax: true },
  // Not in titles, whose words a file has in its list of words only where an entry has them too.
  { query: "alpah", relax: true, types: ["message"] },
  { query: '"beta alpha"', relax: true },
  { query: "alpha beta gamma", atLeast: 2 },
  { query: "u1 a2 k3 r4", atLeast: 1 },
  { query: "", tool: "bash" },
  { query: "k1", tool: "BASH" },
  { query: "alpha", places: ["prose"] },
  { query: "k1", places: ["code"] },
  { query: "k1", places: ["tool"] },
  { query: "alpha", agents: ["bough"] },
  { query: "alpha", agents: ["pi"] },
  { query: "alpha", cwd: "/home/ada" },
  { query: "alpha", sessionIds: [] },
  { query: "alpha", cwd: "/\0" },
  { query: "alpha", sinceMs: 1_700_000_010_000 },
  { query: "alpha", untilMs: 1_700_000_010_000, includePrivate: true },
  { query: "", path: "a.ts" },
  { query: "alpha", snippets: false },
  { query: "note" },
];

/** What each query finds, in a store or in one session. The order of hits is the engine's. */
export async function searchesOf(store: Store, sessionId: string | undefined): Promise<unknown> {
  // A spelling mistake is found by the list of words, which has those of the entries in the index.
  await store.catchUpSearch();
  const found: unknown[] = [];
  for (const request of QUERIES) {
    const asked = { ...request, sessionId, limit: 500 };
    found.push([request, await store.search(asked).then(({ hits, ...page }) => ({ ...page, hits: hits.map(hitText).sort() }), String)]);
  }
  return found;
}

function hitText({ seq: _seq, ...hit }: Awaited<ReturnType<Store["search"]>>["hits"][number]): string {
  return JSON.stringify(hit);
}
