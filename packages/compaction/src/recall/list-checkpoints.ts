import type { EntryId, OutlineRow, Session } from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import { SESSION } from "../arguments/shapes.js";
import type { Checkpoint, CheckpointRange } from "../checkpoints/checkpoint.js";
import { fileListsOf } from "../plan/span.js";
import { type CompactionEntry, readCovers } from "./coverage.js";
import { getTitle, readSummarizedPath } from "./summarized.js";

/**
 * Lists the compactions on a leaf's path (default: the session's current leaf), oldest first, numbered from 1, without
 * those that were undone. Cost: the outline of the session and the bodies of summaries and edits.
 *
 * @throws {SessionNotFoundError | StoreClosedError}
 */
export async function listCheckpoints(session: Session, leafId?: EntryId | null): Promise<readonly Checkpoint[]> {
  rules.checkArgument("session", session, SESSION);
  rules.checkArgument("leafId", leafId, rules.optional(rules.nullable(rules.TEXT)));
  const { parts } = await readSummarizedPath(session, leafId === undefined ? session.leafId : leafId);
  return parts.flatMap(({ summary, number, rows }) =>
    summary.type === "compaction" && number !== null ? [toCheckpoint(session, summary, number, rows)] : [],
  );
}

function toCheckpoint(session: Session, summary: CompactionEntry, number: number, rows: readonly OutlineRow[]): Checkpoint {
  return {
    number,
    sessionId: session.id,
    entryId: summary.id,
    title: getTitle(summary),
    createdAtMs: summary.createdAtMs,
    trigger: summary.trigger ?? null,
    tokensBefore: summary.tokensBefore ?? null,
    tokensAfter: summary.tokensAfter ?? null,
    covers: toRange(summary, rows),
    files: fileListsOf(summary),
    summary: summary.summary,
  };
}

function toRange(summary: CompactionEntry, rows: readonly OutlineRow[]): CheckpointRange | null {
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) return null;
  const covers = readCovers(summary);
  const isTold = covers?.fromEntryId === first.id && covers.toEntryId === last.id;
  const messages = (isTold ? covers.messages : null) ?? rows.filter(isMessage).length;
  return { fromEntryId: first.id, toEntryId: last.id, entries: rows.length, messages };
}

function isMessage({ type }: OutlineRow): boolean {
  return type === "message" || type === "custom_message" || type === "branch_summary";
}
