// The only place that imports the driver `pg`.

import { ServerError } from "@bough/session-core";
import pg from "pg";
import type { ServerAddress } from "./address.js";

export type PgPool = pg.Pool;
export type PgClient = pg.PoolClient;
/** A connection of its own, outside the pool. */
export type PgConnection = pg.Client;

/** Options of a pool. */
export interface PoolOptions {
  readonly address: ServerAddress;
  readonly tenant: string;
  /** At most this many connections. */
  readonly connections: number;
  /** The time for which a call waits for a free connection, a new one or the lock of another writer, in milliseconds. */
  readonly waitMs: number;
  /** Every transaction is read-only. */
  readonly readOnly: boolean;
  /** Acknowledged writes survive a crash of the server. */
  readonly durable: boolean;
}

/** Opens a pool with one connection, which shows that the server answers. */
export async function openPool(options: PoolOptions): Promise<PgPool> {
  const { tls } = options.address;
  try {
    return await connected(createPool(options));
  } catch (error) {
    if (!tls.optional || !(error instanceof Error && /does not support SSL/.test(error.message))) throw error;
    return connected(createPool({ ...options, address: withoutTls(options.address) }));
  }
}

async function connected(pool: PgPool): Promise<PgPool> {
  try {
    (await pool.connect()).release();
    return pool;
  } catch (error) {
    await pool.end();
    throw error;
  }
}

function withoutTls(address: ServerAddress): ServerAddress {
  return { ...address, tls: { options: undefined, optional: false } };
}

function createPool(options: PoolOptions): PgPool {
  const Client = options.address.channelBinding ? boundClient(options.address) : pg.Client;
  const pool = new pg.Pool({
    ...configOf(options),
    max: options.connections,
    Client,
    // A store that was not closed does not keep the process alive.
    allowExitOnIdle: true,
  });
  clients.set(pool, Client);
  // A connection that breaks while it is idle is replaced at the next query.
  pool.on("error", () => undefined);
  // One that breaks while it is in use makes its query throw, and is an event as well.
  pool.on("connect", (client) => client.on("error", () => undefined));
  return pool;
}

/** The class of the connections of each pool. */
const clients = new WeakMap<PgPool, typeof pg.Client>();

/** Makes a connection that listens for announcements. `connect` it. */
export function createConnection(pool: PgPool): PgConnection {
  return new (clients.get(pool) ?? pg.Client)(pool.options);
}

/**
 * Makes a class of connections that give no password, and are not used, unless the server proves that it knows the password and that the encrypted
 * connection ends at it (SCRAM-SHA-256-PLUS). The driver would answer a server that asks for the password itself, also after it offered to prove.
 */
function boundClient(address: ServerAddress): typeof pg.Client {
  return class BoundClient extends pg.Client {
    constructor(config?: string | pg.ClientConfig) {
      let offersProof = false;
      let isProven = false;
      const refusal = () =>
        new ServerError("SERVER_LOGIN", address.label, NOT_BOUND, { hint: "Or leave channel_binding out of the address." });
      const password = async () => {
        if (!offersProof) throw refusal();
        return (await address.password()) ?? "";
      };
      super(typeof config === "string" ? { connectionString: config, password } : { ...config, password });
      // The driver keeps the password that it received, and would send it at the next request without a call of `password`. So each
      // request sets `password` again.
      const onRequest = (mechanisms: readonly string[]) => {
        offersProof = mechanisms.includes("SCRAM-SHA-256-PLUS");
        isProven = false;
        Object.assign(this, { password });
      };
      this.connection.on("authenticationSASL", ({ mechanisms }: { readonly mechanisms: readonly string[] }) => onRequest(mechanisms));
      for (const request of ["authenticationCleartextPassword", "authenticationMD5Password"])
        this.connection.on(request, () => onRequest([]));
      // The driver compares the signature in it after this, and fails if the server does not know the password.
      this.connection.on("authenticationSASLFinal", () => {
        isProven = offersProof;
      });
      // A server that asks for nothing, or stops in the middle, proves nothing.
      this.connection.on("authenticationOk", () => {
        if (!isProven) this.connection.emit("error", refusal());
      });
    }
  };
}

const NOT_BOUND =
  "it does not take part in channel binding (SCRAM-SHA-256-PLUS over TLS), which the address requires; no password was sent";

