import type { EntryPayload } from "../entry/entry.js";
import { InvalidReferenceError } from "../errors/session-errors.js";
import type { PathRange } from "../port/session-storage.js";
import type { SessionRef } from "../sessions/session-rows.js";
import type { Connection } from "../storage/connection.js";
import { query, rawQuery } from "../storage/query.js";
import { type EntrySeq, type FileOperationTable, toEntrySeq } from "../storage/schema.js";
import { type FileOperation, listFileTouches } from "../tools/file-operations.js";
import type { FileTools } from "../tools/known-tools.js";
import { isOnPath, walkUpTo } from "./ancestry.js";
import { requireEntrySeq } from "./entry-rows.js";

const operationRow = query<FileOperationTable>(({ db, p }) =>
  db.insertInto("file_operation").values({
    entry_seq: p.entry_seq,
    ordinal: p.ordinal,
    tool_call_id: p.tool_call_id,
    kind: p.kind,
    path: p.path,
    nested: p.nested,
  }),
);

/** A file that a tool call of an entry touches, as it is stored. */
export type StoredOperation = Pick<FileOperationTable, "tool_call_id" | "kind" | "path" | "nested">;

/** The files that the tool calls of an entry touch, in order. */
export function listOperations(payload: EntryPayload, tools: FileTools): readonly StoredOperation[] {
  const nested = payload.type === "message" && payload.message.role === "toolResult" ? 1 : 0;
  return listFileTouches(payload, tools).flatMap(({ toolCallId, touches }) =>
    touches.map(({ kind, path }) => ({ tool_call_id: toolCallId, kind, path: path.toWellFormed(), nested })),
  );
}

/** Inserts what a tool call does with a file. */
export function insertOperation(connection: Connection, row: FileOperationTable): void {
  connection.run(operationRow, row);
}

/** Inserts the files that the tool calls of an entry touch. */
export function insertFileOperations(connection: Connection, seq: EntrySeq, payload: EntryPayload, tools: FileTools): void {
  for (const [ordinal, operation] of listOperations(payload, tools).entries()) {
    insertOperation(connection, { entry_seq: seq, ordinal, ...operation });
  }
}

interface OperationRow extends StoredOperation {
  readonly entry_seq: number;
  readonly entry_id: string;
}

/** A tool result of a path. */
interface ResultRow {
  readonly seq: number;
  readonly call_id: string | null;
  readonly failed: boolean | 0 | 1;
}

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
export function readFileOperations(connection: Connection, session: SessionRef, { fromId, toId }: PathRange): readonly FileOperation[] {
  const to = requireEntrySeq(connection, session, toId);
  const from = fromId === undefined ? toEntrySeq(0) : requireEntrySeq(connection, session, fromId);
  if (fromId !== undefined && !isOnPath(connection, from, to))
    throw new InvalidReferenceError("fromId", fromId, `is not on the path of ${toId}`);
  return withOutcomes(connection.all(operationsOnPath, { from, to }), connection.all(resultsOnPath, { from, to }));
}

/** The operations of a part of a path, oldest first, each with the outcome that its result tells. `results`: those of that part, newest first. */
export function withOutcomes(operations: readonly OperationRow[], results: readonly ResultRow[]): readonly FileOperation[] {
  // Another branch may hold another result of the same call, so only results on this path count. A later reply may use the
  // same id again, so a call takes the first result after it.
  const byCall = groupResults(results);
  return operations.map((row) => ({
    entryId: row.entry_id,
    toolCallId: row.tool_call_id,
    kind: row.kind,
    path: row.path,
    outcome: row.nested === 1 ? "done" : takeOutcome(row.entry_seq, byCall.get(row.tool_call_id) ?? []),
  }));
}

function groupResults(newestFirst: readonly ResultRow[]): ReadonlyMap<string, ResultRow[]> {
  const results = new Map<string, ResultRow[]>();
  for (const row of newestFirst) {
    if (row.call_id === null) continue;
    const known = results.get(row.call_id);
    if (known === undefined) results.set(row.call_id, [row]);
    else known.push(row);
  }
  return results;
}

/** Returns the outcome of a call. Removes the results before it: calls come oldest first, so no later call needs them. */
function takeOutcome(call: number, newestFirst: ResultRow[]): FileOperation["outcome"] {
  while ((newestFirst.at(-1)?.seq ?? Number.POSITIVE_INFINITY) <= call) newestFirst.pop();
  const result = newestFirst.at(-1);
  if (result === undefined) return "unknown";
  return result.failed ? "failed" : "done";
}
