import { type Checkpoint, listCheckpoints } from "@bough/compaction";
import { type Entry, type EntryId, oneLine, type Session } from "@bough/session-core";
import { fileLists } from "./compaction-text.js";
import { readOutline } from "./paging.js";

/** An entry that stands for others. */
export type SummaryEntry = Extract<Entry, { type: "compaction" | "branch_summary" }>;

/** A summary of a session, as lists show it. */
export interface ListedSummary {
  /** Its place among the checkpoints of the leaf's path; null: it is none of them. */
  readonly number: number | null;
  readonly kind: "compaction" | "branch summary";
  readonly entryId: EntryId;
  readonly onPath: boolean;
  /** Milliseconds since 1970. */
  readonly createdAtMs: number;
  readonly title: string;
  readonly trigger: string | null;
  readonly tokensBefore: number | null;
  readonly tokensAfter: number | null;
  /** Messages that it stands for; null: not known. */
  readonly messages: number | null;
  readonly readFiles: readonly string[];
  readonly modifiedFiles: readonly string[];
}

/** The summaries of a session, and the checkpoints among them. */
export interface Summaries {
  readonly checkpoints: readonly Checkpoint[];
  readonly listed: readonly ListedSummary[];
}

/** The summaries on the leaf's path, oldest first; `all`: those of every branch, in order of arrival. */
export async function listSummaries(session: Session, all: boolean): Promise<Summaries> {
  const checkpoints = await listCheckpoints(session);
  const onPath = (await session.scan({ order: "down", types: ["compaction", "branch_summary"] })).items.filter(isSummary);
  const ids = new Set(onPath.map(({ id }) => id));
  const byId = new Map(checkpoints.map((checkpoint) => [checkpoint.entryId, checkpoint]));
  const entries = all ? await readAllSummaries(session) : onPath;
  return { checkpoints, listed: entries.map((entry) => toListedSummary(entry, byId.get(entry.id), ids.has(entry.id))) };
}

/** One of them, by its entry. */
export function toListedSummary(entry: SummaryEntry, checkpoint: Checkpoint | undefined, onPath: boolean): ListedSummary {
  const isCompaction = entry.type === "compaction";
  return {
    number: checkpoint?.number ?? null,
    kind: isCompaction ? "compaction" : "branch summary",
    entryId: entry.id,
    onPath,
    createdAtMs: entry.createdAtMs,
    title: checkpoint?.title ?? summaryTitle(entry),
    trigger: isCompaction ? (entry.trigger ?? null) : null,
    tokensBefore: isCompaction ? (entry.tokensBefore ?? null) : null,
    tokensAfter: isCompaction ? (entry.tokensAfter ?? null) : null,
    messages: checkpoint?.covers?.messages ?? coveredMessages(entry),
    ...(checkpoint?.files ?? fileLists(entry.details)),
  };
}

/** Whether an entry is one. */
export function isSummary(entry: Entry): entry is SummaryEntry {
  return entry.type === "compaction" || entry.type === "branch_summary";
}

async function readAllSummaries(session: Session): Promise<readonly SummaryEntry[]> {
  const rows = (await readOutline(session)).filter(({ type }) => type === "compaction" || type === "branch_summary");
  const entries = await Promise.all(rows.map(({ id }) => session.entry(id)));
  return entries.filter(isSummary);
}

/** What an entry says beside its schema: other programs write such entries too, so anything may be there. */
export function extraField(entry: SummaryEntry, name: string): unknown {
  return (entry as Readonly<Record<string, unknown>>)[name];
}

/** A summary in one line: its title, its short form, or how it begins. */
export function summaryTitle(entry: SummaryEntry): string {
  const short = entry.type === "compaction" ? (entry.title ?? extraField(entry, "shortSummary")) : extraField(entry, "shortSummary");
  return oneLine(typeof short === "string" && short.trim() !== "" ? short : entry.summary);
}

function coveredMessages(entry: SummaryEntry): number | null {
  const covers = extraField(entry, "covers");
  const messages = typeof covers === "object" && covers !== null && "messages" in covers ? covers.messages : null;
  return typeof messages === "number" ? messages : null;
}
