import {
  AmbiguousNameError,
  type EntryId,
  EntryNotFoundError,
  fileLists,
  type OutlineRow,
  type Session,
  SessionNotFoundError,
  type Store,
  textOf,
} from "@bough/session-core";
import { count, counted, findTextEdits } from "@bough/session-core/view";
import { CommandError, UsageError } from "../errors.js";
import { entryKind, entryLines } from "../format/entry-lines.js";
import { dateTime } from "../format/time.js";
import { diffLines } from "../preview/diff.js";
import { chooseSession } from "../session/choose-session.js";
import { sessionTitle } from "../session/names.js";
import { withStore } from "../session/open-store.js";
import { readPath } from "../session/paging.js";
import type { Io } from "../terminal/io.js";
import { fitLine, type Line, lineWidth, styled, textOfLine } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { loadExactWidths } from "../terminal/width.js";
import { filterBit, filterBits } from "../tree/filter.js";
import { shortIds } from "../tree/print-tree.js";
import { rowText } from "../tree/row-text.js";
import type { Command } from "./command.js";
import { PRINTED_CHARS } from "./recall-output.js";

/** `bough diff`: what each of two branches has that the other one has not. */
export const runDiff: Command = async ({ io, out, args, options }) => {
  await withStore(io, options.store, "read", async (store) => {
    const sides = await chooseSides(
      store,
      io,
      out,
      args.filter((arg) => arg !== undefined),
    );
    const shared = countShared(sides[0].path, sides[1].path);
    const [left, right] = [await restOf(sides[0], shared), await restOf(sides[1], shared)];
    const ancestor = sides[0].path[shared - 1];
    if (options.json === true)
      return out.json({
        commonAncestorId: ancestor?.id ?? null,
        sharedEntries: shared,
        left: toJson(left),
        right: toJson(right),
        filesChanged: changedFiles(left, right),
      });
    await loadExactWidths();
    out.line(...ancestorLine(ancestor, shared, out));
    await printSide(out, "-", left);
    await printSide(out, "+", right);
    await printFiles(out, left, right);
    await printTexts(out, left, right);
  });
};

/** `A B` of the default session, `SESSION A B`, `SESSION B` (with its leaf), or two sessions. */
async function chooseSides(store: Store, io: Io, out: Printer, args: readonly string[]): Promise<readonly [Side, Side]> {
  const [one, two, three] = args;
  if (one === undefined || two === undefined)
    throw new UsageError("Name two branches: bough diff A B, bough diff SESSION A B, or two sessions.");
  if (three !== undefined) {
    const { session } = await chooseSession(store, io, out, one, "store");
    return [await sideOf(session, two), await sideOf(session, three)];
  }
  const [first, second] = [await findSession(store, one), await findSession(store, two)];
  if (isSession(first) && isSession(second)) return [await sideOf(first, "@leaf", one), await sideOf(second, "@leaf", two)];
  if (isSession(first)) return [await sideOf(first, "@leaf"), await entryOf(first, two, second)];
  const { session } = await chooseSession(store, io, out, undefined, "store");
  try {
    return [await entryOf(session, one, first), await entryOf(session, two, second)];
  } catch (error) {
    if (!(error instanceof EntryNotFoundError)) throw error;
    throw new CommandError(
      "ENTRY_NOT_FOUND",
      `${error.message} That is the newest session: name another one first, bough diff SESSION A B.`,
      {
        cause: error,
      },
    );
  }
}

/** The session of a name; an error if it is the name of several, undefined if it is of none. */
type NamedSession = Session | AmbiguousNameError | undefined;

function isSession(named: NamedSession): named is Session {
  return named !== undefined && !(named instanceof AmbiguousNameError);
}

async function findSession(store: Store, name: string): Promise<NamedSession> {
  try {
    return await store.openSession((await store.resolveSession(name)).id);
  } catch (error) {
    if (error instanceof AmbiguousNameError) return error;
    if (error instanceof SessionNotFoundError) return undefined;
    throw error;
  }
}

/** The branch that ends at a named entry. A name that no entry has, and several sessions, is the name of these. */
async function entryOf(session: Session, name: string, asSession: NamedSession): Promise<Side> {
  try {
    return await sideOf(session, name);
  } catch (error) {
    throw error instanceof EntryNotFoundError && asSession instanceof AmbiguousNameError ? asSession : error;
  }
}

