import { createHash } from "node:crypto";
import type { SessionId } from "@bough/session-core";
import { bind, type Query } from "@bough/session-core/engine";
import { TABLE_KEYS, VERSION_TABLE } from "./schema.js";
import { WORDS_FUNCTION_NAME } from "./search-schema.js";
import { toParameter } from "./text.js";

/** A statement with its parameters, as the driver takes it. */
export interface Statement {
  /** The server keeps it prepared under this name. */
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
}

/** The effect of a statement on the server. */
export interface Effect {
  /** True if it changes rows. */
  readonly writes: boolean;
  readonly isRepeatable: boolean;
  /** The session that it writes to, if it says so. */
  readonly session: SessionId | undefined;
}

/** The settings of a store on which its statements depend. */
export interface StatementContext {
  /** The schema with the tables. */
  readonly schema: string;
  /** Statements may be kept prepared; a query whose text differs from call to call is not. */
  readonly prepare: boolean;
}

/** The statement of a query, with the schema before the names of the tables. */
export function toStatement(query: Query<never, unknown>, parameters: object, { schema, prepare }: StatementContext): Statement {
  const { sql, slots } = query.compile();
  const values = bind(slots, parameters).map(toParameter);
  if (query.isDynamic) return { text: withSchema(sql, schema), values };
  const { text, name } = fixedText(sql, schema);
  return prepare ? { name, text, values } : { text, values };
}

// Queries name the tables without their schema, which differs from store to store. A table is named after one of these words, and after nothing
// else; `FOR UPDATE`, `DO UPDATE` and `IS DISTINCT FROM` are followed by other names. What is missed does not run: no table is in the search path.
const OWN_NAMES = [...TABLE_KEYS.map(([name]) => name), VERSION_TABLE, WORDS_FUNCTION_NAME].join("|");
const NAMED = new RegExp(String.raw`\b(FROM|JOIN|INTO|UPDATE)(\s+)"?(${OWN_NAMES})"?(?![\w".])`, "gi");

/** SQL in which each table of the store has its schema. */
function withSchema(text: string, schema: string): string {
  return text.replace(NAMED, `$1$2"${schema}"."$3"`);
}

interface FixedText {
  readonly text: string;
  /** The name under which the server keeps it prepared: the same text has the same name in every process. */
  readonly name: string;
}

/** By schema, then by the text without it. */
const fixedTexts = new Map<string, Map<string, FixedText>>();

function fixedText(sql: string, schema: string): FixedText {
  const texts = fixedTexts.get(schema) ?? new Map<string, FixedText>();
  fixedTexts.set(schema, texts);
  const known = texts.get(sql);
  if (known !== undefined) return known;
  const text = withSchema(sql, schema);
  const fixed = { text, name: `bough_${createHash("sha256").update(text).digest("hex").slice(0, 24)}` };
  texts.set(sql, fixed);
  return fixed;
}

/** Returns the effect of a query. By convention the parameter `session` of a query is the session that it reads or writes. */
export function effectOf(query: Query<never, unknown>, parameters: object): Effect {
  const { sql: text } = query.compile();
  const writes = query.isDynamic ? isWrite(text) : isKnownWrite(text);
  const session = "session" in parameters && typeof parameters.session === "string" ? parameters.session : undefined;
  return { writes, isRepeatable: query.isRepeatable ?? !writes, session: writes ? session : undefined };
}

const knownWrites = new Map<string, boolean>();

function isKnownWrite(text: string): boolean {
  const known = knownWrites.get(text) ?? isWrite(text);
  knownWrites.set(text, known);
  return known;
}

/** True if a statement changes rows. `SELECT … FOR UPDATE` does not. */
function isWrite(text: string): boolean {
  return /\b(?:insert\s+into|delete\s+from|merge\s+into|copy\s+\S+.*\sfrom|update\s+\S+(?:\s+as)?(?:\s+\S+)?\s+set)\b/is.test(text);
}
