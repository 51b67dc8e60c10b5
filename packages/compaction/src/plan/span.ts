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

/** An entry of a path with its messages in the context, after the edits on the path. */
export interface PathItem {
  readonly id: EntryId;
  readonly type: EntryType;
  /** Its message, then synthetic results of its calls without one. Empty for settings, data, edits, omitted entries and compactions. */
  readonly messages: readonly ContextMessage[];
  /** Tokens of `messages`, as they are sent: an old or large result may be cut in requests. */
  readonly tokens: number;
}

/** Token counts of messages, and the entries that these belong to. */
interface EntryTokens {
  readonly entries: readonly EntryId[];
  readonly tokens: readonly number[];
}

/** Counts the messages of a context as requests send them. */
type CountSent = (context: SessionContext, measured: Measured) => { readonly parts: EntryTokens };

/** The part of a path that can be compacted, at the time when it was read. */
export interface Span {
  /** The end of the path. */
  readonly leafId: EntryId;
  readonly context: SessionContext;
  /** From the first kept entry of the compaction in force to the leaf; without a compaction, the whole path. */
  readonly items: readonly PathItem[];
  /** Tokens of the summary in force; 0: none. */
  readonly previousSummaryTokens: number;
}

/**
 * Reads the span that ends at `leafId`. Its messages are those of the context, so content that edits removed is not summarized.
 * Its token counts are those of `shape`, the form in which requests send them.
 *
 * @throws {EntryNotFoundError} `leafId` is not an entry of the session.
 */
export async function readSpan(session: Session, leafId: EntryId, meter: ContextMeter, shape?: CountSent): Promise<Span> {
  const context = await session.context({ leafId });
  const measured = await meter.measure(context, leafId);
  const { parts: sent } = shape?.(context, measured) ?? { parts: { entries: context.entries, tokens: measured.perMessage } };
  const parts = contextByEntry(context, sent);
  const items: PathItem[] = [];
  for await (const entry of session.walk({ leafId, stopAt: await endOfCovered(session, context) })) {
    // The summary in force is not summarized again as a message; it is given to the summarizer as the previous summary.
    items.push(itemOf(entry, entry.type === "compaction" ? undefined : parts.get(entry.id)));
  }
  const previousSummaryTokens = context.compaction === null ? 0 : (parts.get(context.compaction.entryId)?.tokens ?? 0);
  return { leafId, context, items, previousSummaryTokens };
}

function itemOf({ id, type }: Entry, part: ContextPart | undefined): PathItem {
  return { id, type, messages: part?.messages ?? [], tokens: part?.tokens ?? 0 };
}

/** The last entry that the compaction in force covers; undefined: the span is the whole path. */
async function endOfCovered(session: Session, { compaction }: SessionContext): Promise<EntryId | undefined> {
  if (compaction === null) return undefined;
  const { firstKeptEntryId } = compaction.payload;
  if (firstKeptEntryId === null) return compaction.entryId;
  try {
    return (await session.entry(firstKeptEntryId)).parentId ?? undefined;
  } catch (error) {
    // An import may name an entry that does not exist; then nothing before the compaction was kept.
    if (error instanceof EntryNotFoundError) return compaction.entryId;
    throw error;
  }
}

/** The messages of one entry in a context. */
interface ContextPart {
  readonly messages: readonly ContextMessage[];
  readonly tokens: number;
}

/** Groups the messages of a context by entry, in order; the summary in force comes first. `counted`: their tokens. */
export function contextByEntry({ messages, entries }: SessionContext, counted: EntryTokens): ReadonlyMap<EntryId, ContextPart> {
  const parts = new Map<EntryId, { readonly messages: ContextMessage[]; tokens: number }>();
  for (const [at, message] of messages.entries()) {
    const id = entries[at];
    if (id === undefined) continue;
    const part = parts.get(id) ?? { messages: [], tokens: 0 };
    part.messages.push(message);
    parts.set(id, part);
  }
  for (const [at, id] of counted.entries.entries()) {
    const part = parts.get(id);
    if (part !== undefined) part.tokens += counted.tokens[at] ?? 0;
  }
  return parts;
}
