import { AmbiguousNameError, type EntryId, type Session, type SessionId, type SessionRecord, type Store } from "@bough/session-core";
import { withoutNamedForks } from "@bough/session-core/engine";
import { count, counted } from "@bough/session-core/view";
import { CommandError } from "../errors.js";
import { shortDirectory } from "../format/path.js";
import { type ItemColumn, itemLines } from "../format/table.js";
import { age } from "../format/time.js";
import type { Io } from "../terminal/io.js";
import { fitLine, type Line, styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { rowText } from "../tree/row-text.js";

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

/** Returns the title of a session, else the first text that the user typed. */
export function sessionTitle(session: Pick<SessionRecord, "title" | "firstText">): string {
  return session.title ?? session.firstText ?? "(untitled)";
}

/** The agent that recorded a session. */
export function agentOf({ source }: Pick<SessionRecord, "source">): string {
  return source?.format ?? "bough";
}

/** The title and id of a session. */
export async function sessionName(store: Store, session: SessionRecord, out: Pick<Printer, "fullIds">): Promise<string> {
  return `${sessionTitle(session)} (${await shortSessionId(store, session.id, out)})`;
}

/** Candidates that are listed; the others are counted. */
const LISTED = 10;

/**
 * The session that a name means. If it means several, they are listed on stderr as rows; on a terminal the person chooses one.
 *
 * @throws {CommandError} the name means several, and none was chosen.
 * @throws {SessionNotFoundError}
 */
export async function resolveSession(store: Store, io: Io, out: Printer, name: string): Promise<SessionRecord> {
  try {
    return await store.resolveSession(name);
  } catch (error) {
    if (!(error instanceof AmbiguousNameError)) throw error;
    const found = withoutNamedForks(await store.findSessions(name, AmbiguousNameError.COUNTED));
    const listed = found.slice(0, LISTED);
    await printSessions(store, io, out, listed, found.length - listed.length);
    const chosen = await chooseOne(io, listed);
    if (chosen !== undefined) return chosen;
    throw new CommandError("AMBIGUOUS_NAME", `'${name}' is the name of ${counted(found.length, "session")}.`);
  }
}

async function printSessions(store: Store, io: Io, out: Printer, candidates: readonly SessionRecord[], others: number): Promise<void> {
  const forkColumn: ItemColumn<SessionRecord> = {
    heading: "fork of",
    optional: true,
    cell: async ({ parent }) => [parent === null ? "" : await shortSessionId(store, parent.sessionId, out)],
  };
  const columns: readonly ItemColumn<SessionRecord>[] = [
    { heading: "", align: "right", cell: (record) => [styled("dim", String(candidates.indexOf(record) + 1))] },
    { heading: "id", cell: async ({ id }) => [styled("label", await shortSessionId(store, id, out))] },
    { heading: "title", shrinksTo: 16, cell: (record) => [sessionTitle(record)] },
    ...(candidates.some(({ parent }) => parent !== null) ? [forkColumn] : []),
    { heading: "entries", align: "right", optional: true, cell: ({ entryCount }) => [count(entryCount)] },
    { heading: "active", align: "right", cell: ({ activeAtMs }) => [age(activeAtMs, io.now())] },
    {
      heading: "directory",
      shrinksTo: 8,
      isPath: true,
      optional: true,
      cell: ({ cwd }) => [styled("dim", shortDirectory(cwd ?? "", io.home))],
    },
  ];
  for (const line of await itemLines(out, columns, candidates)) await out.note(...line);
  if (others > 0) await out.note(styled("dim", `and ${count(others)} more`));
}

/** Asks for the number of a row. undefined: there is no terminal, or the answer is no such number. */
async function chooseOne<T>(io: Io, listed: readonly T[]): Promise<T | undefined> {
  const answer = (await io.ask?.(`Which one? [1-${listed.length}, Enter: none] `))?.trim() ?? "";
  return /^\d+$/.test(answer) ? listed[Number(answer) - 1] : undefined;
}

/**
 * The entry that a name means. If it means several, they are listed on stderr as rows.
 *
 * @throws {CommandError | EntryNotFoundError}
 */
export async function resolveEntry(session: Session, out: Printer, name: string): Promise<EntryId> {
  try {
    return await session.resolve(name);
  } catch (error) {
    if (!(error instanceof AmbiguousNameError)) throw error;
    const ids = error.candidates;
    const short = await shortEntryIds(session, ids, out);
    const width = Math.max(...[...short.values()].map((id) => id.length));
    const rows = await Promise.all(ids.map((id) => session.tree.path(id, 1)));
    for (const row of rows.flat()) {
      const left: Line = [styled("label", (short.get(row.id) ?? row.id).padEnd(width)), "  "];
      await out.note(...fitLine([...left, ...rowText(row, out.width - width - 2, out.glyphs.ellipsis)], out.width, out.glyphs.ellipsis));
    }
    if (error.others > 0) await out.note(styled("dim", `and ${count(error.others)} more`));
    throw new CommandError("AMBIGUOUS_NAME", `'${name}' is the name of ${counted(ids.length + error.others, "entry", "entries")}.`);
  }
}
