import { type EntryId, fileLists, type OutlineRow, type Session } from "@bough/session-core";
import { counted } from "../format/numbers.js";
import { forceWidth, prefixLines, wrapLine } from "../format/wrap.js";
import { type Glyphs, UNICODE_GLYPHS } from "../terminal/glyphs.js";
import { type Line, styled } from "../terminal/line.js";
import { fileListLines, isMessage, readRowsAfter, seqOf } from "./branches.js";
import { markdownLines } from "./markdown.js";
import { TextBudget } from "./text-budget.js";

const MAX_FIRST_TEXTS = 3;

/** One side of a comparison: the path from below the common ancestor to the marked entry. */
interface ComparedSide {
  readonly id: EntryId;
  readonly entries: number;
  /** User and assistant messages. */
  readonly messages: number;
  readonly filesRead: readonly string[];
  readonly filesModified: readonly string[];
  /** The newest summary on this side. */
  readonly summary: { readonly entryId: EntryId; readonly text: string } | null;
  /** Previews of the first user messages; at most 3. */
  readonly firstTexts: readonly string[];
}

/** The difference between two branches. */
interface Comparison {
  /** null: they share no entry. If it is one of the two entries, that side is empty. */
  readonly commonAncestorId: EntryId | null;
  readonly left: ComparedSide;
  readonly right: ComparedSide;
  /** Files touched on both sides, and on one side only; sorted. */
  readonly filesInBoth: readonly string[];
  readonly onlyLeft: readonly string[];
  readonly onlyRight: readonly string[];
}

/**
 * Compares the paths of two entries below their common ancestor. Reads the outline rows between the common ancestor and the
 * later entry, and one summary of each side.
 *
 * @throws {EntryNotFoundError} there is no such entry.
 */
export async function loadComparison(session: Session, aId: EntryId, bId: EntryId): Promise<Comparison> {
  const commonAncestorId = await session.tree.commonAncestor(aId, bId);
  const from = await seqOf(session, commonAncestorId);
  const [a, b] = [await seqOf(session, aId), await seqOf(session, bId)];
  const rows = new Map<number, OutlineRow>();
  if (Math.max(a, b) > from) for await (const row of readRowsAfter(session, from, Math.max(a, b))) rows.set(row.seq, row);
  const left = await loadSide(session, aId, pathTo(rows, a));
  const right = await loadSide(session, bId, pathTo(rows, b));
  const [ofLeft, ofRight] = [touchedFiles(left), touchedFiles(right)];
  return {
    commonAncestorId,
    left,
    right,
    filesInBoth: [...ofLeft].filter((path) => ofRight.has(path)).sort(),
    onlyLeft: [...ofLeft].filter((path) => !ofRight.has(path)).sort(),
    onlyRight: [...ofRight].filter((path) => !ofLeft.has(path)).sort(),
  };
}

/** The path from below the common ancestor to a row, oldest first. */
function pathTo(rows: ReadonlyMap<number, OutlineRow>, seq: number): readonly OutlineRow[] {
  const path: OutlineRow[] = [];
  for (let row = rows.get(seq); row !== undefined; row = row.parentSeq === null ? undefined : rows.get(row.parentSeq)) path.push(row);
  return path.reverse();
}

async function loadSide(session: Session, id: EntryId, path: readonly OutlineRow[]): Promise<ComparedSide> {
  const first = path[0];
  const files = fileLists(first === undefined ? [] : await session.fileOperations({ fromId: first.id, toId: id }));
  const summary = path.findLast(({ type }) => type === "compaction" || type === "branch_summary");
  return {
    id,
    entries: path.length,
    messages: path.filter(isMessage).length,
    filesRead: files.readFiles,
    filesModified: files.modifiedFiles,
    summary: summary === undefined ? null : await loadSummary(session, summary.id),
    firstTexts: path
      .filter(({ role }) => role === "user")
      .slice(0, MAX_FIRST_TEXTS)
      .map(({ preview }) => preview),
  };
}

async function loadSummary(session: Session, id: EntryId): Promise<ComparedSide["summary"]> {
  const entry = await session.entry(id);
  return entry.type === "compaction" || entry.type === "branch_summary" ? { entryId: id, text: entry.summary } : null;
}

function touchedFiles({ filesRead, filesModified }: ComparedSide): ReadonlySet<string> {
  return new Set([...filesRead, ...filesModified]);
}

const MAX_FILES = 200;

/** Draws a comparison: common ancestor, messages, summaries and files of both sides. Each line fits `width`. */
export function comparisonLines(comparison: Comparison, width: number, glyphs: Glyphs = UNICODE_GLYPHS): readonly Line[] {
  const { filesInBoth, onlyLeft, onlyRight, left, right } = comparison;
  const budget = new TextBudget(width);
  const files = [
    ...fileListLines("touched in both", filesInBoth, width, glyphs, MAX_FILES),
    ...fileListLines("only in A", onlyLeft, width, glyphs, MAX_FILES),
    ...fileListLines("only in B", onlyRight, width, glyphs, MAX_FILES),
  ];
  const lines = [
    ...wrapLine([styled("heading", "Comparison")], width),
    ...wrapLine([styled("dim", commonAncestorText(comparison))], width),
    [],
    ...sideLines("A", left, budget, glyphs),
    [],
    ...sideLines("B", right, budget, glyphs),
    [],
    ...(files.length > 0 ? files : wrapLine([styled("dim", "No files were touched on either side.")], width)),
  ];
  return budget.truncate(lines, "bough show SESSION ENTRY").flatMap((line) => forceWidth(line, width));
}

function commonAncestorText({ commonAncestorId, left, right }: Comparison): string {
  if (left.id === right.id) return "A and B are the same entry.";
  if (commonAncestorId === null) return "They share no entry.";
  if (commonAncestorId === left.id) return "A is above B on the same branch.";
  if (commonAncestorId === right.id) return "B is above A on the same branch.";
  return `Common ancestor: ${commonAncestorId}.`;
}

function sideLines(name: string, side: ComparedSide, budget: TextBudget, glyphs: Glyphs): readonly Line[] {
  const { width } = budget;
  const { entries, messages, firstTexts, filesModified, filesRead, summary } = side;
  const figures = `${counted(messages, "message")}, ${counted(entries, "entry", "entries")}; ${counted(filesModified.length, "file")} modified, ${filesRead.length} only read`;
  const text = summary === null ? [] : markdownLines(budget.take(summary.text), width - 2, glyphs);
  return [
    ...wrapLine([styled("bold", name), styled("dim", `  ${side.id}`)], width),
    ...wrapLine([entries === 0 ? styled("dim", "no entries of its own") : figures], width),
    ...firstTexts.flatMap((first) => prefixLines(width, [styled("user", "user: ")], ["      "], (room) => wrapLine([first], room))),
    ...(summary === null ? [] : wrapLine([styled("summary", "summary"), styled("dim", `  ${summary.entryId}`)], width)),
    ...text.map((line): Line => ["  ", ...line]),
  ];
}
