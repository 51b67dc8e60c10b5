import type { OutlineRow, Session, SessionRecord, Store } from "@bough/session-core";
import { bytes, counted, type PriceList } from "@bough/session-core/view";
import { UsageError } from "../errors.js";
import { entryKind, entryLines } from "../format/entry-lines.js";
import { dateTime } from "../format/time.js";
import { type ChosenSession, chooseSession } from "../session/choose-session.js";
import { resolveEntry, sessionTitle, shortEntryIds, shortSessionId } from "../session/names.js";
import { withStore } from "../session/open-store.js";
import { listSessions } from "../session/paging.js";
import { readPrices } from "../session/prices.js";
import { fieldLine, type Line, styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { loadExactWidths } from "../terminal/width.js";
import { rowText } from "../tree/row-text.js";
import type { Command, CommonOptions } from "./command.js";
import { PRINTED_CHARS, printAnswer } from "./recall-output.js";

interface ShowOptions extends CommonOptions {
  readonly lines?: string;
  readonly grep?: string;
  readonly around?: number;
  readonly file?: string;
}

/** `bough show`: prints entries in full or in part, the state of a file, or the data of a session. */
export const runShow: Command<ShowOptions> = async ({ io, out, args: [name, ...given], options }) => {
  const entries = given.filter((one) => one !== undefined);
  await withStore(io, options.store, "read", async (store) => {
    await loadExactWidths();
    const chosen = await chooseSession(store, io, out, name, "store");
    const { file, lines, grep, around } = options;
    const [entryName] = entries;
    if (file !== undefined) return showFile(out, chosen.session, file, entryName, options);
    if (entries.length > 1 || (entryName !== undefined && (lines ?? grep ?? around) !== undefined))
      return showEntries(out, chosen.session, entries, options);
    if (entryName !== undefined) return showEntry(out, chosen.session, entryName, options.json === true, await readPrices(io));
    if ((lines ?? grep ?? around) !== undefined)
      throw new UsageError("--lines, --grep and --around need an entry: bough show SESSION ENTRY.");
    return showSession(out, store, chosen, options.json === true);
  });
};

async function showEntries(out: Printer, session: Session, entries: readonly string[], options: ShowOptions): Promise<void> {
  const { recallRead } = await import("@bough/compaction");
  const { lines, grep, around = 0, json = false } = options;
  // A person has named these entries, so private ones are shown, with a mark.
  const limits = { maxChars: PRINTED_CHARS, includePrivate: true };
  const { text, data } = await recallRead(session, { entries: [...entries], lines, grep, around }, limits);
  await printAnswer(out, { text, data: { entries: data.entries, text, next: data.next } }, json);
}

async function showFile(out: Printer, session: Session, path: string, at: string | undefined, options: ShowOptions): Promise<void> {
  const { recallFile } = await import("@bough/compaction");
  const { lines, grep } = options;
  const answer = await recallFile(session, { path, at, lines, grep }, { maxChars: PRINTED_CHARS });
  await printAnswer(out, answer, options.json === true);
}

async function showEntry(out: Printer, session: Session, name: string, json: boolean, prices: PriceList): Promise<void> {
  const entry = await session.entry(await resolveEntry(session, out, name));
  const label = (await session.labels.list()).find(({ entryId }) => entryId === entry.id)?.label ?? null;
  if (json) return out.json({ sessionId: session.id, label, entry });
  const ids = await shortEntryIds(session, entry.parentId === null ? [entry.id] : [entry.id, entry.parentId], out);
  out.line(styled("bold", entryKind(entry)), styled("dim", `  ${ids.get(entry.id) ?? entry.id}  ${dateTime(entry.createdAtMs)}`));
  out.line(styled("dim", "parent: "), entry.parentId === null ? "none (first entry)" : (ids.get(entry.parentId) ?? entry.parentId));
  if (label !== null) out.line(styled("dim", "label: "), styled("label", label));
  await out.lines(entryLines(entry, prices));
}

type SessionDetails = Awaited<ReturnType<typeof readDetails>>;

async function readDetails(store: Store, session: Session) {
  const [leaves, branchPoints, tips, labels, children] = await Promise.all([
    session.leaves(),
    session.tree.branchPoints(),
    session.tree.tips(),
    session.labels.list(),
    listSessions(store, { parentId: session.id, kind: "all", archived: "all", empty: true }),
  ]);
  return { leaves, branchPoints, tips, labels, children };
}

async function showSession(out: Printer, store: Store, { session, record }: ChosenSession, json: boolean): Promise<void> {
  const facts = await readDetails(store, session);
  if (json) return out.json({ session: record, ...facts });
  const ids = await readShortIds(store, session, record, facts, out);
  await out.lines(renderRecord(record, ids));
  for (const line of renderDetails(facts, ids)) out.fitted(...line);
}

/** The short ids of the sessions and entries that are shown, by id. */
interface ShownIds {
  readonly session: (id: string) => string;
  readonly entry: (id: string) => string;
}

async function readShortIds(store: Store, session: Session, record: SessionRecord, facts: SessionDetails, out: Printer): Promise<ShownIds> {
  const { leaves, labels, branchPoints, tips, children } = facts;
  const entryIds = [...leaves.flatMap(({ entryId }) => entryId ?? []), ...labels.map(({ entryId }) => entryId)];
  const rowIds = [...branchPoints.slice(0, LISTED), ...tips.slice(0, LISTED)].map(({ id }) => id);
  const entries = await shortEntryIds(session, [...entryIds, ...rowIds], out);
  const sessions = new Map<string, string>();
  const near = [...(record.parent === null ? [] : [record.parent.sessionId]), ...children.slice(0, LISTED).map(({ id }) => id)];
  for (const id of near) sessions.set(id, await shortSessionId(store, id, out));
  return { session: (id) => sessions.get(id) ?? id, entry: (id) => entries.get(id) ?? id };
}

function renderRecord(record: SessionRecord, ids: ShownIds): readonly Line[] {
  const { parent, source } = record;
  return [
    [styled("bold", sessionTitle(record))],
    fieldLine("id", record.id),
    fieldLine("kind", record.kind + (record.archivedAtMs === null ? "" : ", archived")),
    fieldLine("directory", record.cwd ?? "unknown"),
    fieldLine("created", dateTime(record.createdAtMs)),
    fieldLine("active", dateTime(record.activeAtMs)),
    fieldLine(
      "size",
      `${counted(record.entryCount, "entry", "entries")}, ${counted(record.messageCount, "message")}, ${bytes(record.payloadBytes)}`,
    ),
    ...(parent === null
      ? []
      : [
          fieldLine(
            parent.toolCallId === null ? "forked from" : "subagent of",
            parent.entryId === null ? ids.session(parent.sessionId) : `${ids.session(parent.sessionId)} at ${parent.entryId}`,
          ),
        ]),
    ...(source === null ? [] : [fieldLine("imported from", `${source.path} (${source.format})`)]),
  ];
}

/** Maximum rows per list; `bough tree` prints all. */
const LISTED = 20;

function renderDetails({ leaves, branchPoints, tips, labels, children }: SessionDetails, ids: ShownIds): readonly Line[] {
  return [
    ...leaves.map(({ name, entryId }) =>
      fieldLine(name === "main" ? "leaf" : `leaf ${name}`, entryId === null ? "before the first entry" : ids.entry(entryId)),
    ),
    ...renderList("labels", labels, ({ label, entryId }) => [styled("label", `[${label}]`), `  ${ids.entry(entryId)}`]),
    ...renderList("branch points", branchPoints, (row) => renderEntryRow(row, ids)),
    ...renderList("ends of branches", tips, (row) => renderEntryRow(row, ids)),
    ...renderList("forks and subagents", children, (child) => [styled("dim", `${ids.session(child.id)}  `), sessionTitle(child)]),
  ];
}

function renderEntryRow(row: OutlineRow, ids: ShownIds): Line {
  return [styled("dim", `${ids.entry(row.id)}  `), ...rowText(row)];
}

function renderList<T>(name: string, items: readonly T[], lineOf: (item: T) => Line): readonly Line[] {
  if (items.length === 0) return [];
  const shown = items.slice(0, LISTED).map((item): Line => ["  ", ...lineOf(item)]);
  const rest: readonly Line[] = items.length > LISTED ? [[styled("dim", `  and ${items.length - LISTED} more`)]] : [];
  return [fieldLine(name, String(items.length)), ...shown, ...rest];
}
