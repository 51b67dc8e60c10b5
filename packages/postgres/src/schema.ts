import { type RawBuilder, sql } from "kysely";
import { SEARCH_CREATION, WORD_TABLE, wordsFunction } from "./search-schema.js";

// Row-level security: each table shows and takes only rows of the tenant in the setting `bough.tenant`. It holds for roles that neither
// own the tables nor have BYPASSRLS, and so it does not stand in the way of the owner's pg_dump.

const IS_OWN = "tenant = current_setting('bough.tenant', true)";

/** The statements that secure a table. A partition has no policy, so that other roles reach its rows only through the table. */
function secured(name: string, partitions: number): readonly string[] {
  const parts = Array.from({ length: partitions }, (_, part) => `ALTER TABLE ${name}_${part} ENABLE ROW LEVEL SECURITY`);
  return [
    `ALTER TABLE ${name} ENABLE ROW LEVEL SECURITY`,
    `CREATE POLICY own_tenant ON ${name} USING (${IS_OWN}) WITH CHECK (${IS_OWN})`,
    ...parts,
  ];
}

// The steps of the schema after the first one. They run with the schema of the store first in the search path.

/** The number of first characters of a text that an index contains: a row of an index has at most about 2,700 bytes. */
export const INDEXED_CHARACTERS = 500;

/** The characters of a member of the metadata that its index has. */
export const INDEXED_KEY = 200;
export const INDEXED_VALUE = 300;

/** SQL of the condition that a column has a text, for an index of its beginnings. */
export function startsAndIs(column: RawBuilder<unknown>, text: unknown, characters = INDEXED_CHARACTERS): RawBuilder<boolean> {
  const cut = sql.lit(characters);
  return sql<boolean>`left(${column}, ${cut}) = left(${text}::text, ${cut}) AND ${column} = ${text}`;
}

// A backslash is doubled because `decode` gives it a meaning; the bytes that join the names occur in no text of the store together (driver.ts).
const [HASHED, JOINED, END] = ["sha256(decode(replace(", String.raw` || E'\x01\x03' || `, String.raw`, E'\\', E'\\\\'), 'escape'))`];

/** SQL of a short value that is another one for every provider and model, whose names can be too long for an index. */
export function modelKey(provider: RawBuilder<unknown>, model: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`${sql.raw(HASHED)}${provider}${sql.raw(JOINED)}${model}${sql.raw(END)}`;
}

/**
 * A statement that gives a table the owner of the other ones and the rights that roles have on these: whoever upgrades a store may be another role
 * than its owner. Each privilege of `grants` is on every table, and so on `value`.
 */
function ownedAsOthers(table: string): string {
  return `DO $$
    DECLARE
      known CONSTANT pg_catalog.regclass := 'value'::regclass;
      owner CONSTANT oid := (SELECT relowner FROM pg_class WHERE oid = known);
      given record;
    BEGIN
      IF owner <> (SELECT relowner FROM pg_class WHERE oid = '${table}'::regclass) THEN
        EXECUTE format('ALTER TABLE ${table} OWNER TO %I', pg_get_userbyid(owner));
      END IF;
      FOR given IN
        SELECT privilege_type, is_grantable, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS role
        FROM pg_class CROSS JOIN LATERAL aclexplode(relacl) WHERE oid = known AND grantee <> owner
      LOOP
        EXECUTE format('GRANT %s ON ${table} TO %s', given.privilege_type, given.role)
          || CASE WHEN given.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END;
      END LOOP;
    END $$`;
}

/** Until when the last sync left out the end of a session, which its program was still writing. */
export const HELD_ENDS: readonly string[] = [
  "ALTER TABLE source_session ADD COLUMN held_until_ms bigint",
  `CREATE INDEX source_session_held ON source_session (tenant, held_until_ms) WHERE held_until_ms IS NOT NULL`,
];

/** True: the file of a session does not state its source; an import found it by the copies, and may find another one. */
export const FOUND_SOURCES: readonly string[] = ["ALTER TABLE session ADD COLUMN parent_found boolean NOT NULL DEFAULT false"];

