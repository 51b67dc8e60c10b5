import { type EntryPayload, SessionChangedError, type SessionId, SessionNotFoundError } from "@bough/session-core";
import {
  type CopiedEntry,
  type CopiedMove,
  type CopiedPart,
  type CopiedState,
  type CopiedUsage,
  copiedColumns,
  customTypeOf,
  type EntrySeq,
  isPrivate,
  newCopy,
  PART_BYTES,
  PART_ENTRIES,
  parseStoredPayload,
  partlyCopied,
  type SessionCopies,
  type SessionKey,
  type SessionRow,
  type SessionSeq,
  type StoredOperation,
  searchableText,
  sessionIdOf,
  toEntryKind,
  toEntrySeq,
  toIndexedText,
  toSessionRecord,
  toSessionSeq,
  toStoredCustomType,
  WordCollector,
} from "@bough/session-core/engine";
import type { Database, PgDatabase } from "./database.js";
import { type LockedSession, lockSession } from "./facts.js";
import { connectCopied } from "./origins.js";
import type { NewEntryRow } from "./planned-session.js";
import { pgQuery, pgRaw } from "./query.js";
import { insertEntries, kindArray, kindsAdded, saveLabels, saveLeaves, saveRuns } from "./save-changes.js";
import { modelKey } from "./schema.js";
import { type KeyParameters, ofSession, rowsOf, sessionExists } from "./session-key.js";
import { findSessionRow, insertNewSession, saveMetadata, saveTitle } from "./sessions.js";
import { listCollected, wordsOf } from "./words.js";

/** Copies of sessions from and to a server. The place of an entry is its number. */
export function copiesOf(database: PgDatabase): SessionCopies {
  return {
    state: (key) => database.read((transaction) => readState(transaction, key)),
    entries: (key, after, upTo) => readEntries(database, key, after, upTo),
    async write(part) {
      const { rows, words } = toRows(part, database.tenant);
      await listCollected(database, words);
      return database.write((transaction) => writeCopiedPart(transaction, part, rows));
    },
  };
}

type Session = { readonly session: SessionId };

const rowOf = pgQuery<Session, { seq: SessionSeq }>(({ sql, p }) =>
  pgRaw(sql<{ seq: SessionSeq }>`SELECT seq FROM session WHERE ${ofSession(sql, p, "session")}`),
);
const leavesOf = pgQuery<Session, CopiedState["leaves"][number]>(({ sql, p }) =>
  pgRaw(sql<CopiedState["leaves"][number]>`SELECT name, entry_seq AS at FROM leaf WHERE ${ofSession(sql, p, "leaf")} ORDER BY name`),
);
const movesOf = pgQuery<Session, CopiedMove>(({ sql, p }) =>
  pgRaw(sql<CopiedMove>`
    SELECT leaf_name AS "leafName", from_seq AS "from", to_seq AS "to", resume_seq AS resume, moved_at_ms AS "movedAtMs", state
    FROM leaf_move WHERE ${ofSession(sql, p, "leaf_move")} ORDER BY seq`),
);
const labelsOf = pgQuery<Session, CopiedState["labels"][number]>(({ sql, p }) =>
  pgRaw(sql<CopiedState["labels"][number]>`
    SELECT entry_seq AS at, label, created_at_ms AS "createdAtMs" FROM label WHERE ${ofSession(sql, p, "label")} ORDER BY entry_seq`),
);
const valuesOf = pgQuery<Session, CopiedState["values"][number]>(({ sql, p }) =>
  pgRaw(sql<CopiedState["values"][number]>`
    SELECT key, value_json AS json, updated_at_ms AS "updatedAtMs" FROM value WHERE ${ofSession(sql, p, "value")} ORDER BY key`),
);
const usageOf = pgQuery<Session, CopiedUsage>(({ sql, p }) =>
  pgRaw(sql<CopiedUsage>`
    SELECT provider, model, replies, input_tokens AS "inputTokens", output_tokens AS "outputTokens", cache_read_tokens AS "cacheReadTokens",
      cache_write_tokens AS "cacheWriteTokens", cost_usd AS "costUsd", recorded_replies AS "recordedReplies", inherited
    FROM usage_total WHERE ${ofSession(sql, p, "usage_total")} ORDER BY inherited, provider, model`),
);

async function readState(transaction: Database, key: SessionKey): Promise<CopiedState | undefined> {
  const found = await findSessionRow(transaction, key);
  if (found === undefined) return undefined;
  const session = found.id;
  const { metadata: _parsed, ...record } = toSessionRecord(found);
  return {
    row: { id: session, seq: (await transaction.get(rowOf, { session }))?.seq ?? toSessionSeq(0) },
    session: { ...record, metadataJson: found.metadata_json },
    leaves: await transaction.all(leavesOf, { session }),
    moves: await transaction.all(movesOf, { session }),
    labels: await transaction.all(labelsOf, { session }),
    values: await transaction.all(valuesOf, { session }),
    usage: await transaction.all(usageOf, { session }),
  };
}

