import type { SessionRecord } from "../port/records.js";
import type { Connection } from "../storage/connection.js";
import { query, rawQuery } from "../storage/query.js";
import type { SessionSeq, SessionTable } from "../storage/schema.js";
import { shortenAtWord } from "../text/cut.js";

/** The longest part of a session's title in the title of a fork, in UTF-16 code units. */
const MAX_BASE = 60;

const FORK = /, fork (\d{1,9})$/;

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
  const title = origin?.title ?? origin?.firstText ?? "";
  if (origin === undefined || title === "") return null;
  const base = shortenAtWord(title.replace(FORK, ""), MAX_BASE);
  const numbers = connection.all(forkTitles, { origin: origin.seq }).map((fork) => numberIn(fork.title, base));
  return `${base}, fork ${Math.max(0, ...numbers) + 1}`;
}

function numberIn(title: string | null, base: string): number {
  const found = title?.startsWith(base) === true ? FORK.exec(title) : null;
  return found !== null && found.index === base.length ? Number(found[1]) : 0;
}

/**
 * The sessions that a name matches, without forks that match only by the title of their origin: with its number from `nameFork`, or the
 * title itself, as older versions gave it. So a fork never makes the name of its origin ambiguous.
 */
export function withoutNamedForks(found: readonly SessionRecord[]): readonly SessionRecord[] {
  return found.filter((record) => !found.some((other) => other !== record && isNamedAfter(record, other)));
}

function isNamedAfter(fork: SessionRecord, origin: SessionRecord): boolean {
  if (fork.parent === null || fork.parent.toolCallId !== null) return false;
  const title = titleOf(fork);
  const isNumbered = FORK.test(title);
  if (!isNumbered && fork.parent.sessionId !== origin.id) return false;
  return shortenAtWord(title.replace(FORK, ""), MAX_BASE) === shortenAtWord(titleOf(origin), MAX_BASE);
}

function titleOf({ title, firstText }: SessionRecord): string {
  return title ?? firstText ?? "";
}
