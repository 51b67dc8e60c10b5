import { type Checkpoint, getTitle, listCheckpoints } from "@bough/compaction";
import type { Entry, Session } from "@bough/session-core";
import { isSummary, oneLine, summaryFiles } from "@bough/session-core/view";
import { readOutline } from "./paging.js";

/** An entry that summarizes other entries. */
export type SummaryEntry = Extract<Entry, { type: "compaction" | "branch_summary" }>;

/** One row in a list of summaries. */
export type ListedSummary = ReturnType<typeof toListedSummary>;

/** The summaries of a session, and the checkpoints among them. */
export type Summaries = Awaited<ReturnType<typeof listSummaries>>;

/** Lists the summaries on the leaf's path, oldest first; `all`: those of every branch, in the order they were written. */
export async function listSummaries(session: Session, all: boolean) {
  const checkpoints = await listCheckpoints(session);
  const onPath = (await session.scan({ order: "down", types: ["compaction", "branch_summary"] })).items.filter((entry) => isSummary(entry));
  const ids = new Set(onPath.map(({ id }) => id));
  const byId = new Map(checkpoints.map((checkpoint) => [checkpoint.entryId, checkpoint]));
  const entries = all ? await readAllSummaries(session) : onPath;
  return { checkpoints, listed: entries.map((entry) => toListedSummary(entry, byId.get(entry.id), ids.has(entry.id))) };
}

/** Builds the row of a summary entry. */
export function toListedSummary(entry: SummaryEntry, checkpoint: Checkpoint | undefined, onPath: boolean) {
  const isCompaction = entry.type === "compaction";
  return {
    /** Its number among the checkpoints of the leaf's path; null: it is not one of them. */
    number: checkpoint?.number ?? null,
    kind: isCompaction ? ("compaction" as const) : ("branch summary" as const),
    entryId: entry.id,
    onPath,
    createdAtMs: entry.createdAtMs,
    title: checkpoint?.title ?? summaryTitle(entry),
    trigger: isCompaction ? (entry.trigger ?? null) : null,
    tokensBefore: isCompaction ? (entry.tokensBefore ?? null) : null,
    tokensAfter: isCompaction ? (entry.tokensAfter ?? null) : null,
    /** The number of summarized messages; null: unknown. */
    messages: checkpoint?.covers?.messages ?? coveredMessages(entry),
    ...(checkpoint?.files ?? summaryFiles(entry)),
  };
}

async function readAllSummaries(session: Session): Promise<readonly SummaryEntry[]> {
  const rows = (await readOutline(session)).filter((row) => isSummary(row));
  const entries = await Promise.all(rows.map(({ id }) => session.entry(id)));
  return entries.filter((entry) => isSummary(entry));
}

/** A field of an entry that is not in its schema. Other programs write such entries, so it may have any value. */
export function extraField(entry: SummaryEntry, name: string): unknown {
  return new Map<string, unknown>(Object.entries(entry)).get(name);
}

/** The title of a summary, as a checkpoint has it: in force, undone or of a branch that was left. */
export function summaryTitle(entry: SummaryEntry): string {
  return oneLine(getTitle(entry));
}

function coveredMessages(entry: SummaryEntry): number | null {
  const covers = extraField(entry, "covers");
  const messages = typeof covers === "object" && covers !== null && "messages" in covers ? covers.messages : null;
  return typeof messages === "number" ? messages : null;
}
