import { checkArgument, oneOf, optional, options as optionsOf, type Rule, ruleOf } from "@bough/session-core/arguments";
import { TABLE_KEYS } from "./schema.js";
import { WORDS_FUNCTION } from "./search-schema.js";

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
export const SCHEMA_NAME: Rule = ruleOf(
  "a name of 1 to 63 characters a-z, 0-9 and _, not beginning with a digit or pg_",
  (value) => typeof value === "string" && /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/.test(value),
);

const NAME_OPTIONS = optionsOf({ schema: optional(SCHEMA_NAME) });

const GRANT_OPTIONS = optionsOf({
  role: ruleOf("the name of a role", (value) => typeof value === "string" && value !== "" && !value.includes("\0")),
  schema: optional(SCHEMA_NAME),
  access: optional(oneOf("read", "write")),
});
