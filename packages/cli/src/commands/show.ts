import type { LeafRecord, OutlineRow, Session, SessionRecord, Store } from "@bough/session-core";
import { entryKind, entryLines } from "../format/entry-lines.js";
import { bytes, counted } from "../format/numbers.js";
import { dateTime } from "../format/time.js";
import { type ChosenSession, chooseSession, sessionName, sessionTitle } from "../session/choose-session.js";
import { withStore } from "../session/open-store.js";
import { fieldLine, fitLine, type Line, styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { loadExactWidths } from "../terminal/width.js";
import { rowText } from "../tree/row-text.js";
import type { Command } from "./command.js";

/** `bough show`: prints one entry in full, or the data of a session. */
export const runShow: Command = async ({ io, out, args: [name, entryName], options }) => {
  await withStore(io, options.store, "read", async (store) => {
    await loadExactWidths();
    const chosen = await chooseSession(store, io, out, name, "store");
    if (entryName !== undefined) return showEntry(out, chosen.session, entryName, options.json === true);
    return showSession(out, store, chosen, options.json === true);
  });
};

async function showEntry(out: Printer, session: Session, name: string, json: boolean): Promise<void> {
  const entry = await session.entry(await session.resolve(name));
  const label = (await session.labels.list()).find(({ entryId }) => entryId === entry.id)?.label ?? null;
  if (json) return out.json({ sessionId: session.id, label, entry });
  out.line(styled("bold", entryKind(entry)), styled("dim", `  ${entry.id}  ${dateTime(entry.createdAtMs)}`));
  out.line(styled("dim", "parent: "), entry.parentId ?? "none (first entry)");
  if (label !== null) out.line(styled("dim", "label: "), styled("label", label));
  for (const line of entryLines(entry)) {
    out.line(...line);
    await out.pump();
  }
}

interface SessionDetails {
  readonly leaves: readonly LeafRecord[];
  readonly branchPoints: readonly OutlineRow[];
  readonly tips: readonly OutlineRow[];
  readonly labels: Awaited<ReturnType<Session["labels"]["list"]>>;
  readonly children: readonly SessionRecord[];
}

async function showSession(out: Printer, store: Store, { session, record }: ChosenSession, json: boolean): Promise<void> {
  const [leaves, branchPoints, tips, labels, children] = await Promise.all([
    session.leaves(),
    session.tree.branchPoints(),
    session.tree.tips(),
    session.labels.list(),
    store.listSessions({ parentId: session.id, kind: "all", archived: "all", empty: true }),
  ]);
  const facts: SessionDetails = { leaves, branchPoints, tips, labels, children: children.items };
  if (json) return out.json({ session: record, ...facts });
  for (const line of renderRecord(record)) out.line(...line);
  for (const line of renderDetails(facts)) out.line(...fitLine(line, out.width, out.glyphs.ellipsis));
}

function renderRecord(record: SessionRecord): readonly Line[] {
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
      : [fieldLine("parent", parent.entryId === null ? parent.sessionId : `${parent.sessionId} at ${parent.entryId}`)]),
    ...(source === null ? [] : [fieldLine("imported from", `${source.path} (${source.format})`)]),
  ];
}

/** Maximum rows per list; `bough tree` prints all. */
const LISTED = 20;

function renderDetails({ leaves, branchPoints, tips, labels, children }: SessionDetails): readonly Line[] {
  return [
    ...leaves.map(({ name, entryId }) => fieldLine(name === "main" ? "leaf" : `leaf ${name}`, entryId ?? "before the first entry")),
    ...renderList("labels", labels, ({ label, entryId }) => [styled("label", `[${label}]`), `  ${entryId}`]),
    ...renderList("branch points", branchPoints, renderEntryRow),
    ...renderList("ends of branches", tips, renderEntryRow),
    ...renderList("forks and subagents", children, (child) => [sessionName(child)]),
  ];
}

function renderEntryRow(row: OutlineRow): Line {
  return [styled("dim", `${row.id}  `), ...rowText(row)];
}

function renderList<T>(name: string, items: readonly T[], lineOf: (item: T) => Line): readonly Line[] {
  if (items.length === 0) return [];
  const shown = items.slice(0, LISTED).map((item): Line => ["  ", ...lineOf(item)]);
  const rest: readonly Line[] = items.length > LISTED ? [[styled("dim", `  and ${items.length - LISTED} more`)]] : [];
  return [fieldLine(name, String(items.length)), ...shown, ...rest];
}
