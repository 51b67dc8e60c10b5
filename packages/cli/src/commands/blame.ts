import type { BlamedEntry, BlamedFile, BlamedLine } from "@bough/compaction";
import type { Store } from "@bough/session-core";
import { counted } from "@bough/session-core/view";
import { BlameSourceError, MissingFileError, UsageError } from "../errors.js";
import { type ItemColumn, printTable } from "../format/table.js";
import { dateTime } from "../format/time.js";
import { type BlamedSource, groupLines, type LineGroup, readCommit, readCommittedFile, readWorkingFile } from "../session/blamed-file.js";
import { shortEntryId, shortSessionId } from "../session/names.js";
import { withStore } from "../session/open-store.js";
import { fieldLine, type Line, styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { loadExactWidths } from "../terminal/width.js";
import { type Command, type CommonOptions, type Invocation, requireArgument } from "./command.js";

interface BlameOptions extends CommonOptions {
  readonly commit?: string;
  readonly as?: string;
}

/** A file with its answers. */
interface Answered extends BlamedFile {
  readonly source: BlamedSource;
}

/** `bough blame`: names the entry whose call wrote each line of a file, or the lines that a commit added. */
export const runBlame: Command<BlameOptions> = async (invocation) => {
  const {
    io,
    args: [given],
    options,
  } = invocation;
  if (given === undefined && options.commit === undefined)
    throw new UsageError("Name a file, or a commit: bough blame FILE[:LINE], bough blame --commit HEAD.");
  await withStore(io, options.store, "read", async (store) => {
    await loadExactWidths();
    return given === undefined
      ? blameCommit(invocation, store, options.commit ?? "HEAD")
      : blameLines(invocation, store, requireArgument(given));
  });
};

async function blameLines({ io, out, options }: Invocation<BlameOptions>, store: Store, given: string): Promise<void> {
  const { commit, as } = options;
  const { file, range } = await splitRange(given, async (path) =>
    commit === undefined ? readWorkingFile(io, path, as) : readCommittedFile(io, commit, path, as),
  ).catch((error: unknown) => {
    if (!(error instanceof MissingFileError)) throw error;
    throw new BlameSourceError(`${error.message} If a commit has it: bough blame ${given} --commit REV`, { cause: error });
  });
  const count = countLines(file.request.text);
  if (range !== undefined && (range.from < 1 || range.from > count || range.to < range.from))
    throw new BlameSourceError(
      `${file.shown} has ${counted(count, "line")}; ${range.from === range.to ? `line ${range.from}` : `lines ${range.from}-${range.to}`} cannot be shown.`,
    );
  const answered = await ask(store, { ...file, request: { ...file.request, lines: range } });
  if (options.json === true) return out.json({ commit: commit ?? null, ...(await toJson(store, out, answered)) });
  const groups = groupLines(answered.lines);
  if (range !== undefined && groups.length <= MOST_DETAILED) await printDetails(out, store, answered, groups);
  else await printGroups(out, store, answered, groups);
  for (const note of answered.notes) out.line(styled("dim", note));
}

/** `a.ts:12-20`: a file and lines. A file whose whole name looks like this is taken as a file. */
async function splitRange<T>(
  name: string,
  read: (path: string) => Promise<T>,
): Promise<{ readonly file: T; readonly range?: { from: number; to: number } }> {
  const [, path, first, last] = /^(.+):(\d{1,9})(?:-(\d{1,9}))?$/s.exec(name) ?? [];
  if (path === undefined) return { file: await read(name) };
  try {
    return { file: await read(path), range: { from: Number(first), to: Number(last ?? first) } };
  } catch (error) {
    if (!(error instanceof BlameSourceError)) throw error;
    return { file: await read(name).catch(() => Promise.reject(error)) };
  }
}

function countLines(text: string): number {
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

async function ask(store: Store, source: BlamedSource): Promise<Answered> {
  const { blameFile } = await import("@bough/compaction");
  return { source, ...(await blameFile(store, source.request)) };
}

/** Most groups of lines that are shown with everything about their entry. */
const MOST_DETAILED = 6;

const NOT_HERE = "not by a session of this store";

function range({ line, last }: LineGroup): string {
  return line === last ? String(line) : `${line}-${last}`;
}

/** The ids of an entry as other commands take them. */
interface ShownIds {
  readonly session: string;
  readonly entry: string;
}

async function readIds(out: Printer, store: Store, { sessionId, entryId }: BlamedEntry): Promise<ShownIds> {
  const session = await store.openSession(sessionId);
  return { session: await shortSessionId(store, sessionId, out), entry: await shortEntryId(session, entryId, out) };
}

/** A group of lines with the entry that wrote them; undefined: none did. */
interface GroupRow {
  readonly group: LineGroup;
  readonly entry: BlamedEntry | undefined;
  readonly ids: ShownIds | undefined;
}

const COLUMNS: readonly ItemColumn<GroupRow>[] = [
  { heading: "lines", align: "right", cell: ({ group }) => [range(group)] },
  { heading: "session", cell: ({ ids }) => [ids?.session ?? ""] },
  { heading: "entry", cell: ({ ids }) => [ids?.entry ?? ""] },
  { heading: "agent", optional: true, cell: ({ entry }) => [entry?.agent ?? ""] },
  { heading: "written", optional: true, cell: ({ entry }) => [styled("dim", entry === undefined ? "" : dateTime(entry.createdAtMs))] },
  { heading: "request", shrinksTo: 20, cell: requestCell },
];

function requestCell({ group, entry }: GroupRow): Line {
  if (entry === undefined) return [styled("dim", NOT_HERE)];
  const said = entry.request?.text ?? entry.title ?? "";
  return group.verdict === "perhaps" ? [styled("heading", "perhaps: "), said] : [said];
}

async function printGroups(out: Printer, store: Store, { source, lines, entries }: Answered, groups: readonly LineGroup[]): Promise<void> {
  const ids: ShownIds[] = [];
  for (const entry of entries) ids.push(await readIds(out, store, entry));
  const rows = groups.map((group) => ({ group, entry: entries[group.entry ?? -1], ids: ids[group.entry ?? -1] }));
  await printTable(out, COLUMNS, rows);
  out.line(styled("dim", `${summarize(source.shown, lines, entries.length)}.`));
  const [first] = ids;
  if (first !== undefined)
    out.line(
      styled(
        "dim",
        `To open at an entry: ${out.command(`tree ${first.session} ${first.entry} -i`)}; why perhaps: ${out.command(`blame ${source.shown}:LINE`)}`,
      ),
    );
}

function summarize(name: string, lines: readonly BlamedLine[], entries: number): string {
  const of = (verdict: BlamedLine["verdict"]): number => lines.filter((line) => line.verdict === verdict).length;
  const known = `${of("written")} written by ${counted(entries, "entry", "entries")}`;
  return `${name}: ${counted(lines.length, "line")}, ${entries === 0 ? "" : `${known}, ${of("perhaps")} perhaps, `}${of("none")} ${NOT_HERE}`;
}

async function printDetails(out: Printer, store: Store, { source, entries }: Answered, groups: readonly LineGroup[]): Promise<void> {
  const texts = source.request.text.split(/\r?\n/);
  for (const [at, group] of groups.entries()) {
    if (at > 0) out.line();
    out.line(styled("bold", `${source.shown}:${range(group)}`), `  ${texts[group.line - 1]?.trim() ?? ""}`);
    const entry = entries[group.entry ?? -1];
    if (entry === undefined) {
      out.line(...fieldLine("written by", `${NOT_HERE}: ${group.reason}`));
      continue;
    }
    await out.lines(await describeEntry(out, store, entry, group));
  }
}

async function describeEntry(out: Printer, store: Store, entry: BlamedEntry, { verdict, reason }: LineGroup): Promise<readonly Line[]> {
  const { session, entry: id } = await readIds(out, store, entry);
  const who = [`entry ${id} of ${session}`, entry.agent, ...(entry.model === null ? [] : [entry.model]), dateTime(entry.createdAtMs)].join(
    ", ",
  );
  return [
    fieldLine("written by", verdict === "perhaps" ? `perhaps ${who}` : who),
    ...(reason === null ? [] : [fieldLine("perhaps", reason)]),
    fieldLine("session", `${entry.title ?? "(untitled)"}${entry.cwd === null ? "" : `, ${entry.cwd}`}`),
    ...(entry.request === null ? [] : [fieldLine("request", entry.request.text)]),
    fieldLine("open", out.command(`tree ${session} ${id} -i`)),
  ];
}

async function toJson(store: Store, out: Printer, { source, lines, entries, notes }: Answered) {
  const texts = source.request.text.split(/\r?\n/);
  const shown: object[] = [];
  for (const entry of entries) {
    const ids = await readIds(out, store, entry);
    shown.push({ ...entry, open: out.command(`tree ${ids.session} ${ids.entry} -i`) });
  }
  return { file: source.shown, lines: lines.map((line) => ({ ...line, text: texts[line.line - 1] ?? "" })), entries: shown, notes };
}

async function blameCommit({ io, out, options }: Invocation<BlameOptions>, store: Store, revision: string): Promise<void> {
  const { id, subject, files } = await readCommit(io, revision);
  const answered: Answered[] = [];
  for (const { path, lines } of files) {
    const file = await readCommittedFile(io, id, path, undefined).catch(skipUnreadable);
    if (file === undefined) continue;
    const all = await ask(store, file);
    const added = new Set(lines);
    answered.push({ ...all, lines: all.lines.filter(({ line }) => added.has(line)) });
  }
  if (options.json === true) {
    const shown: object[] = [];
    for (const one of answered) shown.push(await toJson(store, out, one));
    return out.json({ commit: id, files: shown });
  }
  out.line(styled("bold", id.slice(0, 12)), `  ${subject}`);
  for (const one of answered) {
    out.line();
    await printGroups(out, store, one, groupLines(one.lines));
  }
  if (answered.length === 0) out.line("It adds no lines of text.");
}

/** A binary file among those of a commit has no lines. */
function skipUnreadable(error: unknown): undefined {
  if (!(error instanceof BlameSourceError)) throw error;
  return undefined;
}
