import { createHash } from "node:crypto";
import { sep } from "node:path";
import type { SessionId } from "@bough/session-core";
import {
  type HeldSession,
  keyBounds,
  type SessionSourceRow,
  type SourceFileRecord,
  type SourceSessionRecord,
  type SourceSessionRow,
  toSourceSession,
} from "@bough/session-core/engine";
import type { Database } from "./database.js";
import { pgQuery, pgRaw, pgRepeatable } from "./query.js";

// A path can be longer than what an index takes, so rows are found by its SHA-256, and lists by its first 500 characters.

const keyOf = (path: string): string => createHash("sha256").update(path.toWellFormed()).digest("hex");

const filesBelow = pgQuery<{ key: string; from: string; to: string }, SourceFileRecord>(({ sql, p }) =>
  pgRaw(sql<SourceFileRecord>`
    SELECT path, stamp, format FROM source_file WHERE tenant = ${p.tenant} AND path_key = ${p.key}
    UNION ALL
    SELECT path, stamp, format FROM source_file
    WHERE tenant = ${p.tenant} AND left(path, 500) >= left(${p.from}::text, 500) AND left(path, 500) <= left(${p.to}::text, 500)
      AND path >= ${p.from}::text AND path < ${p.to}::text`),
);

/** The file at `path`, and those below it. Cost: those files. */
export async function listSourceFiles(database: Database, path: string): Promise<readonly SourceFileRecord[]> {
  const { from, to } = keyBounds({ prefix: path.endsWith(sep) ? path : path + sep });
  return database.all(filesBelow, { key: keyOf(path), from, to: typeof to === "string" ? to : `${from}\u{10ffff}` });
}

interface FileArrays {
  readonly keys: readonly string[];
  readonly paths: readonly string[];
  readonly stamps: readonly string[];
  readonly formats: readonly (string | null)[];
}

const setFiles = pgRepeatable<FileArrays>(({ sql, p }) =>
  pgRaw(sql`
    INSERT INTO source_file (tenant, path_key, path, stamp, format)
    SELECT ${p.tenant}, given.* FROM unnest(${p.keys}::text[], ${p.paths}::text[], ${p.stamps}::text[], ${p.formats}::text[]) AS given
    ORDER BY 2
    ON CONFLICT (tenant, path_key) DO UPDATE SET stamp = excluded.stamp, format = excluded.format`),
);

/** The most files that one statement writes. */
const FILES_AT_ONCE = 1000;

/** Stores the stamps and formats of files that were read. */
export async function setSourceFiles(database: Database, files: readonly SourceFileRecord[]): Promise<void> {
  // One statement cannot write a row twice.
  const last = [...new Map(files.map((file) => [keyOf(file.path), file])).entries()];
  for (let at = 0; at < last.length; at += FILES_AT_ONCE) {
    const some = last.slice(at, at + FILES_AT_ONCE);
    await database.run(setFiles, {
      keys: some.map(([key]) => key),
      paths: some.map(([, { path }]) => path),
      stamps: some.map(([, { stamp }]) => stamp),
      formats: some.map(([, { format }]) => format),
    });
  }
}

const sessionsOfFile = pgQuery<{ key: string }, SourceSessionRow>(({ sql, p }) =>
  pgRaw(sql<SourceSessionRow>`
    SELECT source_id, path, session_id, revision, leaf_id, title, position_json, gone_at_ms
    FROM source_session WHERE tenant = ${p.tenant} AND path_key = ${p.key}`),
);

/** The sessions of a file, by their ids in their program. */
export async function listSourceSessions(database: Database, path: string): Promise<readonly SourceSessionRecord[]> {
  return (await database.all(sessionsOfFile, { key: keyOf(path) })).map(toSourceSession);
}

/** The record of a session that was read from a file. */
export type ReadSession = Omit<SourceSessionRecord, "goneAtMs"> & { readonly sessionId: SessionId; readonly heldUntilMs: number | null };

const setSession = pgQuery<Omit<ReadSession, "position"> & { key: string; position: string | null }>(({ sql, p }) =>
  pgRaw(sql`
    INSERT INTO source_session (tenant, path_key, source_id, path, session_id, revision, leaf_id, title, position_json, gone_at_ms, held_until_ms)
    VALUES (${p.tenant}, ${p.key}, ${p.sourceId}, ${p.path}, ${p.sessionId}, ${p.revision}, ${p.leafId}, ${p.title}, ${p.position}, NULL, ${p.heldUntilMs})
    ON CONFLICT (tenant, path_key, source_id) DO UPDATE SET session_id = excluded.session_id, revision = excluded.revision,
      leaf_id = excluded.leaf_id, title = excluded.title, position_json = excluded.position_json, gone_at_ms = NULL,
      held_until_ms = excluded.held_until_ms`),
);