/** One of the two branches: the path to an entry of a session. `isEntry`: the user named it, and not the leaf or a session. */
async function sideOf(session: Session, entry: string, name = entry) {
  const id = entry === "@leaf" ? session.leafId : await session.resolve(entry);
  return { session, name, isEntry: entry !== "@leaf", path: await readPath(session, id) };
}

type Side = Awaited<ReturnType<typeof sideOf>>;

/** The length of the common path. Forks keep the ids of the entries that they copy. */
function countShared(a: readonly OutlineRow[], b: readonly OutlineRow[]): number {
  let shared = 0;
  while (shared < a.length && shared < b.length && a[shared]?.id === b[shared]?.id) shared += 1;
  return shared;
}

/** A branch with its entries that are not on the other one (`rows`), and what these did with files. */
async function restOf(side: Side, shared: number) {
  const rows = side.path.slice(shared);
  const [first, last] = [rows[0], rows.at(-1)];
  const range = first === undefined || last === undefined ? undefined : { fromId: first.id, toId: last.id };
  const operations = range === undefined ? [] : await side.session.fileOperations(range);
  const { readFiles, modifiedFiles } = fileLists(operations);
  return { ...side, rows, operations, read: readFiles, modified: modifiedFiles };
}

type Rest = Awaited<ReturnType<typeof restOf>>;

function toJson({ session, name, path, rows, read, modified }: Rest) {
  const entries = rows.map(({ id, type, role, createdAtMs, preview }) => ({ id, type, role, createdAtMs, preview }));
  return { sessionId: session.id, name, entryId: path.at(-1)?.id ?? null, entries, filesRead: read, filesModified: modified };
}

function ancestorLine(ancestor: OutlineRow | undefined, shared: number, out: Printer): Line {
  if (ancestor === undefined) return [styled("bold", "They share no entry.")];
  const left: Line = [
    styled("bold", `${counted(shared, "entry", "entries")} in common`),
    styled("dim", `, the last one ${ancestor.id.slice(0, 8)}  `),
  ];
  return [
    ...left,
    ...fitLine(rowText(ancestor, out.width - lineWidth(left)), Math.max(out.width - lineWidth(left), 0), out.glyphs.ellipsis),
  ];
}

async function printSide(out: Printer, mark: "-" | "+", side: Rest): Promise<void> {
  const style = mark === "-" ? "removed" : "added";
  const record = await side.session.record();
  const shown = side.rows.filter((row) => (filterBits(row) & filterBit("default")) !== 0);
  const hidden = side.rows.length - shown.length;
  const entries = `${counted(side.rows.length, "entry", "entries")}${hidden === 0 ? "" : `, ${count(hidden)} of them hidden`}`;
  out.line();
  out.line(styled(style, `${mark}${mark}${mark} ${side.name}`), styled("dim", `  ${sessionTitle(record)}: ${entries}`));
  const ids = shortIds(
    side.rows.map(({ id }) => id),
    side.path,
  );
  for (const row of shown) {
    const left: Line = [
      styled(style, `${mark} `),
      styled("label", ids.get(row.id) ?? row.id),
      styled("dim", `  ${dateTime(row.createdAtMs)}  `),
    ];
    const room = Math.max(out.width - lineWidth(left), 0);
    out.line(...left, ...fitLine(rowText(row, room, out.glyphs.ellipsis), room, out.glyphs.ellipsis));
    await out.pump();
  }
}

/** The files that tool calls changed, by the branches that changed them. */
function changedFiles(left: Rest, right: Rest) {
  const [before, after] = [new Set(left.modified), new Set(right.modified)];
  return {
    onlyLeft: left.modified.filter((file) => !after.has(file)),
    onlyRight: right.modified.filter((file) => !before.has(file)),
    both: left.modified.filter((file) => after.has(file)),
  };
}

/** Prints the changed files. For a file that both branches changed, also prints the difference of its last known texts. */
async function printFiles(out: Printer, left: Rest, right: Rest): Promise<void> {
  const { onlyLeft, onlyRight, both } = changedFiles(left, right);
  for (const [where, files] of [
    [`only on ${left.name}`, onlyLeft],
    [`only on ${right.name}`, onlyRight],
    ["on both", both],
  ] as const) {
    if (files.length === 0) continue;
    out.line();
    out.line(styled("bold", `Files changed ${where}:`));
    for (const file of files) out.line("  ", file);
  }
  for (const file of both) await printFile(out, file, left, right);
}

