import { type SessionId, SessionNotFoundError, type Violation } from "@bough/session-core";
import {
  type EntrySeq,
  type Fault,
  findMetadataFault,
  findPayloadFault,
  type MetadataRow,
  ORIGIN_FAULTS,
  type PlacedEntry,
  parseStoredPayload,
  quoted,
  type SessionRecordRow,
  StructureChecks,
  toEntryKind,
} from "@bough/session-core/engine";
import { parseJson } from "@bough/session-core/wire";
import type { Database, PgDatabase } from "./database.js";
import { entryNamed, joinEntries } from "./entries.js";
import type { RunFact } from "./facts.js";
import type { NewRun } from "./planned-session.js";
import { type PgEntry, pgQuery, pgRaw } from "./query.js";
import { SESSION_TABLES } from "./schema.js";
import { ofSession } from "./session-key.js";
import { findSessionRow } from "./sessions.js";
import { vectorOf, wordsOf } from "./words.js";

type Session = { readonly session: SessionId };

const sessionsAfter = pgQuery<{ after: SessionId }, { id: SessionId }>(({ sql, p }) =>
  pgRaw(sql<{ id: SessionId }>`
    SELECT session_id AS id FROM session WHERE tenant = ${p.tenant} AND session_id > ${p.after} ORDER BY session_id LIMIT 500`),
);

/**
 * Iterates over integrity violations: session by session, each of one moment. Reads every payload, in pages. The server checks its files
 * itself (`pg_amcheck`).
 */
