import type { SessionSeq } from "../../port/rows.js";
import { forkTitle } from "../../rules/fork-titles.js";
import type { Connection } from "../file/connection.js";
import { query, rawQuery } from "../query.js";
import type { SessionTable } from "../schema.js";

interface Origin {
  readonly seq: SessionSeq;
  readonly title: string | null;
  readonly firstText: string | null;
}

// A session without a call that started it is a fork of its parent; the first one has no such parent, or it was deleted.
const firstOrigin = query<{ session: SessionSeq }, Origin>(({ sql, p }) =>
  rawQuery(sql<Origin>`
    WITH RECURSIVE origin (seq, parent, depth) AS (
      SELECT seq, iif(parent_call_id IS NULL, parent_session_id, NULL), 0 FROM session WHERE seq = ${p.session}
      UNION ALL
      SELECT above.seq, iif(above.parent_call_id IS NULL, above.parent_session_id, NULL), depth + 1
      FROM origin CROSS JOIN session AS above ON above.id = origin.parent WHERE depth < 1000
    )
    SELECT session.seq, session.title, session.first_text AS firstText
    FROM origin CROSS JOIN session ON session.seq = origin.seq ORDER BY depth DESC LIMIT 1`),
);

const forkTitles = query<{ origin: SessionSeq }, { title: string | null }>(({ sql, p }) =>
  rawQuery(sql<{ title: string | null }>`
    WITH RECURSIVE family (id, title) AS (
      SELECT id, title FROM session WHERE seq = ${p.origin}
      UNION
      SELECT fork.id, fork.title FROM family CROSS JOIN session AS fork
      ON fork.parent_session_id = family.id AND fork.parent_call_id IS NULL
    )
    SELECT title FROM family`),
);

/**
 * The title of a new fork: that of the session from which all were forked, and the next free number among its forks, as in "Tabs in
 * the lexer, fork 2". null: that session has neither a title nor a text. Cost: linear in the forks of that session.
 */
export function nameFork(connection: Connection, source: Pick<SessionTable, "seq">): string | null {
  const origin = connection.get(firstOrigin, { session: source.seq });
  return origin === undefined ? null : forkTitle(origin, connection.all(forkTitles, { origin: origin.seq }));
}
