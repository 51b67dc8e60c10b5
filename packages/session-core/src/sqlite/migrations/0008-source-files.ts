/** The files of other programs from which sessions came, so that a sync reads only what is new. */
export const sourceFiles = {
  name: "0008-source-files",
  statements: [
    `CREATE TABLE source_file (
       path TEXT PRIMARY KEY,                       -- absolute
       stamp TEXT NOT NULL,                         -- size, times and inode when it was read last; empty: it is read again
       format TEXT                                  -- NULL: of no known format
     ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE source_session (
       path TEXT NOT NULL,                          -- of the file with its records
       source_id TEXT NOT NULL,                     -- its id in its program
       session_seq INTEGER REFERENCES session ON DELETE SET NULL, -- NULL: it was deleted here; a sync does not bring it back
       revision TEXT,                               -- of its content, if its format has revisions
       leaf_id TEXT,                                -- where the last reading put the leaf main; NULL: before the first entry
       title TEXT,                                  -- as the last reading set it; NULL: it set none
       position_json TEXT,                          -- where the last reading ended; NULL: the next one starts at the beginning
       gone_at_ms INTEGER,                          -- when a sync found that its program had removed it; NULL: it has not
       PRIMARY KEY (path, source_id)
     ) STRICT, WITHOUT ROWID`,
    "CREATE INDEX source_session_by_session ON source_session (session_seq)",
  ],
};
