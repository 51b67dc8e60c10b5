import type { EntryId, Session } from "@bough/session-core";

/**
 * The last tool result that follows an entry without a branch between them; the entry itself if none does. A leaf on a call would
 * separate it from its results, and one on a result from those of the other calls of its reply. `results`: how many results there are.
 */
export async function afterResults(session: Session, id: EntryId) {
  let last = id;
  for (let results = 0; ; results += 1) {
    const [next, other] = (await session.tree.children(last)).filter(({ role }) => role === "toolResult");
    if (next === undefined || other !== undefined) return { id: last, results };
    last = next.id;
  }
}
