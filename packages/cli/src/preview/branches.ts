import { type EntryId, fileLists, type OutlineRow, type Session } from "@bough/session-core";
import { isMessage, rowsAfter, seqOf } from "./outline-rows.js";

/** Branches that are looked at; a point with more of them says how many there are. */
const MAX_BRANCHES = 12;

/** Rows below a branch point that are counted; beyond it the figures say "at least". */
const MAX_ROWS = 100_000;

/** One of the ways on from a branch point. */
export interface BranchFacts {
  /** Its first entry. */
  readonly id: EntryId;
  /** Its end: the leaf, on the active branch; else what arrived last. */
  readonly tipId: EntryId;
  /** The first label on it. */
  readonly label: string | null;
  /** What was said first and last; one line each. */
  readonly firstText: string;
  readonly lastText: string;
  /** Entries, messages and ends of all that is below it. */
  readonly entries: number;
  readonly messages: number;
  readonly tips: number;
  /** Files between its first entry and its end. */
  readonly filesRead: readonly string[];
  readonly filesModified: readonly string[];
  /** The leaf is on it. */
  readonly isActive: boolean;
}

/** The branches of a branch point, for drawing side by side. */
export interface BranchOverview {
  readonly branchPointId: EntryId | null;
  /** The active one first, then in order of arrival; at most 12. */
  readonly branches: readonly BranchFacts[];
  /** How many more there are. */
  readonly more: number;
  /** Only a part of a very large tree was counted. */
  readonly isPartial: boolean;
}

/** What is counted of a branch while its rows go by. */
interface Counting {
  readonly first: OutlineRow;
  firstText: string;
  lastText: string;
  tip: OutlineRow;
  label: string | null;
  entries: number;
  messages: number;
  /** Entries that others stand under. */
  readonly parents: Set<number>;
  isActive: boolean;
}

/**
 * The branches below an entry (null: the first entries of the session). Reads no bodies but two entries'; cost: the outline rows that
 * arrived after the branch point, at most 100,000, and for each of up to 12 branches its path.
 *
 * @throws {EntryNotFoundError} there is no such entry.
 */
export async function loadBranchOverview(session: Session, branchPointId: EntryId | null): Promise<BranchOverview> {
  const children = await session.children(branchPointId);
  const labels = new Map((await session.labels()).map(({ entryId, label }) => [entryId, label]));
  const branchOf = new Map<number, Counting>();
  const counted = children.map(countingFrom);
  const bySeq = new Map(counted.map((counting) => [counting.first.seq, counting]));
  let rows = 0;
  for await (const row of rowsAfter(session, await seqOf(session, branchPointId))) {
    rows += 1;
    if (rows > MAX_ROWS) break;
    const branch = bySeq.get(row.seq) ?? (row.parentSeq === null ? undefined : branchOf.get(row.parentSeq));
    if (branch === undefined) continue;
    branchOf.set(row.seq, branch);
    countRow(branch, row, labels.get(row.id), row.id === session.leafId);
  }
  const ordered = [...counted.filter(({ isActive }) => isActive), ...counted.filter(({ isActive }) => !isActive)].slice(0, MAX_BRANCHES);
  const branches: BranchFacts[] = [];
  for (const counting of ordered) branches.push(await factsOf(session, counting));
  return { branchPointId, branches, more: children.length - branches.length, isPartial: rows > MAX_ROWS };
}

function countingFrom(first: OutlineRow): Counting {
  const text = first.preview;
  return {
    first,
    tip: first,
    firstText: isMessage(first) ? text : "",
    lastText: "",
    label: null,
    entries: 0,
    messages: 0,
    parents: new Set(),
    isActive: false,
  };
}

function countRow(branch: Counting, row: OutlineRow, label: string | undefined, isLeaf: boolean): void {
  branch.entries += 1;
  branch.label ??= label ?? null;
  if (row.seq !== branch.first.seq && row.parentSeq !== null) branch.parents.add(row.parentSeq);
  if (isLeaf) branch.isActive = true;
  // The leaf may stand in the middle; where it stands is what continues.
  if (isLeaf || !branch.isActive) branch.tip = row;
  if (!isMessage(row)) return;
  branch.messages += 1;
  if (branch.firstText === "") branch.firstText = row.preview;
  branch.lastText = row.preview;
}

async function factsOf(session: Session, branch: Counting): Promise<BranchFacts> {
  const { first, tip, label, entries, messages, isActive, firstText, lastText } = branch;
  const files = fileLists(await session.fileOperations({ fromId: first.id, toId: tip.id }));
  return {
    id: first.id,
    tipId: tip.id,
    label,
    firstText: firstText || first.preview,
    lastText: lastText || tip.preview,
    entries,
    messages,
    tips: entries - branch.parents.size,
    filesRead: files.readFiles,
    filesModified: files.modifiedFiles,
    isActive,
  };
}
