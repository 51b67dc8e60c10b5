import { type EntryId, fileLists, type OutlineRow, type Session } from "@bough/session-core";
import { isMessage, rowsAfter, seqOf } from "./outline-rows.js";

/** First messages of a person that are shown of a side. */
const FIRST_TEXTS = 3;

/** What is on one side only: the entries below the common ancestor, down to the one that was marked. */
export interface ComparedSide {
  readonly id: EntryId;
  readonly entries: number;
  /** User and assistant messages. */
  readonly messages: number;
  readonly filesRead: readonly string[];
  readonly filesModified: readonly string[];
  /** The latest summary on that side. */
  readonly summary: { readonly entryId: EntryId; readonly text: string } | null;
  /** How the person's first messages begin; at most 3. */
  readonly firstTexts: readonly string[];
}

/** What differs between two branches. */
export interface Comparison {
  /** null: they share nothing. Where it is one of the two, that side is empty. */
  readonly commonAncestorId: EntryId | null;
  readonly left: ComparedSide;
  readonly right: ComparedSide;
  /** Files touched on both sides, and on one of them; sorted. */
  readonly filesInBoth: readonly string[];
  readonly onlyLeft: readonly string[];
  readonly onlyRight: readonly string[];
}

/**
 * What differs between the branches of two entries: what stands above one and not above the other. Reads no bodies but the
 * entries' own and the summaries'; cost: the outline rows between the common ancestor and the later of the two.
 *
 * @throws {EntryNotFoundError} there is no such entry.
 */
export async function loadComparison(session: Session, aId: EntryId, bId: EntryId): Promise<Comparison> {
  const commonAncestorId = await session.commonAncestor(aId, bId);
  const from = await seqOf(session, commonAncestorId);
  const [a, b] = [await seqOf(session, aId), await seqOf(session, bId)];
  const rows = new Map<number, OutlineRow>();
  if (Math.max(a, b) > from) for await (const row of rowsAfter(session, from, Math.max(a, b))) rows.set(row.seq, row);
  const left = await sideOf(session, aId, pathUp(rows, a));
  const right = await sideOf(session, bId, pathUp(rows, b));
  const [ofLeft, ofRight] = [filesOn(left), filesOn(right)];
  return {
    commonAncestorId,
    left,
    right,
    filesInBoth: [...ofLeft].filter((path) => ofRight.has(path)).sort(),
    onlyLeft: [...ofLeft].filter((path) => !ofRight.has(path)).sort(),
    onlyRight: [...ofRight].filter((path) => !ofLeft.has(path)).sort(),
  };
}

/** The rows of a path below the common ancestor, oldest first. */
function pathUp(rows: ReadonlyMap<number, OutlineRow>, seq: number): readonly OutlineRow[] {
  const path: OutlineRow[] = [];
  for (let row = rows.get(seq); row !== undefined; row = row.parentSeq === null ? undefined : rows.get(row.parentSeq)) path.push(row);
  return path.reverse();
}

async function sideOf(session: Session, id: EntryId, path: readonly OutlineRow[]): Promise<ComparedSide> {
  const first = path[0];
  const files = fileLists(first === undefined ? [] : await session.fileOperations({ fromId: first.id, toId: id }));
  const summary = path.findLast(({ type }) => type === "compaction" || type === "branch_summary");
  return {
    id,
    entries: path.length,
    messages: path.filter(isMessage).length,
    filesRead: files.readFiles,
    filesModified: files.modifiedFiles,
    summary: summary === undefined ? null : await summaryOf(session, summary.id),
    firstTexts: path
      .filter(({ role }) => role === "user")
      .slice(0, FIRST_TEXTS)
      .map(({ preview }) => preview),
  };
}

async function summaryOf(session: Session, id: EntryId): Promise<ComparedSide["summary"]> {
  const entry = await session.entry(id);
  return entry.type === "compaction" || entry.type === "branch_summary" ? { entryId: id, text: entry.summary } : null;
}

function filesOn({ filesRead, filesModified }: ComparedSide): ReadonlySet<string> {
  return new Set([...filesRead, ...filesModified]);
}