/** The time in which a server has to accept a connection, and to answer the first question, in milliseconds. */
export function answerMs({ address, waitMs }: PoolOptions): number {
  return address.connectTimeoutMs ?? Math.max(waitMs, 1);
}

/** True if a query ended with its `query_timeout`, an error without a code. A driver that pipelines statements closes the connection. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof Error && error.message === "Query read timeout";
}

function configOf(options: PoolOptions): pg.ClientConfig {
  const { address } = options;
  return {
    host: address.host,
    port: address.port,
    user: address.user,
    database: address.database,
    // The driver takes no answer as an empty password, and has an error of its own for the latter.
    password: async () => (await address.password()) ?? "",
    ssl: address.tls.options ?? false,
    enableChannelBinding: address.channelBinding,
    connectionTimeoutMillis: answerMs(options),
    keepAlive: true,
    // Statements that are sent together take one round trip. A driver that is too old for it sends the next one after an answer.
    pipeline: true,
    application_name: address.applicationName,
    options: Object.entries(settingsOf(options))
      .map(([name, value]) => `-c ${name}=${escapeOption(value)}`)
      .join(" "),
    types: { getTypeParser: (oid: number, format?: "text" | "binary") => PARSERS.get(oid) ?? pg.types.getTypeParser(oid, format) },
  };
}

/**
 * The schemas in which the server looks up names without one. PostgreSQL prefers a function or an operator whose argument types fit better,
 * in whichever of them it is, so a schema in which somebody else may create things would run their code with the rights of this connection
 * (CVE-2018-1058). The tables of the store are named with their schema (`withSchema` in database.ts).
 */
export const SEARCH_PATH = "pg_catalog, pg_temp";

/** The settings of each connection. */
function settingsOf({ tenant, waitMs, readOnly, durable }: PoolOptions): Readonly<Record<string, string>> {
  return {
    search_path: SEARCH_PATH,
    // The rules of the statements that take locks; a server or a role can have another default.
    default_transaction_isolation: "read committed",
    // Row-level security compares each row with it.
    "bough.tenant": toServer(tenant),
    // 0 would mean: no limit.
    lock_timeout: String(Math.max(waitMs, 1)),
    // A client that stopped in the middle of a transaction does not hold the lock of a session for ever.
    idle_in_transaction_session_timeout: "60000",
    // A server or a role can have numbers rounded in texts, and NULL in arrays taken for a text.
    extra_float_digits: "1",
    array_nulls: "on",
    // It compiles for longer than a short query takes.
    jit: "off",
    ...(readOnly ? { default_transaction_read_only: "on" } : {}),
    ...(durable ? {} : { synchronous_commit: "off" }),
  };
}

/** In the startup parameter `options`, a backslash keeps the next character as it is. */
function escapeOption(value: string): string {
  return value.replace(/[\s\\]/g, "\\$&");
}

/** Values that are numbers: the driver returns the first two as texts, because they can be larger than a number. Those of a store are not. */
const INT8 = 20;
const NUMERIC = 1700;
const INT8_ARRAY = 1016;
const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [INT8, Number],
  [NUMERIC, Number],
  [
    INT8_ARRAY,
    (text) =>
      text === "{}"
        ? []
        : text
            .slice(1, -1)
            .split(",")
            .map((item) => (item === "NULL" ? null : Number(item))),
  ],
]);

// A text of PostgreSQL cannot have the character U+0000; ids, titles, paths and keys can. It is stored as U+0001 U+0001, and U+0001 as
// U+0001 U+0002, which keeps the order by code points. JSON texts have neither: JSON writes both as escapes.

const HAS_SPECIAL = /[\0\x01]/;

/** A parameter as the server can store it. */
export function toParameter(value: unknown): unknown {
  if (typeof value === "string") return toServer(value);
  return Array.isArray(value) ? value.map(toParameter) : value;
}

/** A value of a column as it was given to `toParameter`. */
export function fromColumn(value: unknown): unknown {
  if (typeof value === "string") return value.includes("\x01") ? value.replaceAll("\x01\x01", "\0").replaceAll("\x01\x02", "\x01") : value;
  return Array.isArray(value) ? value.map(fromColumn) : value;
}

/** A text as the server stores it. */
export function toServer(text: string): string {
  return HAS_SPECIAL.test(text) ? text.replaceAll("\x01", "\x01\x02").replaceAll("\0", "\x01\x01") : text;
}
