import type { EntryId, SessionId } from "@bough/session-core";
import { MAIN_LEAF, type SessionRecordRow } from "@bough/session-core/engine";
import type { Database } from "./database.js";
import { type LockedSession, readFacts } from "./facts.js";
import { connectCopies } from "./origins.js";
import type { Asked, ImportFacts, PlannedImport } from "./planned-import.js";
import type { Changes } from "./planned-session.js";
import { pgQuery, pgRaw } from "./query.js";
import { saveChanges } from "./save-changes.js";
import { ofSession } from "./session-key.js";
import { saveTitle } from "./session-rows.js";
import { setSourceSession } from "./source-files.js";

type LabelRow = { readonly seq: number; readonly label: string; readonly createdAtMs: number };

const labelsOf = pgQuery<{ session: SessionId }, LabelRow>(({ sql, p }) =>
  pgRaw(sql<LabelRow>`
    SELECT entry_seq AS seq, label, created_at_ms AS "createdAtMs" FROM label WHERE ${ofSession(sql, p, "label")}`),
);

const anyMove = pgQuery<{ session: SessionId; name: string }, { found: boolean }>(({ sql, p }) =>
  pgRaw(sql<{ found: boolean }>`
    SELECT EXISTS (
      SELECT 1 FROM leaf_move WHERE ${ofSession(sql, p, "leaf_move")} AND leaf_name = ${p.name} AND state IN ('done', 'undone')) AS found`),
);

/** Reads what an import asks about a session. Three statements. */
export async function readImportFacts(transaction: Database, row: SessionRecordRow, asked: Asked): Promise<ImportFacts> {
  const session = row.id;
  const wanted = {
    leaves: [...asked.leaves],
    ids: [],
    written: [...asked.ids],
    values: [...asked.values],
    needsRuns: true,
    needsMarks: true,
  };
  const facts = await readFacts(transaction, session, wanted);
  const labels = await transaction.all(labelsOf, { session });
  const moves = await transaction.get(anyMove, { session, name: MAIN_LEAF });
  return {
    ...facts,
    labels: new Map(labels.map(({ seq, ...label }) => [seq, label])),
    hasMainMoves: moves?.found === true,
    title: { title: row.title, source: row.title_source },
  };
}

const setOrigin = pgQuery<{ session: SessionId; cwd: string | null; createdAtMs: number }>(({ sql, p }) =>
  pgRaw(sql`UPDATE session SET cwd = ${p.cwd}, created_at_ms = ${p.createdAtMs} WHERE ${ofSession(sql, p, "session")}`),
);

const setCall = pgQuery<{ session: SessionId; sessionId: SessionId; entryId: EntryId | null; toolCallId: string }>(({ sql, p }) =>
  pgRaw(sql`
    UPDATE session SET parent_session_id = ${p.sessionId}, parent_entry_id = ${p.entryId}, parent_call_id = ${p.toolCallId}
    WHERE ${ofSession(sql, p, "session")}`),
);

/** Writes what an import changes. The caller holds the session's row. */
export async function saveImport(transaction: Database, session: LockedSession, plan: PlannedImport, changes: Changes): Promise<void> {
  const { id } = session;
  const { title, origin, call, reading } = plan.changed;
  await saveChanges(transaction, session, changes);
  const [first] = changes.entries;
  if (first !== undefined) await connectCopies(transaction, id, { from: first.seq, references: plan.references });
  if (title !== undefined) await saveTitle(transaction, id, title);
  if (origin !== undefined) await transaction.run(setOrigin, { session: id, ...origin });
  if (call !== undefined) await transaction.run(setCall, { session: id, ...call });
  if (reading !== undefined) await setSourceSession(transaction, { ...reading, sessionId: id });
}
