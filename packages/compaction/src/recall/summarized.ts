import type { Entry, EntryId, OutlineRow, Session } from "@bough/session-core";
import { checkArgument, record, TEXT } from "@bough/session-core/arguments";
import { shortLine } from "@bough/session-core/view";
import { stripComposed } from "../summary/compose.js";
import { takeFirstSentence } from "../summary/summarize.js";
import { computeCoverage, type PathCoverage } from "./coverage.js";

const SUMMARY = record({ summary: TEXT }, "an entry with a summary");

/** An entry with a summary. */
export type SummaryEntry = Extract<Entry, { readonly type: "compaction" | "branch_summary" }>;

/** A summary and the entries that it covers. */
export interface SummarizedPart {
  readonly summary: SummaryEntry;
  /** 1 for the oldest compaction of the path; null: the summary of a branch that was left. */
  readonly number: number | null;
  /** The summary that this one continues. */
  readonly previousId: EntryId | null;
  /** The covered entries, oldest first. Empty: it covers no entries of its own, or a branch that is not in this session. */
  readonly rows: readonly OutlineRow[];
}

/**
 * The summaries of a path with the entries that they cover: its compactions, the branches left with a summary on it, and
 * the branches left with a summary on those.
 */
export class SummarizedPath {
  /** Compactions and branch summaries in order of arrival. */
  readonly parts: readonly SummarizedPart[];
  readonly coverage: PathCoverage;
  readonly #path: readonly OutlineRow[];
  #hidden: readonly OutlineRow[] | undefined;
  readonly #summaryOf: ReadonlyMap<EntryId, EntryId>;

  constructor(path: readonly OutlineRow[], parts: readonly SummarizedPart[], coverage: PathCoverage) {
    this.parts = parts;
    this.coverage = coverage;
    this.#path = path;
    this.#summaryOf = mapEntriesToSummaries(path, parts, coverage);
  }

  /** The entries that the context no longer contains unchanged. Summaries are among them where another summary covers them. */
  listHidden(): readonly OutlineRow[] {
    this.#hidden ??= this.#findHidden();
    return this.#hidden;
  }

  #findHidden(): readonly OutlineRow[] {
    const branches = this.parts.flatMap(({ summary, rows }) => (summary.type === "branch_summary" ? rows : []));
    const rows = new Map([...this.#path, ...branches].map((row) => [row.id, row]));
    return [...rows.values()].filter(({ id }) => this.findSummaryOf(id) !== null);
  }

  /** True if the context contains all entries unchanged. */
  get isEmpty(): boolean {
    return this.parts.length === 0 && this.coverage.edited.size === 0;
  }

  /**
   * The summary that covers an entry. `edit`: an edit replaced the entry, as pruning does. null: the entry is in the
   * context unchanged, or on a branch without a summary on this path.
   */
  findSummaryOf(id: EntryId): EntryId | "edit" | null {
    return this.#summaryOf.get(id) ?? (this.coverage.edited.has(id) ? "edit" : null);
  }
}

/**
 * Reads the summaries on the path of a leaf (default: the session's current leaf). Cost: the outline of the session and
 * the bodies of summaries and edits.
 */
export async function readSummarizedPath(session: Session, leafId: EntryId | null = session.leafId): Promise<SummarizedPath> {
  const index = await readRowIndex(session);
  const known = summarizedPaths.get(session);
  if (known !== undefined && index.continues(leafId, known.leafId)) return known.summarized;
  const summarized = await readMarks(session, leafId, index);
  summarizedPaths.set(session, { leafId, summarized });
  return summarized;
}

/** The path that was read last of each session. Entries after it that are neither summaries nor edits change nothing in it. */
const summarizedPaths = new WeakMap<Session, { readonly leafId: EntryId | null; readonly summarized: SummarizedPath }>();

async function readMarks(session: Session, leafId: EntryId | null, index: RowIndex): Promise<SummarizedPath> {
  const path = index.pathTo(leafId);
  if (leafId === null || path.length === 0) return new SummarizedPath([], [], computeCoverage([], []));
  const { items } = await session.scan({ leafId, order: "down", types: MARKS });
  const coverage = computeCoverage(
    path.map(({ id }) => id),
    items,
  );
  const parts: SummarizedPart[] = coverage.ranges.map(({ entry, previousId, from, to }, at) => {
    return { summary: entry, number: at + 1, previousId, rows: path.slice(from, to + 1) };
  });
  const left = items.filter((entry) => entry.type === "branch_summary" && !coverage.omitted.has(entry.id));
  for (const part of await collectBranches(session, index, left)) parts.push(part);
  return new SummarizedPath(
    path,
    parts.sort((a, b) => a.summary.seq - b.summary.seq),
    coverage,
  );
}

/** The branches that these summaries cover, the branches summarized on those, and so on; each summary once. */
async function collectBranches(session: Session, index: RowIndex, entries: readonly Entry[]): Promise<readonly SummarizedPart[]> {
  const parts: SummarizedPart[] = [];
  const waiting = [...entries];
  const seen = new Set<EntryId>();
  for (let summary = waiting.pop(); summary !== undefined; summary = waiting.pop()) {
    if (summary.type !== "branch_summary" || seen.has(summary.id)) continue;
    seen.add(summary.id);
    const rows = takeBelowFork(index.pathTo(summary.id), index.pathTo(summary.fromId));
    parts.push({ summary, number: null, previousId: null, rows });
    for (const row of rows) if (row.type === "branch_summary") waiting.push(await session.entry(row.id));
  }
  return parts;
}

function mapEntriesToSummaries(
  path: readonly OutlineRow[],
  parts: readonly SummarizedPart[],
  { ranges, keptFrom }: PathCoverage,
): ReadonlyMap<EntryId, EntryId> {
  const summaryOf = new Map<EntryId, EntryId>();
  // Positions and ends of ranges both increase. An entry outside of all ranges belongs to the last one before it.
  let at = 0;
  for (const [position, { id }] of path.slice(0, keptFrom).entries()) {
    while (at < ranges.length - 1 && (ranges[at]?.to ?? 0) < position) at += 1;
    const range = ranges[at];
    if (range !== undefined) summaryOf.set(id, range.entry.id);
  }
  for (const { summary, rows } of parts) {
    if (summary.type !== "branch_summary") continue;
    for (const { id } of rows) if (!summaryOf.has(id)) summaryOf.set(id, summary.id);
  }
  return summaryOf;
}

/** The types of entries that cover or edit others. */
const MARKS: readonly Entry["type"][] = ["compaction", "branch_summary", "context_edit"];

/** Rows read at once. */
const PAGE = 5_000;

/** The rows of a session's outline by id and sequence number. */
class RowIndex {
  readonly #bySeq = new Map<number, OutlineRow>();
  readonly #byId = new Map<EntryId, OutlineRow>();
  #last: OutlineRow | undefined;

