import {
  type ContextMessage,
  type Entry,
  type EntryId,
  EntryNotFoundError,
  type EntryPayload,
  type EntryType,
  type FileLists,
  fileLists,
  type Session,
  type SessionContext,
} from "@bough/session-core";
import { isSummary } from "@bough/session-core/view";
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

const NONE: FileLists = { readFiles: [], modifiedFiles: [] };

/**
 * The file lists stored in the `details` of a summary. Empty if a hook wrote the entry (its `details` have another
 * meaning) or if the value has another shape.
 */
export function fileListsOf(payload: EntryPayload): FileLists {
  if (!isSummary(payload)) return NONE;
  const { details } = payload;
  if (payload.fromHook === true || typeof details !== "object" || details === null) return NONE;
  return {
    readFiles: "readFiles" in details ? stringsIn(details.readFiles) : [],
    modifiedFiles: "modifiedFiles" in details ? stringsIn(details.modifiedFiles) : [],
  };
}

function stringsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];
}

/** Two lists as one, sorted, without duplicates. A file that was modified is not listed as read. */
function joinLists(a: FileLists, b: FileLists): FileLists {
  const modified = new Set([...a.modifiedFiles, ...b.modifiedFiles]);
  const read = new Set([...a.readFiles, ...b.readFiles].filter((path) => !modified.has(path)));
  return { readFiles: [...read].sort(), modifiedFiles: [...modified].sort() };
}

/** Files that the covered entries read and modified, joined with the lists of the summaries among them and before them. */
export async function coveredFileLists(session: Session, { context }: Span, covered: readonly PathItem[]): Promise<FileLists> {
  const own = await operatedFiles(session, covered);
  const earlier = context.compaction === null ? [] : [fileListsOf(context.compaction.payload)];
  for (const { id, type } of covered) if (type === "branch_summary") earlier.push(fileListsOf(await session.entry(id)));
  return earlier.reduce(joinLists, own);
}

/** Files that all entries of a branch read and modified, joined with the lists of the summaries on it. */
export async function branchFileLists(session: Session, entries: readonly Entry[]): Promise<FileLists> {
  return entries.reduce<FileLists>((lists, entry) => joinLists(lists, fileListsOf(entry)), await operatedFiles(session, entries));
}

/** Files that the tool calls of a path, given by its entries in order, read and modified. */
async function operatedFiles(session: Session, path: readonly { readonly id: string }[]): Promise<FileLists> {
  const [first, last] = [path[0], path.at(-1)];
  return first === undefined || last === undefined ? NONE : fileLists(await session.fileOperations({ fromId: first.id, toId: last.id }));
}
