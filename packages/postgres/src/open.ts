import { type FileTools, ServerError, StoreReadOnlyError } from "@bough/session-core";
import { checkArgument, oneOf, optional, options as optionsOf, type Rule, type RulesOf, ruleOf } from "@bough/session-core/arguments";
import { isSystemError, type SessionStorage } from "@bough/session-core/engine";
import { parseServerUrl, type ServerAddress } from "./address.js";
import { Attempts, pause } from "./attempts.js";
import { PgDatabase } from "./database.js";
import { answerMs, isUnanswered, openPool, type PgClient, type PgPool, type PoolOptions, SEARCH_PATH, toServer } from "./driver.js";
import { MIGRATIONS, type Migration, migrate, requireCurrent, requireTrusted } from "./migrate.js";
import { postgresStorage } from "./postgres-storage.js";
import { TABLE_KEYS } from "./schema.js";
import { WORDS_FUNCTION } from "./search-schema.js";
import { connectFaultOf, type Place, READ_ONLY_HINT, toConnectError } from "./server-errors.js";

/** Options of a store on a server. A member that is undefined is in the url, or has a default. */
export interface PostgresOptions {
  readonly url: string;
  readonly tenant?: string | undefined;
  readonly schema?: string | undefined;
  readonly connections?: number | undefined;
  readonly mode: "create" | "read-write" | "read-only";
  readonly durability: "full" | "normal";
  readonly busyTimeoutMs: number;
  readonly partitions?: number | undefined;
  readonly fileTools: FileTools;
}

/**
 * Opens the storage, and creates its schema and tables if they are missing.
 *
 * @throws {ServerError | StoreNotFoundError | NewerStoreError}
 */
export async function openPostgres(options: PostgresOptions): Promise<SessionStorage> {
  return openWithSteps(options, MIGRATIONS);
}

/** The same with the migrations that a test of upgrades chooses. */
export async function openWithSteps(options: PostgresOptions, steps: readonly Migration[]): Promise<SessionStorage> {
  const address = parseServerUrl(options.url);
  const pooled = poolOptionsOf(options, address);
  const { connections, waitMs, tenant } = pooled;
  const schema = options.schema ?? address.schema ?? "bough";
  checkArgument("options.schema", schema, SCHEMA_NAME);
  checkArgument("options.tenant", pooled.tenant, TENANT_NAME);
  const { label, database, owner, prepare } = address;
  const place: Place = { label, database, schema, owner, connections, waitMs };
  const pool = await reachPool(pooled, place);
  const wanted = { place, mode: options.mode, partitions: options.partitions ?? 0, steps };
  const attempts = new Attempts(pool, place, (client) => requireCurrent(client, wanted));
  try {
    await attempts.run(async (client) => {
      await requireSuitable(client, place, pooled);
      await requireTrusted(client, place, false);
      await migrate(client, wanted);
    });
  } catch (error) {
    await pool.end();
    throw error;
  }
  const common = { tenant, schema, prepare, version: steps.length, readOnly: pooled.readOnly };
  return postgresStorage(new PgDatabase(attempts, common), options.fileTools);
}

/** It is in each key, and a setting of each connection; a row of an index has at most about 2,700 bytes. */
const TENANT_NAME = ruleOf(
  "a text of at most 128 bytes in UTF-8, without half of a surrogate pair",
  (value) => typeof value === "string" && value.toWellFormed() === value && Buffer.byteLength(toServer(value)) <= 128,
);

function poolOptionsOf(options: PostgresOptions, address: ServerAddress): PoolOptions {
  return {
    address,
    tenant: options.tenant ?? address.tenant ?? "",
    connections: Math.max(1, options.connections ?? 10),
    waitMs: options.busyTimeoutMs,
    readOnly: options.mode === "read-only",
    durable: options.durability === "full",
  };
}

/** Connects. Waits only for a server that is starting, or full: one that is not there is reported at once. */
async function reachPool(options: PoolOptions, place: Place): Promise<PgPool> {
  const until = performance.now() + place.waitMs;
  for (let tries = 1; ; tries++) {
    try {
      return await openPool(options);
    } catch (error) {
      const mayPass = connectFaultOf(error) !== "failed" && !isSystemError(error);
      if (!mayPass || performance.now() > until) throw toConnectError(error, place);
    }
    await pause(tries);
  }
}

/** The oldest major version of PostgreSQL, as its number of a version. */
const OLDEST = 140_000;

// Every name has its schema: only the answer says what the search path is.
const FACTS = `SELECT pg_catalog.current_setting('server_version_num')::pg_catalog.int4 AS version,
  pg_catalog.current_setting('server_encoding') AS encoding, pg_catalog.pg_is_in_recovery() AS "isReplica",
  pg_catalog.current_setting('default_transaction_read_only') OPERATOR(pg_catalog.=) 'on'::pg_catalog.text AS "isReadOnly",
  coalesce(pg_catalog.current_setting('bough.tenant', true), '') AS tenant, pg_catalog.current_setting('search_path') AS path`;

interface Facts {
  readonly version: number;
  readonly encoding: string;
  readonly isReplica: boolean;
  readonly isReadOnly: boolean;
  readonly tenant: string;
  readonly path: string;
}

