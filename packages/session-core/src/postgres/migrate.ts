import { ServerRightsError, ServerUnsuitableError } from "../errors/server-errors.js";
import { ForeignFileError, NewerStoreError, StoreNotFoundError } from "../errors/store-errors.js";
import type { PgClient } from "./driver.js";
import { creation, type Layout } from "./schema.js";
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
}

/** Every step, in order. The version of a schema is the number of steps that it has taken. */
export const MIGRATIONS: readonly Migration[] = [{ statements: creation, minReader: 1, minWriter: 1 }];

/** How a store is opened. */
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
  await client.query("BEGIN");
  try {
    await takeSteps(client, wanted);
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => undefined);
    throw toMigrationError(error, wanted.place);
  }
}

/** A server with the schema of a store. */
function storeName({ label, schema }: Place): string {
  return `${label} (schema ${schema})`;
}

/** Reads the version of the schema; undefined if there is none. */
async function readVersion(client: Pick<PgClient, "query">, schema: string): Promise<Version | undefined> {
  try {
    const { rows } = await client.query<Version>(`SELECT version, min_reader, min_writer FROM "${schema}".store_version`);
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

async function takeSteps(client: PgClient, wanted: Wanted): Promise<void> {
  const { schema } = wanted.place;
  // The other processes wait for as long as it takes.
  await client.query("SET LOCAL lock_timeout = 0");
  await client.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`bough schema ${schema}`]);
  const { rows } = await client.query("SELECT to_regnamespace($1) IS NOT NULL AS made", [`"${schema}"`]);
  if (rows[0]?.made !== true) await client.query(`CREATE SCHEMA "${schema}"`);
  // A pooler can have dropped the setting of the connection; tables must not be created in `public`.
  // The function of search-schema.ts keeps this path. Without pg_temp at its end, the caller's temporary tables would come first, and would be
  // read with the rights of the owner.
  await client.query(`SET LOCAL search_path = "${schema}", public, pg_temp`);
  const made = await client.query("SELECT to_regclass($1) IS NOT NULL AS made", [`"${schema}".store_version`]);
  const found = made.rows[0]?.made === true ? await readVersion(client, schema) : undefined;
  if (found !== undefined && found.version >= wanted.steps.length) return requireUsable(found, wanted);
  const layout = { partitions: wanted.partitions, lz4: await hasLz4(client) };
  const statements = wanted.steps.slice(found?.version ?? 0).flatMap((step) => step.statements(layout));
  await client.query([...(found === undefined ? VERSION_TABLE : []), ...statements, setVersion(wanted.steps)].join(";\n"));
}

const VERSION_TABLE = [
  `CREATE TABLE store_version (
    one        smallint PRIMARY KEY DEFAULT 1 CHECK (one = 1), -- there is one row
    version    integer NOT NULL,
    min_reader integer NOT NULL, -- the oldest version of the program that can read
    min_writer integer NOT NULL
  )`,
];

function setVersion(steps: readonly Migration[]): string {
  const last = steps.at(-1);
  const row = `${steps.length}, ${last?.minReader}, ${last?.minWriter}`;
  return `INSERT INTO store_version (version, min_reader, min_writer) VALUES (${row})
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
