import { type AddedUsage, type EntrySeq, Queries, type Query, type QueryBuilder } from "@bough/session-core/engine";
import { type Compilable, type Generated, type GeneratedAlways, PostgresAdapter, PostgresQueryCompiler, type RawBuilder } from "kysely";

// One interface for each table of schema.ts, which gives the unit of each column and the meaning of NULL.

interface Keyed {
  tenant: string;
  session_id: string;
}

interface SessionColumns extends Keyed {
  seq: number;
  kind: "conversation" | "subagent";
  title: string | null;
  title_source: "user" | "auto" | null;
  cwd: string | null;
  created_at_ms: number;
  active_at_ms: number;
  archived_at_ms: number | null;
  parent_session_id: string | null;
  parent_entry_id: string | null;
  parent_call_id: string | null;
  parent_found: Generated<boolean>;
  last_seq: Generated<number>;
  entry_count: Generated<number>;
  message_count: Generated<number>;
  payload_bytes: Generated<number>;
  first_text: string | null;
  source_format: string | null;
  source_path: string | null;
  source_id: string | null;
  metadata_json: string | null;
  kind_counts: Generated<readonly number[]>;
  listing: GeneratedAlways<number>;
}

/** A row of the table `entry`. */
export interface PgEntry extends Keyed {
  seq: EntrySeq;
  id: string;
  parent_seq: EntrySeq | null;
  kind: number;
  depth: number;
  created_at_ms: number;
  compaction_seq: EntrySeq | null;
  target_seq: EntrySeq | null;
  model_seq: EntrySeq | null;
  thinking_seq: EntrySeq | null;
  system_seq: EntrySeq | null;
  call_id: string | null;
  is_error: boolean;
  omits: boolean;
  inherited: boolean;
  is_private: boolean;
  payload_bytes: number;
  preview: string;
  custom_type: string | null;
  file_operations: string | null;
  /** Written as the text of a tsvector; not read. */
  words: string;
  payload: string;
  origin: string | null;
}

/** The tables of a store on a server, for Kysely. */
export interface PgTables {
  session: SessionColumns;
  session_metadata: Keyed & { key: string; value: string };
  session_title: Keyed & { words: string };
  entry: PgEntry;
  run: Keyed & { start_seq: EntrySeq; parent_seq: EntrySeq | null; depth: number };
  leaf: Keyed & { name: string; entry_seq: EntrySeq | null };
  leaf_move: Keyed & {
    seq: number;
    leaf_name: string;
    from_seq: EntrySeq | null;
    to_seq: EntrySeq | null;
    moved_at_ms: number;
    state: "done" | "undone" | "dropped";
    resume_seq: EntrySeq | null;
  };
  label: Keyed & { entry_seq: EntrySeq; label: string; created_at_ms: number };
  value: Keyed & { key: string; value_json: string; bytes: number; updated_at_ms: number };
  usage_total: Keyed & AddedUsage & { inherited: boolean };
  word: { tenant: string; word: string };
  entry_token_count: Keyed & { counter: string; entry_seq: EntrySeq; tokens: number };
  source_file: { tenant: string; path_key: string; path: string; stamp: string; format: string | null };
  source_session: {
    tenant: string;
    path_key: string;
    source_id: string;
    path: string;
    session_id: string | null;
    revision: string | null;
    leaf_id: string | null;
    title: string | null;
    position_json: string | null;
    gone_at_ms: number | null;
    held_until_ms: number | null;
  };
}

const queries = new Queries<PgTables, Always>({
  createAdapter: () => new PostgresAdapter(),
  createQueryCompiler: () => new PostgresQueryCompiler(),
});

/** Every query that was declared, for the test of their plans. */
export const declared = queries.declared;

/** Parameters of every query, which the connection sets. */
export interface Always {
  /** The tenant that the store was opened for. */
  readonly tenant: string;
  /** The schema with the tables. */
  readonly schema: string;
  /** The version of the schema that this program knows. */
  readonly version: number;
}

/**
 * Declares a query with named parameters; `p.tenant` is always there. Declare it at the top level of the file that uses it. The server
 * prepares it once for each connection.
 *
 * @example
 * const leafOf = pgQuery<{ session: string; name: string }, { entry_seq: EntrySeq | null }>(({ db, p }) =>
 *   db.selectFrom("leaf").select("entry_seq").where("tenant", "=", p.tenant).where("session_id", "=", p.session).where("name", "=", p.name));
 * await database.get(leafOf, { session, name: "main" });
 */
export function pgQuery<P extends object = Record<never, never>, R = never>(
  build: (builder: QueryBuilder<PgTables, P & Always>) => Compilable<R>,
): Query<P, R> {
  return queries.declare<P, R>(build);
}

/** Declares a query that writes, and that can be sent again when the connection breaks: doing it twice is the same as doing it once. */
export function pgRepeatable<P extends object = Record<never, never>, R = never>(
  build: (builder: QueryBuilder<PgTables, P & Always>) => Compilable<R>,
): Query<P, R> {
  return { ...queries.declare<P, R>(build), isRepeatable: true };
}

/** Makes a query of a statement that depends on a filter. It is compiled again at each call, and not kept prepared. */
export function pgDynamicQuery<R>(statement: RawBuilder<R>): Query<Record<never, never>, R> {
  return queries.dynamic(statement);
}

/** Makes a query from an SQL template; `R` is the type of its rows. */
export function pgRaw<R>(statement: RawBuilder<R>): Compilable<R> {
  return queries.raw(statement);
}
