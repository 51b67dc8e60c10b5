import { type RawBuilder, sql } from "kysely";
import { CHANNEL_TABLE, type Layout } from "./schema.js";
import { wordsFunction } from "./search-schema.js";
import { secured } from "./tenants.js";

// The steps of the schema after the first one. They run with the schema of the store first in the search path.

/** A row of an index has at most about 2,700 bytes, so texts of any length are compared by so many of their first characters. */
export const INDEXED_CHARACTERS = 500;

/** The characters of a member of the metadata that its index has. */
export const INDEXED_KEY = 200;
export const INDEXED_VALUE = 300;

/** SQL of the condition that a column has a text, for an index of its beginnings. */
export function startsAndIs(column: RawBuilder<unknown>, text: unknown, characters = INDEXED_CHARACTERS): RawBuilder<boolean> {
  const cut = sql.lit(characters);
  return sql<boolean>`left(${column}, ${cut}) = left(${text}::text, ${cut}) AND ${column} = ${text}`;
}

/**
 * SQL of a short text that is another one for every provider and model, whose names can be too long for an index. A backslash is doubled because
 * `decode` gives it a meaning; the bytes that join the names occur in no text of the store together (text.ts).
 */
export function modelKey(provider: string, model: string): string {
  return String.raw`sha256(decode(replace(${provider} || E'\x01\x03' || ${model}, E'\\', E'\\\\'), 'escape'))`;
}

/** Long texts are indexed by their beginnings, functions name everything with its schema, and announcements are on channels that cannot be guessed. */
export function secondStep({ schema }: Layout): readonly string[] {
  const cut = (column: string, characters = INDEXED_CHARACTERS) => `left(${column}, ${characters})`;
  return [
    wordsFunction(schema),
    "DROP INDEX session_by_cwd, session_by_parent, session_by_member",
    `CREATE INDEX session_by_cwd ON session (tenant, ${cut("cwd")}, listing, active_at_ms) WHERE cwd IS NOT NULL`,
    `CREATE INDEX session_by_parent ON session (tenant, ${cut("parent_session_id")}, active_at_ms) WHERE parent_session_id IS NOT NULL`,
    `CREATE INDEX session_by_member ON session_metadata (tenant, ${cut("key", INDEXED_KEY)}, ${cut("value", INDEXED_VALUE)})`,
    "ALTER TABLE usage_total DROP CONSTRAINT usage_total_pkey",
    `CREATE UNIQUE INDEX usage_total_by_model ON usage_total (tenant, session_id, inherited, ${modelKey("provider", "model")})`,
    `CREATE TABLE ${CHANNEL_TABLE} (
      tenant  text COLLATE "C" PRIMARY KEY,
      channel text COLLATE "C" NOT NULL -- the name of a channel of NOTIFY
    )`,
    ...secured(CHANNEL_TABLE, 0),
  ];
}
