import Database from "better-sqlite3";
import { onTestFinished } from "vitest";
import { toIndexedText } from "../../src/rules/search/fold.js";
import { matchAll } from "../../src/rules/search/matching.js";
import type { WordsTerm } from "../../src/rules/search/search-terms.js";
import { ftsExpression } from "../../src/sqlite/search/search-query.js";

/** An index as the store has it, without a store. */
export function emptyIndex() {
  const file = new Database(":memory:");
  onTestFinished(() => void file.close());
  file.exec("CREATE VIRTUAL TABLE entry_text USING fts5 (body, tokenize = 'unicode61 remove_diacritics 2')");
  file.exec("CREATE VIRTUAL TABLE word USING fts5vocab(entry_text, instance)");
  const insert = file.prepare("INSERT INTO entry_text (rowid, body) VALUES (?, ?)");
  const count = file.prepare<[string], number>("SELECT count(*) FROM entry_text WHERE entry_text MATCH ?").pluck();
  return {
    fill: file.transaction((texts: Iterable<readonly [number, string]>) => {
      for (const [at, text] of texts) insert.run(at, toIndexedText(text));
    }),
    words(): ReadonlyMap<number, ReadonlySet<string>> {
      const rows = file.prepare<[], { doc: number; term: string }>("SELECT doc, term FROM word").all();
      const found = new Map<number, Set<string>>();
      for (const { doc, term } of rows) found.set(doc, (found.get(doc) ?? new Set()).add(term));
      return found;
    },
    finds(terms: readonly WordsTerm[], text: string): boolean {
      file.exec("DELETE FROM entry_text");
      insert.run(1, toIndexedText(text));
      return count.get(ftsExpression(matchAll(terms))) === 1;
    },
  };
}
