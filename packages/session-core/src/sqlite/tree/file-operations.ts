import { InvalidReferenceError } from "../../errors/session-errors.js";
import { type EntrySeq, toEntrySeq } from "../../ids/ids.js";
import type { SessionRow } from "../../port/records.js";
import type { PathRange } from "../../port/session-storage.js";
import { type FileOperation, type OperationRow, type ResultRow, type StoredFileTouch, withOutcomes } from "../../tools/file-operations.js";
import type { Connection } from "../file/connection.js";
import { query, rawQuery } from "../query.js";
import { requireEntrySeq } from "./entry-rows.js";
import { isOnPath, walkUpTo } from "./paths.js";

const operationsOnPath = query<{ from: EntrySeq; to: EntrySeq }, OperationRow>(({ sql, p }) =>
  rawQuery(sql<OperationRow>`
    WITH RECURSIVE ${walkUpTo(sql, p.to, p.from)}
    SELECT entry_seq, tool_call_id, file_operation.kind, path, nested, entry.id AS entry_id
    FROM up CROSS JOIN file_operation ON entry_seq = up.seq CROSS JOIN entry ON entry.seq = up.seq
    ORDER BY entry_seq, ordinal`),
);

const resultsOnPath = query<{ from: EntrySeq; to: EntrySeq }, ResultRow>(({ sql, p }) =>
  rawQuery(sql<ResultRow>`
    WITH RECURSIVE ${walkUpTo(sql, p.to, p.from)}
    SELECT entry.seq, call_id, is_error AS failed
    FROM up CROSS JOIN entry ON entry.seq = up.seq WHERE role = 'toolResult' ORDER BY entry.seq DESC`),
);

/**
 * Reads the file operations between two entries of one path, both included, oldest first. Call it inside `read`. Cost: the entries between them.
 *
 * @throws {EntryNotFoundError | InvalidReferenceError} an id is unknown; `fromId` is not on the path of `toId`.
 */
export function readFileOperations(connection: Connection, session: SessionRow, { fromId, toId }: PathRange): readonly FileOperation[] {
  const to = requireEntrySeq(connection, session, toId);
  const from = fromId === undefined ? toEntrySeq(0) : requireEntrySeq(connection, session, fromId);
  if (fromId !== undefined && !isOnPath(connection, from, to))
    throw new InvalidReferenceError("fromId", fromId, `is not on the path of ${toId}`);
  return withOutcomes(connection.all(operationsOnPath, { from, to }), connection.all(resultsOnPath, { from, to }));
}

interface TouchRow extends Omit<StoredFileTouch, "isCopy"> {
  readonly copied: 0 | 1;
}

const touchesOfPaths = query<{ paths: string }, TouchRow>(({ sql, p }) =>
  rawQuery(sql<TouchRow>`
    SELECT session.id AS sessionId, session.cwd, entry.id AS entryId, tool_call_id AS toolCallId, file_operation.kind, file_operation.path,
      entry.created_at_ms AS createdAtMs, entry.inherited AS copied
    FROM json_each(${p.paths}) AS given CROSS JOIN file_operation ON file_operation.path = given.value
      CROSS JOIN entry ON entry.seq = entry_seq CROSS JOIN session ON session.seq = entry.session_seq
    ORDER BY entry.created_at_ms, entry.seq, ordinal`),
);

/** Reads the calls of all sessions that name one of these paths, oldest first. Cost: a pass over the table of operations. */
export function readFileTouches(connection: Connection, paths: readonly string[]): readonly StoredFileTouch[] {
  const rows = connection.all(touchesOfPaths, { paths: JSON.stringify([...new Set(paths)]) });
  return rows.map(({ copied, ...touch }) => ({ ...touch, isCopy: copied === 1 }));
}
