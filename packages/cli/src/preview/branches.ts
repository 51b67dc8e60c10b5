import { type EntryId, fileLists, type OutlineRow, type Session } from "@bough/session-core";
import { count, counted } from "../format/numbers.js";
import { forceWidth, wrapLine } from "../format/wrap.js";
import { type Glyphs, UNICODE_GLYPHS } from "../terminal/glyphs.js";
import { fitLine, type Line, lineWidth, type Span, styled } from "../terminal/line.js";

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
interface BranchCount {
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
  const branchOf = new Map<number, BranchCount>();
  const counted = children.map(startCount);
  const bySeq = new Map(counted.map((counting) => [counting.first.seq, counting]));
  let rows = 0;
  for await (const row of readRowsAfter(session, await seqOf(session, branchPointId))) {
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
  return { branchPointId, branches, more: children.length - branches.length, isPartial: rows > MAX_ROWS };
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
  // The leaf may stand in the middle; where it stands is what continues.
  if (isLeaf || !branch.isActive) branch.tip = row;
  if (!isMessage(row)) return;
  branch.messages += 1;
  if (branch.firstText === "") branch.firstText = row.preview;
  branch.lastText = row.preview;
}

async function toBranchFacts(session: Session, branch: BranchCount): Promise<BranchFacts> {
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

/** From this width on branches stand beside each other. */
const MIN_WIDTH_SIDE_BY_SIDE = 80;

/** Columns that one of them keeps. */
const MIN_COLUMN_WIDTH = 30;

/** Beside each other at most. */
const MAX_COLUMNS = 4;

/** Lines that a text or a list of files takes. */
const MAX_TEXT_LINES = 3;

/** Branches side by side: from 80 columns on in 2 to 4 columns, below each other where it is narrower. Each line fits `width`. */
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
  if (isPartial) lines.push(...wrapLine([styled("dim", "Only the first 100,000 entries below were counted.")], width));
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
  const figures = `${counted(messages, "message")}, ${counted(entries, "entry", "entries")}${tips > 1 ? `, ${counted(tips, "end")}` : ""}`;
  return [
    fitLine(name, width, glyphs.ellipsis),
    ...shortenLines([styled("dim", figures)], width, glyphs),
    ...shortenLines([styled("dim", "first: "), branch.firstText || "(empty)"], width, glyphs),
    ...shortenLines([styled("dim", "last: "), branch.lastText || "(empty)"], width, glyphs),
    ...fileListLines("modified", branch.filesModified, width, glyphs),
    ...fileListLines("read", branch.filesRead, width, glyphs),
  ];
}

/** A list of files in a few lines; nothing for none. */
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

const PAGE = 10_000;

/** The rows of a session that arrived after `afterSeq` and not after `lastSeq`, in order; a page of 10,000 at a time. */
export async function* readRowsAfter(
  session: Session,
  afterSeq: number,
  lastSeq = Number.POSITIVE_INFINITY,
): AsyncGenerator<OutlineRow, void, void> {
  for (let after = afterSeq; ; ) {
    const page = await session.outline({ afterSeq: after, limit: PAGE });
    for (const row of page) {
      if (row.seq > lastSeq) return;
      yield row;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.seq;
  }
}

/** Whether it is what a person or a model said. */
export function isMessage({ role }: OutlineRow): boolean {
  return role === "user" || role === "assistant";
}

/** The order of arrival of an entry; 0, which is before every one, for null. */
export async function seqOf(session: Session, id: EntryId | null): Promise<number> {
  return id === null ? 0 : (await session.entry(id)).seq;
}
