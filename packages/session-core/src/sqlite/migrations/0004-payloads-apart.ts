import type { Database } from "better-sqlite3";
import type { OnProgress } from "../../port/connection-options.js";
import { type BlockEntry, divideIntoBlocks, encodeBlock } from "../file/block.js";

// `entry.kind` is a number instead of the texts of type and role, which took 16 bytes of each row. The lists repeat those of
// entry/kinds.ts, because a released migration never changes; a test compares them.
const ROLES = ["system", "user", "assistant", "toolResult", "bashExecution", "custom"];
const TYPES = [
  "compaction",
  "branch_summary",
  "model_change",
  "thinking_level_change",
  "context_edit",
  "custom_message",
  "custom",
  "foreign",
];
const kindOfType = (at: number) => ROLES.length + 1 + at;

const ROLE_OF_KIND = `CASE kind ${ROLES.map((role, at) => `WHEN ${at + 1} THEN '${role}'`).join(" ")} END`;
const TYPE_OF_KIND = `CASE WHEN kind <= ${ROLES.length} THEN 'message' ELSE
       CASE kind ${TYPES.map((type, at) => `WHEN ${kindOfType(at)} THEN '${type}'`).join(" ")} END END`;
// A row of an unknown type or role is damaged: as a foreign entry it stays, and `verify` reports its payload.
const FOREIGN = kindOfType(TYPES.indexOf("foreign"));
const KIND = `CASE type WHEN 'message' THEN CASE role ${ROLES.map((role, at) => `WHEN '${role}' THEN ${at + 1}`).join(" ")} ELSE ${FOREIGN} END
    ${TYPES.map((type, at) => `WHEN '${type}' THEN ${kindOfType(at)}`).join(" ")} ELSE ${FOREIGN} END`;

const NEW_TABLES = [
  `CREATE TABLE entry (
     seq            INTEGER PRIMARY KEY,          -- order of arrival; declared, so that VACUUM keeps it
     session_seq    INTEGER NOT NULL REFERENCES session (seq) ON DELETE CASCADE,
     id             TEXT    NOT NULL,
     parent_seq     INTEGER CHECK (parent_seq < seq), -- NULL: a first entry of its session
     kind           INTEGER NOT NULL CHECK (kind BETWEEN 1 AND ${kindOfType(TYPES.length - 1)}), -- type and role
     type           TEXT    AS (${TYPE_OF_KIND}) VIRTUAL,
     role           TEXT    AS (${ROLE_OF_KIND}) VIRTUAL, -- of a message; NULL for other types
     depth          INTEGER NOT NULL CHECK (depth >= 0), -- entries above it on its path
     created_at_ms  INTEGER NOT NULL,
     compaction_seq INTEGER,                      -- the compaction that a context at this entry starts with; NULL: none
     target_seq     INTEGER CHECK (target_seq < seq), -- of a compaction: the first kept entry, NULL: nothing kept; of a context_edit: the edited entry
     model_seq      INTEGER,                      -- nearest entry at or above that says which model answers
     thinking_seq   INTEGER,                      -- nearest thinking_level_change at or above
     system_seq     INTEGER,                      -- nearest system message at or above
     call_id        TEXT,                         -- of a tool result: the call that it answers
     is_error       INTEGER NOT NULL,             -- 1: a tool result that is an error
     omits          INTEGER NOT NULL,             -- 1: a context_edit without a replacement
     inherited      INTEGER NOT NULL,             -- 1: copied by a fork; its usage counts in the session it came from
     payload_bytes  INTEGER NOT NULL,             -- of the payload as JSON in UTF-8
     preview        TEXT    NOT NULL,             -- one line for screens
     UNIQUE (session_seq, seq),
     UNIQUE (session_seq, id),
     FOREIGN KEY (session_seq, parent_seq) REFERENCES entry (session_seq, seq) -- a parent is of the same session
   ) STRICT`,
  // No CHECK (json_valid (json)): it would parse every payload again. `verify` validates payloads.
  `CREATE TABLE payload (
     entry_seq INTEGER PRIMARY KEY REFERENCES entry (seq) ON DELETE CASCADE,
     json      TEXT NOT NULL                      -- the entry without id, type and time
   ) STRICT`,
  `CREATE TABLE payload_block (
     seq           INTEGER PRIMARY KEY,
     session_seq   INTEGER NOT NULL REFERENCES session (seq) ON DELETE CASCADE,
     first_seq     INTEGER NOT NULL,              -- the block holds every entry of the session from this one
     last_seq      INTEGER NOT NULL CHECK (last_seq >= first_seq), -- to this one
     entries       INTEGER NOT NULL,
     payload_bytes INTEGER NOT NULL,              -- of the JSON texts in it
     codec         INTEGER NOT NULL,              -- 1: deflate without a header (RFC 1951)
     checksum      INTEGER NOT NULL,              -- CRC-32 of data
     data          BLOB    NOT NULL,              -- decompressed: a line of JSON [distance, bytes, …], one pair for each entry, then the JSON texts
     UNIQUE (session_seq, last_seq)
   ) STRICT`,
];

const NEW_INDEXES = [
  `CREATE INDEX entry_children ON entry (session_seq, parent_seq)`,
  // Of system messages, compactions and edits.
  `CREATE INDEX entry_marks ON entry (session_seq, kind) WHERE kind = 1 OR kind = 7 OR kind = 11`,
];

