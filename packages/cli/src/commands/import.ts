import { access } from "node:fs/promises";
import { resolve } from "node:path";
import {
  asSourceError,
  assertImportable,
  type ImportedFileSession,
  type ImportProgress,
  type ImportReport,
  importPath,
  NoConversationError,
  NoSessionsFoundError,
  syncSessions,
} from "@bough/formats";
import type { SessionRecord, Store } from "@bough/session-core";
import { errorCode } from "@bough/session-core/engine";
import { count, counted } from "@bough/session-core/view";
import { CancelledError, CommandError } from "../errors.js";
import { quotePath } from "../format/path.js";
import { type ItemColumn, printTable } from "../format/table.js";
import { describeAgent, findAgents, sourceEnvironment } from "../session/known-agents.js";
import { sessionTitle, shortEntryIds, shortSessionId } from "../session/names.js";
import { withStore } from "../session/open-store.js";
import { locateStore } from "../session/store-location.js";
import { styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { type Command, type CommonOptions, confirm, type Invocation, requireArgument } from "./command.js";
import { startProgress } from "./progress.js";
import { indexImported, printHeld, printProblems, printSkipped, throwForProblems } from "./report-import.js";

interface ImportCommandOptions extends CommonOptions {
  readonly verbose?: boolean;
  readonly yes?: boolean;
}

/** `bough import`: imports session files into the store. Without a path it offers those of the agents that it finds. */
export const runImport: Command<ImportCommandOptions> = async (invocation) => {
  const { io, out, args, options } = invocation;
  const isSync = args.length === 0;
  if (isSync) await agreeToFound(invocation);
  else await checkBeforeCreating(invocation);
  await withStore(io, options.store, "create", async (store, { name: place }) => {
    const report = await importAll(invocation, store, isSync ? syncFound : importEach);
    await printReport(out, store, report, { ...options, place, isSync });
    throwForProblems(report);
  });
};

/** A name that was mistyped must not leave an empty store behind: where there is none yet, one path at least has to have sessions. */
async function checkBeforeCreating({ io, args, options }: Invocation<ImportCommandOptions>): Promise<void> {
  const { isServer, address } = await locateStore(io, options.store);
  if (isServer || !(await isMissing(address))) return;
  const failures: unknown[] = [];
  for (const given of args) {
    try {
      return await assertImportable(resolve(io.cwd, requireArgument(given)));
    } catch (error) {
      failures.push(error);
    }
  }
  throw failures[0];
}

/** False also where the system does not say: the store then reports why. */
async function isMissing(path: string): Promise<boolean> {
  try {
    await access(path);
    return false;
  } catch (error) {
    return errorCode(error) === "ENOENT";
  }
}

/** Names the agents on this machine and asks whether to import their sessions. */
async function agreeToFound({ io, out, options }: Invocation<ImportCommandOptions>): Promise<void> {
  const agents = await findAgents(io);
  if (options.json !== true) for (const agent of agents) await out.note(describeAgent(agent, io.home));
  if (agents.length === 0)
    throw new CommandError(
      "AGENTS_NOT_FOUND",
      "No sessions of an agent were found at the usual places. Name a file or folder: bough import PATH.",
    );
  const folders = agents.map(({ folder }) => folder);
  if (options.yes === true) return;
  if (io.ask === undefined)
    throw new CommandError(
      "CHOICE_NEEDED",
      `Choose what to import: ${folders.map((folder) => out.command(`import ${quotePath(folder)}`)).join(", ")}; or all of it: ${out.command("import --yes")}.`,
    );
  await out.note("The files are only read; importing again adds what is new.");
  await confirm(io, `Import ${[...new Set(agents.map(({ name }) => name))].join(", ")}`, "");
}

type Import = (invocation: Invocation, store: Store, signal: AbortSignal) => Promise<ImportReport>;

async function importAll(invocation: Invocation, store: Store, run: Import): Promise<ImportReport> {
  const { io, out } = invocation;
  const { signal, end } = io.cancelOnInterrupt();
  try {
    const report = await run(invocation, store, signal);
    await indexImported(store, io, out, signal);
    return report;
  } finally {
    end();
  }
}

/** Imports what is new of every agent, and remembers the files as `bough sync` does. */
const syncFound: Import = async ({ io, out }, store, signal) => {
  const progress = await startProgress(io, out, "importing");
  let done = 0;
  const onProgress = (at: ImportProgress) => {
    done = at.sessionsDone;
    progress.update(at.bytesDone, at.bytesTotal, at.path);
  };
  try {
    const { agents } = await syncSessions(store, { environment: sourceEnvironment(io), signal, onProgress });
    const isNews = (one: ImportedFileSession) => one.outcome !== "unchanged" || one.problemCount > 0;
    return mergeReports(agents.map(({ sessions, failed }) => ({ sessions: sessions.filter(isNews), failed, otherFiles: 0, skipped: [] })));
  } catch (error) {
    throw signal.aborted ? interruptedError(done, { cause: error }) : error;
  } finally {
    progress.end();
  }
};

const importEach: Import = async ({ io, out, args }, store, signal) => {
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
      reports.push(await importPath(store, path, { onProgress, environment: sourceEnvironment(io) }));
    } catch (error) {
      reports.push(failedReport(path, error, args.length === 1));
    } finally {
      progress.end();
    }
  }
  return mergeReports(reports);
};

