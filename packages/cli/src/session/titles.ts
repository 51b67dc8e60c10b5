import type { SessionRecord, Store } from "@bough/session-core";
import type { Printer } from "../terminal/printer.js";
import { shortSessionId } from "./short-ids.js";

/** Returns the title of a session, else the first text that the user typed. */
export function sessionTitle(session: Pick<SessionRecord, "title" | "firstText">): string {
  return session.title ?? session.firstText ?? "(untitled)";
}

/** The title and id of a session. */
export async function sessionName(store: Store, session: SessionRecord, out: Pick<Printer, "fullIds">): Promise<string> {
  return `${sessionTitle(session)} (${await shortSessionId(store, session.id, out)})`;
}
