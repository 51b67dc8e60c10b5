import { ForeignFileError, NewerStoreError, ServerError, StoreNotFoundError } from "@bough/session-core";
import { addOrigins } from "./add-origins.js";
import { type Database, transactionOn } from "./database.js";
import { fromColumn, type PgClient } from "./driver.js";
import {
  creation,
  FOUND_SOURCES,
  HELD_ENDS,
  type Layout,
  ORIGINALS_BY_ORIGIN,
  ORIGINS,
  secondStep,
  TABLE_KEYS,
  VERSION_TABLE,
} from "./schema.js";
import { WORDS_FUNCTION_NAME } from "./search-schema.js";
import { isServerError, type Place } from "./server-errors.js";

/**
 * One step of the schema. Released steps are never edited; a later change is another step.
 *
 * Programs of several versions use a store while a fleet is upgraded. `minReader` and `minWriter` are the oldest versions of the program
 * that can still read, and write, after this step: a step that only adds what an older program ignores leaves them as they were.
 */
export interface Migration {
  readonly statements: (layout: Layout) => readonly string[];
  readonly minReader: number;
  readonly minWriter: number;
  /** For what statements alone cannot do; called for each tenant of a store that is upgraded. */
  readonly run?: (transaction: Database) => Promise<void>;
}

/** Every step, in order. The version of a schema is the number of steps that it has taken. */
export const MIGRATIONS: readonly Migration[] = [
  { statements: creation, minReader: 1, minWriter: 1 },
  { statements: secondStep, minReader: 1, minWriter: 2 },
  { statements: () => ORIGINS, run: addOrigins, minReader: 1, minWriter: 2 },
  { statements: () => HELD_ENDS, minReader: 1, minWriter: 2 },
  { statements: () => FOUND_SOURCES, minReader: 1, minWriter: 2 },
  { statements: () => ORIGINALS_BY_ORIGIN, minReader: 1, minWriter: 2 },
];

/** Options with which a store is opened. */
interface Wanted {
  readonly place: Place;
  readonly mode: "create" | "read-write" | "read-only";
  readonly partitions: number;
  readonly steps: readonly Migration[];
}

interface Version {
  readonly version: number;
  readonly min_reader: number;
  readonly min_writer: number;
}

/**
 * Creates the schema and its tables, or takes the steps that are missing; for a schema of this version, one statement. Several processes
 * at once: one does it, the others wait.
 *
 * @throws {StoreNotFoundError} there is no store, and the mode is not `create`.
 * @throws {NewerStoreError} the schema is of a version that this program cannot use in this mode.
 */
export async function migrate(client: PgClient, wanted: Wanted): Promise<void> {
  const found = await readVersion(client, wanted.place.schema);
  if (found !== undefined && found.version >= wanted.steps.length) return requireUsable(found, wanted);
  if (found === undefined && wanted.mode !== "create") throw new StoreNotFoundError(storeName(wanted.place));
  if (wanted.mode === "read-only") {
    throw new ServerError("SERVER_UNSUITABLE", wanted.place.label, `its schema ${wanted.place.schema} is of an older version`, {
      hint: "Open the store once for writing, which upgrades it.",
    });
  }
  for (let tries = 1; ; tries++) {
    await client.query("BEGIN");
    try {
      await takeSteps(client, wanted);
      await client.query("COMMIT");
      return;
    } catch (error) {
      await client.query("ROLLBACK").catch(() => undefined);
      if (!(await isMadeByAnother(error, client, wanted.place)) || tries === MOST_TRIES) throw toMigrationError(error, wanted.place);
    }
  }
}

const MOST_TRIES = 5;

/** True if the schema or its tables could not be created because another process has just created them. */
async function isMadeByAnother(error: unknown, client: PgClient, { schema }: Place): Promise<boolean> {
  if (isServerError(error, "42P06") || (isServerError(error, "23505") && /pg_namespace/.test(error.message))) return true;
  const isTaken = isServerError(error, "42P07") || isServerError(error, "23505");
  return isTaken && (await readVersion(client, schema)) !== undefined;
}

/** A server with the schema of a store. */
function storeName({ label, schema }: Place): string {
  return `${label} (schema ${schema})`;
}

/** Reads the version of the schema; undefined if there is none. */
async function readVersion(client: Pick<PgClient, "query">, schema: string): Promise<Version | undefined> {
  try {
    const { rows } = await client.query<Version>(`SELECT version, min_reader, min_writer FROM "${schema}".${VERSION_TABLE}`);
    return rows[0];
  } catch (error) {
    if (isServerError(error, "42P01") || isServerError(error, "3F000")) return undefined;
    throw error;
  }
}

/** @throws {NewerStoreError} another program has upgraded the schema, and this one cannot use it any more. */
export async function requireCurrent(client: PgClient, wanted: Wanted): Promise<void> {
  const found = await readVersion(client, wanted.place.schema);
  if (found !== undefined) requireUsable(found, wanted);
}

/** A newer program may have taken steps that this one does not know; the version says whether it can still work. */
function requireUsable(found: Version, { place, mode, steps }: Wanted): void {
  const needed = mode === "read-only" ? found.min_reader : found.min_writer;
  if (steps.length >= needed) return;
  const hint = steps.length >= found.min_reader ? "Update Bough, or open the store with the mode read-only." : undefined;
  throw new NewerStoreError(storeName(place), found.version, steps.length, { hint });
}

