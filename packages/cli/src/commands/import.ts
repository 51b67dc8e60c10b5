import { resolve } from "node:path";
import {
  type ImportedFileSession,
  type ImportProblem,
  type ImportProgress,
  type ImportReport,
  importPath,
  NoSessionsFoundError,
  type Store,
} from "@bough/session-core";
import { asSourceError } from "@bough/session-core/internals";
import {
  AgentsNotFoundError,
  CancelledError,
  ChoiceNeededError,
  FilesFailedError,
  InvalidJsonError,
  InvalidRecordsError,
} from "../errors.js";
import { count, counted } from "../format/numbers.js";
import { quotePath } from "../format/quote-path.js";
import { type Column, tableLines } from "../format/table.js";
import { describeAgent, describeOthers, findAgents } from "../session/known-agents.js";
import { withStore } from "../session/open-store.js";
import { shortEntryIds, shortSessionId } from "../session/short-ids.js";
import { sessionTitle } from "../session/titles.js";
import { type Line, styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { type Command, type CommonOptions, confirm, type Invocation, requireArgument } from "./command.js";
import { type Progress, startProgress } from "./progress.js";

interface ImportCommandOptions extends CommonOptions {
  readonly verbose?: boolean;
  readonly yes?: boolean;
}

/** `bough import`: imports session files into the store. Without a path it offers those of the agents that it finds. */
export const runImport: Command<ImportCommandOptions> = async (given) => {
  const { io, options } = given;
  const invocation = given.args.length === 0 ? { ...given, args: await chooseFound(given) } : given;
  await withStore(io, options.store, "create", async (store, storeFile) => {
    const reports = await importAll(invocation, store);
    const report = mergeReports(reports);
    const paths = invocation.args.flatMap((path) => (path === undefined ? [] : [resolve(io.cwd, path)]));
    await printReport(invocation.out, store, report, { ...options, storeFile, now: io.now(), paths });
    throwForProblems(report);
  });
};

/** The folders of the agents on this machine, once the user has agreed. */
async function chooseFound({ io, out, options }: Invocation<ImportCommandOptions>): Promise<readonly string[]> {
  const agents = findAgents(io);
  const supported = agents.filter(({ isSupported }) => isSupported);
  if (options.json !== true) for (const agent of agents) await out.note(describeAgent(agent, io.home));
  if (supported.length === 0)
    throw new AgentsNotFoundError("No sessions of Claude Code, pi or oh-my-pi were found. Name a file or folder: bough import PATH.");
  const folders = supported.map(({ folder }) => folder);
  if (options.yes === true) return folders;
  if (io.ask === undefined)
    throw new ChoiceNeededError(
      `Choose what to import: ${folders.map((folder) => `bough import ${quotePath(folder)}`).join(", ")}; or all of it: bough import --yes.`,
    );
  await out.note("The files are only read; importing again adds what is new.");
  await confirm(io, `Import ${supported.map(({ name }) => name).join(", ")}`, "");
  return folders;
}

async function importAll(invocation: Invocation, store: Store): Promise<readonly ImportReport[]> {
  const { io, out } = invocation;
  const { signal, end } = io.cancelOnInterrupt();
  try {
    const reports = await importEach(invocation, store, signal);
    await updateSearchIndex(store, out, await startProgress(io, out, "indexing for search"), signal);
    await packImported(store, await startProgress(io, out, "packing"), signal);
    return reports;
  } finally {
    end();
  }
}

async function importEach({ io, out, args }: Invocation, store: Store, signal: AbortSignal): Promise<readonly ImportReport[]> {
  const reports: ImportReport[] = [];
  for (const given of args) {
    const path = resolve(io.cwd, requireArgument(given));
    const before = reports.reduce((sum, { sessions }) => sum + sessions.length, 0);
    const isNamed = io.progressStream === undefined && reports.length > 0;
    const progress = await startProgress(io, out, isNamed ? undefined : "importing");
    try {
      const onProgress = (at: ImportProgress) => {
        if (signal.aborted) throw interruptedError(before + at.sessionsDone);
        progress.update(at.bytesDone, at.bytesTotal, at.path);
      };
      reports.push(await importPath(store, path, { onProgress }));
    } catch (error) {
      reports.push(await failedReport(out, path, error, args.length === 1));
    } finally {
      progress.end();
    }
  }
  return reports;
}

/** One of several paths (a shell pattern) fails alone; the others are imported. */
async function failedReport(out: Printer, path: string, error: unknown, isOnly: boolean): Promise<ImportReport> {
  if (error instanceof NoSessionsFoundError) for (const kind of describeOthers(path, new Set())) await out.note(kind);
  const failure = error instanceof NoSessionsFoundError ? error : asSourceError(error, path);
  if (isOnly || failure === undefined) throw error;
  return { sessions: [], failed: [{ path, error: failure }], otherFiles: 0 };
}

function interruptedError(sessions: number): CancelledError {
  return new CancelledError(
    sessions === 0
      ? "Interrupted; no session was imported. Run the import again."
      : `Interrupted; ${counted(sessions, "session was", "sessions were")} imported. Run the import again for the others.`,
  );
}

/** Entries to index between two updates of the progress bar. */
const INDEX_STEP = 2000;

async function updateSearchIndex(store: Store, out: Printer, progress: Progress, signal: AbortSignal): Promise<void> {
  try {
    let left = await store.catchUpSearch(INDEX_STEP);
    const total = left;
    if (left > 0) await out.flush();
    for (; left > 0; left = await store.catchUpSearch(INDEX_STEP)) {
      progress.update(total - left, total, counted(left, "entry left", "entries left"));
      if (signal.aborted) throw new CancelledError("Interrupted; every session was imported. Searches find them; they are indexed later.");
    }
  } finally {
    progress.end();
  }
}

async function packImported(store: Store, progress: Progress, signal: AbortSignal): Promise<void> {
  try {
    const onProgress = (done: number, total: number) => progress.update(done, total, counted(done, "entry", "entries"));
    await store.pack({ scope: "old", signal, onProgress });
  } catch (error) {
    if (signal.aborted)
      throw new CancelledError("Interrupted; every session was imported. `bough pack` makes the store smaller.", { cause: error });
    throw error;
  } finally {
    progress.end();
  }
}

function mergeReports(reports: readonly ImportReport[]): ImportReport {
  return {
    sessions: reports.flatMap(({ sessions }) => sessions),
    failed: reports.flatMap(({ failed }) => failed),
    otherFiles: reports.reduce((sum, { otherFiles }) => sum + otherFiles, 0),
  };
}

/** Throws for the most severe kind of problem. A truncated last line is no problem: the agent had not finished writing it. */
function throwForProblems({ failed, sessions }: ImportReport): void {
  const unread = sessions.flatMap(({ problems }) => problems.filter(({ code }) => code === "unreadable-file"));
  const files = new Set([...failed, ...unread].map(({ path }) => path)).size;
  if (files > 0) throw new FilesFailedError(`${counted(files, "file")} could not be imported; see above.`);
  const malformed = countProblems("malformed-line", sessions);
  if (malformed > 0)
    throw new InvalidJsonError(`${counted(malformed, "line")} could not be parsed and were skipped; everything else was imported.`);
  const invalid = countProblems("invalid-record", sessions);
  if (invalid > 0) throw new InvalidRecordsError(`${counted(invalid, "record")} match no schema and were stored as foreign entries.`);
}

function countProblems(code: ImportProblem["code"], sessions: ImportReport["sessions"]): number {
  return sessions.reduce((sum, { problemCounts }) => sum + (problemCounts[code] ?? 0), 0);
}

/** Maximum problems without `--verbose`. */
const SHOWN_PROBLEMS = 20;

/** Maximum sessions without `--verbose`. */
const SHOWN_SESSIONS = 40;

const COLUMNS: readonly Column[] = [
  { heading: "session" },
  { heading: "title", shrinksTo: 12 },
  { heading: "format", optional: true },
  { heading: "outcome" },
  { heading: "entries", align: "right" },
  { heading: "foreign", align: "right", optional: true },
  { heading: "problems", align: "right", optional: true },
];

interface ReportOptions {
  readonly json?: boolean;
  readonly verbose?: boolean;
  readonly storeFile: string;
  readonly now: number;
  /** What was imported. */
  readonly paths: readonly string[];
}

/** Prints the outcome per session, the problems, and commands to run next. */
export async function printReport(out: Printer, store: Store, report: ImportReport, options: ReportOptions): Promise<void> {
  if (options.json === true) return out.json(reportToJson(report, options.storeFile));
  await printSessions(out, store, report.sessions, options);
  printNewIds(out, report.sessions);
  await printKeptLeaves(out, store, report.sessions);
  printProblems(out, report, options.verbose === true);
  printTotals(out, report, options);
}

function reportToJson({ sessions, failed, otherFiles }: ImportReport, storeFile: string) {
  return {
    store: storeFile,
    sessions,
    failed: failed.map(({ path, error }) => ({ path, code: error.code, message: error.message })),
    otherFiles,
  };
}

async function printSessions(out: Printer, store: Store, sessions: readonly ImportedFileSession[], options: ReportOptions): Promise<void> {
  if (sessions.length === 0) return;
  const listed = options.verbose === true ? sessions : sessions.slice(0, SHOWN_SESSIONS);
  const rows = await Promise.all(listed.map((session) => sessionRow(out, store, session)));
  for (const line of await tableLines(COLUMNS, rows, out.width, out.glyphs.ellipsis)) out.line(...line);
  if (listed.length < sessions.length) out.line(styled("dim", `and ${count(sessions.length - listed.length)} more; --verbose lists all`));
}

async function sessionRow(out: Printer, store: Store, session: ImportedFileSession): Promise<readonly Line[]> {
  const record = await store.findSession(session.sessionId);
  return [
    [styled("label", await shortSessionId(store, session.sessionId, out))],
    [record === undefined ? "" : sessionTitle(record)],
    [session.format],
    [session.outcome],
    [session.entriesAdded === 0 ? "0" : `+${count(session.entriesAdded)}`],
    [count(session.foreignAdded)],
    [session.problemCount === 0 ? "0" : styled("error", count(session.problemCount))],
  ];
}

function printNewIds(out: Printer, sessions: readonly ImportedFileSession[]): void {
  for (const { claimedId, sessionId, path } of sessions) {
    if (claimedId === sessionId) continue;
    out.line(`${path} has the id ${claimedId} of a different session in the store; it was imported as ${sessionId}.`);
  }
}

/** Says which leaves did not follow the import, and how to move them to the new end. */
async function printKeptLeaves(out: Printer, store: Store, sessions: readonly ImportedFileSession[]): Promise<void> {
  for (const { sessionId, leafKept } of sessions) {
    if (leafKept === null) continue;
    const { leafId, endId, reason } = leafKept;
    const named = [leafId, endId].filter((id) => id !== null);
    const short = await shortEntryIds(await store.openSession(sessionId), named, out);
    const at = leafId === null ? "before the first entry" : `at ${short.get(leafId) ?? leafId}`;
    const why = reason === "placed" ? "where you placed it" : "which is on another branch than the new entries";
    const end = endId === null ? "--start" : (short.get(endId) ?? endId);
    out.line(`The leaf stays ${at}, ${why}. New end: `, styled("bold", `bough go ${await shortSessionId(store, sessionId, out)} ${end}`));
  }
}

function printProblems(out: Printer, { sessions, failed }: ImportReport, verbose: boolean): void {
  // Most messages contain the path.
  for (const { path, error } of failed)
    out.line(styled("error", "failed  "), error.message.includes(path) ? error.message : `${path}: ${error.message}`);
  const problems = sessions.flatMap((session) => session.problems);
  for (const problem of verbose ? problems : problems.slice(0, SHOWN_PROBLEMS)) out.line(...renderProblem(problem));
  const total = sessions.reduce((sum, { problemCount }) => sum + problemCount, 0);
  const unlisted = total - (verbose ? problems.length : Math.min(problems.length, SHOWN_PROBLEMS));
  if (unlisted > 0)
    out.line(styled("dim", `and ${counted(unlisted, "more problem", "more problems")}${verbose ? "" : "; --verbose lists them"}`));
}

function renderProblem({ path, line, code, message }: ImportProblem): Line {
  return [styled("error", code), `  ${line === null ? path : `${path}:${line}`}: ${message}`];
}

function printTotals(out: Printer, { sessions, otherFiles }: ImportReport, { storeFile, paths }: ReportOptions): void {
  const added = sessions.reduce((sum, { entriesAdded }) => sum + entriesAdded, 0);
  const others = otherFiles === 0 ? "" : ` ${counted(otherFiles, "other file")} skipped.`;
  out.line(`${counted(sessions.length, "session")}, ${counted(added, "new entry", "new entries")} in ${storeFile}.${others}`);
  const imported = new Set(sessions.map(({ path }) => path));
  for (const kind of otherFiles === 0 ? [] : paths.flatMap((path) => describeOthers(path, imported))) out.line(styled("dim", kind));
  const [first] = sessions;
  if (first !== undefined) out.line(styled("dim", "Next: bough sessions, bough tree, bough search WORDS"));
}
