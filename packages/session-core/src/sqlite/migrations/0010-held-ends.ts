/** Until when the last sync left out the end of a session, which its program was still writing, so that other processes can show it. */
export const heldEnds = {
  name: "0010-held-ends",
  statements: [
    `ALTER TABLE source_session ADD COLUMN held_until_ms INTEGER /* the last reading left out its end, which was being written; from this time on
  a sync takes it as it is; NULL: nothing was left out */`,
    "CREATE INDEX source_session_held ON source_session (held_until_ms, session_seq) WHERE held_until_ms IS NOT NULL",
  ],
};
