import { setTimeout as sleep } from "node:timers/promises";
import { createConnection, type PgClient, type PgConnection, type PgPool, toServer } from "./driver.js";
import { connectFaultOf, type Fault, faultOf, isMisfit, type Place, toConnectError, toLostError, toServerError } from "./server-errors.js";

/** A connection while it is in use. */
export interface Held {
  /** Set if it broke although the attempt did not throw; it is not used again. */
  isBroken: boolean;
}

/** A backend whose client connection broke. It may hold locks until the server notices. */
interface Orphan {
  readonly pid: number;
  /** The time at which the connection broke. */
  readonly at: number;
}

/** Takes connections of a pool, and tries operations again whose attempt did nothing. */
export class Attempts {
  readonly place: Place;
  readonly #pool: PgPool;
  readonly checkSchema: (client: PgClient) => Promise<void>;
  /** The server's ends of connections that broke. */
  readonly #orphans = new Set<Orphan>();

  /** `checkSchema` throws if another program has made a schema that this one cannot use; called when a statement does not fit the tables. */
  constructor(pool: PgPool, place: Place, checkSchema: (client: PgClient) => Promise<void> = async () => undefined) {
    this.#pool = pool;
    this.place = place;
    this.checkSchema = checkSchema;
  }

  /**
   * Calls `attempt` with a connection until it succeeds, for at most the time that a store waits. It is called again after a conflict with
   * another transaction (a deadlock, a serialization failure), and if it throws the driver's error of a broken connection.
   */
  async run<T>(attempt: (client: PgClient, held: Held) => Promise<T>): Promise<T> {
    const until = performance.now() + this.place.waitMs;
    for (let tries = 1; ; tries++) {
      const client = await this.connect(until);
      const held = { isBroken: false };
      try {
        for (const orphan of this.#orphans) await this.#tryToEnd(orphan, client);
        return await attempt(client, held);
      } catch (error) {
        const fault = faultOf(error);
        // After a migration, the statements that a connection has prepared are not accepted any more.
        held.isBroken ||= fault === "lost" || fault === "stale";
        if (isFinal(fault, tries, until))
          throw fault === "lost" ? toLostError(error, this.place, "nothing") : await this.#explained(error, client);
      } finally {
        if (held.isBroken) this.#abandon(client);
        client.release(held.isBroken);
      }
      await pause(tries);
    }
  }

  /** Notes that a connection is broken. */
  #abandon(client: PgClient): void {
    if ("processID" in client && typeof client.processID === "number") this.#orphans.add({ pid: client.processID, at: performance.now() });
  }

  /**
   * Ends the server's end of a broken connection, which can hold the lock of a session until the server notices, and can still do what
   * it was sent. Does nothing if it has ended: another one with its number is younger.
   */
  async #end(orphan: Orphan, client: PgClient): Promise<void> {
    const seconds = (performance.now() - orphan.at) / 1000;
    await client.query(
      `SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity
       WHERE pid = $1 AND usename = current_user AND backend_start < now() - make_interval(secs => $2)`,
      [orphan.pid, seconds],
    );
    this.#orphans.delete(orphan);
  }

  /** A role may not be allowed to end processes; then the server has to notice that the connection is broken. */
  async #tryToEnd(orphan: Orphan, client: PgClient): Promise<void> {
    try {
      await this.#end(orphan, client);
    } catch (error) {
      if (faultOf(error) !== "failed") throw error;
      this.#orphans.delete(orphan);
    }
  }

  async #explained(error: unknown, client: PgClient): Promise<unknown> {
    if (isMisfit(error)) await this.checkSchema(client);
    return toServerError(error, this.place);
  }

  /** Returns a connection that nobody else uses. Waits for a server that starts, or that has no connection left. */
  async connect(until = performance.now() + this.place.waitMs): Promise<PgClient> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#pool.connect();
      } catch (error) {
        if (connectFaultOf(error) === "failed" || performance.now() > until) throw toConnectError(error, this.place);
      }
      await pause(tries);
    }
  }

  /** Makes a connection outside the pool, which is not connected yet. */
  newConnection(): PgConnection {
    return createConnection(this.#pool);
  }

  /** Closes the connections when their operations have ended. */
  async end(): Promise<void> {
    await this.#pool.end();
  }
}

