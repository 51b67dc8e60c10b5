import { ServerUnsuitableError } from "@bough/session-core";
import type { PgClient } from "./driver.js";
import { TABLE_KEYS, VERSION_TABLE } from "./schema.js";
import { WORDS_FUNCTION_NAME } from "./search-schema.js";
import type { Place } from "./server-errors.js";

// Whoever owns a table can put triggers, rules, policies and defaults on it, which run with the rights of the role that uses the table; the owner
// of a schema can replace its tables. So a store is used only if a trusted role owns its schema, its tables and all that runs with them. Trusted are
// the role of the connection and those whose rights it has, superusers, the owner of the database, and the role that the address names as `owner`.

/** A part of a store that belongs to a role that is not trusted. */
interface Foreign {
  readonly what: string;
  readonly owner: string;
}

const TRUSTED = `
  SELECT role.oid FROM pg_catalog.pg_roles AS role
    CROSS JOIN (SELECT datdba FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()) AS here
    CROSS JOIN (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user) AS me
  WHERE role.rolname IN (current_user, 'pg_database_owner', $2::text) OR role.rolsuper OR role.oid = here.datdba
    OR (NOT me.rolsuper AND pg_catalog.pg_has_role(role.oid, 'USAGE'))`;

// Of partitions, whose names end with a number, the triggers run as well.
const OWN_TABLE = `^(${[...TABLE_KEYS.map(([name]) => name), VERSION_TABLE].join("|")})(_[0-9]+)?$`;

const OWNED = `
  SELECT 1 AS place, 'the schema ' || nspname AS what, nspowner AS owner FROM pg_catalog.pg_namespace WHERE nspname = $1
  UNION ALL
  SELECT 2, 'the table ' || relname, relowner FROM pg_catalog.pg_class JOIN here ON relnamespace = here.oid WHERE relname ~ '${OWN_TABLE}'
  UNION ALL
  SELECT 3, 'the function ' || proname, proowner FROM pg_catalog.pg_proc JOIN here ON pronamespace = here.oid
    WHERE proname = '${WORDS_FUNCTION_NAME}'
  UNION ALL
  SELECT 4, 'the function of the trigger ' || tgname || ' on the table ' || relname, proowner FROM pg_catalog.pg_trigger
    JOIN pg_catalog.pg_class ON pg_class.oid = tgrelid JOIN here ON relnamespace = here.oid JOIN pg_catalog.pg_proc ON pg_proc.oid = tgfoid
    WHERE NOT tgisinternal AND relname ~ '${OWN_TABLE}'`;

const CREATORS = `
  UNION ALL
  SELECT 5, 'the right to create in the schema ' || nspname, given.grantee
    FROM pg_catalog.pg_namespace CROSS JOIN LATERAL pg_catalog.aclexplode(nspacl) AS given WHERE nspname = $1 AND given.privilege_type = 'CREATE'`;

function foreignQuery(owned: string): string {
  return `WITH here AS (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $1), trusted AS (${TRUSTED}), owned AS (${owned})
    SELECT what, CASE WHEN owner = 0 THEN 'PUBLIC' ELSE pg_catalog.pg_get_userbyid(owner)::text END AS owner FROM owned
    WHERE owner NOT IN (SELECT oid FROM trusted) ORDER BY place, what LIMIT 1`;
}

const FOREIGN = foreignQuery(OWNED);
const FOREIGN_OR_CREATED = foreignQuery(OWNED + CREATORS);

/**
 * Checks that nothing in the schema of a store runs code of a role that is not trusted. Needs `SEARCH_PATH`. One statement.
 *
 * `creating`: tables and functions are about to be created, so nobody else may create in the schema.
 *
 * @throws {ServerUnsuitableError}
 */
export async function requireTrusted(client: PgClient, { label, schema, owner }: Place, creating: boolean): Promise<void> {
  const { rows } = await client.query<Foreign>(creating ? FOREIGN_OR_CREATED : FOREIGN, [schema, owner ?? null]);
  for (const found of rows) {
    const me = "with the rights of this connection";
    throw new ServerUnsuitableError(label, `${found.what} belongs to the role ${found.owner}, whose code would run ${me}`, {
      hint:
        found.owner === "PUBLIC"
          ? `Take it away: REVOKE CREATE ON SCHEMA ${schema} FROM PUBLIC`
          : "If you trust that role, name it in the address: owner=ROLE. See `Roles` in docs/postgres.md.",
    });
  }
}