  /** The row with the highest sequence number. */
  get last(): OutlineRow | undefined {
    return this.#last;
  }

  /** Adds rows in order of arrival; known rows change nothing. */
  add(rows: readonly OutlineRow[]): void {
    for (const row of rows) {
      this.#bySeq.set(row.seq, row);
      this.#byId.set(row.id, row);
      if (this.#last === undefined || row.seq > this.#last.seq) this.#last = row;
    }
  }

  /** True if the session has an entry with this id. */
  has(id: EntryId): boolean {
    return this.#byId.has(id);
  }

  /** The rows from the first entry down to `id`; empty if there is no such entry. */
  pathTo(id: EntryId | null): readonly OutlineRow[] {
    const path: OutlineRow[] = [];
    for (let row = id === null ? undefined : this.#byId.get(id); row !== undefined; row = this.#parentOf(row)) path.push(row);
    return path.reverse();
  }

  /** True if the path of `id` is that of `known` and entries after it that cover or edit nothing. */
  continues(id: EntryId | null, known: EntryId | null): boolean {
    let row = id === null ? undefined : this.#byId.get(id);
    while (row !== undefined && row.id !== known) {
      if (MARKS.includes(row.type)) return false;
      row = this.#parentOf(row);
    }
    return (row?.id ?? null) === known;
  }

  #parentOf({ parentSeq }: OutlineRow): OutlineRow | undefined {
    return parentSeq === null ? undefined : this.#bySeq.get(parentSeq);
  }
}

/** The rows read of each session. Rows never change and are deleted only with their session. */
const indexes = new WeakMap<Session, RowIndex>();

/**
 * Reads the outline. Cost: at first one row for each entry of the session, without bodies (0.1 s for 50,000); later only
 * new rows. Cached as long as the session handle exists.
 */
async function readRowIndex(session: Session): Promise<RowIndex> {
  const index = indexes.get(session) ?? new RowIndex();
  indexes.set(session, index);
  for (;;) {
    const page = await session.tree.outline({ afterSeq: index.last?.seq ?? 0, limit: PAGE });
    index.add(page);
    if (page.length < PAGE) return index;
  }
}

/** The rows of `branch` below the point where it leaves `path`. */
function takeBelowFork(path: readonly OutlineRow[], branch: readonly OutlineRow[]): readonly OutlineRow[] {
  const parted = branch.findIndex(({ id }, at) => path[at]?.id !== id);
  return parted === -1 ? [] : branch.slice(parted);
}

/** An imported title may have any length. */
const MAX_CHARS = 200;

/**
 * The title of a summary, else its short form, else its first sentence; one line of at most 200 characters. Untrusted text.
 *
 * @throws {InvalidArgumentError} it is no entry with a summary.
 */
export function getTitle(summary: SummaryEntry): string {
  checkArgument("summary", summary, SUMMARY);
  const { title, shortSummary } = summary;
  for (const text of [title, shortSummary]) {
    const line = typeof text === "string" ? shortLine(text, MAX_CHARS) : "";
    if (line !== "") return shortenHome(line.replace(/^#+\s*/, ""));
  }
  const body = stripComposed(summary.summary);
  return shortenHome(takeHeading(body) ?? takeFirstSentence(body));
}

/** Words of headings that are the same in each summary of a program. */
const GENERIC = /^(?:(?:context|session|conversation|branch|turn)\s+)?(?:checkpoint|summary|handoff|compaction)\b[\s:—–-]*/i;

/** The heading of the whole summary, if it says what it is about; undefined: it has none. */
function takeHeading(body: string): string | undefined {
  const heading = /^\s*# (.+)/.exec(body)?.[1] ?? "";
  const said = shortLine(heading.replace(/[*`#]/g, "").replace(GENERIC, ""), MAX_CHARS);
  return said.includes(" ") ? said : undefined;
}

/** Shortens home directories, which say nothing and fill the line. */
function shortenHome(title: string): string {
  return title.replace(/(?:\/Users|\/home)\/[^\s/]+(?=\/|\b)/g, "~");
}
