import type { Entry, EntryId, Session } from "@bough/session-core";
import type { Checkpoint, CheckpointRange } from "../checkpoints/checkpoint.js";
import { fileListsOf } from "../path/details.js";
import { stripComposed } from "../summary/compose.js";
import { firstSentence } from "../summary/short-summary.js";
import { type Covered, coveredOn } from "./coverage.js";

/** The compactions that count on the leaf's path (default: where the handle stands), oldest first, numbered from 1. */
export async function listCheckpoints(session: Session, leafId: EntryId | null = session.leafId): Promise<readonly Checkpoint[]> {
  const compactions = (await coveredOn(session, leafId)).filter(({ summary }) => summary.type === "compaction");
  const list: Checkpoint[] = [];
  for (const [at, covered] of compactions.entries()) list.push(await checkpointOf(session, covered, at + 1));
  return list;
}

async function checkpointOf(session: Session, covered: Covered, number: number): Promise<Checkpoint> {
  const { summary } = covered;
  const compaction = summary.type === "compaction" ? summary : null;
  return {
    number,
    sessionId: session.id,
    entryId: summary.id,
    title: titleOf(summary),
    createdAtMs: summary.createdAtMs,
    trigger: compaction?.trigger ?? null,
    tokensBefore: compaction?.tokensBefore ?? null,
    tokensAfter: compaction?.tokensAfter ?? null,
    covers: await rangeOf(session, covered),
    files: fileListsOf(summary),
    summary: summary.summary,
  };
}

/** The title of a summary, or its short form, or its first sentence; one line. */
export function titleOf(summary: Covered["summary"]): string {
  const { title, shortSummary } = summary;
  for (const said of [title, shortSummary]) if (typeof said === "string" && said.trim() !== "") return said.replace(/\s+/g, " ").trim();
  return firstSentence(stripComposed(summary.summary));
}

async function rangeOf(session: Session, { summary, fromEntryId, toEntryId }: Covered): Promise<CheckpointRange | null> {
  if (fromEntryId === null || toEntryId === null) return null;
  const counted = countsIn(summary) ?? (await countsOf(session, fromEntryId, toEntryId));
  return { fromEntryId, toEntryId, ...counted };
}

function countsIn(summary: Entry): { readonly entries: number; readonly messages: number } | null {
  const covers: unknown = "covers" in summary ? summary.covers : undefined;
  if (typeof covers !== "object" || covers === null || !("entries" in covers) || !("messages" in covers)) return null;
  const { entries, messages } = covers;
  return typeof entries === "number" && typeof messages === "number" ? { entries, messages } : null;
}

async function countsOf(session: Session, fromEntryId: EntryId, toEntryId: EntryId) {
  const { parentId } = await session.entry(fromEntryId);
  const counted = { entries: 0, messages: 0 };
  for await (const entry of session.walk({ leafId: toEntryId, ...(parentId === null ? {} : { stopAt: parentId }) })) {
    counted.entries += 1;
    if (entry.type === "message" || entry.type === "custom_message" || entry.type === "branch_summary") counted.messages += 1;
  }
  return counted;
}
