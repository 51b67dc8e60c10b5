import { type EntryPayload, SessionChangedError, type SessionId, SessionNotFoundError } from "@bough/session-core";
import {
  type CopiedEntry,
  type CopiedMove,
  type CopiedPart,
  type CopiedState,
  type CopiedUsage,
  copiedColumns,
  customTypeOf,
  isPrivate,
  newCopy,
  parseStoredPayload,
  partlyCopied,
  type SessionRow,
  type StoredOperation,
  searchableText,
  toEntryKind,
  toIndexedText,
  toStoredCustomType,
  WordCollector,
} from "@bough/session-core/engine";
import type { Database } from "./database.js";
import { type LockedSession, lockSession } from "./facts.js";
import { connectCopied } from "./origins.js";
import type { NewEntryRow } from "./planned-session.js";
import { pgQuery, pgRaw } from "./query.js";
import { insertEntries, kindArray, kindsAdded, saveLabels, saveLeaves, saveRuns } from "./save-changes.js";
import { modelKey } from "./schema-steps.js";
import { ofSession } from "./session-key.js";
import { insertNewSession, saveMetadata, saveTitle } from "./session-rows.js";
import { wordsOf } from "./words.js";

/** The rows of the entries of a part, and the words of the part. */
export function toRows({ state, entries }: CopiedPart, tenant: string) {
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
export async function writeCopiedPart(
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

function toRow(entry: CopiedEntry, payload: EntryPayload, tenant: string): NewEntryRow {
  return {
    seq: entry.place,
    id: entry.id,
    parent_seq: entry.parent,
    kind: entry.kind,
    depth: entry.depth,
    created_at_ms: entry.createdAtMs,
    compaction_seq: entry.compaction,
    target_seq: entry.target,
    model_seq: entry.model,
    thinking_seq: entry.thinking,
    system_seq: entry.system,
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
  await saveLeaves(transaction, session, new Map(state.leaves.map(({ name, at }) => [name, at])));
  await saveMoves(transaction, session, state.moves);
  await saveLabels(transaction, session, new Map(state.labels.map(({ at, ...label }) => [at, label])));
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
