import { PayloadDamagedError } from "../../errors/store-errors.js";
import { type EntrySeq, type SessionId, type SessionSeq, toEntrySeq } from "../../ids/ids.js";
import type { SessionRow } from "../../port/records.js";
import type { Violation } from "../../port/session-storage.js";
import { extractText } from "../../rules/search/payload-text.js";
import { type Fault, findPayloadFault, type PlacedEntry, StructureChecks } from "../../rules/verify-rules.js";
import { Connection } from "../file/connection.js";
import { SUPPORTED_VERSION } from "../file/migrate.js";
import { completeRow, PAGED_PAYLOAD_COLUMNS, PAYLOAD_JOIN, payloadText } from "../payloads/payloads.js";
import { query, rawQuery } from "../query.js";
import { findSessionRow } from "../sessions/session-rows.js";
import type { TypedPayloadRow } from "../tree/entry-rows.js";
import { listLeafSeqs } from "../tree/leaves.js";
import { findBlockViolations, findMetadataViolations, findRowViolations } from "./row-rules.js";

/**
 * Iterates over integrity violations, cheapest checks first. Checks the file itself only if no session is given; rows only if no table,
 * column or index is missing.
 */
export function* findViolations(connection: Connection, sessionId: SessionId | undefined): Generator<Violation, void, void> {
  if (sessionId === undefined) {
    const missing = findMissingParts(connection);
    yield* missing;
    if (missing.length > 0) return;
    yield* findFileViolations(connection);
  }
  yield* findRowViolations(connection, sessionId);
  yield* checkInPages(connection, sessionId, (session) => {
    const structure = new StructureChecks(session.id);
    return (after) => checkPlaces(connection, session, after, structure);
  });
  yield* findMetadataViolations(connection, sessionId);
  const damaged = yield* findBlockViolations(connection, sessionId);
  yield* checkInPages(connection, sessionId, (session) => (after) => checkPayloads(connection, session, after, damaged));
}

/** Returns the tables, columns and indexes of a new store that the file lacks: another program has changed its schema. */
function findMissingParts(connection: Connection): readonly Violation[] {
  // A file of an older version, opened read-only, has the tables of that version.
  if (connection.version < SUPPORTED_VERSION) return [];
  const newest = Connection.open({ path: ":memory:", mode: "create", durability: "normal", busyTimeoutMs: 0 });
  try {
    const tables = newest.pragma("table_list").filter(({ schema, type }) => schema === "main" && type === "table");
    return tables.flatMap(({ name }) => findMissingOf(String(name), connection, newest)).map(toSchemaViolation);
  } finally {
    newest.close();
  }
}

function findMissingOf(table: string, connection: Connection, newest: Connection): readonly string[] {
  const missing = (pragma: string) => {
    const found = new Set(connection.pragma(pragma).map(({ name }) => name));
    return newest.pragma(pragma).flatMap(({ name }) => (found.has(name) ? [] : [String(name)]));
  };
  if (connection.pragma(`table_xinfo(${table})`).length === 0) return [`The file has no table ${table}`];
  return [
    ...missing(`table_xinfo(${table})`).map((column) => `Table ${table} has no column ${column}`),
    ...missing(`index_list(${table})`).map((index) => `Table ${table} has no index ${index}`),
  ];
}

