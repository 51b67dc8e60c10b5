import type { WordCollector } from "../../rules/search/word-collector.js";
import type { Connection } from "../file/connection.js";
import { query, rawQuery } from "../query.js";

// The table `word`: every different word of the search index, so that parts of words are found: FTS5 finds only whole words and their
// beginnings, and its own list (fts5vocab) reads the whole index (measured: 140 ms of 100,000 entries, the table 1 ms). In the store of
// real sessions the table takes 0.04 of the JSONL, in a large one less, because most words have occurred before.

const insertWords = query<{ words: string }>(({ sql, p }) =>
  rawQuery(sql`INSERT OR IGNORE INTO word (word) SELECT value FROM json_each(${p.words})`),
);
const deleteUnused = query<Record<never, never>>(({ sql }) =>
  rawQuery(sql`DELETE FROM word WHERE word NOT IN (SELECT term FROM entry_text_word UNION ALL SELECT term FROM session_text_word)`),
);

/** Adds the words that are not in the list. Call it inside a write. */
export function addWords(connection: Connection, words: WordCollector): void {
  // In the order of the table, in which neighbors are on one page.
  const listed = words.list();
  if (listed.length > 0) connection.run(insertWords, { words: JSON.stringify(listed) });
}

/** Removes the words that no entry and no title has any more. Cost: the whole search index. Call it inside a write. */
export function removeUnusedWords(connection: Connection): void {
  connection.run(deleteUnused, {});
}
