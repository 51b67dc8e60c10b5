import { type Entry, previewOf, type Session, type SessionRecord, type Store } from "@bough/session-core";
import { NoSessionError, UsageError } from "../errors.js";
import { entryKind } from "../format/entry-lines.js";
import type { Io } from "../terminal/io.js";
import { styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";

/** A session, and what is known of it. */
export interface ChosenSession {
  readonly session: Session;
  readonly record: SessionRecord;
}

/** How far to look for a session that nobody named: in the current directory only, or then in the whole store. */
export type SearchScope = "directory" | "store";

/**
 * The session a person named; where none was named, the conversation of the current directory that was active last, and,
 * for commands that only read, else of the whole store. Says on stderr which one was taken.
 *
 * @throws {UsageError} the name is empty.
 * @throws {NoSessionError} none was named, and there is none to take.
 */
export async function chooseSession(
  store: Store,
  io: Io,
  out: Printer,
  name: string | undefined,
  reach: SearchScope,
): Promise<ChosenSession> {
  if (name === "") throw new UsageError("The name of the session is empty.");
  const record = name === undefined ? await findNewest(store, io, out, reach) : await store.resolveSession(name);
  return { record, session: await store.openSession(record.id) };
}

async function findNewest(store: Store, io: Io, out: Printer, reach: SearchScope): Promise<SessionRecord> {
  // The shell's idea of the directory may lead over a link; sessions are recorded under either.
  for (const cwd of new Set([io.cwd, io.env["PWD"] ?? io.cwd])) {
    const [here] = (await store.listSessions({ cwd, limit: 1 })).items;
    if (here === undefined) continue;
    await out.note(styled("dim", `newest session of this directory: ${sessionName(here)}`));
    return here;
  }
  const [anywhere] = reach === "store" ? (await store.listSessions({ limit: 1 })).items : [];
  if (anywhere === undefined) throw new NoSessionError(explainNoSession(reach));
  await out.note(styled("dim", `no session of this directory; newest session of the store: ${sessionName(anywhere)}`));
  return anywhere;
}

function explainNoSession(reach: SearchScope): string {
  return reach === "directory"
    ? "No session was recorded in this directory. Name one: its id, a prefix of it, or its title (bough sessions lists them)."
    : "The store holds no conversation yet. Import some: bough import PATH.";
}

/** What a session is called on screen: its title, or how its first message begins. */
export function sessionTitle(session: Pick<SessionRecord, "title" | "firstText">): string {
  return session.title ?? session.firstText ?? "(untitled)";
}

/** A session by name and id. */
export function sessionName(session: Pick<SessionRecord, "id" | "title" | "firstText">): string {
  return `${sessionTitle(session)} (${session.id})`;
}

/** An entry in a few words, for telling a person where a leaf went or what was labelled. */
export function describeEntry(entry: Entry): string {
  const text = previewOf(entry);
  return text === "" ? `${entry.id} (${entryKind(entry)})` : `${entry.id} (${entryKind(entry)}: ${text})`;
}

/** Where a session's leaf stands, in words. */
export async function describeLeaf(session: Session): Promise<string> {
  return session.leafId === null ? "before the first entry" : describeEntry(await session.entry(session.leafId));
}
