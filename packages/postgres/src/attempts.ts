import { setTimeout as sleep } from "node:timers/promises";
import { createConnection, type PgClient, type PgConnection, type PgPool } from "./driver.js";
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
