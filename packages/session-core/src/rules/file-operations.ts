import type { EntryPayload } from "../entry/entry.js";
import type { StoredOperation } from "../port/entry-facts.js";
import { type FileOperation, listFileTouches } from "../tools/file-operations.js";
import type { FileTools } from "../tools/known-tools.js";

/** The files that the tool calls of an entry touch, in order. */
export function listOperations(payload: EntryPayload, tools: FileTools): readonly StoredOperation[] {
  const nested = payload.type === "message" && payload.message.role === "toolResult" ? 1 : 0;
  return listFileTouches(payload, tools).flatMap(({ toolCallId, touches }) =>
    touches.map(({ kind, path }) => ({ tool_call_id: toolCallId, kind, path: path.toWellFormed(), nested })),
  );
}

/** An operation of a path, with its entry. */
export interface OperationRow extends StoredOperation {
  readonly entry_seq: number;
  readonly entry_id: string;
}

/** A tool result of a path. */
export interface ResultRow {
  readonly seq: number;
  readonly call_id: string | null;
  readonly failed: boolean | 0 | 1;
}

/** Returns the operations of a part of a path, oldest first, each with the outcome in its result. `results`: of that part, newest first. */
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
