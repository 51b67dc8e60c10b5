import type { SessionId } from "@bough/session-core";
import { forkTitle } from "@bough/session-core/engine";
import type { Database } from "./database.js";
import { pgQuery, pgRaw } from "./query.js";
import { startsAndIs } from "./schema-steps.js";
import { ofSession } from "./session-key.js";

interface Origin {
  readonly id: SessionId;
  readonly title: string | null;
  readonly firstText: string | null;
}

// A session without a call that started it is a fork of its parent; the first one has no such parent, or it was deleted.
const firstOrigin = pgQuery<{ session: SessionId }, Origin>(({ sql, p }) =>
  pgRaw(sql<Origin>`
    WITH RECURSIVE origin (id, parent, title, first_text, steps) AS (
      SELECT session_id, CASE WHEN parent_call_id IS NULL THEN parent_session_id END, title, first_text, 0
      FROM session WHERE ${ofSession(sql, p, "session")}
      UNION ALL
      SELECT above.session_id, CASE WHEN above.parent_call_id IS NULL THEN above.parent_session_id END, above.title, above.first_text, steps + 1
      FROM origin JOIN session AS above ON above.tenant = ${p.tenant} AND above.session_id = origin.parent WHERE steps < 1000)
    SELECT id, title, first_text AS "firstText" FROM origin ORDER BY steps DESC LIMIT 1`),
);

const forkTitles = pgQuery<{ origin: SessionId }, { title: string | null }>(({ sql, p }) =>
  pgRaw(sql<{ title: string | null }>`
    WITH RECURSIVE family (id, title) AS (
      SELECT session_id, title FROM session WHERE tenant = ${p.tenant} AND session_id = ${p.origin}
      UNION
      SELECT fork.session_id, fork.title FROM family JOIN session AS fork
        ON fork.tenant = ${p.tenant} AND ${startsAndIs(sql`fork.parent_session_id`, sql`family.id`)} AND fork.parent_call_id IS NULL)
    SELECT title FROM family`),
);

/** The title of a new fork: see `nameFork` of a store on SQLite. Cost: linear in the forks of the first origin. */
export async function nameFork(database: Database, source: SessionId): Promise<string | null> {
  const origin = await database.get(firstOrigin, { session: source });
  if (origin === undefined) return null;
  const forks = await database.all(forkTitles, { origin: origin.id });
  return forkTitle(origin, forks);
}
