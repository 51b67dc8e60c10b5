import type { Entry, EntryId, OutlineRow, Session } from "@bough/session-core";
import { shortLine } from "@bough/session-core/internals";
import { stripComposed } from "../summary/compose.js";
import { takeFirstSentence } from "../summary/short-summary.js";
import { computeCoverage, type PathCoverage } from "./coverage.js";

/** An entry that stands for others. */
export type SummaryEntry = Extract<Entry, { readonly type: "compaction" | "branch_summary" }>;

/** A summary, and what it stands for. */
export interface SummarizedPart {
  readonly summary: SummaryEntry;
  /** 1 for the oldest compaction of the path; null: the summary of a branch that was left. */
  readonly number: number | null;
  /** The summary that this one continues. */
  readonly previousId: EntryId | null;
  /** What it stands for, oldest first; none: nothing of its own, or a branch that is not in this session. */
  readonly rows: readonly OutlineRow[];
}

/**
 * All that was summarized on a path: what its compactions stand for, and the branches that were left with a summary on
 * it, also those that were left on the way in such a branch.
 */
export class SummarizedPath {
  readonly #tellers: ReadonlyMap<EntryId, EntryId>;

  constructor(
    readonly outline: RowIndex,
    readonly path: readonly OutlineRow[],
    /** Compactions and branch summaries in order of arrival. */
    readonly parts: readonly SummarizedPart[],
    readonly coverage: PathCoverage,
  ) {
    this.#tellers = mapEntriesToSummaries(path, parts, coverage);
  }

  /** Whether there is anything that a model cannot see but look up. */
  get isEmpty(): boolean {
    return this.parts.length === 0 && this.coverage.edited.size === 0;
  }

  /**
   * The summary that stands for an entry; `edit`: its place in the context was taken by an edit, as pruning does with old
   * tool output. null: it is in the context as it is, or on a branch that no summary of this path tells of.
   */
  findSummaryOf(id: EntryId): EntryId | "edit" | null {
    return this.#tellers.get(id) ?? (this.coverage.edited.has(id) ? "edit" : null);
  }
}

function mapEntriesToSummaries(
  path: readonly OutlineRow[],
  parts: readonly SummarizedPart[],
  { ranges, keptFrom }: PathCoverage,
): ReadonlyMap<EntryId, EntryId> {
  const tellers = new Map<EntryId, EntryId>();
  // Positions rise, and so do the ends of the stretches; what no stretch names is told by the last one all the same.
  let at = 0;
  for (const [position, { id }] of path.slice(0, keptFrom).entries()) {
    while (at < ranges.length - 1 && (ranges[at]?.to ?? 0) < position) at += 1;
    const stretch = ranges[at];
    if (stretch !== undefined) tellers.set(id, stretch.entry.id);
  }
  for (const { summary, rows } of parts) {
    if (summary.type !== "branch_summary") continue;
    for (const { id } of rows) if (!tellers.has(id)) tellers.set(id, summary.id);
  }
  return tellers;
}

/**
 * Reads what was summarized on the path of a leaf (default: where the handle stands). Cost: the outline of the session and
 * the bodies of summaries and edits, whatever lies between.
 */
export async function readSummarizedPath(session: Session, leafId: EntryId | null = session.leafId): Promise<SummarizedPath> {
  const outline = await readRowIndex(session);
  const path = outline.pathTo(leafId);
  if (leafId === null || path.length === 0) return new SummarizedPath(outline, [], [], computeCoverage([], []));
  const { items } = await session.scan({ leafId, order: "down", types: ["compaction", "branch_summary", "context_edit"] });
  const coverage = computeCoverage(
    path.map(({ id }) => id),
    items,
  );
  const parts: SummarizedPart[] = coverage.ranges.map(({ entry, previousId, from, to }, at) => {
    return { summary: entry, number: at + 1, previousId, rows: path.slice(from, to + 1) };
  });
  const left = items.filter((entry) => entry.type === "branch_summary" && !coverage.omitted.has(entry.id));
  for (const part of await collectBranches(session, outline, left)) parts.push(part);
  return new SummarizedPath(
    outline,
    path,
    parts.sort((a, b) => a.summary.seq - b.summary.seq),
    coverage,
  );
}

