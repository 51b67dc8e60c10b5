import { learnSecrets } from "@bough/formats";
import { describeSecrets, type SecretPlace } from "@bough/formats/secrets";
import type { SessionRecord, Store } from "@bough/session-core";
import { count, counted, oneLine } from "@bough/session-core/view";
import { CancelledError, CommandError } from "../errors.js";
import { type ItemColumn, printTable } from "../format/table.js";
import { resolveSession, sessionTitle } from "../session/names.js";
import { withStore } from "../session/open-store.js";
import { listSessions, readOutline } from "../session/paging.js";
import type { Io } from "../terminal/io.js";
import { styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { shortIds } from "../tree/print-tree.js";
import type { Command } from "./command.js";
import { startProgress } from "./progress.js";

/** The places of one secret in one entry. */
interface EntrySecret extends SecretPlace {
  /** null: the title, metadata, a label or a value of the session. */
  readonly entryId: string | null;
  readonly count: number;
}

/** `bough secrets`: lists where the secrets of a session or of the store are, without showing them. */
export const runSecrets: Command<{ readonly check?: boolean }> = async ({ io, out, args: [name], options }) => {
  await withStore(io, options.store, "read", async (store) => {
    const records =
      name === undefined ? await listSessions(store, { kind: "all", archived: "all" }) : [await resolveSession(store, io, out, name)];
    const found = await searchSessions(store, records, name === undefined && options.json !== true, io, out);
    if (options.json === true) out.json({ sessions: found.map(({ rows: _rows, ...session }) => session) });
    else await printSecrets(out, found, records.length);
    if (options.check === true && found.length > 0) throw new CommandError("SECRETS_FOUND", `${summaryOf(found)}.`);
  });
};

async function searchSessions(
  store: Store,
  records: readonly SessionRecord[],
  showsProgress: boolean,
  io: Io,
  out: Printer,
): Promise<readonly SessionSecrets[]> {
  const progress = showsProgress ? await startProgress(io, out, "reading") : undefined;
  const { signal, end } = io.cancelOnInterrupt();
  const withSecrets: SessionSecrets[] = [];
  try {
    for (const [at, record] of records.entries()) {
      if (signal.aborted) throw new CancelledError("Interrupted. Not every session was read.");
      progress?.update(at, records.length, counted(records.length, "session"));
      const secrets = await searchSession(store, record);
      if (secrets.places.length > 0) withSecrets.push(secrets);
    }
    return withSecrets;
  } finally {
    progress?.end();
    end();
  }
}

type SessionSecrets = Awaited<ReturnType<typeof searchSession>>;

/** The secrets of a session. No member of the result contains one of them. */
async function searchSession(store: Store, record: SessionRecord) {
  const session = await store.openSession(record.id);
  const masker = await learnSecrets(session);
  const places = new Map<string, EntrySecret>();
  const add = (entryId: string | null) => (place: SecretPlace) => {
    const key = `${entryId} ${place.mask}`;
    const known = places.get(key) ?? { ...place, context: oneLine(place.context), entryId, count: 0 };
    places.set(key, { ...known, count: known.count + 1 });
  };
  const [labels, values] = await Promise.all([session.labels.list(), session.values.list()]);
  const { title, cwd, metadata } = record;
  masker.maskValue({ title, cwd, metadata, labels, values }, add(null));
  for await (const entry of session.entries()) masker.maskEntry(entry, add(entry.id));
  const name = masker.maskLine(sessionTitle(record));
  return { id: record.id, title: name, places: [...places.values()], rows: places.size === 0 ? [] : await readOutline(session) };
}

async function printSecrets(out: Printer, sessions: readonly SessionSecrets[], read: number): Promise<void> {
  for (const session of sessions) {
    out.line(styled("bold", session.title), styled("dim", `  ${session.id}`));
    await printPlaces(session, out);
    out.line();
    await out.pump();
  }
  if (sessions.length === 0) return out.line(`No secrets found in ${counted(read, "session")}.`);
  out.line(styled("bold", `${summaryOf(sessions)}.`));
  out.line("They were sent to a model and are in the files of the agent too: revoke each where it was issued, and make a new one.");
  out.line("`bough export` masks them. `bough delete SESSION` removes a session from the store, with what it contains.");
}

async function printPlaces({ places, rows }: SessionSecrets, out: Printer): Promise<void> {
  const ids = shortIds(
    places.flatMap(({ entryId }) => entryId ?? []),
    rows,
  );
  const columns: readonly ItemColumn<EntrySecret>[] = [
    { heading: "  entry", cell: ({ entryId }) => [styled("dim", "  "), entryId === null ? "session" : (ids.get(entryId) ?? entryId)] },
    { heading: "secret", cell: ({ mask }) => [styled("match", mask.slice(1, -1))] },
    { heading: "", cell: ({ count: times }) => [times === 1 ? "" : `×${count(times)}`] },
    { heading: "where", shrinksTo: 20, cell: ({ context }) => [styled("dim", context)] },
  ];
  await printTable(out, columns, places);
}

/** `7 secrets in 2 sessions: 5 GitHub tokens, 2 passwords`. */
function summaryOf(found: readonly SessionSecrets[]): string {
  const counts = new Map<string, number>();
  for (const { places } of found)
    for (const [, kind] of new Map(places.map(({ mask, kind }) => [mask, kind]))) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return describeSecrets(
    [...counts].map(([kind, number]) => ({ kind, count: number })),
    `in ${counted(found.length, "session")}`,
  );
}
