import { InvalidArgumentError } from "../errors/bough-error.js";
import { TABLE_KEYS } from "./schema.js";

/** The default name of the schema of a store. */
const SCHEMA = "bough";

/** The schema of a store; default `bough`. */
export interface SchemaName {
  readonly schema?: string | undefined;
}

/** Who may do what. */
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
export function distribution({ schema = SCHEMA }: SchemaName = {}): readonly string[] {
  requireName("options.schema", schema);
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
export function grants({ role, schema = SCHEMA, access = "write" }: GrantOptions): readonly string[] {
  requireName("options.schema", schema);
  if (role === "" || role.includes("\0")) throw new InvalidArgumentError("options.role", "the name of a role", "another text");
  const to = `TO "${role.replaceAll('"', '""')}"`;
  const rights = access === "read" ? "SELECT" : "SELECT, INSERT, UPDATE, DELETE";
  const tables = TABLE_KEYS.map(([name]) => `${schema}.${name}`);
  return [
    `GRANT USAGE ON SCHEMA ${schema} ${to}`,
    `GRANT SELECT ON ${schema}.store_version ${to}`,
    `GRANT ${rights} ON ${tables.join(", ")} ${to}`,
  ];
}

function requireName(argument: string, name: string): void {
  if (!isSchemaName(name)) throw new InvalidArgumentError(argument, SCHEMA_NAME, "another text");
}

/** What a schema may be called: names that need no quotation marks. Those of PostgreSQL itself begin with pg_. */
export const SCHEMA_NAME = "a name of 1 to 63 characters a-z, 0-9 and _, not beginning with a digit or pg_";

export function isSchemaName(name: string): boolean {
  return /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/.test(name);
}