/** Keeps how a session of a file was read. */
export async function setSourceSession(transaction: Database, { position, ...session }: ReadSession): Promise<void> {
  const json = position === null ? null : JSON.stringify(position);
  await transaction.run(setSession, { ...session, key: keyOf(session.path), position: json });
  await transaction.run(followFiles, { keys: [keyOf(session.path)], ids: [session.sourceId] });
}

// A file that was moved is a new file that a sync has read, and one that is gone.
const followFiles = pgRepeatable<{ keys: readonly string[]; ids: readonly SessionId[] }>(({ sql, p }) =>
  pgRaw(sql`
    UPDATE session SET source_path = moved.path
    FROM (
      SELECT gone.session_id, gone.path AS gone_path, min(present.path) AS path
      FROM unnest(${p.keys}::text[], ${p.ids}::text[]) AS given (path_key, source_id)
      JOIN source_session AS named
        ON named.tenant = ${p.tenant} AND named.path_key = given.path_key AND named.source_id = given.source_id
      JOIN source_session AS gone
        ON gone.tenant = ${p.tenant} AND gone.session_id = named.session_id AND gone.gone_at_ms IS NOT NULL
      JOIN source_session AS present
        ON present.tenant = ${p.tenant} AND present.session_id = named.session_id AND present.gone_at_ms IS NULL
      GROUP BY gone.session_id, gone.path
    ) AS moved
    WHERE session.tenant = ${p.tenant} AND session.session_id = moved.session_id AND session.source_path = moved.gone_path`),
);

const setGone = pgRepeatable<{ keys: readonly string[]; ids: readonly SessionId[]; goneAtMs: number | null }>(({ sql, p }) =>
  pgRaw(sql`
    UPDATE source_session SET gone_at_ms = ${p.goneAtMs}::bigint
    FROM unnest(${p.keys}::text[], ${p.ids}::text[]) AS given (path_key, source_id)
    WHERE source_session.tenant = ${p.tenant} AND source_session.path_key = given.path_key AND source_session.source_id = given.source_id`),
);

/**
 * Records that programs have removed these sessions, or have them again (null). A session whose file is gone and that has another file
 * gets the path of that one.
 */
export async function setSourcesGone(
  database: Database,
  of: readonly Pick<SourceSessionRecord, "path" | "sourceId">[],
  goneAtMs: number | null,
): Promise<void> {
  if (of.length === 0) return;
  const [keys, ids] = [of.map(({ path }) => keyOf(path)), of.map(({ sourceId }) => sourceId)];
  await database.run(setGone, { keys, ids, goneAtMs });
  await database.run(followFiles, { keys, ids });
}

const heldAfter = pgQuery<{ nowMs: number }, HeldSession>(({ sql, p }) =>
  pgRaw(sql<HeldSession>`
    SELECT session_id AS "sessionId", max(held_until_ms) AS "untilMs" FROM source_session
    WHERE tenant = ${p.tenant} AND held_until_ms > ${p.nowMs}::bigint GROUP BY session_id`),
);

/** The sessions whose end the last sync left out until a time after `nowMs`. Cost: those sessions. */
export async function listHeldSessions(database: Database, nowMs: number): Promise<readonly HeldSession[]> {
  return database.all(heldAfter, { nowMs: Math.floor(nowMs) });
}

const sourcesOfAll = pgQuery<Record<never, never>, SessionSourceRow>(({ sql, p }) =>
  pgRaw(sql<SessionSourceRow>`
    SELECT session.session_id AS "sessionId", coalesce(source.path, session.source_path) AS path, source.gone_at_ms AS "goneAtMs"
    FROM session LEFT JOIN source_session AS source ON source.tenant = session.tenant AND source.session_id = session.session_id
    WHERE session.tenant = ${p.tenant} AND coalesce(source.path, session.source_path) IS NOT NULL AND session.source_format <> 'bough'`),
);

/** The files of all sessions that were imported from other programs: those that syncs read, else the first one. */
export async function listSessionSources(database: Database): Promise<readonly SessionSourceRow[]> {
  return database.all(sourcesOfAll, {});
}