/** One of several paths (a shell pattern) fails alone; the others are imported. */
function failedReport(path: string, error: unknown, isOnly: boolean): ImportReport {
  if (isOnly) throw error;
  if (error instanceof NoConversationError)
    return { sessions: [], failed: [], otherFiles: 1, skipped: [{ path, reason: NoConversationError.REASON }] };
  const failure = error instanceof NoSessionsFoundError ? error : asSourceError(error, path);
  if (failure === undefined) throw error;
  return { sessions: [], failed: [{ path, error: failure }], otherFiles: 0, skipped: [] };
}

function interruptedError(sessions: number, options?: { readonly cause: unknown }): CancelledError {
  return new CancelledError(
    sessions === 0
      ? "Interrupted; no session was imported. Run the import again."
      : `Interrupted; ${counted(sessions, "session was", "sessions were")} imported. Run the import again for the others.`,
    options,
  );
}

function mergeReports(reports: readonly ImportReport[]): ImportReport {
  return {
    sessions: reports.flatMap(({ sessions }) => sessions),
    failed: reports.flatMap(({ failed }) => failed),
    otherFiles: reports.reduce((sum, { otherFiles }) => sum + otherFiles, 0),
    skipped: reports.flatMap(({ skipped }) => skipped),
  };
}

/** Maximum sessions without `--verbose`. */
const SHOWN_SESSIONS = 40;

const columnsIn = (store: Store): readonly ItemColumn<ImportedFileSession>[] => [
  { heading: "session", cell: async ({ sessionId }, out) => [styled("label", await shortSessionId(store, sessionId, out))] },
  { heading: "title", shrinksTo: 12, cell: async ({ sessionId }) => [titleOf(await store.findSession(sessionId))] },
  { heading: "format", optional: true, cell: ({ format }) => [format] },
  { heading: "outcome", cell: ({ outcome }) => [outcome] },
  { heading: "entries", align: "right", cell: ({ entriesAdded }) => [entriesAdded === 0 ? "0" : `+${count(entriesAdded)}`] },
  { heading: "foreign", align: "right", optional: true, cell: ({ foreignAdded }) => [count(foreignAdded)] },
  { heading: "problems", align: "right", optional: true, cell: ({ problemCount: n }) => [n === 0 ? "0" : styled("error", count(n))] },
];

interface ReportOptions {
  readonly json?: boolean;
  readonly verbose?: boolean;
  /** The store as it is printed. */
  readonly place: string;
  /** True if unchanged files were skipped. */
  readonly isSync: boolean;
}

/** Prints the problems, the outcome per session, and commands to run next. */
async function printReport(out: Printer, store: Store, report: ImportReport, options: ReportOptions): Promise<void> {
  if (options.json === true) return out.json(reportToJson(report, options.place));
  // The result comes last, where it is read: there may be many problems.
  printProblems(out, report, options.verbose === true);
  if (options.verbose === true) printSkipped(out, report);
  printNewIds(out, report.sessions);
  await printKeptLeaves(out, store, report.sessions);
  await printSessions(out, store, report.sessions, options);
  printHeld(out, report.sessions);
  printTotals(out, report, options);
}

function reportToJson({ sessions, failed, otherFiles, skipped }: ImportReport, place: string) {
  return {
    store: place,
    sessions,
    failed: failed.map(({ path, error }) => ({ path, code: error.code, message: error.message })),
    otherFiles,
    skipped,
  };
}

async function printSessions(out: Printer, store: Store, sessions: readonly ImportedFileSession[], options: ReportOptions): Promise<void> {
  if (sessions.length === 0) return;
  const listed = options.verbose === true ? sessions : sessions.slice(0, SHOWN_SESSIONS);
  await printTable(out, columnsIn(store), listed);
  if (listed.length < sessions.length) out.line(styled("dim", `and ${count(sessions.length - listed.length)} more; --verbose lists all`));
}

function titleOf(record: SessionRecord | undefined): string {
  return record === undefined ? "" : sessionTitle(record);
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
    out.line(
      `The leaf stays ${at}, ${why}. New end: `,
      styled("bold", out.command(`go ${await shortSessionId(store, sessionId, out)} ${end}`)),
    );
  }
}

function printTotals(
  out: Printer,
  { sessions, otherFiles, failed }: ImportReport,
  { place, isSync, verbose: isVerbose }: ReportOptions,
): void {
  if (isSync && sessions.length === 0 && failed.length === 0) {
    out.line(`Everything was up to date in ${place}.`);
    return;
  }
  const added = sessions.reduce((sum, { entriesAdded }) => sum + entriesAdded, 0);
  const which = isVerbose ? "." : "; --verbose names them.";
  const others = otherFiles === 0 ? "" : ` ${counted(otherFiles, "other file")} skipped${which}`;
  out.line(`${counted(sessions.length, "session")}, ${counted(added, "new entry", "new entries")} in ${place}.${others}`);
  const [first] = sessions;
  if (first !== undefined)
    out.line(
      styled("dim", `Next: ${["sessions", "tree", "search WORDS"].map((one) => out.command(one)).join(", ")}`),
      styled("dim", isSync ? `; later: ${out.command("sync")}` : ""),
    );
}