// A batch of the search index merges only levels of 16 segments, not of 4, and never one of 64 at once: filling the index takes 15 to 20 %
// less time (measured with 50,000 entries in batches of 50 and 1,000). Maintenance merges levels of 4 in pauses.
const INDEX_SETTINGS = [
  `INSERT INTO entry_text (entry_text, rank) VALUES ('automerge', 16)`,
  `INSERT INTO entry_text (entry_text, rank) VALUES ('crisismerge', 64)`,
];

/** The stored columns of `entry` of this version, computed from a row of an older version. `old` is the name of its table. */
export function columnsFrom(old: string): string {
  const payload = `CASE WHEN json_valid(payload_json) THEN payload_json ELSE '{}' END`;
  return `seq, session_seq, id, parent_seq, ${KIND} AS kind, depth, created_at_ms, compaction_seq,
    CASE type WHEN 'compaction' THEN first_kept_seq WHEN 'context_edit' THEN (
      SELECT target.seq FROM ${old} AS target
      WHERE target.session_seq = edit.session_seq AND target.id = ${payload} ->> '$.targetId' AND target.seq < edit.seq) END AS target_seq,
    model_seq, thinking_seq, system_seq,
    CASE role WHEN 'toolResult' THEN CAST(${payload} ->> '$.message.toolCallId' AS TEXT) END AS call_id,
    failed_call_id IS NOT NULL AS is_error,
    type = 'context_edit' AND ${payload} ->> '$.replacement' IS NULL AS omits,
    inherited, octet_length(payload_json) AS payload_bytes, preview
    FROM ${old} AS edit`;
}

/** The number of rows that are copied between two reports of progress. */
const ROWS_AT_ONCE = 1000;

/**
 * Separates the payload of an entry from its skeleton: drawing a tree reads about 160 bytes of each entry, and payloads are
 * compressed in blocks. The table `entry` is made again, because SQLite cannot change the columns of a table.
 */
export const payloadsApart = {
  name: "0004-payloads-apart",
  run(file: Database, onProgress?: OnProgress): void {
    const total = Number(file.prepare("SELECT count(*) FROM entry").pluck().get());
    for (const index of ["entry_children", "entry_marks"]) file.exec(`DROP INDEX IF EXISTS ${index}`);
    // With the old behavior of RENAME, the references of other tables stay at the name `entry`.
    file.pragma("legacy_alter_table = ON");
    file.exec("ALTER TABLE entry RENAME TO entry_before");
    file.pragma("legacy_alter_table = OFF");
    for (const statement of NEW_TABLES) file.exec(statement);
    file.exec("ALTER TABLE session ADD COLUMN row_count INTEGER NOT NULL DEFAULT 0");
    file.exec("ALTER TABLE session ADD COLUMN row_bytes INTEGER NOT NULL DEFAULT 0");
    copySkeletons(file, (done) => onProgress?.(Math.floor(done / 2), total));
    packPayloads(file, (done) => onProgress?.(Math.floor((total + done) / 2), total));
    file.exec("DROP TABLE entry_before");
    // No query has used it.
    file.exec("DROP INDEX IF EXISTS file_operation_by_path");
    for (const statement of [...NEW_INDEXES, ...INDEX_SETTINGS]) file.exec(statement);
    onProgress?.(total, total);
  },
};

function copySkeletons(file: Database, onCopied: (done: number) => void): void {
  const bound = file.prepare<[number, number], number>(
    "SELECT max(seq) FROM (SELECT seq FROM entry_before WHERE seq > ? ORDER BY seq LIMIT ?)",
  );
  const copy = file.prepare<[number, number]>(
    `INSERT INTO entry SELECT * FROM (SELECT ${columnsFrom("entry_before")}) WHERE seq > ? AND seq <= ? ORDER BY seq`,
  );
  let done = 0;
  for (let after = 0; ; ) {
    const upTo = bound.pluck().get(after, ROWS_AT_ONCE);
    if (upTo === undefined || upTo === null) return;
    done += copy.run(after, upTo).changes;
    onCopied(done);
    after = upTo;
  }
}

function packPayloads(file: Database, onPacked: (done: number) => void): void {
  const sessions = file.prepare<[], number>("SELECT DISTINCT session_seq FROM entry_before").pluck().all();
  const insert = file.prepare(
    `INSERT INTO payload_block (session_seq, first_seq, last_seq, entries, payload_bytes, codec, checksum, data)
     VALUES (@session, @first_seq, @last_seq, @entries, @payload_bytes, @codec, @checksum, @data)`,
  );
  let done = 0;
  for (const session of sessions) {
    for (const block of divideIntoBlocks(payloadsOf(file, session))) {
      insert.run({ session, ...encodeBlock(block) });
      done += block.length;
      onPacked(done);
    }
  }
}

function* payloadsOf(file: Database, session: number): Generator<BlockEntry, void, void> {
  // One row at a time, because a payload may be large and SQLite runs no other statement while it iterates over rows.
  const next = file.prepare<[number, number], BlockEntry>(
    "SELECT seq, payload_json AS json FROM entry_before WHERE session_seq = ? AND seq > ? ORDER BY seq LIMIT 1",
  );
  for (let row = next.get(session, 0); row !== undefined; row = next.get(session, row.seq)) yield row;
}
