import { type Entry, type EntryId, EntryNotFoundError, type Session, type SessionContext } from "@bough/session-core";
import type { ContextMeter, Measured } from "../tokens/context-meter.js";
import type { PathItem } from "./path-item.js";
import { type Shown, shownByEntry } from "./shown.js";

/** The part of a path that a compaction looks at, as it was when it was read. */
export interface Span {
  /** Where the path ends. */
  readonly leafId: EntryId;
  readonly context: SessionContext;
  readonly measured: Measured;
  /** From the first entry that the compaction in force kept (or the first after it, or the first of all) to the leaf. */
  readonly items: readonly PathItem[];
  /** Tokens of the summary that the context starts with; 0: none. */
  readonly previousSummaryTokens: number;
}

/**
 * Reads the span that ends at `leafId`: its entries once, and the context at it. Messages are as the model reads them,
 * so that what edits took out is in no summary (regression R132).
 *
 * @throws {EntryNotFoundError} `leafId` is no entry of the session.
 */
export async function readSpan(session: Session, leafId: EntryId, meter: ContextMeter): Promise<Span> {
  const context = await session.context({ leafId });
  const measured = await meter.measure(context, leafId);
  const shown = shownByEntry(context, measured);
  const items: PathItem[] = [];
  for await (const entry of session.walk({ leafId, stopAt: await endOfCovered(session, context) })) {
    // The summary in force is no message of the span: what it replaces is not in it either.
    items.push(itemOf(entry, entry.type === "compaction" ? undefined : shown.get(entry.id)));
  }
  return { leafId, context, measured, items, previousSummaryTokens: context.compaction === null ? 0 : (measured.perMessage[0] ?? 0) };
}

function itemOf({ id, type }: Entry, shown: Shown | undefined): PathItem {
  return { id, type, messages: shown?.messages ?? [], tokens: shown?.tokens ?? 0 };
}

/** The last entry that an earlier compaction covers; undefined: none, the span is the whole path. */
async function endOfCovered(session: Session, { compaction }: SessionContext): Promise<EntryId | undefined> {
  if (compaction === null) return undefined;
  const { firstKeptEntryId } = compaction.payload;
  if (firstKeptEntryId === null) return compaction.entryId;
  try {
    return (await session.entry(firstKeptEntryId)).parentId ?? undefined;
  } catch (error) {
    // An import may name an entry that never was; then nothing before the compaction was kept.
    if (error instanceof EntryNotFoundError) return compaction.entryId;
    throw error;
  }
}
