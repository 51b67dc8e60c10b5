import { ConnectionLostError, type SessionId } from "@bough/session-core";
import {
  type AddedUsage,
  type Batch,
  type BatchResult,
  BatchWriter,
  chooseFirstText,
  copyWrites,
  type EntrySeq,
  type PathState,
  parseStoredPayload,
  toEntrySeq,
  type ValidatedWrite,
  validateWrite,
} from "@bough/session-core/engine";
import type { RawBuilder } from "kysely";
import { afterLoss, type Database, type PgDatabase } from "./database.js";
import { type Facts, factsWanted, type LockedSession, lockSession, PgLeafState, readFacts, referencesOf, typeOf } from "./facts.js";
import { type Changes, PlannedSession, type WriteRules } from "./planned-session.js";
import { pgQuery, pgRaw } from "./query.js";
import {
  countsAdded,
  type EntryArrays,
  entriesGiven,
  kindArray,
  MOST_CHARACTERS,
  MOST_ROWS,
  type SessionCounts,
  saveChanges,
  toArrays,
} from "./save-changes.js";
import { isServerError } from "./server-errors.js";
import { isWritable, keyParameters, ofSession } from "./session-key.js";
import { usageAdded } from "./usage.js";
import { getWithWords, listCollected, listWords, textsOf, wordsToList } from "./words.js";

/**
 * Validates a batch and writes it in one transaction: all of it or, after any error, none. Entries below a leaf that has not moved are one
 * statement; anything else locks the session's row, reads what the batch refers to, decides and writes.
 *
 * @throws {InvalidEntryError} an entry or another write is not valid; the store was not touched.
 * @throws {LeafMovedError} the stored leaf differs from `batch.seen`, and `onConflict` is `error` or `onlyIfSeen` is set.
 * @throws {SessionNotFoundError} the session was deleted.
 */
export async function commitBatch(database: PgDatabase, batch: Batch<PgLeafState>, rules: WriteRules): Promise<BatchResult> {
  const validated = batch.writes.map((write) => validateWrite(write, rules.validateEntry));
  const plan = planAppend(database.tenant, batch, validated, rules);
  // Writes that have to wait are copied, so that later changes by their owner are not written. A plan has their texts.
  if (plan === undefined) {
    const writes = copyWrites(batch.writes).map((write) => validateWrite(write, rules.validateEntry));
    await listWords(database, textsOf(writes));
    return decideBatch(database, batch, writes, rules);
  }
  const words = wordsToList(textsOf(validated));
  try {
    return (await append(database, plan, words)) ?? (await decideBatch(database, batch, writesOf(plan), rules));
  } catch (error) {
    if (!(error instanceof ConnectionLostError)) throw error;
    // It may have been written. The entries have their ids, so that the rules of a repeated append find them.
    return afterLoss(error, async () => {
      await listCollected(database, words);
      // If it was written, the leaf is where it moved it: `onlyIfSeen` would refuse its own entries before it finds them. All of them are new
      // entries below the leaf, for which `error` is the same condition.
      const again: Batch<PgLeafState> = batch.onlyIfSeen ? { ...batch, onlyIfSeen: false, onConflict: "error" } : batch;
      return decideBatch(database, again, writesOf(plan), rules);
    });
  }
}

async function decideBatch(
  database: PgDatabase,
  batch: Batch<PgLeafState>,
  writes: readonly ValidatedWrite[],
  rules: WriteRules,
): Promise<BatchResult> {
  return database.write(async (transaction) => {
    const session = await lockSession(transaction, batch.sessionId);
    return writeBatch(transaction, session, batch, writes, rules);
  });
}

/** Does the writes of a batch on a session whose row the transaction holds: reads what they refer to, decides, and writes. */
export async function writeBatch(
  transaction: Database,
  session: LockedSession,
  batch: Omit<Batch<PgLeafState>, "sessionId" | "writes">,
  writes: readonly ValidatedWrite[],
  { fileTools }: Pick<WriteRules, "fileTools">,
): Promise<BatchResult> {
  const facts = await readFacts(transaction, session.id, factsWanted(batch.leafName, writes));
  const target = new PlannedSession(transaction.tenant, session, facts, fileTools);
  const { entries, leaf } = new BatchWriter(target, batch, batch.seen.path).run(writes);
  const changes = target.takeChanges();
  const firstText = await saveChanges(transaction, session, changes);
  const { id: _id, ...before } = session;
  return { entries, leaf: new PgLeafState(leaf, { ...before, lastSeq: session.lastSeq + changes.entries.length, firstText }) };
}