/** The index finds the original among any number of copies, and the copies in a session. */
export const ORIGINALS_BY_ORIGIN: readonly string[] = [
  "DROP INDEX entry_by_origin",
  "CREATE INDEX entry_by_origin ON entry (tenant, origin, inherited, session_id) WHERE origin IS NOT NULL",
];

/** Long texts are indexed by their beginnings, functions qualify each name, and announcements are on channels that cannot be guessed. */
export function secondStep({ schema }: Layout): readonly string[] {
  const cut = (column: string, characters = INDEXED_CHARACTERS) => `left(${column}, ${characters})`;
  return [
    wordsFunction(schema),
    "DROP INDEX session_by_cwd, session_by_parent, session_by_member",
    `CREATE INDEX session_by_cwd ON session (tenant, ${cut("cwd")}, listing, active_at_ms) WHERE cwd IS NOT NULL`,
    `CREATE INDEX session_by_parent ON session (tenant, ${cut("parent_session_id")}, active_at_ms) WHERE parent_session_id IS NOT NULL`,
    `CREATE INDEX session_by_member ON session_metadata (tenant, ${cut("key", INDEXED_KEY)}, ${cut("value", INDEXED_VALUE)})`,
    // Logical replication finds the row to change by a primary key, also during the upgrade.
    "ALTER TABLE usage_total ADD COLUMN model_key bytea",
    `UPDATE usage_total SET model_key = ${HASHED}provider${JOINED}model${END}`,
    "ALTER TABLE usage_total DROP CONSTRAINT usage_total_pkey, ALTER COLUMN model_key SET NOT NULL",
    "ALTER TABLE usage_total ADD PRIMARY KEY (tenant, session_id, inherited, model_key)",
    `CREATE TABLE ${CHANNEL_TABLE} (
      tenant  text COLLATE "C" PRIMARY KEY,
      channel text COLLATE "C" NOT NULL -- the name of a channel of NOTIFY
    )`,
    ...secured(CHANNEL_TABLE, 0),
    ownedAsOthers(CHANNEL_TABLE),
  ];
}

/**
 * The tables of a store on a PostgreSQL server, in a schema of their own (default `bough`).
 *
 * Every key begins with the tenant and the session, no constraint crosses sessions, and no sequence is used, so every table can be
 * partitioned by the hash of `session_id`, or distributed by it. There are no foreign keys: a writer holds the row of its session while
 * it writes, and a deletion removes the rows of all tables in one transaction.
 *
 * An entry's `seq` is its order of arrival in its session: 1, 2, 3, without gaps, from the counter `session.last_seq`.
 */
export interface Layout {
  /** The name of the schema. */
  readonly schema: string;
  /** The number of hash partitions of each table; 0: tables are not partitioned. */
  readonly partitions: number;
  /** True if the server compresses large texts with lz4. */
  readonly lz4: boolean;
}

