import { ForeignFileError, NewerStoreError, ServerRightsError, ServerUnsuitableError, StoreNotFoundError } from "@bough/session-core";
import { type Database, transactionOn } from "./database.js";
import type { PgClient } from "./driver.js";
import { addOrigins } from "./origins.js";
import { requireTrusted } from "./owners.js";
import { creation, type Layout, ORIGINS, VERSION_TABLE } from "./schema.js";
import { HELD_ENDS, secondStep } from "./schema-steps.js";
import { isServerError, type Place } from "./server-errors.js";
import { fromColumn } from "./text.js";

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
];

/** Options with which a store is opened. */
export interface Wanted {
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
    throw new ServerUnsuitableError(wanted.place.label, `its schema ${wanted.place.schema} is of an older version`, {
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
  const found = await lockVersion(client, wanted);
  if (found.version >= wanted.steps.length) return requireUsable(found, wanted);
  // Tables are created in the first schema of the path. Only trusted roles can create anything there.
  await client.query(`SET LOCAL search_path = "${schema}", pg_temp`);
  const layout = { schema, partitions: wanted.partitions, lz4: await hasLz4(client) };
  const steps = wanted.steps.slice(found.version);
  const statements = steps.flatMap((step) => step.statements(layout));
  await client.query([...statements, setVersion(wanted.steps)].join(";\n"));
  if (found.version === 0) return;
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
  return new ServerRightsError(label, `this user may not create or upgrade the store in the schema ${schema} (${error.message})`, {
    cause: error,
    hint: "Let the owner of the database open the store once, and give this user the rights in docs/postgres.md.",
  });
}
