import type { Entry, EntryId } from "@bough/session-core";

/** A compaction entry. */
export type CompactionEntry = Extract<Entry, { readonly type: "compaction" }>;

/** A compaction of a path and the range of the path that it covers. */
interface CoveredRange {
  readonly entry: CompactionEntry;
  /** The compaction whose summary this one continues. */
  readonly previousId: EntryId | null;
  /** Position on the path of the first covered entry. */
  readonly from: number;
  /** Position of the last covered entry. Less than `from`: it covers nothing that an earlier compaction does not cover. */
  readonly to: number;
}

/** The covered ranges of a path and its edits. */
export interface PathCoverage {
  /** Oldest first, without compactions that were undone. */
  readonly ranges: readonly CoveredRange[];
  /** The position of the first entry that the context contains itself; 0: all of them. */
  readonly keptFrom: number;
  /** Entries that their latest edit on this path removes from the context. */
  readonly omitted: ReadonlySet<EntryId>;
  /** Entries that the context does not contain unchanged: removed or replaced. */
  readonly edited: ReadonlySet<EntryId>;
}

/**
 * Computes which compaction of a path covers which entries. The compactor stores the range in the entry (`covers`).
 * Without it, or if it names entries that are not above the compaction, as an import may, the range starts after that of
 * the compaction before it and ends before the first kept entry. Pure; linear in the path.
 *
 * @param path - ids from the first entry to the leaf
 * @param marks - the compactions and edits among them, in the same order
 * @example
 * // `compaction` is the entry c1 with firstKeptEntryId "u2".
 * computeCoverage(["u1", "a1", "u2", "c1"], [compaction]).ranges[0]; // from 0 to 1
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

/** Returns each edited entry with true if its latest edit removes it; a later replacement takes a removal back. */
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

/** The position of the first entry that a compaction keeps; its own if it keeps none, none above it, or single entries of those above it. */
function findKeptPosition({ id, firstKeptEntryId, keptEntryIds }: CompactionEntry, positions: ReadonlyMap<EntryId, number>): number {
  const own = positions.get(id) ?? 0;
  const kept = firstKeptEntryId === null || keptEntryIds !== undefined ? undefined : positions.get(firstKeptEntryId);
  return kept === undefined || kept > own ? own : kept;
}

/** The range stored in the entry; null: none, or one that is not above it on this path. */
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

/** The field `covers` of a summary; null: missing or of another form. */
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
