import type { Database } from "better-sqlite3";
import type { OnProgress } from "../../port/connection-options.js";
import { metadataRows } from "../../rules/session-filter.js";
import { CUSTOM_KINDS, customTypeIn, payloadsFrom } from "../file/old-payloads.js";

/**
 * A number for what session lists filter by: 1 for a subagent, 2 more if archived, 4 more without entries. 0 is what lists contain
 * by default.
 */
export const LISTING = "(kind = 'subagent') + 2 * (archived_at_ms IS NOT NULL) + 4 * (entry_count = 0)";

/** The entries without children, from a table of entries. */
export const TIPS = `SELECT session_seq, seq AS entry_seq FROM entry
  WHERE NOT EXISTS (SELECT 1 FROM entry AS child WHERE child.session_seq = entry.session_seq AND child.parent_seq = entry.seq)`;
/** The entries with several children. */
export const BRANCH_POINTS = `SELECT session_seq, parent_seq AS entry_seq FROM entry WHERE parent_seq IS NOT NULL
  GROUP BY session_seq, parent_seq HAVING count(*) > 1`;
/** The number of entries of each kind, by session. */
export const KIND_COUNTS = "SELECT session_seq, kind, count(*) AS entries FROM entry GROUP BY session_seq, kind";

const SESSION_LISTS = [
  `ALTER TABLE session ADD COLUMN listing INTEGER AS (${LISTING}) VIRTUAL /* 1: a subagent, 2 more: archived, 4 more: without entries */`,
  "DROP INDEX IF EXISTS session_by_activity",
  "DROP INDEX IF EXISTS session_by_parent",
  // A list of several of the eight numbers merges as many ranges, so that one index serves every filter.
  "CREATE INDEX session_by_activity ON session (listing, active_at_ms)",
  "CREATE INDEX session_by_cwd ON session (cwd, listing, active_at_ms) WHERE cwd IS NOT NULL",
  "CREATE INDEX session_by_parent ON session (parent_session_id, listing, active_at_ms) WHERE parent_session_id IS NOT NULL",
  `CREATE TABLE session_metadata (
     key         TEXT    NOT NULL,                -- a top-level member of the metadata
     value       TEXT    NOT NULL,                -- a string, number, boolean or null as JSON; at most 500 characters
     session_seq INTEGER NOT NULL REFERENCES session (seq) ON DELETE CASCADE,
     PRIMARY KEY (key, value, session_seq)
   ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX session_metadata_by_session ON session_metadata (session_seq)",
];

const TREE_ENDS = [
  `CREATE TABLE tip (
     session_seq INTEGER NOT NULL REFERENCES session (seq) ON DELETE CASCADE,
     entry_seq   INTEGER NOT NULL,                -- an entry without children
     PRIMARY KEY (session_seq, entry_seq)
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE branch_point (
     session_seq INTEGER NOT NULL REFERENCES session (seq) ON DELETE CASCADE,
     entry_seq   INTEGER NOT NULL,                -- an entry with several children
     PRIMARY KEY (session_seq, entry_seq)
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE kind_count (
     session_seq INTEGER NOT NULL REFERENCES session (seq) ON DELETE CASCADE,
     kind        INTEGER NOT NULL,                -- as in the table entry
     entries     INTEGER NOT NULL,
     PRIMARY KEY (session_seq, kind)
   ) STRICT, WITHOUT ROWID`,
  `INSERT INTO tip ${TIPS}`,
  `INSERT INTO branch_point ${BRANCH_POINTS}`,
  `INSERT INTO kind_count ${KIND_COUNTS}`,
];

const CUSTOM_TYPES = [
  "ALTER TABLE entry ADD COLUMN custom_type TEXT /* of a custom or custom_message entry; NULL if longer than 500 characters */",
  "CREATE INDEX entry_custom_type ON entry (session_seq, custom_type) WHERE custom_type IS NOT NULL",
];

const LARGE_VALUES = [
  "ALTER TABLE value ADD COLUMN large_bytes INTEGER /* NULL: value_json is the value; else it is null, and the value is in large_value */",
  // Apart, so that a list of keys does not read it, and with a row number, so that the text is in no interior page.
  `CREATE TABLE large_value (
     seq         INTEGER PRIMARY KEY,
     session_seq INTEGER NOT NULL,
     key         TEXT    NOT NULL,
     json        TEXT    NOT NULL,                -- the value, larger than 64 KiB
     UNIQUE (session_seq, key),
     FOREIGN KEY (session_seq, key) REFERENCES value (session_seq, key) ON DELETE CASCADE
   ) STRICT`,
];

const PRIVATE_ENTRIES = [
  `CREATE TABLE private_entry (
     entry_seq INTEGER PRIMARY KEY REFERENCES entry (seq) ON DELETE CASCADE -- a command with excludeFromContext: searches leave it out
   ) STRICT`,
];

/** Columns and tables by which reads of the tree, of session lists and of values read what they return. */
export const readsByIndex = {
  name: "0005-reads-by-index",
  run(file: Database, onProgress?: OnProgress): void {
    for (const statement of [...SESSION_LISTS, ...TREE_ENDS, ...CUSTOM_TYPES, ...LARGE_VALUES, ...PRIVATE_ENTRIES]) file.exec(statement);
    fillMetadata(file);
    fillFromPayloads(file, onProgress);
  },
};

function fillMetadata(file: Database): void {
  const next = file.prepare<[number], { seq: number; metadata_json: string }>(
    "SELECT seq, metadata_json FROM session WHERE seq > ? AND metadata_json IS NOT NULL ORDER BY seq LIMIT 1",
  );
  const insert = file.prepare("INSERT OR IGNORE INTO session_metadata (key, value, session_seq) VALUES (?, ?, ?)");
  for (let row = next.get(0); row !== undefined; row = next.get(row.seq)) {
    for (const { key, value } of metadataRows(JSON.parse(row.metadata_json))) insert.run(key, value, row.seq);
  }
}

/** `bashExecution`, the kind of commands that a user ran. */
const COMMAND = 5;

function fillFromPayloads(file: Database, onProgress?: OnProgress): void {
  const setType = file.prepare("UPDATE entry SET custom_type = ? WHERE seq = ?");
  const insertPrivate = file.prepare("INSERT INTO private_entry VALUES (?)");
  for (const { seq, kind, json } of payloadsFrom(file, `${COMMAND}, ${CUSTOM_KINDS}`, onProgress)) {
    const customType = kind === COMMAND ? null : customTypeIn(json);
    if (customType !== null) setType.run(customType, seq);
    if (kind === COMMAND && isPrivate(json)) insertPrivate.run(seq);
  }
}

/** A payload that cannot be read counts as private: `verify` reports it, and no search may show it. */
function isPrivate(json: string | undefined): boolean {
  if (json === undefined) return true;
  // Most commands are not private; a text without this name needs no parsing.
  if (!json.includes("excludeFromContext")) return false;
  try {
    const payload: { readonly message?: { readonly excludeFromContext?: unknown } | null } = JSON.parse(json);
    return payload.message?.excludeFromContext === true;
  } catch (error) {
    if (error instanceof SyntaxError) return true;
    throw error;
  }
}
