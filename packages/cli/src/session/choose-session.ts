import type { EntryId, Session, SessionRecord, Store } from "@bough/session-core";
import { previewOf } from "@bough/session-core/view";
import { CommandError, UsageError } from "../errors.js";
import { entryKind } from "../format/entry-lines.js";
import type { Io } from "../terminal/io.js";
import { styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { resolveSession, sessionName, shortEntryId } from "./names.js";
import { findPlace, type Place, placeFilters } from "./place.js";

/** An open session and its record. */
export interface ChosenSession {
  readonly session: Session;
  readonly record: SessionRecord;
  /** The session was not named, and it was recorded in another place than the current directory or repository. */
  readonly isGuess: boolean;
}

/** The scope in which a default session is searched: the current directory, or then the whole store. */
type SearchScope = "directory" | "store";

/**
 * Opens the session with this name. Without a name it opens the most recently active session of the current directory, else
 * with scope `store` that of the store, and prints its name to stderr.
 *
 * @throws {UsageError} the name is empty.
 * @throws {CommandError} there is no default session.
 */
export async function chooseSession(
  store: Store,
  io: Io,
  out: Printer,
  name: string | undefined,
  scope: SearchScope,
): Promise<ChosenSession> {
  if (name === "") throw new UsageError("The name of the session is empty.");
  const { record, isGuess } =
    name === undefined ? await findNewest(store, io, out, scope) : { record: await resolveSession(store, io, out, name), isGuess: false };
  return { record, isGuess, session: await store.openSession(record.id) };
}

async function findNewest(store: Store, io: Io, out: Printer, scope: SearchScope): Promise<Pick<ChosenSession, "record" | "isGuess">> {
  const here = await findNewestHere(store, io);
  if (here !== undefined) {
    await out.note(styled("dim", `newest session of this ${findPlace(io).kind}: ${await sessionName(store, here, out)}`));
    return { record: here, isGuess: false };
  }
  const [anywhere] = scope === "store" ? (await store.listSessions({ limit: 1 })).items : [];
  if (anywhere === undefined) throw new CommandError("NO_SESSION", explainNoSession(scope, findPlace(io)));
  await out.note(
    styled("dim", `no session of this ${findPlace(io).kind}; newest session of the store: ${await sessionName(store, anywhere, out)}`),
  );
  return { record: anywhere, isGuess: true };
}

/** The most recently active session of the current directory or its repository; `empty`: also one without entries. */
export async function findNewestHere(store: Store, io: Io, empty = false): Promise<SessionRecord | undefined> {
  for (const filter of placeFilters(findPlace(io))) {
    const [newest] = (await store.listSessions({ ...filter, empty, limit: 1 })).items;
    if (newest !== undefined) return newest;
  }
  return undefined;
}

function explainNoSession(scope: SearchScope, { kind }: Place): string {
  return scope === "directory"
    ? `No session was recorded in this ${kind}. Name a session by id, prefix or title; \`bough sessions\` lists them.`
    : "The store has no sessions. Import some: bough import.";
}

/** The entry at the leaf of a session, in one line. */
export async function describeLeaf(session: Session, out: Printer): Promise<string> {
  return session.leafId === null ? "before the first entry" : describeEntry(session, session.leafId, out);
}

/** The id, kind and preview of an entry, in one line. */
export async function describeEntry(session: Session, id: EntryId, out: Printer): Promise<string> {
  const entry = await session.entry(id);
  const text = previewOf(entry);
  return `${await shortEntryId(session, id, out)} (${entryKind(entry)}${text === "" ? "" : `: ${text}`})`;
}
