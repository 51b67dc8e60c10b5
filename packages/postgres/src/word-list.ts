import { type Query, toIndexedText, type ValidatedWrite, WordCollector } from "@bough/session-core/engine";
import type { PgDatabase } from "./database.js";
import { pgRaw, pgRepeatable } from "./query.js";
import { textToWrite } from "./words.js";

// The table `word` has every different word of a tenant's texts, so that parts of words are found: the index finds whole words and their
// beginnings. A statement of its own lists the words of a text before the text is written: writers of different sessions do not wait for
// each other, and a text that is then not written leaves some words that no text has.
//
// Each word is looked up by the index, also in a new table, of which the planner does not know yet how large it has become: NOT EXISTS would
// read all of it. The statement does not wait for the disk. The text's own commit, which comes later, does; it makes durable what was committed before.

const insertWords = pgRepeatable<{ words: readonly string[] }>(({ sql, p }) =>
  pgRaw(sql`
    INSERT INTO word (tenant, word) SELECT ${p.tenant}, given.word FROM unnest(${p.words}::text[]) AS given (word)
    WHERE (SELECT known.word FROM word AS known WHERE known.tenant = ${p.tenant} AND known.word = given.word LIMIT 1) IS NULL
      AND (SELECT set_config('synchronous_commit', 'off', true)) IS NOT NULL`),
);

/** The words that a store has listed, so that it does not send them again. */
const listed = new WeakMap<PgDatabase, Set<string>>();
const MOST_KNOWN = 200_000;

/** Lists the words of texts that are about to be written. Cost: one statement, if there are words that this store has not listed yet. */
export async function listWords(database: PgDatabase, texts: Iterable<string>): Promise<void> {
  await listCollected(database, wordsToList(texts));
}

/** The words of texts that are to be listed. */
export function wordsToList(texts: Iterable<string>): readonly string[] {
  const collector = new WordCollector();
  for (const text of texts) collector.add(toIndexedText(text));
  return collector.list();
}

/** The same for words that were collected. */
export async function listCollected(database: PgDatabase, collected: readonly string[]): Promise<void> {
  const words = unlisted(database, collected);
  if (words.length === 0) return;
  // A statement that was sent twice lists a word twice at most.
  await database.run(insertWords, { words }).catch(() => database.run(insertWords, { words }));
  remember(database, words);
}

/** The words that this store has not listed yet. */
function unlisted(database: PgDatabase, words: readonly string[]): readonly string[] {
  const known = listed.get(database);
  return known === undefined ? words : words.filter((word) => !known.has(word));
}

function remember(database: PgDatabase, words: readonly string[]): void {
  const known = listed.get(database) ?? new Set();
  if (known.size + words.length > MOST_KNOWN) known.clear();
  for (const word of words) known.add(word);
  listed.set(database, known);
}

/** Like `database.get`, for a statement that writes texts: lists their words in the same round trip. */
export async function getWithWords<P extends object, R>(
  database: PgDatabase,
  collected: readonly string[],
  query: Query<P, R>,
  parameters: P,
): Promise<R | undefined> {
  const words = unlisted(database, collected);
  if (words.length === 0) return database.get(query, parameters);
  const { row, isOtherDone } = await database.getAfter(insertWords, { words }, query, parameters);
  if (isOtherDone) remember(database, words);
  // The texts are written, and are found by whole words. What cannot be listed now is listed with the next text that has it.
  else await listCollected(database, words).catch(() => undefined);
  return row;
}

/** The texts of the entries of a batch. */
export function textsOf(writes: readonly ValidatedWrite[]): readonly string[] {
  return writes.flatMap((write) => (write.kind === "entry" ? [textToWrite(write.entry.payload)] : []));
}
