import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type SessionId, type StoreChange, StoreReadOnlyError } from "@bough/session-core";
import type { Query } from "@bough/session-core/engine";
import type { Attempts } from "./attempts.js";
import { type PgConnection, toServer } from "./driver.js";
import { pgQuery, pgRaw } from "./query.js";
import { CHANNEL_TABLE } from "./schema.js";

/** The access to the sessions of a tenant. */
interface Reader {
  readonly tenant: string;
  /** True if it may write nothing. */
  readonly readOnly: boolean;
  all<P extends object, R>(query: Query<P, R>, parameters: P): Promise<R[]>;
}

type Listener = (change: StoreChange) => void;

/** The time for which a store collects changes before it announces them, in milliseconds. */
const COLLECT_MS = 30;
/** The interval at which a listening store polls for entries that a crashed process did not announce, in milliseconds. */
const LOOK_MS = 5000;
/** Clocks of machines differ by less. */
const CLOCKS_MS = 60_000;
/** The server takes 8,000 bytes for an announcement. */
const MOST_BYTES = 7900;

const recentSessions = pgQuery<{ since: number }, { id: SessionId; last_seq: number }>(({ sql, p }) =>
  pgRaw(sql<{ id: SessionId; last_seq: number }>`
    SELECT session_id AS id, last_seq FROM session
    WHERE tenant = ${p.tenant} AND listing = ANY ('{0,1,2,3,4,5,6,7}') AND active_at_ms >= ${p.since}::bigint LIMIT 1000`),
);

/**
 * Announces the writes of a store to other stores with `NOTIFY`, and reports their writes to its listeners.
 *
 * Each announcement is a transaction of its own after the writes: `NOTIFY` in a write would order the commits of all writers of the
 * database. It names the sessions. Each tenant has its own channel, whose name other tenants cannot read. A listening store uses one more
 * connection. When it breaks, the store connects again and reports to the listeners that anything may have changed.
 */
export class ChangeFeed {
  readonly #attempts: Attempts;
  readonly #database: Reader;
  #channel: Promise<string> | undefined;
  /** Distinguishes own announcements from those of others. */
  readonly #origin = randomUUID();
  readonly #listeners = new Set<Listener>();
  readonly #written = new Set<SessionId>();
  /** Sessions that this store has written to since the last poll. */
  readonly #own = new Set<SessionId>();
  #collecting: NodeJS.Timeout | undefined;
  #announcing: Promise<void> = Promise.resolve();
  #listening: AbortController | undefined;

  constructor(attempts: Attempts, database: Reader) {
    this.#attempts = attempts;
    this.#database = database;
  }

