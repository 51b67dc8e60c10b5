import type { Entry, EntryId } from "@bough/session-core";

/** A compaction, with where it stands. */
export type CompactionEntry = Extract<Entry, { readonly type: "compaction" }>;

/** A compaction that counts on a path, and the part of the path that it stands for. */
interface CoveredRange {
  readonly entry: CompactionEntry;
  /** The compaction whose summary this one continues. */
  readonly previousId: EntryId | null;
  /** Position on the path of the first entry that it stands for. */
  readonly from: number;
  /** The same of the last one; less than `from`: it stands for nothing that an earlier one does not stand for. */
  readonly to: number;
}

/** Which parts of a path are told by summaries, and what edits changed of it. */
export interface PathCoverage {
  /** Oldest first, without compactions that were undone. */
  readonly ranges: readonly CoveredRange[];
  /** The position from which on the context has the entries themselves; 0: it has all. */
  readonly keptFrom: number;
  /** Entries that the latest edit of them on this path takes out. */
  readonly omitted: ReadonlySet<EntryId>;
  /** Entries that the context has not as they are: taken out, or replaced by something else. */
  readonly edited: ReadonlySet<EntryId>;
}

/**
 * Which compaction of a path stands for which of its entries. The engine writes it into the entry (`covers`); where it
 * did not, or names what is not above it on this path, as an import may: from what the one before it left, up to what it
 * keeps. Pure; linear in the path.
 *
 * @param path ids from the first entry to the leaf.
 * @param marks the compactions and edits among them, in the same order.
 *
 * @example
 * coverageOf(["u1", "a1", "u2", "c1"], [compactionThatKeeps("u2")]).ranges[0]; // from 0 to 1
 */
export function computeCoverage(path: readonly EntryId[], marks: readonly Entry[]): PathCoverage {
  const positions = new Map(path.map((id, at) => [id, at]));
  const edits = collectEdits(marks);
  const omitted = new Set([...edits].filter(([, omits]) => omits).map(([id]) => id));
  const ranges: CoveredRange[] = [];
  for (const entry of marks) {
    if (entry.type === "compaction" && !omitted.has(entry.id)) ranges.push(computeRange(entry, positions, ranges));
  }
  const last = ranges.at(-1);
  return { ranges, keptFrom: last === undefined ? 0 : findKeptPosition(last.entry, positions), omitted, edited: new Set(edits.keys()) };
}

/** Whether the latest edit of each edited entry omits it: an omission can be taken back by a replacement. */
function collectEdits(marks: readonly Entry[]): ReadonlyMap<EntryId, boolean> {
  const edits = new Map<EntryId, boolean>();
  for (const entry of marks) if (entry.type === "context_edit") edits.set(entry.targetId, entry.replacement === null);
  return edits;
}

function computeRange(entry: CompactionEntry, positions: ReadonlyMap<EntryId, number>, earlier: readonly CoveredRange[]): CoveredRange {
  const previousId = earlier.at(-1)?.entry.id ?? null;
  const after = earlier.reduce((most, { to }) => Math.max(most, to + 1), 0);
  const range = readStoredRange(entry, positions) ?? { from: after, to: findKeptPosition(entry, positions) - 1 };
  return { entry, previousId, ...range };
}

/** The position of the first entry that a compaction keeps; its own where it keeps none, or none that is above it. */
function findKeptPosition({ id, firstKeptEntryId }: CompactionEntry, positions: ReadonlyMap<EntryId, number>): number {
  const own = positions.get(id) ?? 0;
  const kept = firstKeptEntryId === null ? undefined : positions.get(firstKeptEntryId);
  return kept === undefined || kept > own ? own : kept;
}

/** What the entry itself says it covers; null: nothing, or nothing that is above it on this path. */
function readStoredRange(
  entry: CompactionEntry,
  positions: ReadonlyMap<EntryId, number>,
): { readonly from: number; readonly to: number } | null {
  const covers = readCovers(entry);
  const own = positions.get(entry.id) ?? 0;
  const from = covers === null ? undefined : positions.get(covers.fromEntryId);
  const to = covers === null ? undefined : positions.get(covers.toEntryId);
  return from === undefined || to === undefined || from > to || to >= own ? null : { from, to };
}

/** The member `covers` of a summary, as the engine writes it; null: there is none of that form. */
export function readCovers(
  entry: Entry,
): { readonly fromEntryId: EntryId; readonly toEntryId: EntryId; readonly messages: number | null } | null {
  const covers: unknown = "covers" in entry ? entry.covers : undefined;
  if (typeof covers !== "object" || covers === null || !("fromEntryId" in covers) || !("toEntryId" in covers)) return null;
  const { fromEntryId, toEntryId } = covers;
  if (typeof fromEntryId !== "string" || typeof toEntryId !== "string") return null;
  const messages = "messages" in covers && typeof covers.messages === "number" ? covers.messages : null;
  return { fromEntryId, toEntryId, messages };
}
