import { sep } from "node:path";
import type { EntryId, SessionId, SessionSeq } from "../../ids/ids.js";
import type { CheckedPosition, HeldSession, SessionSourceRow, SourceFileRecord, SourceSessionRecord } from "../../port/source.js";
import { type SourceSessionRow, toSourceSession } from "../../rules/session-columns.js";
import { keyBounds } from "../../rules/values.js";
import type { Connection } from "../file/connection.js";
import { query, rawQuery } from "../query.js";

const filesBelow = query<{ path: string; from: string; to: string | Buffer }, SourceFileRecord>(({ sql, p }) =>
  rawQuery(sql`SELECT path, stamp, format FROM source_file WHERE path = ${p.path} OR (path >= ${p.from} AND path < ${p.to})`),
);

/** The file at `path`, and those below it. Cost: those files. */
export function listSourceFiles(connection: Connection, path: string): readonly SourceFileRecord[] {
  return connection.all(filesBelow, { path, ...keyBounds({ prefix: path.endsWith(sep) ? path : path + sep }) });
}

const setFile = query<SourceFileRecord>(({ db, p }) =>
  db
    .insertInto("source_file")
    .values({ path: p.path, stamp: p.stamp, format: p.format })
    .onConflict((found) => found.column("path").doUpdateSet({ stamp: p.stamp, format: p.format })),
);

/** Keeps how files were read. */
export function setSourceFiles(connection: Connection, files: readonly SourceFileRecord[]): void {
  connection.write(() => {
    for (const file of files) connection.run(setFile, file);
  });
}

const sessionsOfFile = query<{ path: string }, SourceSessionRow>(({ db, p }) =>
  db
    .selectFrom("source_session")
    .leftJoin("session", "session.seq", "source_session.session_seq")
    .select(["path", "source_session.source_id", "session.id as session_id", "revision", "leaf_id", "source_session.title"])
    .select(["position_json", "gone_at_ms"])
    .where("path", "=", p.path),
);

/** The sessions of a file, by their ids in their program. */
export function listSourceSessions(connection: Connection, path: string): readonly SourceSessionRecord[] {
  return connection.all(sessionsOfFile, { path }).map(toSourceSession);
}

interface NewSourceSession {
  readonly path: string;
  readonly sourceId: SessionId;
  readonly session: SessionSeq;
  readonly revision: string | null;
  readonly leafId: EntryId | null;
  readonly title: string | null;
  readonly position: CheckedPosition | null;
  readonly heldUntilMs: number | null;
}

const setSession = query<Omit<NewSourceSession, "position"> & { position: string | null }>(({ db, sql, p }) =>
  db
    .insertInto("source_session")
    .values({
      path: p.path,
      source_id: p.sourceId,
      session_seq: p.session,
      revision: p.revision,
      leaf_id: p.leafId,
      title: p.title,
      position_json: p.position,
      gone_at_ms: null,
      held_until_ms: p.heldUntilMs,
    })
    .onConflict((found) =>
      found.columns(["path", "source_id"]).doUpdateSet({
        session_seq: sql`excluded.session_seq`,
        revision: sql`excluded.revision`,
        leaf_id: sql`excluded.leaf_id`,
        title: sql`excluded.title`,
        position_json: sql`excluded.position_json`,
        gone_at_ms: null,
        held_until_ms: sql`excluded.held_until_ms`,
      }),
    ),
);

/** Keeps how a session of a file was read. Call it inside `write`. */
export function setSourceSession(connection: Connection, { position, ...session }: NewSourceSession): void {
  connection.run(setSession, { ...session, position: position === null ? null : JSON.stringify(position) });
  connection.run(followFile, session);
}

// A file that was moved is a new file that a sync has read, and one that is gone.
const followFile = query<{ path: string; sourceId: SessionId }>(({ sql, p }) =>
  rawQuery(sql`
    UPDATE session SET source_path =
      (SELECT min(path) FROM source_session AS present WHERE present.session_seq = session.seq AND present.gone_at_ms IS NULL)
    WHERE seq = (SELECT session_seq FROM source_session WHERE path = ${p.path} AND source_id = ${p.sourceId})
      AND EXISTS (SELECT 1 FROM source_session AS gone
        WHERE gone.session_seq = session.seq AND gone.path = session.source_path AND gone.gone_at_ms IS NOT NULL)
      AND EXISTS (SELECT 1 FROM source_session AS present WHERE present.session_seq = session.seq AND present.gone_at_ms IS NULL)`),
);

const setGone = query<{ path: string; sourceId: SessionId; goneAtMs: number | null }>(({ db, p }) =>
  db.updateTable("source_session").set({ gone_at_ms: p.goneAtMs }).where("path", "=", p.path).where("source_id", "=", p.sourceId),
);

/**
 * Records that programs have removed these sessions, or have them again (null). A session whose file is gone and that has another file
 * gets the path of that one.
 */
export function setSourcesGone(
  connection: Connection,
  sessions: readonly Pick<SourceSessionRecord, "path" | "sourceId">[],
  goneAtMs: number | null,
): void {
  connection.write(() => {
    for (const { path, sourceId } of sessions) {
      connection.run(setGone, { path, sourceId, goneAtMs });
      connection.run(followFile, { path, sourceId });
    }
  });
}

const forgetSession = query<{ session: SessionSeq }>(({ db, p }) =>
  db
    .updateTable("source_session")
    .set({ session_seq: null, revision: null, leaf_id: null, title: null, position_json: null, held_until_ms: null })
    .where("session_seq", "=", p.session),
);

/** Clears the source records of a deleted session; their rows stay, without a session. Call it inside `write`. */
export function forgetSourceSession(connection: Connection, session: SessionSeq): void {
  connection.run(forgetSession, { session });
}

const heldAfter = query<{ nowMs: number }, HeldSession>(({ db, p }) =>
  db
    .selectFrom("source_session")
    .innerJoin("session", "session.seq", "source_session.session_seq")
    .select(({ fn }) => ["session.id as sessionId", fn.max<number>("held_until_ms").as("untilMs")])
    .where("held_until_ms", ">", p.nowMs)
    .groupBy("session.seq"),
);

/** The sessions whose end the last sync left out until a time after `nowMs`. Cost: those sessions. */
export function listHeldSessions(connection: Connection, nowMs: number): readonly HeldSession[] {
  return connection.all(heldAfter, { nowMs });
}

const sourcesOfAll = query<Record<never, never>, SessionSourceRow>(({ db, sql }) =>
  db
    .selectFrom("session")
    .leftJoin("source_session", "source_session.session_seq", "session.seq")
    .select(["session.id as sessionId", "source_session.gone_at_ms as goneAtMs"])
    .select(sql<string>`coalesce(source_session.path, session.source_path)`.as("path"))
    .where(sql<boolean>`coalesce(source_session.path, session.source_path) IS NOT NULL AND session.source_format <> 'bough'`),
);

/** The files of all sessions that were imported from other programs: those that syncs read, else the first one. */
export function listSessionSources(connection: Connection): readonly SessionSourceRow[] {
  return connection.all(sourcesOfAll, {});
}