// The usual append as one statement: entries below a leaf that is where the handle saw it last. The statement
//
// 1. locks the row of the session, which orders its writers and has the number of the newest entry,
// 2. moves the leaf if it is still where it was seen, and otherwise does nothing,
// 3. inserts the entries, the run that they begin if they do not continue the newest one, and adds to the totals.
//
// The columns of the entries are computed before, as if no other writer had added an entry since the handle's last operation: then the next
// number is `last + 1`. If the session has more entries by now, the statement adds the difference to each number above `last`.

type AppendParameters = EntryArrays &
  SessionCounts &
  AddedUsage & {
    readonly sessionSeq: number;
    readonly leafName: string;
    /** The position of the leaf that the caller has read. */
    readonly leaf: number | null;
    readonly last: number;
    readonly cwd: string | null;
    /** The text that replaced a missing title when `firstText` was chosen. */
    readonly seenText: string | null;
    readonly startDepth: number;
  };

function appendQuery(hasUsage: boolean) {
  return pgQuery<AppendParameters, { base: number }>(({ sql, p }) => {
    const shifted = (number: RawBuilder<unknown>) =>
      sql`CASE WHEN ${number} > ${p.last}::integer THEN ${number} + moved.base - ${p.last}::integer ELSE ${number} END`;
    const { names, values, given: source } = entriesGiven(sql, p, shifted);
    const used = hasUsage ? sql`used AS (${usageAdded(sql, p, false, sql`moved`)}),` : sql``;
    return pgRaw(sql<{ base: number }>`
      WITH locked AS (
        SELECT tenant, session_id, last_seq AS base FROM session
        WHERE ${isWritable(sql, p)} AND ${ofSession(sql, p, "session")} AND seq = ${p.sessionSeq}::bigint AND cwd IS NOT DISTINCT FROM ${p.cwd}::text
          AND (${p.firstText}::text IS NULL OR first_text IS NOT DISTINCT FROM ${p.seenText}::text)
        FOR NO KEY UPDATE),
      moved AS (
        UPDATE leaf SET entry_seq = locked.base + ${p.entries}::integer FROM locked
        WHERE ${ofSession(sql, p, "leaf")} AND leaf.name = ${p.leafName} AND leaf.entry_seq IS NOT DISTINCT FROM ${p.leaf}::integer
        RETURNING locked.*),
      begun AS (
        INSERT INTO run (tenant, session_id, start_seq, parent_seq, depth)
        SELECT tenant, session_id, base + 1, ${p.leaf}::integer, ${p.startDepth}::integer FROM moved
        WHERE base IS DISTINCT FROM ${p.leaf}::integer),
      ${used}
      counted AS (${countsAdded(sql, p)} FROM moved WHERE ${ofSession(sql, p, "session")}),
      written AS (
        INSERT INTO entry (tenant, session_id, ${names}) SELECT moved.tenant, moved.session_id, ${values} FROM moved CROSS JOIN ${source})
      SELECT base FROM moved`);
  });
}

const withoutUsage = appendQuery(false);
const withUsage = appendQuery(true);

/** An append whose columns are computed from what the handle knows. */
interface AppendPlan {
  readonly session: SessionId;
  readonly leafName: string;
  readonly seen: PgLeafState;
  readonly changes: Changes;
  readonly entries: BatchResult["entries"];
  readonly leaf: PathState;
}

/**
 * Plans a batch that consists of entries below the leaf, each of which follows from its parent alone. undefined: the batch is another one,
 * and has to be decided with facts from the server.
 */
