import { EntryNotFoundError } from "../../errors/session-errors.js";
import type { EntryId } from "../../ids/ids.js";
import type { EntrySeq, SessionSeq } from "../../port/rows.js";
import {
  COMPACTION,
  EDIT,
  type EditOf,
  EMPTY_PATH,
  type EntryPathState,
  type PathFacts,
  type PathState,
  SYSTEM,
} from "../../rules/path-rules.js";
import type { Connection } from "../file/connection.js";
import { query, rawQuery } from "../query.js";
import type { SessionRef } from "../sessions/session-rows.js";
import { isOnPath } from "./ancestry.js";
import { findEntrySeq } from "./entry-rows.js";

const STATE_COLUMNS = [
  "id as entryId",
  "seq",
  "depth",
  "compaction_seq as compactionSeq",
  "model_seq as modelSeq",
  "thinking_seq as thinkingSeq",
  "system_seq as systemSeq",
] as const;

const stateBySeq = query<{ seq: EntrySeq }, EntryPathState>(({ db, p }) =>
  db.selectFrom("entry").select(STATE_COLUMNS).where("seq", "=", p.seq),
);
const stateById = query<{ session: SessionSeq; id: EntryId }, EntryPathState>(({ db, p }) =>
  db.selectFrom("entry").select(STATE_COLUMNS).where("session_seq", "=", p.session).where("id", "=", p.id),
);

/** Returns the path state at an entry; `EMPTY_PATH` for null. */
export function readPathState(connection: Connection, seq: EntrySeq | null): PathState {
  return (seq === null ? undefined : connection.get(stateBySeq, { seq })) ?? EMPTY_PATH;
}

/** Returns the path state at the entry of this id. @throws {EntryNotFoundError} */
export function requirePathState(connection: Connection, session: SessionRef, id: EntryId): EntryPathState {
  const state = connection.get(stateById, { session: session.seq, id });
  if (state === undefined) throw new EntryNotFoundError(session.id, id);
  return state;
}

const kindRow = query<{ seq: EntrySeq; kind: number }, { seq: EntrySeq }>(({ db, p }) =>
  db.selectFrom("entry").select("seq").where("seq", "=", p.seq).where("kind", "=", p.kind),
);

// The partial index `entry_marks` has the entries of these kinds. SQLite uses it only for a number that is part of the statement.

// Newest first.
const systemsUpTo = query<{ from: EntrySeq }, { seq: EntrySeq }>(({ sql, p }) =>
  rawQuery(sql<{ seq: EntrySeq }>`
    SELECT seq FROM entry INDEXED BY entry_marks
    WHERE session_seq = (SELECT session_seq FROM entry WHERE seq = ${p.from}) AND kind = ${sql.lit(SYSTEM)} AND seq <= ${p.from}
    ORDER BY seq DESC`),
);

const compactionsAbove = query<{ seq: EntrySeq }, { seq: EntrySeq }>(({ sql, p }) =>
  rawQuery(sql<{ seq: EntrySeq }>`
    SELECT seq FROM entry INDEXED BY entry_marks
    WHERE session_seq = (SELECT session_seq FROM entry WHERE seq = ${p.seq}) AND kind = ${sql.lit(COMPACTION)} AND seq < ${p.seq} ORDER BY seq DESC`),
);

// Newest first.
const editsOf = query<{ target: EntrySeq }, { seq: EntrySeq; omits: number }>(({ sql, p }) =>
  rawQuery(sql<{ seq: EntrySeq; omits: number }>`
    SELECT seq, omits FROM entry INDEXED BY entry_marks
    WHERE session_seq = (SELECT session_seq FROM entry WHERE seq = ${p.target}) AND kind = ${sql.lit(EDIT)}
      AND seq > ${p.target} AND target_seq = ${p.target}
    ORDER BY seq DESC`),
);

/** The entries of a session, as the rules of a path ask about them. Each answer is a query. */
export class StoredPathFacts implements PathFacts<EntrySeq> {
  readonly #connection: Connection;
  readonly #session: SessionSeq;

  constructor(connection: Connection, session: SessionSeq) {
    this.#connection = connection;
    this.#session = session;
  }

  find(id: EntryId): EntrySeq | undefined {
    return findEntrySeq(this.#connection, this.#session, id);
  }

  isOnPath(ancestor: EntrySeq, seq: EntrySeq | null): boolean {
    return isOnPath(this.#connection, ancestor, seq);
  }

  isKind(seq: EntrySeq, kind: number): boolean {
    return this.#connection.get(kindRow, { seq, kind }) !== undefined;
  }

  systemsUpTo(seq: EntrySeq): readonly EntrySeq[] {
    return this.#connection.all(systemsUpTo, { from: seq }).map((row) => row.seq);
  }

  compactionsBefore(seq: EntrySeq): readonly EntrySeq[] {
    return this.#connection.all(compactionsAbove, { seq }).map((row) => row.seq);
  }

  editsOf(target: EntrySeq): readonly EditOf<EntrySeq>[] {
    return this.#connection.all(editsOf, { target }).map(({ seq, omits }) => ({ seq, omits: omits === 1 }));
  }
}
