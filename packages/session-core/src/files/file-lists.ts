import { FILE_OPERATIONS } from "../arguments/conversation.js";
import { checkArgument } from "../arguments/rules.js";
import type { FileLists } from "../entry/entry.js";
import type { FileOperation } from "./file-operation.js";

/**
 * The two lists that summaries carry, each sorted and without repeats: what was changed, and what was only read.
 * A failed operation counts as not done (rule from pi's file tags: read minus modified).
 */
export function fileLists(operations: readonly FileOperation[]): FileLists {
  checkArgument("operations", operations, FILE_OPERATIONS);
  const done = operations.filter((operation) => operation.outcome !== "failed");
  const modified = new Set(done.filter((operation) => operation.kind !== "read").map((operation) => operation.path));
  const read = new Set(done.map((operation) => operation.path).filter((path) => !modified.has(path)));
  return { readFiles: [...read].sort(), modifiedFiles: [...modified].sort() };
}