/** The branches that these summaries tell of, and the branches told of in them, and so on; each summary once. */
async function collectBranches(session: Session, outline: RowIndex, entries: readonly Entry[]): Promise<readonly SummarizedPart[]> {
  const parts: SummarizedPart[] = [];
  const waiting = [...entries];
  const seen = new Set<EntryId>();
  for (let summary = waiting.pop(); summary !== undefined; summary = waiting.pop()) {
    if (summary.type !== "branch_summary" || seen.has(summary.id)) continue;
    seen.add(summary.id);
    const rows = takeBelowFork(outline.pathTo(summary.id), outline.pathTo(summary.fromId));
    parts.push({ summary, number: null, previousId: null, rows });
    for (const row of rows) if (row.type === "branch_summary") waiting.push(await session.entry(row.id));
  }
  return parts;
}

/** Rows that are read at once: enough that pages cost nothing, few enough that none is large. */
const PAGE = 5_000;

/** The tree of a session without its bodies. */
class RowIndex {
  readonly #bySeq = new Map<number, OutlineRow>();
  readonly #byId = new Map<EntryId, OutlineRow>();
  #last: OutlineRow | undefined;

  /** The row that arrived last. */
  get last(): OutlineRow | undefined {
    return this.#last;
  }

  /** Adds rows in order of arrival; those that are there already change nothing. */
  add(rows: readonly OutlineRow[]): void {
    for (const row of rows) {
      this.#bySeq.set(row.seq, row);
      this.#byId.set(row.id, row);
      if (this.#last === undefined || row.seq > this.#last.seq) this.#last = row;
    }
  }

  /** Whether the session has an entry of this id. */
  has(id: EntryId): boolean {
    return this.#byId.has(id);
  }

  /** The rows from the first entry down to `id`; none where there is no such entry. */
  pathTo(id: EntryId | null): readonly OutlineRow[] {
    const path: OutlineRow[] = [];
    for (let row = id === null ? undefined : this.#byId.get(id); row !== undefined; row = this.#parentOf(row)) path.push(row);
    return path.reverse();
  }

  #parentOf({ parentSeq }: OutlineRow): OutlineRow | undefined {
    return parentSeq === null ? undefined : this.#bySeq.get(parentSeq);
  }
}

/** What was read of each session; rows never change, and go only with their session. */
const outlines = new WeakMap<Session, RowIndex>();

/**
 * Reads the outline. Cost: a row for each entry of the session at first (a tenth of a second for 50,000), no bodies; after
 * that the rows that are new. It is kept as long as the handle.
 */
async function readRowIndex(session: Session): Promise<RowIndex> {
  const outline = outlines.get(session) ?? new RowIndex();
  outlines.set(session, outline);
  for (;;) {
    const page = await session.outline({ afterSeq: outline.last?.seq ?? 0, limit: PAGE });
    outline.add(page);
    if (page.length < PAGE) return outline;
  }
}

/** What `branch` has below the point where it parts from `path`: the end of it that is on no other. */
function takeBelowFork(path: readonly OutlineRow[], branch: readonly OutlineRow[]): readonly OutlineRow[] {
  const parted = branch.findIndex(({ id }, at) => path[at]?.id !== id);
  return parted === -1 ? [] : branch.slice(parted);
}

/** An import may carry anything as a title. */
const MAX_CHARS = 200;

/** The title of a summary, or its short form, or its first sentence; one line. */
export function getTitle(summary: SummaryEntry): string {
  const { title, shortSummary } = summary;
  for (const said of [title, shortSummary]) {
    const line = typeof said === "string" ? shortLine(said, MAX_CHARS) : "";
    if (line !== "") return line;
  }
  return takeFirstSentence(stripComposed(summary.summary));
}
