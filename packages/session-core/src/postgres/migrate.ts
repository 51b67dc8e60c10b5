import type { PgPool } from "./driver.js";
import { creation, type Layout } from "./schema.js";

/** Creates the schema and its tables unless they exist. */
export async function migrate(pool: PgPool, schema: string, layout: Layout): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    await client.query("SELECT pg_advisory_xact_lock(hashtext($1))", [`bough ${schema}`]);
    const { rows } = await client.query("SELECT to_regclass($1) IS NOT NULL AS made", [`${schema}.session`]);
    if (rows[0]?.made !== true) {
      await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
      for (const statement of creation(layout)) await client.query(statement);
    }
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  } finally {
    client.release();
  }
}
