import type { EntryId, Session, SessionId, Store } from "@bough/session-core";
import type { Printer } from "../terminal/printer.js";

/** The option that decides on the form of ids: `--full-ids`. */
type IdOptions = Pick<Printer, "fullIds">;

/**
 * A session id as it is printed: its shortest prefix of at least four characters that names it alone in the store; of a subagent the
 * part after the last dot. Cost: two searches of an index; for a subagent a list of all subagents.
 */
export async function shortSessionId(store: Store, id: SessionId, { fullIds }: IdOptions): Promise<string> {
  if (fullIds) return id;
  const own = id.slice(id.lastIndexOf(".") + 1);
  if (own !== id) {
    // The id of a subagent is the id of its conversation, a dot and its own part.
    const [agent, other] = await store.findSessions(own, 2);
    if (agent?.id === id && other === undefined) return own;
  }
  return (await store.shortIds([id])).get(id) ?? id;
}

/** Entry ids as they are printed: the shortest prefixes that no other entry of the session has, at least four characters. */
export async function shortEntryIds(
  session: Session,
  ids: readonly EntryId[],
  { fullIds }: IdOptions,
): Promise<ReadonlyMap<EntryId, string>> {
  return fullIds ? new Map(ids.map((id) => [id, id])) : session.shortIds(ids);
}

/** The same for one id. */
export async function shortEntryId(session: Session, id: EntryId, options: IdOptions): Promise<string> {
  return (await shortEntryIds(session, [id], options)).get(id) ?? id;
}