export async function* findViolations(database: PgDatabase, id?: SessionId): AsyncGenerator<Violation> {
  if (id !== undefined) {
    if ((await findSessionRow(database, id)) === undefined) throw new SessionNotFoundError(id);
    yield* await checkSession(database, id);
    return;
  }
  yield* await findLostRows(database);
  for (let after = ""; ; ) {
    const page = await database.all(sessionsAfter, { after });
    for (const session of page) yield* await checkSession(database, session.id);
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

const lostRows = SESSION_TABLES.filter((table) => table !== "session").map((table) => ({
  table,
  query: pgQuery<Record<never, never>, { id: SessionId }>(({ sql, p }) =>
    pgRaw(sql<{ id: SessionId }>`
      SELECT DISTINCT session_id AS id FROM ${sql.table(table)} AS lost WHERE tenant = ${p.tenant} AND NOT EXISTS (
        SELECT 1 FROM session WHERE session.tenant = ${p.tenant} AND session.session_id = lost.session_id) LIMIT 100`),
  ),
}));

/** Rows of sessions that are not there. */
async function findLostRows(database: PgDatabase): Promise<readonly Violation[]> {
  const lost: Violation[] = [];
  for (const { table, query } of lostRows)
    for (const { id } of await database.all(query, {})) {
      const message = `Rows of table ${table} are of session ${id}, which is not there.`;
      lost.push({ rule: "dangling-reference", sessionId: id, entryId: null, message });
    }
  return lost;
}

const PAGE = 200;

const entriesAfter = pgQuery<Session & { after: number; limit: number }, CheckedEntry>(({ sql, p }) =>
  pgRaw(sql<CheckedEntry>`
    SELECT seq, id, parent_seq, kind, depth, compaction_seq, target_seq, model_seq, thinking_seq, system_seq, is_private, payload_bytes,
      custom_type, payload
    FROM entry WHERE ${ofSession(sql, p, "entry")} AND seq > ${p.after}::integer ORDER BY seq LIMIT ${p.limit}`),
);

/** The violations of one session, from one snapshot. A session that was deleted meanwhile has none. */
async function checkSession(database: PgDatabase, session: SessionId): Promise<readonly Violation[]> {
  return database.read(async (transaction) => {
    const row = await findSessionRow(transaction, session);
    if (row === undefined) return [];
    const checks = new SessionChecks(session);
    const violations: Violation[] = [];
    for (let after = 0; ; ) {
      const page = await transaction.all(entriesAfter, { session, after, limit: PAGE });
      for (const entry of page)
        for (const fault of checks.check(entry)) violations.push({ sessionId: session, entryId: entry.id, ...fault });
      violations.push(...(await findLostWords(transaction, session, page, violations)));
      violations.push(...(await findWrongOrigins(transaction, session, page)));
      const last = page.at(-1);
      if (last === undefined) break;
      after = last.seq;
    }
    const faults = [
      ...(await countFaults(transaction, row, checks)),
      ...(await findRunFaults(transaction, row, checks)),
      ...checks.leafFaults(await transaction.all(leavesOf, { session })),
      ...(await findOtherFaults(transaction, row, checks)),
    ];
    return [...faults.map((fault) => ({ sessionId: session, entryId: null, ...fault })), ...violations];
  });
}

const otherWords = pgQuery<Session & { seqs: readonly number[]; words: readonly string[] }, { seq: EntrySeq }>(({ sql, p }) =>
  pgRaw(sql<{ seq: EntrySeq }>`
    SELECT entry.seq FROM unnest(${p.seqs}::integer[], ${p.words}::text[]) AS given (seq, words) ${joinEntries(sql, p, "seq", sql`given.seq`)}
    WHERE entry.words <> given.words::tsvector`),
);

/** Entries whose words in the index are not those of their payload. */
async function findLostWords(
  transaction: Database,
  session: SessionId,
  page: readonly CheckedEntry[],
  known: readonly Violation[],
): Promise<readonly Violation[]> {
  const damaged = new Set(known.flatMap(({ rule, entryId }) => (rule === "invalid-payload" ? [entryId] : [])));
  const readable = page.filter(({ id }) => !damaged.has(id));
  if (readable.length === 0) return [];
  const words = readable.map(({ kind, payload }) => wordsOf(parseStoredPayload(toEntryKind(kind).type, payload), transaction.tenant));
  const lost = await transaction.all(otherWords, { session, seqs: readable.map(({ seq }) => seq), words });
  const ids = new Map(readable.map(({ seq, id }) => [seq, id]));
  return lost.map(({ seq }) => {
    const id = ids.get(seq) ?? null;
    return {
      rule: "search-index",
      sessionId: session,
      entryId: id,
      message: `Entry ${id} of session ${session} is not in the search index.`,
    };
  });
}

interface WrongOrigin {
  readonly id: string;
  /** True if it refers to another copy. */
  readonly chain: boolean;
  /** True if it counts in totals. */
  readonly counts: boolean;
  /** Another session in which it counts; null: there is none. */
  readonly other: SessionId | null;
}

const wrongOrigins = pgQuery<Session & { first: number; last: number }, WrongOrigin>(({ sql, p }) =>
  pgRaw(sql<WrongOrigin>`
    SELECT id, chain, counts, other FROM (
      SELECT entry.seq, entry.id, NOT entry.inherited AS counts, coalesce(known.origin IS NOT NULL, false) AS chain,
        CASE WHEN known.origin IS NULL AND NOT known.inherited THEN known.session_id ELSE (
          SELECT min(other.session_id) FROM entry AS other
          WHERE other.tenant = entry.tenant AND other.origin = entry.origin AND other.session_id <> entry.session_id AND NOT other.inherited) END AS other
      FROM entry LEFT JOIN LATERAL ${entryNamed(p.tenant, sql`split_part(entry.origin, ' ', 1)`, "id", sql`split_part(entry.origin, ' ', 2)`)} AS known
        ON strpos(entry.origin, ' ') > 0
      WHERE ${ofSession(sql, p, "entry")} AND entry.seq BETWEEN ${p.first}::integer AND ${p.last}::integer AND entry.origin IS NOT NULL) AS checked
    WHERE chain OR counts = (other IS NOT NULL) ORDER BY seq`),
);

/** Entries whose origin says something else than their mark, by the rules of a store on SQLite. */
async function findWrongOrigins(transaction: Database, session: SessionId, page: readonly CheckedEntry[]): Promise<readonly Violation[]> {
  const [first, last] = [page[0]?.seq, page.at(-1)?.seq];
  if (first === undefined || last === undefined) return [];
  return (await transaction.all(wrongOrigins, { session, first, last })).flatMap(({ id, chain, counts, other }) => {
    const found = [
      ...(chain ? [ORIGIN_FAULTS.chain] : []),
      ...(counts && other !== null ? [ORIGIN_FAULTS.twice(other)] : []),
      ...(!counts && other === null ? [ORIGIN_FAULTS.nowhere] : []),
    ];
    return found.map((what) => ({
      rule: "wrong-origin" as const,
      sessionId: session,
      entryId: id,
      message: `Entry ${id} of session ${session}: ${what}.`,
    }));
  });
}

interface Counted {
  readonly last: number;
  readonly kinds: readonly number[];
}

const countedOf = pgQuery<Session, Counted>(({ sql, p }) =>
  pgRaw(sql<Counted>`SELECT last_seq AS last, kind_counts AS kinds FROM session WHERE ${ofSession(sql, p, "session")}`),
);

async function countFaults(transaction: Database, row: SessionRecordRow, checks: SessionChecks): Promise<readonly Fault[]> {
  const counted = await transaction.get(countedOf, { session: row.id });
  // Numbers are without gaps.
  const isLast = counted?.last === checks.last && checks.last === checks.count;
  const isRight = isLast && row.payload_bytes === checks.bytes && isSameCount(counted.kinds, checks.kinds);
  const fault = checks.countFault(row, !isRight);
  return fault === undefined ? [] : [fault];
}

/** `kinds`: the numbers of entries of kind 1, 2 and so on. */
function isSameCount(kinds: readonly number[], found: ReadonlyMap<number, number>): boolean {
  const stored = kinds.flatMap((count, at) => (count === 0 ? [] : [[at + 1, count] as const]));
  return stored.length === found.size && stored.every(([kind, count]) => found.get(kind) === count);
}

const runsOf = pgQuery<Session, NewRun>(({ sql, p }) =>
  pgRaw(sql<NewRun>`
    SELECT start_seq AS start, parent_seq AS parent, depth FROM run WHERE ${ofSession(sql, p, "run")} ORDER BY start_seq`),
);

async function findRunFaults(transaction: Database, { id }: SessionRecordRow, { runs }: SessionChecks): Promise<readonly Fault[]> {
  const stored = await transaction.all(runsOf, { session: id });
  const text = (all: readonly NewRun[]) => JSON.stringify(all.map(({ start, parent, depth }) => [start, parent, depth]));
  return text(stored) === text(runs) ? [] : [{ rule: "wrong-run", message: `Session ${id}: its runs are not those of its entries.` }];
}

const leavesOf = pgQuery<Session, { name: string; seq: EntrySeq | null }>(({ sql, p }) =>
  pgRaw(
    sql<{ name: string; seq: EntrySeq | null }>`SELECT name, entry_seq AS seq FROM leaf WHERE ${ofSession(sql, p, "leaf")} ORDER BY name`,
  ),
);

const membersOf = pgQuery<Session, MetadataRow>(({ sql, p }) =>
  pgRaw(sql<MetadataRow>`SELECT key, value FROM session_metadata WHERE ${ofSession(sql, p, "session_metadata")}`),
);
const titleWords = pgQuery<Session & { words: string }, { found: boolean }>(({ sql, p }) =>
  pgRaw(sql<{ found: boolean }>`
    SELECT EXISTS (SELECT 1 FROM session_title WHERE ${ofSession(sql, p, "session_title")} AND words = ${p.words}::text::tsvector) AS found`),
);
const valuesAfter = pgQuery<Session & { after: string }, { key: string; json: string; bytes: number }>(({ sql, p }) =>
  pgRaw(sql<{ key: string; json: string; bytes: number }>`
    SELECT key, value_json AS json, bytes FROM value WHERE ${ofSession(sql, p, "value")} AND key > ${p.after} ORDER BY key LIMIT 20`),
);
const labelsOf = pgQuery<Session, { seq: EntrySeq }>(({ sql, p }) =>
  pgRaw(sql<{ seq: EntrySeq }>`SELECT entry_seq AS seq FROM label WHERE ${ofSession(sql, p, "label")}`),
);

async function findOtherFaults(transaction: Database, row: SessionRecordRow, checks: SessionChecks): Promise<readonly Fault[]> {
  const { id: session, title } = row;
  const faults: Fault[] = [];
  const ofMetadata = findMetadataFault(session, row.metadata_json, await transaction.all(membersOf, { session }));
  if (ofMetadata !== undefined) faults.push(ofMetadata);
  const found =
    title === null || (await transaction.get(titleWords, { session, words: vectorOf(title, transaction.tenant) }))?.found === true;
  if (!found) faults.push({ rule: "search-index", message: `Session ${session}: its title is not in the search index.` });
  const lost = (await transaction.all(labelsOf, { session })).filter(({ seq }) => !checks.has(seq));
  for (const { seq } of lost)
    faults.push({ rule: "dangling-reference", message: `Session ${session}: a label is of entry ${seq}, which is not there.` });
  for (let after = ""; ; ) {
    const page = await transaction.all(valuesAfter, { session, after });
    for (const { key, json, bytes } of page)
      if (Buffer.byteLength(json) !== bytes || parseJson(json) === undefined)
        faults.push({
          rule: "damaged-value",
          message: `Session ${session}: its value ${JSON.stringify(quoted(key))} is no JSON of its size.`,
        });
    const last = page.at(-1);
    if (last === undefined) return faults;
    after = last.key;
  }
}

/** An entry to check. */
type CheckedEntry = PlacedEntry & Pick<PgEntry, "is_private" | "payload_bytes" | "custom_type" | "payload">;

/** Checks the entries of a session, in order of arrival, by the rules of the structure and those of payloads. */
class SessionChecks extends StructureChecks {
  readonly session: SessionId;
  /** The runs that the entries make. */
  readonly runs: (RunFact & { readonly depth: number })[] = [];
  bytes = 0;
  last = 0;
  /** The number of entries of each kind. */
  readonly kinds = new Map<number, number>();

  constructor(session: SessionId) {
    super(session);
    this.session = session;
  }

  /** The rules that an entry breaks, with that of its payload. */
  check(entry: CheckedEntry): readonly Fault[] {
    const { seq, kind, depth, parent_seq } = entry;
    this.bytes += entry.payload_bytes;
    this.kinds.set(kind, (this.kinds.get(kind) ?? 0) + 1);
    if (seq !== this.last + 1 || seq === 1 || parent_seq !== seq - 1) this.runs.push({ start: seq, parent: parent_seq, depth });
    this.last = seq;
    const { type } = toEntryKind(kind);
    const checked = { type, json: entry.payload, bytes: entry.payload_bytes, customType: entry.custom_type, isPrivate: entry.is_private };
    const fault = findPayloadFault(checked, `Entry ${entry.id} of session ${this.session}`);
    return [...this.add(entry), ...(fault === undefined ? [] : [fault])];
  }
}
