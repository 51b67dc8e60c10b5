import type { SessionRecord, Store } from "@bough/session-core";
import type { Printer } from "../terminal/printer.js";
import { shortSessionId } from "./short-ids.js";

/** The title of a session, or the text that says most of what a person typed first. */
export function sessionTitle(session: Pick<SessionRecord, "title" | "firstText">): string {
  return session.title ?? session.firstText ?? "(untitled)";
}

/** The title and id of a session. */
export async function sessionName(store: Store, session: SessionRecord, out: Pick<Printer, "fullIds">): Promise<string> {
  return `${sessionTitle(session)} (${await shortSessionId(store, session.id, out)})`;
}