/** Asks the first question. A server that stopped, and a pooler without a free server, accept a login and then say nothing. */
async function askFacts(client: PgClient, { label }: Place, timeoutMs: number): Promise<readonly Facts[]> {
  const question = { text: FACTS, query_timeout: timeoutMs };
  try {
    return (await client.query<Facts>(question)).rows;
  } catch (error) {
    if (!isUnanswered(error)) throw error;
    throw new ServerError("SERVER_UNAVAILABLE", label, `it accepted the login, and then gave no answer for ${timeoutMs} ms`, {
      cause: error,
    });
  }
}

async function requireSuitable(client: PgClient, place: Place, options: PoolOptions): Promise<void> {
  const { readOnly, tenant } = options;
  const { label } = place;
  const rows = await askFacts(client, place, answerMs(options));
  for (const { version, encoding, isReplica, isReadOnly, tenant: set, path } of rows) {
    if (version < OLDEST)
      throw new ServerError(
        "SERVER_UNSUITABLE",
        label,
        `it is PostgreSQL ${Math.floor(version / 10_000)}, and 14 is the oldest that works`,
      );
    if (encoding !== "UTF8") {
      throw new ServerError("SERVER_UNSUITABLE", label, `its database has the encoding ${encoding}, not UTF8`, {
        hint: "Create another: createdb --encoding=UTF8 --template=template0 NAME",
      });
    }
    if (set !== toServer(tenant)) {
      throw new ServerError("SERVER_UNSUITABLE", label, "a pooler before it does not pass on settings of a connection", {
        hint: "Connect to the server itself, or see `Poolers` in docs/postgres.md.",
      });
    }
    if (path !== SEARCH_PATH) {
      throw new ServerError(
        "SERVER_UNSUITABLE",
        label,
        `a pooler before it does not pass on the search_path of a connection, which is ${path}`,
        {
          hint: `Set it for the role: ALTER ROLE name SET search_path = ${SEARCH_PATH}`,
        },
      );
    }
    if (!readOnly && (isReplica || isReadOnly)) throw new StoreReadOnlyError(label, { hint: READ_ONLY_HINT });
  }
}

/** The default name of the schema of a store. */
const SCHEMA = "bough";

/** The schema of a store; default `bough`. */
export interface SchemaName {
  readonly schema?: string | undefined;
}

/** The rights to grant, and their role. */
export interface GrantOptions extends SchemaName {
  /** A role of the server. */
  readonly role: string;
  /** `read`: only with the mode `read-only`. Default `write`. */
  readonly access?: "read" | "write" | undefined;
}

/**
 * Returns the statements that spread the tables of a new, empty store over the servers of Citus: one call for each table. The rows of a
 * session are on one server, so that each operation on a session is a transaction of one server. Run them as the owner of the tables.
 *
 * @example
 * for (const statement of distribution()) await client.query(statement);
 */
export function distribution(options: SchemaName = {}): readonly string[] {
  checkArgument("options", options, NAME_OPTIONS);
  const { schema = SCHEMA } = options;
  const together = new Map<string, string>();
  const calls = TABLE_KEYS.map(([name, key]) => {
    const with_ = together.get(key) ?? "none";
    if (!together.has(key)) together.set(key, `${schema}.${name}`);
    return `SELECT create_distributed_table('${schema}.${name}', '${key}', colocate_with => '${with_}')`;
  });
  return [...calls, `SELECT create_reference_table('${schema}.store_version')`];
}

/**
 * Returns the statements that let a role use a store that it does not own. Row-level security holds for such a role: it reads and
 * writes only the rows of the tenant that its connection was opened for.
 *
 * @example
 * for (const statement of grants({ role: "agents" })) await client.query(statement);
 */
export function grants(options: GrantOptions): readonly string[] {
  checkArgument("options", options, GRANT_OPTIONS);
  const { role, schema = SCHEMA, access = "write" } = options;
  const to = `TO "${role.replaceAll('"', '""')}"`;
  const rights = access === "read" ? "SELECT" : "SELECT, INSERT, UPDATE, DELETE";
  const tables = TABLE_KEYS.map(([name]) => `${schema}.${name}`);
  return [
    `GRANT USAGE ON SCHEMA ${schema} ${to}`,
    `GRANT SELECT ON ${schema}.store_version ${to}`,
    `GRANT ${rights} ON ${tables.join(", ")} ${to}`,
    `GRANT EXECUTE ON FUNCTION ${schema}.${WORDS_FUNCTION} ${to}`,
  ];
}

/** The rule for the name of a schema: it needs no quotation marks. Names that begin with pg_ are those of PostgreSQL itself. */
const SCHEMA_NAME: Rule = ruleOf(
  "a name of 1 to 63 characters a-z, 0-9 and _, not beginning with a digit or pg_",
  (value) => typeof value === "string" && /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/.test(value),
);

const NAME_OPTIONS = optionsOf({ schema: optional(SCHEMA_NAME) });

const GRANT_OPTIONS = optionsOf({
  role: ruleOf("the name of a role", (value) => typeof value === "string" && value !== "" && !value.includes("\0")),
  schema: optional(SCHEMA_NAME),
  access: optional(oneOf("read", "write")),
} satisfies RulesOf<GrantOptions>);