function toSchemaViolation(what: string): Violation {
  const message = `${what}: another program has changed the schema. Undo that change, or restore a backup; rows were not checked.`;
  return { rule: "wrong-schema", sessionId: null, entryId: null, message };
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

type CheckedRow = TypedPayloadRow & {
  readonly id: string;
  readonly session_id: string;
  readonly payload_bytes: number;
  readonly custom_type: string | null;
  readonly is_private: 0 | 1;
  /** 1 if the entry should be in the search index. */
  readonly due: 0 | 1;
  readonly indexed: 0 | 1;
};

interface PageKey {
  readonly session: SessionSeq;
  readonly after: EntrySeq;
  readonly limit: number;
}

// Session by session, so that each block is opened once.
const payloads = query<PageKey, CheckedRow>(({ sql, p }) =>
  rawQuery(sql<CheckedRow>`
    SELECT ${sql.raw(PAGED_PAYLOAD_COLUMNS)}, entry.id, entry.type, entry.custom_type, session.id AS session_id,
      entry.seq <= (SELECT indexed_seq FROM store_state) AS due,
      EXISTS (SELECT 1 FROM private_entry WHERE private_entry.entry_seq = entry.seq) AS is_private,
      EXISTS (SELECT 1 FROM entry_text WHERE entry_text.rowid = entry.seq) AS indexed
    FROM entry JOIN session ON session.seq = entry.session_seq ${sql.raw(PAYLOAD_JOIN)}
    WHERE entry.session_seq = ${p.session} AND entry.seq > ${p.after}
    ORDER BY entry.seq LIMIT ${p.limit}`),
);

const places = query<PageKey, PlacedEntry>(({ sql, p }) =>
  rawQuery(sql<PlacedEntry>`
    SELECT seq, id, parent_seq, kind, depth, compaction_seq, target_seq, model_seq, thinking_seq, system_seq
    FROM entry WHERE session_seq = ${p.session} AND seq > ${p.after} ORDER BY seq LIMIT ${p.limit}`),
);

const sessionsToCheck = query<{ id: string | null }, SessionRow>(({ sql, p }) =>
  rawQuery(sql<SessionRow>`SELECT id, seq FROM session WHERE ${p.id} IS NULL OR id = ${p.id} ORDER BY seq`),
);

const PAGE = 200;

interface CheckedPage {
  /** The last entry of the page; undefined if it has none. */
  readonly last: EntrySeq | undefined;
  readonly violations: readonly Violation[];
}

/** Checks the entries of sessions in pages. */
function* checkInPages(
  connection: Connection,
  sessionId: string | undefined,
  checkOf: (session: SessionRow) => (after: EntrySeq) => CheckedPage,
): Generator<Violation, void, void> {
  for (const session of connection.all(sessionsToCheck, { id: sessionId ?? null })) {
    const check = checkOf(session);
    for (let after = toEntrySeq(0); ; ) {
      // One snapshot, because another process may delete the session between two queries.
      const { last, violations } = connection.read(() => check(after));
      yield* violations;
      if (last === undefined) break;
      after = last;
    }
  }
}

/** Finds entries at a wrong place, and after the last one leaves and counts of the session that differ from its entries. */
function checkPlaces(connection: Connection, session: SessionRow, after: EntrySeq, structure: StructureChecks): CheckedPage {
  const rows = connection.all(places, { session: session.seq, after, limit: PAGE });
  const violations: Violation[] = rows.flatMap((row) =>
    structure.add(row).map((fault) => ({ sessionId: session.id, entryId: row.id, ...fault })),
  );
  const last = rows.at(-1)?.seq;
  // In the snapshot without further entries: another process may have appended some since the first page.
  if (last === undefined)
    violations.push(...checkSession(connection, session, structure).map((fault) => ({ sessionId: session.id, entryId: null, ...fault })));
  return { last, violations };
}

/** Finds payloads that are missing or not valid, and entries that are missing in the search index. */
function checkPayloads(connection: Connection, session: SessionRow, after: EntrySeq, damaged: ReadonlySet<EntrySeq>): CheckedPage {
  const rows = connection.all(payloads, { session: session.seq, after, limit: PAGE });
  const violations = rows.flatMap((row) => {
    const fault = damaged.has(row.seq) ? undefined : findFault(connection, row);
    return fault === undefined ? [] : [{ sessionId: session.id, entryId: row.id, ...fault }];
  });
  return { last: rows.at(-1)?.seq, violations };
}

/** The faults of a session whose entries were checked; none of one that was deleted meanwhile. */
function checkSession(connection: Connection, session: SessionRow, structure: StructureChecks): readonly Fault[] {
  const row = findSessionRow(connection, session);
  const fault = row && structure.countFault(row);
  return row === undefined ? [] : [...(fault === undefined ? [] : [fault]), ...structure.leafFaults(listLeafSeqs(connection, session.seq))];
}

function findFault(connection: Connection, row: CheckedRow): Fault | undefined {
  const subject = `Entry ${row.id} of session ${row.session_id}`;
  // Files before version 6 have no custom types of messages; before version 5, read-only, every command counts as private.
  const known = { customTypes: connection.version >= 6, private: connection.version >= 5 };
  try {
    const json = payloadText(connection, completeRow(connection, row));
    const checked = { type: row.type, json, bytes: row.payload_bytes, customType: row.custom_type, isPrivate: row.is_private === 1 };
    const fault = findPayloadFault(checked, subject, known);
    if (fault !== undefined) return fault;
    return isLost(row, json) ? { rule: "search-index", message: `${subject} is not in the search index.` } : undefined;
  } catch (error) {
    if (error instanceof PayloadDamagedError) return { rule: "missing-payload", message: `${subject} has no payload.` };
    throw error;
  }
}

// An entry without a word is not in the index.
function isLost(row: CheckedRow, json: string): boolean {
  return row.due === 1 && row.indexed === 0 && /[\p{L}\p{N}]/u.test(extractText(row.type, json));
}
