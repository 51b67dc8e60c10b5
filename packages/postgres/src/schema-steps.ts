import { type RawBuilder, sql } from "kysely";
import { CHANNEL_TABLE, type Layout } from "./schema.js";
import { wordsFunction } from "./search-schema.js";
import { secured } from "./tenants.js";

// The steps of the schema after the first one. They run with the schema of the store first in the search path.

/** The number of first characters of a text that an index contains: a row of an index has at most about 2,700 bytes. */
export const INDEXED_CHARACTERS = 500;

/** The characters of a member of the metadata that its index has. */
export const INDEXED_KEY = 200;
export const INDEXED_VALUE = 300;

/** SQL of the condition that a column has a text, for an index of its beginnings. */
export function startsAndIs(column: RawBuilder<unknown>, text: unknown, characters = INDEXED_CHARACTERS): RawBuilder<boolean> {
  const cut = sql.lit(characters);
  return sql<boolean>`left(${column}, ${cut}) = left(${text}::text, ${cut}) AND ${column} = ${text}`;
}

// A backslash is doubled because `decode` gives it a meaning; the bytes that join the names occur in no text of the store together (text.ts).
const [HASHED, JOINED, END] = ["sha256(decode(replace(", String.raw` || E'\x01\x03' || `, String.raw`, E'\\', E'\\\\'), 'escape'))`];

/** SQL of a short value that is another one for every provider and model, whose names can be too long for an index. */
export function modelKey(provider: RawBuilder<unknown>, model: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`${sql.raw(HASHED)}${provider}${sql.raw(JOINED)}${model}${sql.raw(END)}`;
}

/**
 * A statement that gives a table the owner of the other ones and the rights that roles have on these: whoever upgrades a store may be another role
 * than its owner. Each privilege of `grants` is on every table, and so on `value`.
 */
function ownedAsOthers(table: string): string {
  return `DO $$
    DECLARE
      known CONSTANT pg_catalog.regclass := 'value'::regclass;
      owner CONSTANT oid := (SELECT relowner FROM pg_class WHERE oid = known);
      given record;
    BEGIN
      IF owner <> (SELECT relowner FROM pg_class WHERE oid = '${table}'::regclass) THEN
        EXECUTE format('ALTER TABLE ${table} OWNER TO %I', pg_get_userbyid(owner));
      END IF;
      FOR given IN
        SELECT privilege_type, is_grantable, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS role
        FROM pg_class CROSS JOIN LATERAL aclexplode(relacl) WHERE oid = known AND grantee <> owner
      LOOP
        EXECUTE format('GRANT %s ON ${table} TO %s', given.privilege_type, given.role)
          || CASE WHEN given.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END;
      END LOOP;
    END $$`;
}

/** Until when the last sync left out the end of a session, which its program was still writing. */
export const HELD_ENDS: readonly string[] = [
  "ALTER TABLE source_session ADD COLUMN held_until_ms bigint",
  `CREATE INDEX source_session_held ON source_session (tenant, held_until_ms) WHERE held_until_ms IS NOT NULL`,
];

/** Long texts are indexed by their beginnings, functions name everything with its schema, and announcements are on channels that cannot be guessed. */
export function secondStep({ schema }: Layout): readonly string[] {
  const cut = (column: string, characters = INDEXED_CHARACTERS) => `left(${column}, ${characters})`;
  return [
    wordsFunction(schema),
    "DROP INDEX session_by_cwd, session_by_parent, session_by_member",
    `CREATE INDEX session_by_cwd ON session (tenant, ${cut("cwd")}, listing, active_at_ms) WHERE cwd IS NOT NULL`,
    `CREATE INDEX session_by_parent ON session (tenant, ${cut("parent_session_id")}, active_at_ms) WHERE parent_session_id IS NOT NULL`,
    `CREATE INDEX session_by_member ON session_metadata (tenant, ${cut("key", INDEXED_KEY)}, ${cut("value", INDEXED_VALUE)})`,
    // Logical replication finds the row to change by a primary key, also during the upgrade.
    "ALTER TABLE usage_total ADD COLUMN model_key bytea",
    `UPDATE usage_total SET model_key = ${HASHED}provider${JOINED}model${END}`,
    "ALTER TABLE usage_total DROP CONSTRAINT usage_total_pkey, ALTER COLUMN model_key SET NOT NULL",
    "ALTER TABLE usage_total ADD PRIMARY KEY (tenant, session_id, inherited, model_key)",
    `CREATE TABLE ${CHANNEL_TABLE} (
      tenant  text COLLATE "C" PRIMARY KEY,
      channel text COLLATE "C" NOT NULL -- the name of a channel of NOTIFY
    )`,
    ...secured(CHANNEL_TABLE, 0),
    ownedAsOthers(CHANNEL_TABLE),
  ];
}
