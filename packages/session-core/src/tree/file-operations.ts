import type { EntryPayload } from "../entry/entry.js";
import type { Connection } from "../storage/connection.js";
import { plain, query } from "../storage/query.js";
import type { EntrySeq, FileOperationTable } from "../storage/schema.js";
import { type FileOperation, fileTouches } from "../tools/file-operations.js";
import type { FileTools } from "../tools/known-tools.js";
import { upTo } from "./ancestry.js";

const insertOperation = query<FileOperationTable>(({ db, p }) =>
  db.insertInto("file_operation").values({
    entry_seq: p.entry_seq,
    ordinal: p.ordinal,
    tool_call_id: p.tool_call_id,
    kind: p.kind,
    path: p.path,
    nested: p.nested,
  }),
);

/** Indexes the files that an entry's tool calls touch. */
export function insertFileOperations(connection: Connection, seq: EntrySeq, payload: EntryPayload, tools: FileTools): void {
  let ordinal = 0;
  const nested = payload.type === "message" && payload.message.role === "toolResult" ? 1 : 0;
  for (const { toolCallId, touches } of fileTouches(payload, tools)) {
    for (const { kind, path } of touches) {
      connection.run(insertOperation, { entry_seq: seq, ordinal, tool_call_id: toolCallId, kind, path: path.toWellFormed(), nested });
      ordinal += 1;
    }
  }
}

interface OperationRow extends Pick<FileOperationTable, "entry_seq" | "tool_call_id" | "kind" | "path" | "nested"> {
  readonly entry_id: string;
}

const operationsOnPath = query<{ from: EntrySeq; to: EntrySeq }, OperationRow>(({ sql, p }) =>
  plain(sql<OperationRow>`
    WITH RECURSIVE ${upTo(sql, p.to, p.from)}
    SELECT entry_seq, tool_call_id, kind, path, nested, entry.id AS entry_id
    FROM up CROSS JOIN file_operation ON entry_seq = up.seq CROSS JOIN entry ON entry.seq = up.seq
    ORDER BY entry_seq, ordinal`),
);

interface ResultRow {
  readonly seq: EntrySeq;
  readonly call_id: string;
  readonly failed: 0 | 1;
}

const resultsOnPath = query<{ from: EntrySeq; to: EntrySeq }, ResultRow>(({ sql, p }) =>
  plain(sql<ResultRow>`
    WITH RECURSIVE ${upTo(sql, p.to, p.from)}
    SELECT entry.seq, payload_json ->> '$.message.toolCallId' AS call_id, failed_call_id IS NOT NULL AS failed
    FROM up CROSS JOIN entry ON entry.seq = up.seq WHERE role = 'toolResult' ORDER BY entry.seq DESC`),
);

/**
 * The file operations between two entries of one path, both included, oldest first. Cost: the entries between them.
 * Call it inside `read`.
 */
export function fileOperationsBetween(connection: Connection, from: EntrySeq, to: EntrySeq): readonly FileOperation[] {
  // A call may have one result on one branch and another on the next, so results are those of this path; and an id may
  // come again in a later reply, so the first result after a call is its own.
  const results = resultsByCall(connection.all(resultsOnPath, { from, to }));
  return connection.all(operationsOnPath, { from, to }).map((row) => ({
    entryId: row.entry_id,
    toolCallId: row.tool_call_id,
    kind: row.kind,
    path: row.path,
    outcome: row.nested === 1 ? "done" : outcomeOf(row.entry_seq, results.get(row.tool_call_id) ?? []),
  }));
}

function resultsByCall(newestFirst: readonly ResultRow[]): ReadonlyMap<string, ResultRow[]> {
  const results = new Map<string, ResultRow[]>();
  for (const row of newestFirst) {
    const known = results.get(row.call_id);
    if (known === undefined) results.set(row.call_id, [row]);
    else known.push(row);
  }
  return results;
}

/** Takes away the results before the call: calls are asked for oldest first, so none of them is needed again. */
function outcomeOf(call: EntrySeq, newestFirst: ResultRow[]): FileOperation["outcome"] {
  while ((newestFirst.at(-1)?.seq ?? Number.POSITIVE_INFINITY) <= call) newestFirst.pop();
  const result = newestFirst.at(-1);
  if (result === undefined) return "unknown";
  return result.failed === 1 ? "failed" : "done";
}
