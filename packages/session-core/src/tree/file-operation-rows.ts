import type { EntryPayload } from "../entry/entry.js";
import { type FileTools, fileTouches } from "../files/extract.js";
import type { FileOperation, FileOperationKind } from "../files/file-operation.js";
import type { Connection } from "../storage/connection.js";
import { plain, query } from "../storage/query.js";
import type { EntrySeq, FileOperationTable } from "../storage/schema.js";

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

interface OperationRow {
  readonly entry_id: string;
  readonly tool_call_id: string;
  readonly kind: FileOperationKind;
  readonly path: string;
  readonly nested: 0 | 1;
  readonly failed: 0 | 1;
  readonly answered: 0 | 1;
}

// A call may have one result on one branch and another on the next, so results are looked for on this path only.
const operationsOnPath = query<{ from: EntrySeq; to: EntrySeq }, OperationRow>(({ sql, p }) =>
  plain(sql<OperationRow>`
    WITH RECURSIVE up (seq, parent_seq) AS (
      SELECT seq, parent_seq FROM entry WHERE seq = ${p.to}
      UNION ALL
      SELECT entry.seq, entry.parent_seq FROM up JOIN entry ON entry.seq = up.parent_seq WHERE up.seq > ${p.from}
    ),
    result (call_id, failed) AS MATERIALIZED (
      SELECT payload_json ->> '$.message.toolCallId', max(failed_call_id IS NOT NULL)
      FROM up JOIN entry USING (seq) WHERE role = 'toolResult' GROUP BY 1
    )
    SELECT entry.id AS entry_id, tool_call_id, kind, path, nested, coalesce(failed, 0) AS failed, failed IS NOT NULL AS answered
    FROM up JOIN file_operation ON entry_seq = up.seq JOIN entry ON entry.seq = up.seq LEFT JOIN result ON call_id = tool_call_id
    WHERE up.seq >= ${p.from}
    ORDER BY entry_seq, ordinal`),
);

/** The file operations between two entries of one path, both included, oldest first. Cost: the entries between them. */
export function fileOperationsBetween(connection: Connection, from: EntrySeq, to: EntrySeq): readonly FileOperation[] {
  return connection.all(operationsOnPath, { from, to }).map((row) => ({
    entryId: row.entry_id,
    toolCallId: row.tool_call_id,
    kind: row.kind,
    path: row.path,
    outcome: row.nested === 1 ? "done" : row.failed === 1 ? "failed" : row.answered === 1 ? "done" : "unknown",
  }));
}