type EntryRow = Omit<CopiedEntry, "fileOperations" | "tokens"> & { readonly file_operations: string | null };

// The texts of a page that is too large are not read: its size is summed up before.
const entriesAfter = pgQuery<KeyParameters & { after: number; upTo: number }, EntryRow>(({ sql, p }) =>
  pgRaw(sql<EntryRow>`
    SELECT seq AS place, id, parent_seq AS parent, kind, depth, created_at_ms AS "createdAtMs", compaction_seq AS compaction,
      target_seq AS target, model_seq AS model, thinking_seq AS thinking, system_seq AS system, call_id AS "callId", is_error AS "isError",
      omits, inherited, origin, preview, payload, file_operations
    FROM (
      SELECT entry.*, sum(payload_bytes) OVER (ORDER BY seq) AS bytes FROM entry
      WHERE ${ofSession(sql, p, "entry")} AND seq > ${p.after}::integer
        AND seq <= least(${p.upTo}::bigint, ${p.after}::bigint + ${sql.lit(PART_ENTRIES)}) AND ${sessionExists(sql, p)}) AS page
    WHERE bytes <= ${sql.lit(PART_BYTES)} OR seq = ${p.after}::integer + 1 ORDER BY seq`),
);

type CountRow = { readonly place: number; readonly counter: string; readonly tokens: number };

// The key of the counts begins with their counter: the few names are found one after the other.
const countsIn = pgQuery<Session & { after: number; upTo: number }, CountRow>(({ sql, p }) => {
  const counted = sql`entry_token_count AS counted WHERE ${ofSession(sql, p, "counted")}`;
  return pgRaw(sql<CountRow>`
    WITH RECURSIVE name (counter) AS (
      SELECT min(counter) FROM ${counted}
      UNION ALL SELECT (SELECT min(counted.counter) FROM ${counted} AND counted.counter > name.counter) FROM name WHERE name.counter IS NOT NULL)
    SELECT counted.entry_seq AS place, counted.counter, counted.tokens
    FROM name CROSS JOIN LATERAL (
      SELECT * FROM ${counted} AND counted.counter = name.counter AND entry_seq > ${p.after}::integer AND entry_seq <= ${p.upTo}::integer) AS counted
    ORDER BY counted.counter`);
});

async function readEntries(database: Database, key: SessionKey, after: number, upTo: number): Promise<readonly CopiedEntry[]> {
  const rows = await rowsOf(database, key, entriesAfter, { after, upTo });
  const last = rows.at(-1)?.place ?? after;
  const tokens = new Map<number, (readonly [string, number])[]>(rows.map(({ place }) => [place, []]));
  for (const row of await database.all(countsIn, { session: sessionIdOf(key), after, upTo: last }))
    tokens.get(row.place)?.push([row.counter, row.tokens]);
  return rows.map(({ file_operations, ...row }) => ({
    ...row,
    fileOperations: toOperations(file_operations),
    tokens: tokens.get(row.place) ?? [],
  }));
}

function toOperations(json: string | null): CopiedEntry["fileOperations"] {
  // Written by an append, from values of this type.
  const stored: readonly StoredOperation[] = json === null ? [] : JSON.parse(json);
  return stored.map(({ tool_call_id, kind, path, nested }) => ({ toolCallId: tool_call_id, kind, path, nested: nested === 1 }));
}

/** The rows of the entries of a part, and the words of the part. */
function toRows({ state, entries }: CopiedPart, tenant: string) {
  const collector = new WordCollector();
  collector.add(toIndexedText(state.session.title ?? ""));
  const rows = entries.map((entry): NewEntryRow => {
    const payload = parseStoredPayload(toEntryKind(entry.kind).type, entry.payload);
    collector.add(toIndexedText(searchableText(payload)));
    return toRow(entry, payload, tenant);
  });
  return { rows, words: collector.list() };
}

/** Writes a part of a copied session. @throws {SessionExistsError | SessionChangedError} */
async function writeCopiedPart(
  transaction: Database,
  { state, into, entries, isLast }: CopiedPart,
  rows: readonly NewEntryRow[],
): Promise<SessionRow> {
  const { id, seq } =
    into === undefined
      ? await insertNewSession(transaction, newCopy(state.session), state.session.source ?? undefined)
      : await lockUnchanged(transaction, into);
  await insertEntries(transaction, id, rows);
  const starts = rows.filter((row) => row.seq === 1 || row.parent_seq !== row.seq - 1);
  await saveRuns(
    transaction,
    id,
    starts.map((row) => ({ start: row.seq, parent: row.parent_seq, depth: row.depth })),
  );
  await saveCounts(transaction, id, rows);
  await saveTokens(transaction, id, entries);
  if (isLast) await finish(transaction, id, state);
  else await putMetadata(transaction, id, partlyCopied(state.session.metadataJson));
  return { id, seq };
}

