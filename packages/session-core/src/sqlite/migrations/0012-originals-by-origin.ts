/** The index finds the original among any number of copies, and the copies in a session. */
export const originalsByOrigin = {
  name: "0012-originals-by-origin",
  statements: [
    "DROP INDEX entry_by_origin",
    "CREATE INDEX entry_by_origin ON entry (origin, inherited, session_seq) WHERE origin IS NOT NULL",
  ],
};