  /** Calls `listener` after another store has written. Returns a function that ends the calls. */
  add(listener: Listener): () => void {
    // A copy, because a function that is added twice is called twice.
    const own: Listener = (change) => listener(change);
    this.#listeners.add(own);
    if (this.#listening === undefined) this.#listen();
    return () => {
      if (this.#listeners.delete(own) && this.#listeners.size === 0) this.#stop();
    };
  }

  /** Notes that this store has written to sessions. */
  written(ids: Iterable<SessionId>): void {
    for (const id of ids) {
      this.#written.add(id);
      if (this.#listening !== undefined) this.#own.add(id);
    }
    if (this.#written.size === 0 || this.#collecting !== undefined) return;
    this.#collecting = setTimeout(() => this.#announce(), COLLECT_MS);
    this.#collecting.unref();
  }

  /** Announces what was written, and ends the calls of the listeners. */
  async close(): Promise<void> {
    this.#listeners.clear();
    this.#stop();
    this.#announce();
    await this.#announcing;
  }

  #announce(): void {
    clearTimeout(this.#collecting);
    this.#collecting = undefined;
    if (this.#written.size === 0) return;
    const ids = [...this.#written];
    this.#written.clear();
    const all = JSON.stringify([this.#origin, ids]);
    const text = Buffer.byteLength(all) <= MOST_BYTES ? all : JSON.stringify([this.#origin, null]);
    const done = this.#attempts.run(async (client) => {
      const notify = `NOTIFY ${await this.#channelOn(client)}, ${client.escapeLiteral(text)}`;
      // Statements that are sent together are one transaction, which a failure ends.
      await client.query(`SELECT set_config('synchronous_commit', 'off', true); ${notify}`);
    });
    // Other stores find changes that were not announced when they poll.
    this.#announcing = Promise.allSettled([this.#announcing, done]).then(() => undefined);
  }

  /** The channel of the tenant. Any role of the database can listen to any channel, so its name is random, in a table under row-level security. */
  #channelOn(client: Pick<PgConnection, "query">): Promise<string> {
    const known = this.#channel ?? readChannel(client, this.#attempts.place.schema, this.#database);
    this.#channel = known;
    // It is read again at the next announcement, or when the listener connects again.
    known.catch(() => (this.#channel = undefined));
    return known;
  }

  #listen(): void {
    const ended = new AbortController();
    this.#listening = ended;
    void this.#hear(ended.signal);
    void this.#look(ended.signal);
  }

  #stop(): void {
    this.#listening?.abort();
    this.#listening = undefined;
    this.#own.clear();
  }

  #tell(change: StoreChange): void {
    for (const listener of [...this.#listeners]) listener(change);
  }

  /** Listens until the signal. A broken connection is made again. */
  async #hear(signal: AbortSignal): Promise<void> {
    for (let tries = 0; !signal.aborted; tries++) {
      const connection = this.#attempts.newConnection();
      try {
        await this.#hearOn(connection, signal, tries > 0);
      } catch {
        // A standby has no announcements: its readers have only the looks.
      } finally {
        await connection.end().catch(() => undefined);
      }
      await wait(Math.min(2 ** tries * 50, LOOK_MS), signal);
    }
  }

  async #hearOn(connection: PgConnection, signal: AbortSignal, isAgain: boolean): Promise<void> {
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    connection.on("error", end).on("end", end);
    signal.addEventListener("abort", end);
    connection.on("notification", ({ payload }) => this.#receive(payload ?? ""));
    try {
      await connection.connect();
      // It keeps no process alive.
      if ("unref" in connection && typeof connection.unref === "function") connection.unref();
      await connection.query(`LISTEN ${await this.#channelOn(connection)}`);
      if (isAgain && !signal.aborted) this.#tell({ sessionIds: null });
      await ended;
    } finally {
      // On a standby LISTEN fails, and this method runs again every few seconds with the same signal.
      signal.removeEventListener("abort", end);
    }
  }

  #receive(text: string): void {
    const [origin, ids] = parseAnnouncement(text);
    if (origin === this.#origin) return;
    this.#tell({ sessionIds: ids });
  }

  /** Polls for sessions with new entries, and reports them to the listeners, including those that were announced before. */
  async #look(signal: AbortSignal): Promise<void> {
    let known: ReadonlyMap<SessionId, number> | undefined;
    while (!signal.aborted) {
      const found: ReadonlyMap<SessionId, number> = await this.#recent().catch(() => known ?? new Map());
      const missed = known === undefined ? [] : [...found].filter(([id, last]) => known?.get(id) !== last && !this.#own.has(id));
      this.#own.clear();
      if (missed.length > 0 && !signal.aborted) this.#tell({ sessionIds: missed.map(([id]) => id) });
      known = found;
      await wait(LOOK_MS, signal);
    }
  }

  async #recent(): Promise<ReadonlyMap<SessionId, number>> {
    const rows = await this.#database.all(recentSessions, { since: Date.now() - CLOCKS_MS - LOOK_MS });
    return new Map(rows.map(({ id, last_seq }) => [id, last_seq]));
  }
}

/** Parses an announcement. Any role of the database can send one: if its form is unknown, anything may have changed. */
function parseAnnouncement(text: string): readonly [origin: unknown, ids: readonly SessionId[] | null] {
  try {
    const given: unknown = JSON.parse(text);
    if (!Array.isArray(given)) return [undefined, null];
    const [origin, ids]: readonly unknown[] = given;
    return [origin, Array.isArray(ids) && ids.every((id): id is string => typeof id === "string") ? ids : null];
  } catch {
    return [undefined, null];
  }
}

/** Reads the channel of a tenant, and chooses one if there is none. A role that only reads can listen once a writer has chosen it. */
async function readChannel(client: Pick<PgConnection, "query">, schema: string, { tenant, readOnly }: Reader): Promise<string> {
  const table = `"${schema}".${CHANNEL_TABLE}`;
  const key = toServer(tenant);
  const read = async () =>
    (await client.query<{ channel: string }>(`SELECT channel FROM ${table} WHERE tenant = $1`, [key])).rows[0]?.channel;
  const found = await read();
  if (found !== undefined) return quotedChannel(found);
  if (readOnly) throw new StoreReadOnlyError(`${schema}.${CHANNEL_TABLE}`);
  const chosen = `bough_${randomBytes(16).toString("hex")}`;
  await client.query(`INSERT INTO ${table} (tenant, channel) VALUES ($1, $2) ON CONFLICT DO NOTHING`, [key, chosen]);
  return quotedChannel((await read()) ?? chosen);
}

function quotedChannel(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

async function wait(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
}
