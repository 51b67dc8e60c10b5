import { type EntryId, fileLists, type OutlineRow, type Session } from "@bough/session-core";
import { count, counted } from "@bough/session-core/view";
import { forceWidth, wrapLine } from "../format/wrap.js";
import { outlinePages } from "../session/paging.js";
import { type Glyphs, UNICODE_GLYPHS } from "../terminal/glyphs.js";
import { fitLine, type Line, lineWidth, type Span, styled } from "../terminal/line.js";

/** Branches that are described; the number of the others is shown. */
const MAX_BRANCHES = 12;

/** Outline rows that are read below a branch point. */
const MAX_ROWS = 100_000;

/** A branch of a branch point. */
interface BranchFacts {
  /** Its first entry. */
  readonly id: EntryId;
  /** Its tip: the leaf on the active branch, else the newest entry. */
  readonly tipId: EntryId;
  /** The oldest label on it. */
  readonly label: string | null;
  /** Previews of its first and last message. */
  readonly firstText: string;
  readonly lastText: string;
  /** Numbers of entries, messages and tips of the subtree. */
  readonly entries: number;
  readonly messages: number;
  readonly tips: number;
  /** Files of the path from its first entry to its tip. */
  readonly filesRead: readonly string[];
  readonly filesModified: readonly string[];
  /** True if the leaf is on it. */
  readonly isActive: boolean;
}

/** The branches of a branch point. */
type BranchOverview = Awaited<ReturnType<typeof loadBranchOverview>>;

type Counted = "firstText" | "lastText" | "label" | "entries" | "messages" | "isActive";

/** Accumulates the rows of a branch. */
interface BranchCount extends Writable<Pick<BranchFacts, Counted>> {
  readonly first: OutlineRow;
  tip: OutlineRow;
  /** Sequence numbers of entries that have children. */
  readonly parents: Set<number>;
}

type Writable<T> = { -readonly [Member in keyof T]: T[Member] };

/**
 * Describes the branches below an entry (null: below the start of the session). Reads the outline rows that arrived after the
 * branch point, at most 100,000, and the file operations of up to 12 paths.
 *
 * @throws {EntryNotFoundError} there is no such entry.
 */
export async function loadBranchOverview(session: Session, branchPointId: EntryId | null) {
  const children = await session.tree.children(branchPointId);
  const labels = new Map((await session.labels.list()).map(({ entryId, label }) => [entryId, label]));
  const branchOf = new Map<number, BranchCount>();
  const counted = children.map(startCount);
  const bySeq = new Map(counted.map((counting) => [counting.first.seq, counting]));
  let rows = 0;
  for await (const row of readRowsAfter(session, branchPointId)) {
    rows += 1;
    if (rows > MAX_ROWS) break;
    const branch = bySeq.get(row.seq) ?? (row.parentSeq === null ? undefined : branchOf.get(row.parentSeq));
    if (branch === undefined) continue;
    branchOf.set(row.seq, branch);
    countRow(branch, row, labels.get(row.id), row.id === session.leafId);
  }
  const ordered = [...counted.filter(({ isActive }) => isActive), ...counted.filter(({ isActive }) => !isActive)].slice(0, MAX_BRANCHES);
  const branches: BranchFacts[] = [];
  for (const counting of ordered) branches.push(await toBranchFacts(session, counting));
  return {
    /** The active one first, then in order of arrival; at most 12. */
    branches,
    /** The number of branches left out. */
    more: children.length - branches.length,
    /** True if only the first 100,000 rows were counted. */
    isPartial: rows > MAX_ROWS,
  };
}

/** The outline rows that arrived after an entry, in order, read in pages; after null all of them. */
async function* readRowsAfter(session: Session, id: EntryId | null): AsyncGenerator<OutlineRow, void, void> {
  for await (const page of outlinePages(session, id === null ? 0 : (await session.entry(id)).seq)) yield* page;
}

