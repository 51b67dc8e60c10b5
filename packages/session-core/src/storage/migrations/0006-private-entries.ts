import type { Database } from "better-sqlite3";
import { type EncodedBlock, OpenBlock } from "../block.js";
import { toEntrySeq } from "../schema.js";

/** `bashExecution`, the kind of commands that a user ran. */
const COMMAND = 5;

interface CommandRow {
  readonly seq: number;
  readonly session_seq: number;
  readonly json: string | null;
}

/**
 * Lists the entries that a user kept out of the context (`excludeFromContext`), so that a search can leave them out without
 * reading payloads.
 */
export const privateEntries = {
  name: "0006-private-entries",
  statements: [
    `CREATE TABLE private_entry (
       entry_seq INTEGER PRIMARY KEY REFERENCES entry (seq) ON DELETE CASCADE -- a command with excludeFromContext
     ) STRICT`,
  ],
  run(file: Database): void {
    const commands = file.prepare<[number], CommandRow>(
      "SELECT seq, session_seq, payload.json FROM entry LEFT JOIN payload ON payload.entry_seq = entry.seq WHERE kind = ?",
    );
    const insert = file.prepare("INSERT INTO private_entry VALUES (?)");
    for (const row of commands.all(COMMAND)) if (isPrivate(row.json ?? readFromBlock(file, row))) insert.run(row.seq);
  },
};

/** A payload that cannot be read counts as private: `verify` reports it, and no search may show it. */
function isPrivate(json: string | undefined): boolean {
  if (json === undefined) return true;
  // Most commands are not private; a text without this name needs no parsing.
  if (!json.includes("excludeFromContext")) return false;
  try {
    const payload: { readonly message?: { readonly excludeFromContext?: unknown } | null } = JSON.parse(json);
    return payload.message?.excludeFromContext === true;
  } catch (error) {
    if (error instanceof SyntaxError) return true;
    throw error;
  }
}

function readFromBlock(file: Database, { session_seq, seq }: CommandRow): string | undefined {
  const block = file
    .prepare<[number, number, number], EncodedBlock>(
      "SELECT * FROM payload_block WHERE session_seq = ? AND last_seq >= ? AND first_seq <= ? ORDER BY last_seq LIMIT 1",
    )
    .get(session_seq, seq, seq);
  try {
    return block === undefined ? undefined : new OpenBlock(block, toEntrySeq(seq)).textOf(toEntrySeq(seq));
  } catch {
    // A damaged block.
    return undefined;
  }
}