/** Each table with its columns and keys, without the name of the schema. */
const TABLES: readonly (readonly [name: string, body: string])[] = [
  [
    "session",
    `
    seq               bigint   NOT NULL, -- tells sessions with the same id apart, when one was deleted and made again
    created_at_ms     bigint   NOT NULL,
    active_at_ms      bigint   NOT NULL, -- last conversation entry; renaming and labelling leave it alone
    archived_at_ms    bigint,            -- NULL: not archived
    payload_bytes     bigint   NOT NULL DEFAULT 0,
    last_seq          integer  NOT NULL DEFAULT 0, -- the seq of the newest entry; its row lock orders the writers of the session
    entry_count       integer  NOT NULL DEFAULT 0,
    message_count     integer  NOT NULL DEFAULT 0, -- user and assistant messages on all branches
    listing           smallint NOT NULL GENERATED ALWAYS AS
      ((kind = 'subagent')::int + 2 * (archived_at_ms IS NOT NULL)::int + 4 * (entry_count = 0)::int) STORED, -- 1: a subagent, 2 more: archived, 4 more: empty
    tenant            text COLLATE "C" NOT NULL, -- '': the store has no tenants
    session_id        text COLLATE "C" NOT NULL,
    kind              text COLLATE "C" NOT NULL CHECK (kind IN ('conversation', 'subagent')),
    title             text COLLATE "C",
    title_source      text COLLATE "C" CHECK (title_source IN ('user', 'auto')),
    cwd               text COLLATE "C",
    parent_session_id text COLLATE "C",
    parent_entry_id   text COLLATE "C",
    parent_call_id    text COLLATE "C",
    first_text        text COLLATE "C", -- preview of the first user message
    source_format     text COLLATE "C",
    source_path       text COLLATE "C",
    source_id         text COLLATE "C",
    metadata_json     text COLLATE "C",
    kind_counts       integer[] NOT NULL DEFAULT '{}', -- of each kind, from 1 up, the number of entries; shorter if there are none of the last kinds
    PRIMARY KEY (tenant, session_id)`,
  ],
  [
    "session_metadata",
    `
    tenant     text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL, -- a top-level member of the metadata; a longer one than 500 characters is not here
    value      text COLLATE "C" NOT NULL, -- a string, number, boolean or null as JSON; at most 500 characters
    PRIMARY KEY (tenant, session_id, key)`,
  ],
  [
    "session_title",
    `
    tenant     text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    words      tsvector NOT NULL, -- of the title
    PRIMARY KEY (tenant, session_id)`,
  ],
  [
    "entry",
    `
    created_at_ms  bigint   NOT NULL,
    seq            integer  NOT NULL,
    parent_seq     integer  CHECK (parent_seq < seq), -- NULL: a first entry of its session
    depth          integer  NOT NULL,       -- entries above it on its path
    compaction_seq integer,                 -- the compaction that a context at this entry starts with
    target_seq     integer  CHECK (target_seq < seq), -- of a compaction: the first kept entry; of a context_edit: the edited entry
    model_seq      integer,                 -- nearest entry at or above that says which model answers
    thinking_seq   integer,
    system_seq     integer,
    payload_bytes  integer  NOT NULL,       -- of the payload as JSON in UTF-8
    kind           smallint NOT NULL,       -- type and role, as in a store on SQLite
    is_error       boolean  NOT NULL,
    omits          boolean  NOT NULL,       -- a context_edit without a replacement
    inherited      boolean  NOT NULL,       -- copied by a fork
    is_private     boolean  NOT NULL,       -- a command with excludeFromContext: searches leave it out
    tenant         text COLLATE "C" NOT NULL,
    session_id     text COLLATE "C" NOT NULL,
    id             text COLLATE "C" NOT NULL,
    call_id        text COLLATE "C",        -- of a tool result: the call that it answers
    custom_type    text COLLATE "C",        -- NULL if longer than 500 characters
    preview        text COLLATE "C" NOT NULL,
    file_operations text COLLATE "C",       -- JSON: what its tool calls do with files; NULL: nothing
    words          tsvector NOT NULL,       -- of its searchable text, folded
    payload        text COLLATE "C" NOT NULL, -- JSON, as it was given: jsonb would change the order of members and the form of numbers
    PRIMARY KEY (tenant, session_id, seq),
    UNIQUE (tenant, session_id, id)`,
  ],
  [
    // A run is a line of entries each of which is the parent of the next, with consecutive numbers. It ends before the next run starts.
    // The runs of a session are its whole topology: an append that continues the newest run adds none.
    "run",
    `
    start_seq  integer NOT NULL,
    parent_seq integer,          -- the parent of its first entry; NULL: a first entry of the session
    depth      integer NOT NULL, -- of its first entry
    tenant     text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, session_id, start_seq)`,
  ],
  [
    "leaf",
    `
    entry_seq  integer, -- NULL: before the first entry
    tenant     text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    name       text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, session_id, name)`,
  ],
  [
    "leaf_move",
    `
    moved_at_ms bigint  NOT NULL,
    seq         integer NOT NULL, -- order of the moves in their session
    from_seq    integer,
    to_seq      integer,
    resume_seq  integer,          -- of an undone move: where the leaf stood when it was undone
    tenant      text COLLATE "C" NOT NULL,
    session_id  text COLLATE "C" NOT NULL,
    leaf_name   text COLLATE "C" NOT NULL,
    state       text COLLATE "C" NOT NULL CHECK (state IN ('done', 'undone', 'dropped')),
    PRIMARY KEY (tenant, session_id, seq)`,
  ],
  [
    "label",
    `
    created_at_ms bigint  NOT NULL,
    entry_seq     integer NOT NULL,
    tenant        text COLLATE "C" NOT NULL,
    session_id    text COLLATE "C" NOT NULL,
    label         text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, session_id, entry_seq)`,
  ],
  [
    "value",
    `
    updated_at_ms bigint  NOT NULL,
    bytes         integer NOT NULL,
    tenant        text COLLATE "C" NOT NULL,
    session_id    text COLLATE "C" NOT NULL,
    key           text COLLATE "C" NOT NULL,
    value_json    text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, session_id, key)`,
  ],
  [
    "usage_total",
    `
    input_tokens       double precision NOT NULL,
    output_tokens      double precision NOT NULL,
    cache_read_tokens  double precision NOT NULL,
    cache_write_tokens double precision NOT NULL,
    cost_usd           double precision NOT NULL,
    replies            integer NOT NULL,
    inherited          boolean NOT NULL, -- used by the session that this one was forked from
    tenant             text COLLATE "C" NOT NULL,
    session_id         text COLLATE "C" NOT NULL,
    provider           text COLLATE "C" NOT NULL, -- '' where the reply did not say
    model              text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, session_id, inherited, provider, model)`,
  ],
  [
    "entry_token_count",
    `
    entry_seq  integer NOT NULL,
    tokens     bigint NOT NULL,
    tenant     text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    counter    text COLLATE "C" NOT NULL, -- of the host's choice
    PRIMARY KEY (tenant, session_id, counter, entry_seq)`,
  ],
];

