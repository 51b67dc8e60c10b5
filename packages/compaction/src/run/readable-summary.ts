import {
  type ContextMessage,
  type EntryId,
  type ModelSetting,
  nativeCompactionOf,
  type Session,
  type SessionContext,
} from "@bough/session-core";
import { nativeItems } from "@bough/session-core/wire";
import { extract } from "../extract/extract.js";

/** Largest extract, in characters, as for a compaction that no model summarized. */
const MAX_CHARS = 8_000;

// By session and compaction: a request repeats the summary of the one before it, the same object.
const known = new WeakMap<Session, Map<EntryId, ContextMessage>>();

/**
 * The context with an extract in the place of a summary that `model` cannot read: that of a compaction which another provider encrypted,
 * and which was recorded or imported without an extract. The session is not changed, so that the provider's model gets its own items
 * again. The same object if the context needs none. Reads the path before the compaction once for each handle.
 */
export async function withReadableSummary(session: Session, context: SessionContext, model: ModelSetting | null): Promise<SessionContext> {
  const { compaction, messages, entries } = context;
  const native = compaction === null ? undefined : nativeCompactionOf(compaction.payload);
  if (compaction === null || native === undefined || native.readable || compaction.payload["method"] === "native") return context;
  const at = entries.indexOf(compaction.entryId);
  if (at === -1 || nativeItems(native, model) !== undefined) return context;
  const ofSession = known.get(session) ?? new Map<EntryId, ContextMessage>();
  known.set(session, ofSession);
  const message = ofSession.get(compaction.entryId) ?? (await extractCovered(session, compaction));
  if (message === null) return context;
  ofSession.set(compaction.entryId, message);
  return { ...context, messages: messages.map((one, index) => (index === at ? message : one)) };
}

/** The extract of what a compaction replaced; null: nothing. */
async function extractCovered(
  session: Session,
  { entryId, payload }: NonNullable<SessionContext["compaction"]>,
): Promise<ContextMessage | null> {
  const { parentId } = await session.entry(entryId);
  const before = await session.context({ leafId: parentId });
  const first = payload.firstKeptEntryId === null ? -1 : before.entries.indexOf(payload.firstKeptEntryId);
  const kept = payload.keptEntryIds ?? (first === -1 ? [] : before.entries.slice(first));
  const messages = before.messages.filter((_, index) => !kept.includes(before.entries[index] ?? null));
  if (messages.length === 0) return null;
  const { cwd } = await session.record();
  const source = { messages, kind: "history", previousSummary: null, instructions: null, cwd } as const;
  return Object.freeze({
    role: "compactionSummary",
    summary: extract(source, { maxChars: MAX_CHARS }),
    tokensBefore: payload.tokensBefore,
  });
}
