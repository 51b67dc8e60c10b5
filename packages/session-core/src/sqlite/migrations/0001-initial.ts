/**
 * The first schema. The payload is the last column, so that queries of the tree read only the start of a row and not the
 * overflow pages of a long payload.
 */
export const initial = {
  name: "0001-initial",
  statements: [
    `CREATE TABLE session (
       seq               INTEGER PRIMARY KEY AUTOINCREMENT, -- order of creation; never given twice, so that a handle on a deleted session finds nothing
       id                TEXT    NOT NULL UNIQUE,
       kind              TEXT    NOT NULL CHECK (kind IN ('conversation', 'subagent')),
       title             TEXT,                      -- NULL: none given; screens show first_text
       title_source      TEXT CHECK (title_source IN ('user', 'auto')), -- a user's title is never replaced by an automatic one
       cwd               TEXT,                      -- directory the session was recorded in; it may be gone
       created_at_ms     INTEGER NOT NULL,
       active_at_ms      INTEGER NOT NULL,          -- last conversation entry; renaming and labelling leave it alone
       archived_at_ms    INTEGER,                   -- NULL: not archived
       parent_session_id TEXT,                      -- forked from or started by; no foreign key: the parent may be deleted or not imported
       parent_entry_id   TEXT,                      -- where in the parent
       parent_call_id    TEXT,                      -- the tool call that started a subagent
       entry_count       INTEGER NOT NULL DEFAULT 0,
       message_count     INTEGER NOT NULL DEFAULT 0, -- user and assistant messages on all branches
       payload_bytes     INTEGER NOT NULL DEFAULT 0,
       first_text        TEXT,                      -- preview of the first user message
       source_format     TEXT,                      -- imported from: format, path and the id it had there; NULL: made here
       source_path       TEXT,
       source_id         TEXT,
       metadata_json     TEXT CHECK (json_valid(metadata_json)) -- header fields of the source that we do not know
     ) STRICT`,
    `CREATE INDEX session_by_parent ON session (parent_session_id) WHERE parent_session_id IS NOT NULL`,
    `CREATE TABLE entry (
       seq            INTEGER PRIMARY KEY,          -- order of arrival; declared, so that VACUUM keeps it
       session_seq    INTEGER NOT NULL REFERENCES session (seq) ON DELETE CASCADE,
       id             TEXT    NOT NULL,
       parent_seq     INTEGER CHECK (parent_seq < seq), -- NULL: a first entry of its session
       type           TEXT    NOT NULL,
       role           TEXT,                         -- of a message; NULL for other types
       depth          INTEGER NOT NULL CHECK (depth >= 0), -- entries above it on its path
       created_at_ms  INTEGER NOT NULL,
       compaction_seq INTEGER,                      -- the compaction that a context at this entry starts with; NULL: none
       first_kept_seq INTEGER CHECK (first_kept_seq < seq), -- of a compaction; NULL: nothing kept
       model_seq      INTEGER,                      -- nearest entry at or above that says which model answers
       thinking_seq   INTEGER,                      -- nearest thinking_level_change at or above
       system_seq     INTEGER,                      -- nearest system message at or above
       failed_call_id TEXT,                         -- of a tool result that is an error: the call that failed
       inherited      INTEGER NOT NULL DEFAULT 0,   -- 1: copied by a fork; its usage counts in the session it came from
       preview        TEXT    NOT NULL,             -- one line for screens
       payload_json   TEXT    NOT NULL CHECK (json_valid(payload_json)),
       UNIQUE (session_seq, seq),
       UNIQUE (session_seq, id),
       FOREIGN KEY (session_seq, parent_seq) REFERENCES entry (session_seq, seq) -- a parent is of the same session
     ) STRICT`,
    // With type and role, so that counting a session by type reads this index and no row.
    `CREATE INDEX entry_children ON entry (session_seq, parent_seq, type, role)`,
    `CREATE TABLE leaf (
       session_seq INTEGER NOT NULL REFERENCES session (seq) ON DELETE CASCADE,
       name        TEXT    NOT NULL,
       entry_seq   INTEGER,                         -- NULL: before the first entry
       PRIMARY KEY (session_seq, name),
       FOREIGN KEY (session_seq, entry_seq) REFERENCES entry (session_seq, seq)
     ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE leaf_move (
       seq         INTEGER PRIMARY KEY,
       session_seq INTEGER NOT NULL REFERENCES session (seq) ON DELETE CASCADE,
       leaf_name   TEXT    NOT NULL,
       from_seq    INTEGER,                         -- where the leaf stood; NULL: before the first entry
       to_seq      INTEGER,                         -- where it was put
       moved_at_ms INTEGER NOT NULL,
       state       TEXT    NOT NULL CHECK (state IN ('done', 'undone', 'dropped')), -- dropped: can no longer be redone
       resume_seq  INTEGER                          -- of an undone move: where the leaf stood when it was undone
     ) STRICT`,
    `CREATE INDEX leaf_move_stack ON leaf_move (session_seq, leaf_name, state, seq)`,
    `CREATE TABLE label (
       session_seq   INTEGER NOT NULL REFERENCES session (seq) ON DELETE CASCADE,
       entry_seq     INTEGER NOT NULL,
       label         TEXT    NOT NULL,
       created_at_ms INTEGER NOT NULL,
       PRIMARY KEY (session_seq, entry_seq),
       FOREIGN KEY (session_seq, entry_seq) REFERENCES entry (session_seq, seq) ON DELETE CASCADE
     ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE value (
       session_seq   INTEGER NOT NULL REFERENCES session (seq) ON DELETE CASCADE,
       key           TEXT    NOT NULL,
       value_json    TEXT    NOT NULL CHECK (json_valid(value_json)),
       updated_at_ms INTEGER NOT NULL,
       PRIMARY KEY (session_seq, key)
     ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE file_operation (
       entry_seq    INTEGER NOT NULL REFERENCES entry (seq) ON DELETE CASCADE, -- holds the call, or the result that reports a nested one
       ordinal      INTEGER NOT NULL,               -- position among the operations of the entry
       tool_call_id TEXT    NOT NULL,
       kind         TEXT    NOT NULL CHECK (kind IN ('read', 'write', 'edit', 'delete', 'move')),
       path         TEXT    NOT NULL,
       nested       INTEGER NOT NULL,               -- 1: reported as done by a tool result
       PRIMARY KEY (entry_seq, ordinal)
     ) STRICT, WITHOUT ROWID`,
    `CREATE INDEX file_operation_by_path ON file_operation (path)`,
    `CREATE TABLE usage_total (
       session_seq        INTEGER NOT NULL REFERENCES session (seq) ON DELETE CASCADE,
       inherited          INTEGER NOT NULL,         -- 1: used by the session that this one was forked from
       provider           TEXT    NOT NULL,         -- '' where the reply did not say
       model              TEXT    NOT NULL,
       replies            INTEGER NOT NULL,
       input_tokens       REAL    NOT NULL,
       output_tokens      REAL    NOT NULL,
       cache_read_tokens  REAL    NOT NULL,
       cache_write_tokens REAL    NOT NULL,
       cost_usd           REAL    NOT NULL,
       PRIMARY KEY (session_seq, inherited, provider, model)
     ) STRICT, WITHOUT ROWID`,
    // Contentless: the text is in the payload already, and a second copy would double the file. Filled in batches
    // behind the appends, because FTS5's merges would make one append in a hundred thirty times slower (measured).
    `CREATE VIRTUAL TABLE entry_text USING fts5 (body, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2')`,
    `CREATE VIRTUAL TABLE session_text USING fts5 (title, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2')`,
    `CREATE TABLE store_state (
       only_row    INTEGER PRIMARY KEY CHECK (only_row = 1),
       deleted_seq INTEGER NOT NULL,                -- highest entry ever deleted: a seq is never given twice
       indexed_seq INTEGER NOT NULL                 -- every entry up to this one is in entry_text
     ) STRICT`,
    `INSERT INTO store_state VALUES (1, 0, 0)`,
  ],
};