function planAppend(
  tenant: string,
  { sessionId, seen, ...batch }: Batch<PgLeafState>,
  writes: readonly ValidatedWrite[],
  { fileTools }: Pick<WriteRules, "fileTools">,
): AppendPlan | undefined {
  if (writes.length === 0 || writes.length > MOST_ROWS || !writes.every(isPlain)) return undefined;
  const { session, sessionSeq } = keyParameters(sessionId);
  if (sessionSeq !== null && sessionSeq !== seen.session.seq) return undefined;
  const target = new PlannedSession(tenant, { id: session, ...seen.session }, factsSeen(batch.leafName, seen.path), fileTools);
  const { entries, leaf } = new BatchWriter(target, batch, seen.path).run(writes);
  const changes = target.takeChanges();
  if (changes.totals.usage.length > 1 || sizeOf(changes) > MOST_CHARACTERS) return undefined;
  return { session, leafName: batch.leafName, seen, changes, entries, leaf };
}

function isPlain(write: ValidatedWrite): boolean {
  return write.kind === "entry" && write.parentId === undefined && referencesOf(write.entry.payload).length === 0;
}

/** The entries of a plan as writes with ids, as they were when it was made. */
function writesOf({ changes }: AppendPlan): readonly ValidatedWrite[] {
  return changes.entries.map(({ id, kind, payload, created_at_ms }) => ({
    kind: "entry",
    entry: { id, createdAtMs: created_at_ms, payload: parseStoredPayload(typeOf(kind), payload), payloadJson: payload },
  }));
}

/** Returns the facts that a handle knows: its leaf, and the path state there. */
function factsSeen(leafName: string, path: PathState): Facts {
  return { leaves: new Map([[leafName, path.seq]]), entries: [], runs: [], marks: [], values: new Map() };
}

function sizeOf({ entries }: Changes): number {
  return entries.reduce((size, { payload, words }) => size + payload.length + words.length, 0);
}

/**
 * Writes a planned append, if the leaf is where the handle saw it last and none of the entries exists. Otherwise it writes nothing and
 * returns undefined. One statement; `words` are listed in the same round trip.
 *
 * @throws {ConnectionLostError} it may have been written.
 */
async function append(database: PgDatabase, plan: AppendPlan, words: readonly string[]): Promise<BatchResult | undefined> {
  const { path, session: seen } = plan.seen;
  const { entries, totals } = plan.changes;
  const [usage = NO_USAGE] = totals.usage;
  const firstText = chooseFirstText(totals.counts, () => seen.firstText);
  try {
    const row = await getWithWords(database, words, usage === NO_USAGE ? withoutUsage : withUsage, {
      ...toArrays(plan.session, entries),
      ...totals.counts,
      ...usage,
      kinds: kindArray(totals.kinds),
      firstText,
      seenText: seen.firstText,
      sessionSeq: seen.seq,
      leafName: plan.leafName,
      leaf: path.seq,
      last: seen.lastSeq,
      cwd: seen.cwd,
      startDepth: path.depth + 1,
    });
    return row && resultOf(plan, row.base, firstText ?? seen.firstText ?? totals.counts.laterText);
  } catch (error) {
    // An entry with one of the ids exists already.
    if (isServerError(error, UNIQUE_VIOLATION)) return undefined;
    throw error;
  }
}

const UNIQUE_VIOLATION = "23505";

const NO_USAGE: AddedUsage = {
  provider: "",
  model: "",
  replies: 0,
  input_tokens: 0,
  output_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  cost_usd: 0,
  recorded_replies: 0,
};

/** The result of an append after which the newest entry before it is `base`. */
function resultOf({ seen, changes, entries, leaf }: AppendPlan, base: number, firstText: string | null): BatchResult {
  const { lastSeq } = seen.session;
  const shift = (seq: EntrySeq | null) => (seq !== null && seq > lastSeq ? toEntrySeq(seq + base - lastSeq) : seq);
  const session = { ...seen.session, lastSeq: base + changes.entries.length, firstText };
  return {
    entries: entries.map(({ id, seq }) => ({ id, seq: toEntrySeq(seq + base - lastSeq) })),
    leaf: new PgLeafState(shifted(leaf, shift), session),
  };
}

function shifted(path: PathState, shift: (seq: EntrySeq | null) => EntrySeq | null): PathState {
  return {
    entryId: path.entryId,
    seq: shift(path.seq),
    depth: path.depth,
    compactionSeq: shift(path.compactionSeq),
    modelSeq: shift(path.modelSeq),
    thinkingSeq: shift(path.thinkingSeq),
    systemSeq: shift(path.systemSeq),
  };
}
