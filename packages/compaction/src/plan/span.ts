import {
  type ContextMessage,
  type Entry,
  type EntryId,
  EntryNotFoundError,
  type EntryType,
  type Session,
  type SessionContext,
} from "@bough/session-core";
import type { ContextMeter, Measured } from "../tokens/context-meter.js";

/**
 * One entry of the part of a path that a context is built from, with what the model reads of it as the edits on the
 * path leave it.
 */
export interface PathItem {
  readonly id: EntryId;
  readonly type: EntryType;
  /** Its message, then the synthetic results of calls that have none; empty: settings, data, edits, omitted entries, and compactions. */
  readonly messages: readonly ContextMessage[];
  /** Tokens of `messages`. */
  readonly tokens: number;
}

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
  const shown = contextByEntry(context, measured);
  const items: PathItem[] = [];
  for await (const entry of session.walk({ leafId, stopAt: await endOfCovered(session, context) })) {
    // The summary in force is no message of the span: what it replaces is not in it either.
    items.push(itemOf(entry, entry.type === "compaction" ? undefined : shown.get(entry.id)));
  }
  return { leafId, context, measured, items, previousSummaryTokens: context.compaction === null ? 0 : (measured.perMessage[0] ?? 0) };
}

function itemOf({ id, type }: Entry, shown: ContextPart | undefined): PathItem {
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

/** What a context shows of one entry. */
export interface ContextPart {
  readonly messages: readonly ContextMessage[];
  readonly tokens: number;
}

/** What a context shows, entry by entry, in its order: the summary of the compaction in force first. */
export function contextByEntry({ messages, entries }: SessionContext, { perMessage }: Measured): ReadonlyMap<EntryId, ContextPart> {
  const shown = new Map<EntryId, { readonly messages: ContextMessage[]; tokens: number }>();
  for (const [at, message] of messages.entries()) {
    const id = entries[at];
    if (id === undefined) continue;
    const one = shown.get(id) ?? { messages: [], tokens: 0 };
    one.messages.push(message);
    one.tokens += perMessage[at] ?? 0;
    shown.set(id, one);
  }
  return shown;
}