/** Tables without a session: what syncs have read on a machine. Under Citus they are distributed by `path_key`. */
const FILE_TABLES: readonly (readonly [name: string, body: string])[] = [
  [
    "source_file",
    `
    tenant   text COLLATE "C" NOT NULL,
    path_key text COLLATE "C" NOT NULL, -- the SHA-256 of the path, because a path can be too long for an index
    path     text COLLATE "C" NOT NULL,
    stamp    text COLLATE "C" NOT NULL,
    format   text COLLATE "C",
    PRIMARY KEY (tenant, path_key)`,
  ],
  [
    "source_session",
    `
    gone_at_ms    bigint,
    tenant        text COLLATE "C" NOT NULL,
    path_key      text COLLATE "C" NOT NULL,
    source_id     text COLLATE "C" NOT NULL,
    path          text COLLATE "C" NOT NULL,
    session_id    text COLLATE "C", -- NULL: it was deleted here
    revision      text COLLATE "C",
    leaf_id       text COLLATE "C",
    title         text COLLATE "C",
    position_json text COLLATE "C",
    PRIMARY KEY (tenant, path_key, source_id)`,
  ],
];

/** System messages, compactions, summaries of branches, changes of model and thinking level, edits. */
export const MARK_KINDS = "1, 7, 8, 9, 10, 11";

/** The tables that record the outcome of transactions, for writers whose connection broke: attempts.ts. */
const MARK_TABLES: readonly (readonly [name: string, body: string])[] = [
  [
    "commit_mark",
    `
    made_at   timestamptz NOT NULL DEFAULT now(),
    committed boolean NOT NULL, -- false: the transaction with this mark was not committed, and cannot be any more
    tenant    text COLLATE "C" NOT NULL,
    mark      text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, mark)`,
  ],
];

const INDEXES: readonly (readonly [name: string, on: string])[] = [
  ["session_by_activity", `session (tenant, listing, active_at_ms, seq)`],
  ["session_by_cwd", `session (tenant, cwd, listing, active_at_ms) WHERE cwd IS NOT NULL`],
  ["session_by_parent", `session (tenant, parent_session_id, active_at_ms) WHERE parent_session_id IS NOT NULL`],
  ["session_by_member", `session_metadata (tenant, key, value)`],
  ["session_title_words", `session_title USING gin (words)`],
  // Few entries: those that say what applies below them, by which a path is listed without its messages.
  ["entry_marks", `entry (tenant, session_id, kind, seq) WHERE kind IN (${MARK_KINDS})`],
  ["entry_custom_type", `entry (tenant, session_id, custom_type, seq) WHERE custom_type IS NOT NULL`],
  ["entry_words", `entry USING gin (words)`],
  ["leaf_move_stack", `leaf_move (tenant, session_id, leaf_name, state, seq)`],
  ["run_by_parent", `run (tenant, session_id, parent_seq)`],
  ["source_file_by_path", `source_file (tenant, left(path, 500))`],
  ["source_session_by_session", `source_session (tenant, session_id)`],
];

