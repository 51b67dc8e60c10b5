import type { Piece } from "@bough/session-core/engine";
import type { Database } from "./database.js";
import { pgQuery, pgRaw } from "./query.js";

/** The listed words that match a pattern, by the pattern. */
export type WordParts = ReadonlyMap<string, readonly string[]>;

/** The pattern of words in which a piece is not at the start; undefined: the index itself finds the words with this piece. */
export function partPattern({ text, place }: Piece): string | undefined {
  if (place === "end") return `%_${text}`;
  return place === "anywhere" ? `%_${text}%` : undefined;
}

const wordsLike = pgQuery<{ pattern: string }, { words: readonly string[] | null }>(({ sql, p }) =>
  pgRaw(sql<{ words: readonly string[] | null }>`
    SELECT array_agg(DISTINCT word) AS words FROM word WHERE tenant = ${p.tenant} AND word LIKE ${p.pattern}`),
);

/** Looks up the words with these pieces. Cost: with `pg_trgm` those words, without it the list of the tenant (about 0.1 µs a word). */
export async function readWordParts(database: Database, pieces: readonly Piece[]): Promise<WordParts> {
  const patterns = new Set(pieces.flatMap((piece) => partPattern(piece) ?? []));
  const found = new Map<string, readonly string[]>();
  for (const pattern of patterns) found.set(pattern, (await database.get(wordsLike, { pattern }))?.words ?? []);
  return found;
}