async function printFile(out: Printer, file: string, left: Rest, right: Rest): Promise<void> {
  const [before, after] = [await stateOf(left, file), await stateOf(right, file)];
  out.line();
  if (before === undefined || after === undefined) {
    out.line(styled("bold", file), styled("dim", "  its whole text is not known; the edits:"));
    await printEdits(out, "---", left, file);
    await printEdits(out, "+++", right, file);
    return;
  }
  const lines = diffLines(before.text, after.text, out.width, out.glyphs);
  out.line(styled("bold", file), styled("dim", lines.length === 0 ? "  the same text on both" : "  as the tool calls left it"));
  for (const [name, { note }] of [
    [left.name, before],
    [right.name, after],
  ] as const)
    if (note !== "") out.line(styled("dim", `  ${name}: ${note}`));
  await out.lines(lines);
}

const NOTES = { known: "", outdated: "changed again by a call that cannot be replayed", deleted: "deleted" } as const;

/** The last known text of a file on a branch; undefined: no call shows it. */
async function stateOf({ session, path }: Rest, file: string): Promise<{ readonly text: string; readonly note: string } | undefined> {
  const { recallFile } = await import("@bough/compaction");
  const { data } = await recallFile(session, { path: file, at: path.at(-1)?.id }, { maxChars: PRINTED_CHARS });
  return data.state === "unknown" ? undefined : { text: data.content ?? "", note: NOTES[data.state] };
}

async function printEdits(out: Printer, mark: "---" | "+++", { session, name, operations }: Rest, file: string): Promise<void> {
  out.line(styled(mark === "---" ? "removed" : "added", `${mark} ${name}`));
  for (const { path, kind, entryId, toolCallId } of operations) {
    if (path !== file || kind === "read") continue;
    const edits = await editsOf(session, entryId, toolCallId);
    if (edits.length === 0) out.line(styled("dim", `${kind} in ${entryId.slice(0, 8)}`));
    for (const { before, after } of edits) await out.lines(diffLines(before, after, out.width, out.glyphs));
  }
  await out.pump();
}

async function editsOf(session: Session, entryId: EntryId, toolCallId: string) {
  const entry = await session.entry(entryId);
  if (entry.type !== "message" || entry.message.role !== "assistant") return [];
  const call = entry.message.content.find((block) => block.type === "toolCall" && block.id === toolCallId);
  return (call?.type === "toolCall" ? findTextEdits(call.arguments)?.edits : undefined) ?? [];
}

/**
 * Prints the difference of two entries of one kind that the user named, in full; else of the messages of the user with which the
 * branches begin: a message that was sent again with changes.
 */
async function printTexts(out: Printer, left: Rest, right: Rest): Promise<void> {
  const named = left.isEntry && right.isEntry ? await namedTexts(left, right) : undefined;
  const firsts = named ?? { title: "The first message of the user on each:", before: await firstText(left), after: await firstText(right) };
  const { title, before, after } = firsts;
  if (before === undefined || after === undefined) return;
  const lines = diffLines(`${before}\n`, `${after}\n`, out.width, out.glyphs);
  if (lines.length === 0 && named === undefined) return;
  out.line();
  out.line(styled("bold", title), lines.length === 0 ? styled("dim", " no difference") : "");
  await out.lines(lines);
}

/** The texts of the two named entries; undefined if they are of different kinds, or the same. */
async function namedTexts(left: Rest, right: Rest) {
  const [from, to] = [left.path.at(-1), right.path.at(-1)];
  if (from === undefined || to === undefined || from.id === to.id) return undefined;
  const [one, other] = [await left.session.entry(from.id), await right.session.entry(to.id)];
  if (entryKind(one) !== entryKind(other)) return undefined;
  const [before, after] = [one, other].map((entry) => entryLines(entry).map(textOfLine).join("\n"));
  return { title: `The texts of ${left.name} and ${right.name}:`, before, after };
}

async function firstText({ session, rows }: Rest): Promise<string | undefined> {
  const row = rows.find(({ role }) => role === "user");
  const entry = row === undefined ? undefined : await session.entry(row.id);
  return entry?.type === "message" && entry.message.role === "user" ? textOf(entry.message.content) : undefined;
}