/** True if an attempt is not repeated. A statement that is stale on several connections is so because of a pooler. */
function isFinal(fault: Fault, tries: number, until: number): boolean {
  return fault === "failed" || (fault === "stale" && tries >= 5) || performance.now() > until;
}

/** Waits for longer each time, and for a random part of it, so that two transactions do not meet again. */
export async function pause(tries: number): Promise<void> {
  await sleep(Math.min(2 ** tries * 5, 250) * (0.5 + Math.random() / 2));
}

/** The number of ended marks at which a statement of its own removes them. */
const REMOVED_AT_ONCE = 200;

/**
 * Determines whether a transaction was committed whose connection broke before the server answered.
 *
 * The last statement of a transaction adds a row with a random id to `commit_mark`. If the answer is missing, another connection adds a
 * row with the same id, which says that the transaction was not committed. If there is one already, that one is right. Otherwise the
 * transaction can no longer be committed, even if the server has not yet noticed the broken connection: its own row would be the
 * second one. The number of the transaction (`pg_xact_status`) would not do: after a crash the server can give it to another one.
 */
export class CommitMarks {
  readonly #attempts: Attempts;
  readonly #tenant: string;
  readonly #table: string;
  /** Marks of transactions whose end is known. */
  #ended: string[] = [];

  constructor(attempts: Attempts, { tenant, schema }: { readonly tenant: string; readonly schema: string }) {
    this.#attempts = attempts;
    this.#tenant = toServer(tenant);
    this.#table = `"${schema}".commit_mark`;
  }

  /** Commits the transaction of a connection. Returns "unknown" if the connection broke: `wasCommitted` finds out. */
  async commit(client: PgClient, mark: string): Promise<"committed" | "unknown"> {
    try {
      // One round trip, so without parameters.
      const [tenant, id] = [this.#tenant, mark].map((text) => client.escapeLiteral(text));
      await client.query(`INSERT INTO ${this.#table} (tenant, mark, committed) VALUES (${tenant}, ${id}, true); COMMIT`);
      this.#forget(mark);
      return "committed";
    } catch (error) {
      if (faultOf(error) === "lost") return "unknown";
      await client.query("ROLLBACK").catch(() => undefined);
      throw error;
    }
  }

  /** @throws {ConnectionLostError} with `written: "unknown"`: the server did not come back within the time that a store waits. */
  async wasCommitted(mark: string): Promise<boolean> {
    const key = [this.#tenant, mark];
    try {
      const committed = await this.#attempts.run(async (client) => {
        await client.query(`INSERT INTO ${this.#table} (tenant, mark, committed) VALUES ($1, $2, false) ON CONFLICT DO NOTHING`, key);
        const { rows } = await client.query(`SELECT committed FROM ${this.#table} WHERE tenant = $1 AND mark = $2`, key);
        return rows[0]?.committed === true;
      });
      if (committed) this.#forget(mark);
      return committed;
    } catch (error) {
      throw toLostError(error, this.#attempts.place, "unknown");
    }
  }

  #forget(mark: string): void {
    this.#ended.push(mark);
    if (this.#ended.length >= REMOVED_AT_ONCE) void this.clear();
  }

  /** Removes the marks that are not needed any more, and those of processes that crashed. */
  async clear(): Promise<void> {
    const ended = this.#ended;
    if (ended.length === 0) return;
    this.#ended = [];
    await this.#attempts
      .run((client) =>
        client.query(`DELETE FROM ${this.#table} WHERE tenant = $1 AND (mark = ANY ($2) OR made_at < now() - interval '1 day')`, [
          this.#tenant,
          ended,
        ]),
      )
      // The next one removes them when they are old.
      .catch(() => undefined);
  }
}