/** The tables that have the column `session_id`. */
export const SESSION_TABLES: readonly string[] = TABLES.map(([name]) => name);

type TableKey = readonly [name: string, key: string];

/** The tables of version 1. */
const FIRST_TABLE_KEYS: readonly TableKey[] = [
  ...TABLES.map(([name]) => [name, "session_id"] as const),
  ...FILE_TABLES.map(([name]) => [name, "path_key"] as const),
  ...MARK_TABLES.map(([name]) => [name, "mark"] as const),
  [WORD_TABLE, "word"],
];

/** The table of the channels for announcements of writes, one for each tenant. Row-level security hides its random name from the others. */
export const CHANNEL_TABLE = "announcement_channel";

/** Each table with the column by which it is partitioned, or distributed over several servers. */
export const TABLE_KEYS: readonly TableKey[] = [...FIRST_TABLE_KEYS, [CHANNEL_TABLE, "tenant"]];

/** The table with the version of the schema. */
export const VERSION_TABLE = "store_version";

/** The keys of tables that have no partitions. */
const UNPARTITIONED: readonly string[] = ["mark", "word"];

/** The statements that create the tables of version 1 in the schema that is first in the search path. */
export function creation({ partitions, lz4 }: Layout): readonly string[] {
  return [
    ...TABLES.flatMap(([name, body]) => created(name, body, "session_id", partitions)),
    ...FILE_TABLES.flatMap(([name, body]) => created(name, body, "path_key", partitions)),
    ...MARK_TABLES.flatMap(([name, body]) => created(name, body, "mark", 0)),
    ...INDEXES.map(([name, on]) => `CREATE INDEX ${name} ON ${on}`),
    ...SEARCH_CREATION,
    ...FIRST_TABLE_KEYS.flatMap(([name, key]) => secured(name, UNPARTITIONED.includes(key) ? 0 : partitions)),
    // A partition does not take over what is set for its table later.
    ...(lz4 ? ["entry", ...partsOf("entry", partitions)].map(compressed) : []),
  ];
}

function compressed(table: string): string {
  return `ALTER TABLE ${table} ALTER COLUMN payload SET COMPRESSION lz4, ALTER COLUMN words SET COMPRESSION lz4`;
}

/** The names of the partitions of a table. */
function partsOf(name: string, partitions: number): readonly string[] {
  return Array.from({ length: partitions }, (_, part) => `${name}_${part}`);
}

function created(name: string, body: string, key: string, partitions: number): readonly string[] {
  if (partitions === 0) return [`CREATE TABLE ${name} (${body})`];
  const parts = partsOf(name, partitions).map(
    (part, at) => `CREATE TABLE ${part} PARTITION OF ${name} FOR VALUES WITH (MODULUS ${partitions}, REMAINDER ${at})`,
  );
  return [`CREATE TABLE ${name} (${body}) PARTITION BY HASH (${key})`, ...parts];
}

/** Version 2: copies of an entry know what they are copies of, and usage says how many replies reported it. */
export const ORIGINS: readonly string[] = [
  // The same for all copies of an entry: the key of its content, or the ids of a session and of the entry of it that has none, with a space
  // between. NULL: appended here, and perhaps the original of copies.
  `ALTER TABLE entry ADD COLUMN origin text COLLATE "C"`,
  "ALTER TABLE usage_total ADD COLUMN recorded_replies integer NOT NULL DEFAULT 0", // of the replies, those that report tokens or a cost
  `UPDATE usage_total SET recorded_replies = replies
    WHERE input_tokens + output_tokens + cache_read_tokens + cache_write_tokens + cost_usd <> 0`,
  "CREATE INDEX entry_by_origin ON entry (tenant, origin) WHERE origin IS NOT NULL",
  "CREATE INDEX entry_inherited ON entry (tenant, session_id, seq) WHERE inherited",
];