function startCount(first: OutlineRow): BranchCount {
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

function countRow(branch: BranchCount, row: OutlineRow, label: string | undefined, isLeaf: boolean): void {
  branch.entries += 1;
  branch.label ??= label ?? null;
  if (row.seq !== branch.first.seq && row.parentSeq !== null) branch.parents.add(row.parentSeq);
  if (isLeaf) branch.isActive = true;
  // The leaf may be inside the branch; then the tip is the leaf, not the newest entry.
  if (isLeaf || !branch.isActive) branch.tip = row;
  if (!isMessage(row)) return;
  branch.messages += 1;
  if (branch.firstText === "") branch.firstText = row.preview;
  branch.lastText = row.preview;
}

async function toBranchFacts(session: Session, branch: BranchCount): Promise<BranchFacts> {
  const { first, tip, parents, ...counts } = branch;
  const files = fileLists(await session.fileOperations({ fromId: first.id, toId: tip.id }));
  return {
    ...counts,
    id: first.id,
    tipId: tip.id,
    firstText: counts.firstText || first.preview,
    lastText: counts.lastText || tip.preview,
    tips: counts.entries - parents.size,
    filesRead: files.readFiles,
    filesModified: files.modifiedFiles,
  };
}

const MIN_WIDTH_SIDE_BY_SIDE = 80;

const MIN_COLUMN_WIDTH = 30;

const MAX_COLUMNS = 4;

const MAX_TEXT_LINES = 3;

/** Draws branches in 2 to 4 columns side by side; below 80 columns one below the other. Each line fits `width`. */
export function branchLines(overview: BranchOverview, width: number, glyphs: Glyphs = UNICODE_GLYPHS): readonly Line[] {
  const { branches, more, isPartial } = overview;
  const heading = wrapLine([styled("heading", `${count(branches.length + more)} branches from here`)], width);
  const columns =
    width < MIN_WIDTH_SIDE_BY_SIDE ? 1 : Math.max(1, Math.min(MAX_COLUMNS, branches.length, Math.floor(width / MIN_COLUMN_WIDTH)));
  const lines: Line[] = [...heading];
  for (let at = 0; at < branches.length; at += columns) {
    lines.push([]);
    for (const line of sideBySide(branches.slice(at, at + columns), columns, at, width, glyphs)) lines.push(line);
  }
  if (more > 0) lines.push([], ...wrapLine([styled("dim", `and ${counted(more, "more branch", "more branches")}`)], width));
  if (isPartial) lines.push(...wrapLine([styled("dim", "Only the first 100,000 entries were counted.")], width));
  return lines.flatMap((line) => forceWidth(line, width));
}

function sideBySide(branches: readonly BranchFacts[], columns: number, from: number, width: number, glyphs: Glyphs): readonly Line[] {
  const gap = ` ${glyphs.bar} `;
  const room = Math.floor((width - gap.length * (columns - 1)) / columns);
  const cells = branches.map((branch, at) => cellLines(branch, from + at + 1, room, glyphs));
  const height = cells.reduce((most, { length }) => Math.max(most, length), 0);
  return Array.from({ length: height }, (_, row) => {
    const line: (string | Span)[] = [];
    for (const [at, cell] of cells.entries()) {
      const text = cell[row] ?? [];
      line.push(...(at > 0 ? [styled("dim", gap)] : []), ...text);
      if (at < cells.length - 1) line.push(" ".repeat(Math.max(0, room - lineWidth(text))));
    }
    return line;
  });
}

function cellLines(branch: BranchFacts, number: number, width: number, glyphs: Glyphs): readonly Line[] {
  const { label, isActive, entries, messages, tips } = branch;
  const name: Line = [
    ...(isActive ? [styled("leaf", `${glyphs.onPath} `)] : []),
    styled("bold", `${number}`),
    ...(label === null ? [] : [" ", styled("label", `[${label}]`)]),
    ...(isActive ? [styled("leaf", " active")] : []),
  ];
  const figures = `${counted(messages, "message")}, ${counted(entries, "entry", "entries")}${tips > 1 ? `, ${counted(tips, "tip")}` : ""}`;
  return [
    fitLine(name, width, glyphs.ellipsis),
    ...shortenLines([styled("dim", figures)], width, glyphs),
    ...shortenLines([styled("dim", "first: "), branch.firstText || "(empty)"], width, glyphs),
    ...shortenLines([styled("dim", "last: "), branch.lastText || "(empty)"], width, glyphs),
    ...fileListLines("modified", branch.filesModified, width, glyphs),
    ...fileListLines("read", branch.filesRead, width, glyphs),
  ];
}

/** A list of files: a heading and the first `most` paths. Empty for no files. */
export function fileListLines(
  name: string,
  files: readonly string[],
  width: number,
  glyphs: Glyphs,
  most = MAX_TEXT_LINES,
): readonly Line[] {
  if (files.length === 0) return [];
  const shown = files.slice(0, most);
  const rest = files.length - shown.length;
  return [
    ...wrapLine([styled("dim", `${counted(files.length, "file")} ${name}${rest > 0 ? `, the first ${shown.length}` : ""}:`)], width),
    ...shown.map((path) => fitLine(["  ", path], width, glyphs.ellipsis)),
  ];
}

function shortenLines(line: Line, width: number, { ellipsis }: Glyphs): readonly Line[] {
  const lines = wrapLine(line, width);
  const last = lines[MAX_TEXT_LINES - 1];
  if (lines.length <= MAX_TEXT_LINES || last === undefined) return lines;
  return [...lines.slice(0, MAX_TEXT_LINES - 1), fitLine([...last, ` ${ellipsis}`], width, ellipsis)];
}

/** True if the row is a message of the user or the assistant. */
export function isMessage({ role }: OutlineRow): boolean {
  return role === "user" || role === "assistant";
}