async function lockUnchanged(transaction: Database, { row, entries }: NonNullable<CopiedPart["into"]>): Promise<LockedSession> {
  try {
    const session = await lockSession(transaction, row);
    if (session.lastSeq === entries) return session;
  } catch (error) {
    if (!(error instanceof SessionNotFoundError)) throw error;
  }
  throw new SessionChangedError(row.id);
}

/** The place of an entry in a copy is its number in the session. */
function seqAt(place: number | null): EntrySeq | null {
  return place === null ? null : toEntrySeq(place);
}

function toRow(entry: CopiedEntry, payload: EntryPayload, tenant: string): NewEntryRow {
  return {
    seq: toEntrySeq(entry.place),
    id: entry.id,
    parent_seq: seqAt(entry.parent),
    kind: entry.kind,
    depth: entry.depth,
    created_at_ms: entry.createdAtMs,
    compaction_seq: seqAt(entry.compaction),
    target_seq: seqAt(entry.target),
    model_seq: seqAt(entry.model),
    thinking_seq: seqAt(entry.thinking),
    system_seq: seqAt(entry.system),
    call_id: entry.callId,
    is_error: entry.isError,
    omits: entry.omits,
    inherited: entry.inherited,
    origin: entry.origin,
    is_private: isPrivate(payload),
    payload_bytes: Buffer.byteLength(entry.payload),
    preview: entry.preview,
    custom_type: toStoredCustomType(customTypeOf(payload)),
    file_operations: entry.fileOperations.length === 0 ? null : JSON.stringify(entry.fileOperations.map(toOperation)),
    words: wordsOf(payload, tenant),
    payload: entry.payload,
  };
}

function toOperation({ toolCallId, kind, path, nested }: CopiedEntry["fileOperations"][number]): StoredOperation {
  return { tool_call_id: toolCallId, kind, path, nested: nested ? 1 : 0 };
}

interface Added {
  readonly session: SessionId;
  readonly entries: number;
  readonly messages: number;
  readonly bytes: number;
  readonly kinds: readonly number[];
}

const addCounts = pgQuery<Added>(({ sql, p }) =>
  pgRaw(sql`
    UPDATE session SET last_seq = last_seq + ${p.entries}, entry_count = entry_count + ${p.entries}, message_count = message_count + ${p.messages},
      payload_bytes = payload_bytes + ${p.bytes}, kind_counts = ${kindsAdded(sql, p.kinds)} WHERE ${ofSession(sql, p, "session")}`),
);

async function saveCounts(transaction: Database, session: SessionId, rows: readonly NewEntryRow[]): Promise<void> {
  if (rows.length === 0) return;
  const messages = rows.filter(({ kind }) => ["user", "assistant"].includes(toEntryKind(kind).role ?? "")).length;
  const bytes = rows.reduce((sum, row) => sum + row.payload_bytes, 0);
  const kinds = new Map<number, number>();
  for (const { kind } of rows) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  await transaction.run(addCounts, { session, entries: rows.length, messages, bytes, kinds: kindArray(kinds) });
}

interface Tokens {
  readonly session: SessionId;
  readonly counters: readonly string[];
  readonly places: readonly number[];
  readonly tokens: readonly number[];
}

const insertTokens = pgQuery<Tokens>(({ sql, p }) =>
  pgRaw(sql`
    INSERT INTO entry_token_count (tenant, session_id, counter, entry_seq, tokens)
    SELECT ${p.tenant}, ${p.session}, given.* FROM unnest(${p.counters}::text[], ${p.places}::integer[], ${p.tokens}::bigint[]) AS given
    ON CONFLICT DO NOTHING`),
);

async function saveTokens(transaction: Database, session: SessionId, entries: readonly CopiedEntry[]): Promise<void> {
  const all = entries.flatMap(({ place, tokens }) => tokens.map(([counter, count]) => ({ place, counter, count })));
  if (all.length === 0) return;
  const [counters, places, tokens] = [all.map(({ counter }) => counter), all.map(({ place }) => place), all.map(({ count }) => count)];
  await transaction.run(insertTokens, { session, counters, places, tokens });
}

const drops = ["leaf", "leaf_move", "label", "value", "usage_total"].map((table) =>
  pgQuery<{ session: SessionId }>(({ sql, p }) => pgRaw(sql`DELETE FROM ${sql.table(table)} WHERE ${ofSession(sql, p, table)}`)),
);

