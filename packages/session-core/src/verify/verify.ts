import { validateEntry } from "../entry/validate.js";
import { InvalidEntryError, UnserializableValueError } from "../errors/session-errors.js";
import type { SessionId } from "../ids/ids.js";
import type { Violation } from "../port/session-storage.js";
import { extractText } from "../search/search-index.js";
import type { Connection } from "../storage/connection.js";
import { query, rawQuery } from "../storage/query.js";
import { type EntrySeq, type EntryTable, toEntrySeq } from "../storage/schema.js";
import { findStructureViolations } from "./structure-rules.js";

/** Iterates over integrity violations, cheapest checks first. Checks the file itself only if no session is given. */
export function* findViolations(connection: Connection, sessionId: SessionId | undefined): Generator<Violation, void, void> {
  if (sessionId === undefined) yield* findFileViolations(connection);
  yield* findStructureViolations(connection, sessionId);
  yield* findPayloadViolations(connection, sessionId);
}

/** Runs the integrity checks of SQLite: pages, indexes, constraints and foreign keys. Reads the whole file. */
function* findFileViolations(connection: Connection): Generator<Violation, void, void> {
  for (const row of connection.freshPragma("integrity_check")) {
    const text = String(Object.values(row)[0]);
    if (text !== "ok") yield { rule: "file-damaged", sessionId: null, entryId: null, message: `SQLite found: ${text}.` };
  }
  for (const row of connection.freshPragma("foreign_key_check")) {
    const message = `Row ${String(row["rowid"])} of table ${String(row["table"])} refers to a missing row of ${String(row["parent"])}.`;
    yield { rule: "dangling-reference", sessionId: null, entryId: null, message };
  }
}

type PayloadRow = Pick<EntryTable, "seq" | "id" | "type" | "payload_json"> & {
  readonly session_id: string;
  /** 1 if the entry should be in the search index. */
  readonly due: 0 | 1;
  readonly indexed: 0 | 1;
};

const page = query<{ after: EntrySeq; session: string | null; limit: number }, PayloadRow>(({ sql, p }) =>
  rawQuery(sql<PayloadRow>`
    SELECT entry.seq, entry.id, entry.type, entry.payload_json, session.id AS session_id,
      entry.seq <= (SELECT indexed_seq FROM store_state) AS due,
      EXISTS (SELECT 1 FROM entry_text WHERE entry_text.rowid = entry.seq) AS indexed
    FROM entry JOIN session ON session.seq = entry.session_seq
    WHERE entry.seq > ${p.after} AND (${p.session} IS NULL OR session.id = ${p.session})
    ORDER BY entry.seq LIMIT ${p.limit}`),
);

const PAGE = 200;

/** Finds payloads that are not valid, and entries missing in the search index. Reads every payload, in pages. */
function* findPayloadViolations(connection: Connection, sessionId: string | undefined): Generator<Violation, void, void> {
  for (let after = toEntrySeq(0); ; ) {
    const rows = connection.all(page, { after, session: sessionId ?? null, limit: PAGE });
    for (const row of rows) {
      const violation = toViolation(row);
      if (violation !== undefined) yield violation;
      else if (isLost(row))
        yield {
          ...subject(row),
          rule: "search-index",
          message: `Entry ${row.id} of session ${row.session_id} is not in the search index.`,
        };
    }
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}

// An entry without a word is not in the index.
function isLost(row: PayloadRow): boolean {
  return row.due === 1 && row.indexed === 0 && /[\p{L}\p{N}]/u.test(extractText(row));
}

function subject(row: PayloadRow) {
  return { sessionId: row.session_id, entryId: row.id } as const;
}

function toViolation(row: PayloadRow): Violation | undefined {
  try {
    // Not `parsePayload`, which converts invalid blocks to foreign ones.
    validateEntry({ type: row.type, ...JSON.parse(row.payload_json) });
    return undefined;
  } catch (error) {
    if (!isOfPayload(error)) throw error;
    return { ...subject(row), rule: "invalid-payload", message: `Entry ${row.id} of session ${row.session_id}: ${error.message}` };
  }
}

function isOfPayload(error: unknown): error is Error {
  return error instanceof InvalidEntryError || error instanceof UnserializableValueError || error instanceof SyntaxError;
}
