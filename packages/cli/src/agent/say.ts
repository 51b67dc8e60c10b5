import { type EntryId, type Session, userMessage } from "@bough/session-core";

/**
 * Appends what a person said; when it resolves the message is on disk, before any model is asked.
 *
 * Where another process moved the leaf since this handle last looked, the message stands under what the person saw, on a
 * branch beside the other's: both stay whole, and nobody's words answer what they have not read.
 *
 * @throws {BoughError} of the store; nothing was written.
 */
export async function say(session: Session, text: string): Promise<EntryId> {
  const { id } = await session.append(userMessage(text), { onConflict: "branch" });
  return id;
}