/** Creating a store waits for so long for another process that creates it, in milliseconds. */
const CREATION_MS = 60_000;

async function takeSteps(client: PgClient, wanted: Wanted): Promise<void> {
  const { schema, waitMs } = wanted.place;
  await client.query(`SET LOCAL lock_timeout = ${Math.max(waitMs, CREATION_MS)}`);
  const { rows } = await client.query("SELECT to_regnamespace($1) IS NOT NULL AS made", [`"${schema}"`]);
  if (rows[0]?.made !== true) await client.query(`CREATE SCHEMA "${schema}"`);
  await requireTrusted(client, wanted.place, true);
  const version = await lockVersion(client, wanted);
  if (version.version >= wanted.steps.length) return requireUsable(version, wanted);
  // Tables are created in the first schema of the path. Only trusted roles can create anything there.
  await client.query(`SET LOCAL search_path = "${schema}", pg_temp`);
  const layout = { schema, partitions: wanted.partitions, lz4: await hasLz4(client) };
  const steps = wanted.steps.slice(version.version);
  const statements = steps.flatMap((step) => step.statements(layout));
  await client.query([...statements, setVersion(wanted.steps)].join(";\n"));
  if (version.version === 0) return;
  const { rows: tenants } = await client.query<{ tenant: string }>(`SELECT DISTINCT tenant FROM "${schema}".session`);
  const common = { schema, prepare: false, version: wanted.steps.length };
  for (const { tenant } of tenants)
    for (const { run } of steps) await run?.(transactionOn(client, { ...common, tenant: String(fromColumn(tenant)) }));
}

/**
 * Makes this the only process that changes the schema, until the end of the transaction, and waits for the writers: each transaction that writes reads
 * the version first, which holds a lock on its table. Only the owner of the tables can keep other processes from the first lock, so that they wait for
 * as long as a change takes.
 */
async function lockVersion(client: PgClient, { place: { schema, waitMs } }: Wanted): Promise<Version> {
  const table = `"${schema}".${VERSION_TABLE}`;
  const { rows } = await client.query("SELECT to_regclass($1) IS NOT NULL AS made", [table]);
  if (rows[0]?.made !== true) {
    await client.query(versionTable(table));
    return { version: 0, min_reader: 0, min_writer: 0 };
  }
  await client.query(`SET LOCAL lock_timeout = 0; LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`);
  await client.query(`SET LOCAL lock_timeout = ${Math.max(waitMs, 1)}; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
  return (await readVersion(client, schema)) ?? { version: 0, min_reader: 0, min_writer: 0 };
}

function versionTable(table: string): string {
  return `CREATE TABLE ${table} (
    one        smallint PRIMARY KEY DEFAULT 1 CHECK (one = 1), -- there is one row
    version    integer NOT NULL,
    min_reader integer NOT NULL, -- the oldest version of the program that can read
    min_writer integer NOT NULL
  )`;
}

function setVersion(steps: readonly Migration[]): string {
  const last = steps.at(-1);
  const row = `${steps.length}, ${last?.minReader}, ${last?.minWriter}`;
  return `INSERT INTO ${VERSION_TABLE} (version, min_reader, min_writer) VALUES (${row})
    ON CONFLICT (one) DO UPDATE SET version = excluded.version, min_reader = excluded.min_reader, min_writer = excluded.min_writer`;
}

async function hasLz4(client: PgClient): Promise<boolean> {
  const { rows } = await client.query("SELECT 'lz4' = ANY (enumvals) AS has FROM pg_settings WHERE name = 'default_toast_compression'");
  return rows[0]?.has === true;
}

function toMigrationError(error: unknown, { label, schema }: Place): unknown {
  if (isServerError(error, "42P07")) return new ForeignFileError(`${label} (schema ${schema})`, `it has other tables: ${error.message}`);
  if (!isServerError(error, "42501")) return error;
  return new ServerError(
    "SERVER_RIGHTS",
    label,
    `this user may not create or upgrade the store in the schema ${schema} (${error.message})`,
    {
      cause: error,
      hint: "Let the owner of the database open the store once, and give this user the rights in docs/postgres.md.",
    },
  );
}

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
 * @throws {ServerError} SERVER_UNSUITABLE.
 */
export async function requireTrusted(client: PgClient, { label, schema, owner }: Place, creating: boolean): Promise<void> {
  const { rows } = await client.query<Foreign>(creating ? FOREIGN_OR_CREATED : FOREIGN, [schema, owner ?? null]);
  for (const found of rows) {
    const me = "with the rights of this connection";
    throw new ServerError("SERVER_UNSUITABLE", label, `${found.what} belongs to the role ${found.owner}, whose code would run ${me}`, {
      hint:
        found.owner === "PUBLIC"
          ? `Take it away: REVOKE CREATE ON SCHEMA ${schema} FROM PUBLIC`
          : "If you trust that role, name it in the address: owner=ROLE. See `Roles` in docs/postgres.md.",
    });
  }
}
