import type { Attempts } from "./attempts.js";
import type { PgClient } from "./driver.js";
import { faultOf, toLostError } from "./server-errors.js";
import { toServer } from "./text.js";

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