const putProperties = pgQuery<ReturnType<typeof copiedColumns> & { session: SessionId }>(({ sql, p }) =>
  pgRaw(sql`
    UPDATE session SET kind = ${p.kind}, title = ${p.title}, title_source = ${p.title_source}, cwd = ${p.cwd}, created_at_ms = ${p.created_at_ms},
      active_at_ms = ${p.active_at_ms}, archived_at_ms = ${p.archived_at_ms}::bigint, parent_session_id = ${p.parent_session_id},
      parent_entry_id = ${p.parent_entry_id}, parent_call_id = ${p.parent_call_id}, first_text = ${p.first_text},
      source_format = ${p.source_format}, source_path = ${p.source_path}, source_id = ${p.source_id}, metadata_json = ${p.metadata_json}
    WHERE ${ofSession(sql, p, "session")}`),
);

/** Makes all but the entries as it is in the other store. */
async function finish(transaction: Database, session: SessionId, state: CopiedState): Promise<void> {
  const { title, titleSource: source, metadataJson } = state.session;
  await saveTitle(transaction, session, { title, source });
  await putMetadata(transaction, session, metadataJson ?? "{}");
  await transaction.run(putProperties, { session, ...copiedColumns(state.session) });
  for (const drop of drops) await transaction.run(drop, { session });
  await saveLeaves(transaction, session, new Map(state.leaves.map(({ name, at }) => [name, seqAt(at)])));
  await saveMoves(transaction, session, state.moves);
  await saveLabels(transaction, session, new Map(state.labels.map(({ at, ...label }) => [toEntrySeq(at), label])));
  await saveValues(transaction, session, state.values);
  await saveUsage(transaction, session, state.usage);
  await connectCopied(transaction, session, state.session.parent?.sessionId ?? null);
}

async function putMetadata(transaction: Database, session: SessionId, json: string): Promise<void> {
  await saveMetadata(transaction, session, JSON.parse(json), json);
}

interface MoveArrays {
  readonly session: SessionId;
  readonly names: readonly string[];
  readonly from: readonly (number | null)[];
  readonly to: readonly (number | null)[];
  readonly resume: readonly (number | null)[];
  readonly times: readonly number[];
  readonly states: readonly string[];
}

const insertMoves = pgQuery<MoveArrays>(({ sql, p }) =>
  pgRaw(sql`
    INSERT INTO leaf_move (tenant, session_id, leaf_name, from_seq, to_seq, resume_seq, moved_at_ms, state, seq)
    SELECT ${p.tenant}, ${p.session}, given.* FROM unnest(${p.names}::text[], ${p.from}::integer[], ${p.to}::integer[], ${p.resume}::integer[],
      ${p.times}::bigint[], ${p.states}::text[]) WITH ORDINALITY AS given`),
);

async function saveMoves(transaction: Database, session: SessionId, moves: readonly CopiedMove[]): Promise<void> {
  if (moves.length === 0) return;
  await transaction.run(insertMoves, {
    session,
    names: moves.map(({ leafName }) => leafName),
    from: moves.map((move) => move.from),
    to: moves.map((move) => move.to),
    resume: moves.map((move) => move.resume),
    times: moves.map(({ movedAtMs }) => movedAtMs),
    states: moves.map(({ state }) => state),
  });
}

const insertValue = pgQuery<{ session: SessionId; key: string; json: string; bytes: number; at: number }>(({ sql, p }) =>
  pgRaw(sql`
    INSERT INTO value (tenant, session_id, key, value_json, bytes, updated_at_ms)
    VALUES (${p.tenant}, ${p.session}, ${p.key}, ${p.json}, ${p.bytes}, ${p.at})`),
);

async function saveValues(transaction: Database, session: SessionId, values: CopiedState["values"]): Promise<void> {
  for (const { key, json, updatedAtMs: at } of values)
    await transaction.run(insertValue, { session, key, json, bytes: Buffer.byteLength(json), at });
}

const insertUsage = pgQuery<CopiedUsage & { session: SessionId }>(({ sql, p }) =>
  pgRaw(sql`
    INSERT INTO usage_total (tenant, session_id, inherited, provider, model, model_key, replies, input_tokens, output_tokens, cache_read_tokens,
      cache_write_tokens, cost_usd, recorded_replies)
    VALUES (${p.tenant}, ${p.session}, ${p.inherited}, ${p.provider}, ${p.model},
      ${modelKey(sql`${p.provider}::text`, sql`${p.model}::text`)}, ${p.replies}, ${p.inputTokens}, ${p.outputTokens},
      ${p.cacheReadTokens}, ${p.cacheWriteTokens}, ${p.costUsd}, ${p.recordedReplies})`),
);

async function saveUsage(transaction: Database, session: SessionId, usage: readonly CopiedUsage[]): Promise<void> {
  for (const used of usage) await transaction.run(insertUsage, { session, ...used });
}
