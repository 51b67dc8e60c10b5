import { type EntryId, fileLists, type OutlineRow, type Session } from "@bough/session-core";
import { counted, isSummary } from "@bough/session-core/view";
import { forceWidth, prefixLines, wrapLine } from "../format/wrap.js";
import { readPath } from "../session/paging.js";
import { type Glyphs, UNICODE_GLYPHS } from "../terminal/glyphs.js";
import { fitLine, type Line, styled } from "../terminal/line.js";
import { rowText } from "../tree/row-text.js";
import { fileListLines, isMessage } from "./branches.js";
import { markdownLines } from "./markdown.js";
import { TextBudget } from "./text-budget.js";

const MAX_FIRST_TEXTS = 3;

/** An entry to compare: a mark, and the entry up to which its branch is compared. */
export interface ComparedMark {
  readonly entryId: EntryId;
  /** The marked entry itself, or the end of the branch that it begins or hides. */
  readonly endId: EntryId;
}

/** One side of a comparison: the path from below the common ancestor to the end of the mark. */
export interface ComparedSide {
  /** The end. */
  readonly id: EntryId;
  /** The marked entry. */
  readonly marked: OutlineRow | undefined;
  readonly label: string | null;
  /** The last entry that is compared, if it is not the marked one. */
  readonly end: OutlineRow | undefined;
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
type Comparison = Awaited<ReturnType<typeof loadComparison>>;

/**
 * Compares the paths of two marks below their common ancestor. Reads the outline rows of these paths, and one summary of each side.
 *
 * @throws {EntryNotFoundError} there is no such entry.
 */
export async function loadComparison(session: Session, markA: ComparedMark, markB: ComparedMark) {
  const commonAncestorId = await session.tree.commonAncestor(markA.endId, markB.endId);
  const commonAncestor = commonAncestorId === null ? undefined : await rowOf(session, commonAncestorId);
  const above = commonAncestor === undefined ? 0 : commonAncestor.depth + 1;
  const labels = new Map((await session.labels.list()).map(({ entryId, label }) => [entryId, label]));
  const left = await loadSide(session, markA, above, labels);
  const right = await loadSide(session, markB, above, labels);
  const [ofLeft, ofRight] = [touchedFiles(left), touchedFiles(right)];
  return {
    /** undefined: they share no entry. If it is the end of a side, that side is empty. */
    commonAncestor,
    left,
    right,
    /** Files touched on both sides, and on one side only; sorted. */
    filesInBoth: [...ofLeft].filter((path) => ofRight.has(path)).sort(),
    onlyLeft: [...ofLeft].filter((path) => !ofRight.has(path)).sort(),
    onlyRight: [...ofRight].filter((path) => !ofLeft.has(path)).sort(),
  };
}

async function rowOf(session: Session, id: EntryId): Promise<OutlineRow | undefined> {
  return (await session.tree.path(id, 1))[0];
}

/** `above`: the number of entries on the path of the end that the other side has too. */
async function loadSide(
  session: Session,
  { entryId, endId: id }: ComparedMark,
  above: number,
  labels: ReadonlyMap<EntryId, string>,
): Promise<ComparedSide> {
  const end = await rowOf(session, id);
  const path = await readPath(session, id, (end?.depth ?? -1) + 1 - above);
  const first = path[0];
  const files = fileLists(first === undefined ? [] : await session.fileOperations({ fromId: first.id, toId: id }));
  const summary = path.findLast((row) => isSummary(row));
  return {
    id,
    marked: await rowOf(session, entryId),
    label: labels.get(entryId) ?? labels.get(id) ?? null,
    end: entryId === id ? undefined : end,
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
  return isSummary(entry) ? { entryId: id, text: entry.summary } : null;
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
    ...commonAncestorLines(comparison, width, glyphs),
    [],
    ...sideLines("A", left, budget, glyphs),
    [],
    ...sideLines("B", right, budget, glyphs),
    [],
    ...(files.length > 0 ? files : wrapLine([styled("dim", "No files were touched on either side.")], width)),
  ];
  return budget.truncate(lines, "bough show SESSION ENTRY").flatMap((line) => forceWidth(line, width));
}

function commonAncestorLines({ commonAncestor, left, right }: Comparison, width: number, { ellipsis }: Glyphs): readonly Line[] {
  const said = (text: string) => wrapLine([styled("dim", text)], width);
  if (left.id === right.id) return said("A and B end at the same entry.");
  if (commonAncestor === undefined) return said("They share no entry.");
  if (commonAncestor.id === left.id) return said("A is above B on the same branch.");
  if (commonAncestor.id === right.id) return said("B is above A on the same branch.");
  return [fitLine([styled("dim", "both after "), ...rowText(commonAncestor)], width, ellipsis)];
}

/** The label and the text of the mark, and how far the comparison goes. */
function markLines(name: string, { marked, label, end }: ComparedSide, width: number, { ellipsis }: Glyphs): readonly Line[] {
  const badge = label === null ? [] : [styled("label", ` [${label}]`)];
  const heading = [styled("bold", name), ...badge, " ", ...(marked === undefined ? [] : rowText(marked))];
  const extent: Line = end === undefined ? [styled("dim", "up to here")] : [styled("dim", "up to its end, "), ...rowText(end)];
  return [fitLine(heading, width, ellipsis), fitLine(extent, width, ellipsis)];
}

function sideLines(name: string, side: ComparedSide, budget: TextBudget, glyphs: Glyphs): readonly Line[] {
  const { width } = budget;
  const { entries, messages, firstTexts, filesModified, filesRead, summary } = side;
  const figures = `${counted(messages, "message")}, ${counted(entries, "entry", "entries")}; ${counted(filesModified.length, "file")} modified, ${filesRead.length} only read`;
  const text = summary === null ? [] : markdownLines(budget.take(summary.text), width - 2, glyphs);
  return [
    ...markLines(name, side, width, glyphs),
    ...wrapLine([entries === 0 ? styled("dim", "no entries of its own") : figures], width),
    ...firstTexts.flatMap((first) => prefixLines(width, [styled("user", "user: ")], ["      "], (room) => wrapLine([first], room))),
    ...(summary === null ? [] : wrapLine([styled("summary", "summary"), styled("dim", `  ${summary.entryId}`)], width)),
    ...text.map((line): Line => ["  ", ...line]),
  ];
}
