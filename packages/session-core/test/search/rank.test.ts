import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { userMessage } from "../../src/entry/builders.js";
import { matchAll } from "../../src/rules/search/matching.js";
import { parseQuery } from "../../src/rules/search/search-terms.js";
import { probeOf } from "../../src/rules/search/text-scan.js";
import { Connection } from "../../src/sqlite/file/connection.js";
import { EntryScan } from "../../src/sqlite/search/entry-scan.js";
import { rankHits } from "../../src/sqlite/search/rank.js";
import { lastEntrySeq } from "../../src/sqlite/search/search-index.js";
import { ftsExpression } from "../../src/sqlite/search/search-query.js";
import { grow } from "../world/grow.js";
import { openedStore, raw, storePath } from "../world/stores.js";

const WORDS = ["needle", "needles", "Hay", "straw-berry", "x9", "file.ts", "a"];
const text = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 12 }).map((words) => words.join(" "));
const query = fc.constantFrom("needle", "need*", "needle hay", '"hay needle"', "berry a x9", '"file ts"');

test("the scan ranks an entry exactly as the index would", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 20 }), query, async (texts, asked) => {
      const path = storePath();
      const store = await openedStore({ path });
      const { session } = await grow("", { store });
      await session.write(texts.map((given) => ({ kind: "entry", entry: userMessage(given) }) as const));
      await store.catchUpSearch();
      const terms = parseQuery(asked);
      const sql = "SELECT rowid AS seq, bm25(entry_text) AS rank FROM entry_text WHERE entry_text MATCH ? ORDER BY rank, rowid DESC";
      const indexed = raw(path, (file) => file.prepare<[string], { seq: number; rank: number }>(sql).all(ftsExpression(matchAll(terms))));
      const connection = Connection.open({ path, mode: "read-only", durability: "normal", busyTimeoutMs: 100 });
      onTestFinished(() => connection.close());
      const scan = new EntryScan({ from: 0, to: lastEntrySeq(connection) }, probeOf(matchAll(terms)), { query: asked });
      while (!scan.isDone) scan.scanPage(connection);
      const scanned = rankHits(
        connection,
        terms,
        scan.hits.filter(({ fit }) => fit === 0),
      );
      expect(scanned.map(({ seq }) => seq)).toEqual(indexed.map(({ seq }) => seq));
      for (const [at, { rank }] of scanned.entries()) expect(rank).toBeCloseTo(indexed[at]?.rank ?? 0, 9);
    }),
    { numRuns: runs(25) },
  );
});
