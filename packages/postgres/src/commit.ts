import { ConnectionLostError } from "@bough/session-core";
import {
  type Batch,
  type BatchResult,
  BatchWriter,
  copyWrites,
  type PathState,
  type ValidatedWrite,
  validateWrite,
} from "@bough/session-core/engine";
import { append, planAppend, writesOf } from "./append.js";
import { afterLoss, type Database, type PgDatabase } from "./database.js";
import { factsWanted, type LockedSession, lockSession, readFacts } from "./facts.js";
import { PgLeafState } from "./leaf-state.js";
import { PlannedSession } from "./planned-session.js";
import { saveChanges } from "./save-changes.js";
import { listCollected, listWords, textsOf, wordsToList } from "./word-list.js";
import type { WriteRules } from "./write-rules.js";

/**
 * Validates a batch and writes it in one transaction: all of it or, after any error, none. Entries below a leaf that has not moved are one
 * statement; anything else locks the session's row, reads what the batch refers to, decides and writes.
 *
 * @throws {InvalidEntryError} an entry or another write is not valid; the store was not touched.
 * @throws {LeafMovedError} the stored leaf differs from `batch.seen`, and `onConflict` is `error` or `onlyIfSeen` is set.
 * @throws {SessionNotFoundError} the session was deleted.
 */
export async function commitBatch(database: PgDatabase, batch: Batch, rules: WriteRules): Promise<BatchResult> {
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
      const again: Batch = batch.onlyIfSeen ? { ...batch, onlyIfSeen: false, onConflict: "error" } : batch;
      return decideBatch(database, again, writesOf(plan), rules);
    });
  }
}

async function decideBatch(database: PgDatabase, batch: Batch, writes: readonly ValidatedWrite[], rules: WriteRules): Promise<BatchResult> {
  return database.write(async (transaction) => {
    const session = await lockSession(transaction, batch.sessionId);
    return writeBatch(transaction, session, batch, writes, rules);
  });
}

/** Does the writes of a batch on a session whose row the transaction holds: reads what they refer to, decides, and writes. */
export async function writeBatch(
  transaction: Database,
  session: LockedSession,
  batch: Omit<Batch, "sessionId" | "writes">,
  writes: readonly ValidatedWrite[],
  { fileTools }: Pick<WriteRules, "fileTools">,
): Promise<BatchResult> {
  const { seen, leafName } = batch;
  const isRead = seen instanceof PgLeafState;
  const facts = await readFacts(transaction, session.id, factsWanted(leafName, isRead ? null : seen.entryId, writes));
  const target = new PlannedSession(transaction.tenant, session, facts, fileTools);
  const start: PathState<number> = isRead ? seen.path : seen.entryId === null ? target.stateAt(null) : target.requireState(seen.entryId);
  const { entries, leaf } = new BatchWriter(target, batch, start).run(writes);
  const changes = target.takeChanges();
  const firstText = await saveChanges(transaction, session, changes);
  const { id: _id, ...before } = session;
  return { entries, leaf: new PgLeafState(leaf, { ...before, lastSeq: session.lastSeq + changes.entries.length, firstText }) };
}
