import { resolve } from "node:path";
import {
  type ImportProblem,
  type ImportProgress,
  type ImportReport,
  importPath,
  NoSessionsFoundError,
  type Store,
} from "@bough/session-core";
import { sourceFailure } from "@bough/session-core/internals";
import { CancelledError, FilesFailedError, InvalidJsonError, InvalidRecordsError } from "../errors.js";
import { counted } from "../format/numbers.js";
import { withStore } from "../place/open.js";
import type { Printer } from "../terminal/printer.js";
import { type Command, type CommonOptions, type Invocation, required } from "./command.js";
import { printImport } from "./import-report.js";
import { type Progress, startProgress } from "./progress.js";

interface ImportCommandOptions extends CommonOptions {
  readonly verbose?: boolean;
}

/** `bough import`: brings session files into the store. */
export const run: Command<ImportCommandOptions> = async (invocation) => {
  const { io, options } = invocation;
  await withStore(io, options.store, "create", async (store, storeFile) => {
    const reports = await importAll(invocation, store);
    const report = joined(reports);
    await printImport(invocation.out, store, report, { ...options, storeFile, now: io.now() });
    judge(report);
  });
};

async function importAll(invocation: Invocation, store: Store): Promise<readonly ImportReport[]> {
  const { io, out } = invocation;
  const { signal, end } = io.cancelOnInterrupt();
  try {
    const reports = await importEach(invocation, store, signal);
    await index(store, out, await startProgress(io, out, "indexing for search"), signal);
    return reports;
  } finally {
    end();
  }
}

async function importEach({ io, out, args }: Invocation, store: Store, signal: AbortSignal): Promise<readonly ImportReport[]> {
  const reports: ImportReport[] = [];
  for (const given of args) {
    const path = resolve(io.cwd, required(given));
    const before = reports.reduce((sum, { sessions }) => sum + sessions.length, 0);
    const progress = await startProgress(io, out, "importing");
    try {
      const onProgress = (at: ImportProgress) => {
        if (signal.aborted) throw interrupted(before + at.sessionsDone);
        progress.at(at.bytesDone, at.bytesTotal, at.path);
      };
      reports.push(await importPath(store, path, { onProgress }));
    } catch (error) {
      // Of several paths, as a shell's pattern gives them, one that holds no sessions does not keep the others out.
      const failure = error instanceof NoSessionsFoundError ? error : sourceFailure(error, path);
      if (args.length === 1 || failure === undefined) throw error;
      reports.push({ sessions: [], failed: [{ path, error: failure }], otherFiles: 0 });
    } finally {
      progress.end();
    }
  }
  return reports;
}

function interrupted(sessions: number): CancelledError {
  return new CancelledError(
    sessions === 0
      ? "Interrupted; no session is in yet. Import again for all of them."
      : `Interrupted; ${counted(sessions, "session is", "sessions are")} in. Import again for the rest.`,
  );
}

/** Entries that are put into the search index between two signs of life. */
const INDEX_STEP = 2000;

async function index(store: Store, out: Printer, progress: Progress, signal: AbortSignal): Promise<void> {
  try {
    let left = await store.catchUpSearch(INDEX_STEP);
    const total = left;
    if (left > 0) await out.flush();
    for (; left > 0; left = await store.catchUpSearch(INDEX_STEP)) {
      progress.at(total - left, total, counted(left, "entry left", "entries left"));
      if (signal.aborted) throw new CancelledError("Interrupted; every session is in. The next search puts the rest into its index.");
    }
  } finally {
    progress.end();
  }
}

function joined(reports: readonly ImportReport[]): ImportReport {
  return {
    sessions: reports.flatMap(({ sessions }) => sessions),
    failed: reports.flatMap(({ failed }) => failed),
    otherFiles: reports.reduce((sum, { otherFiles }) => sum + otherFiles, 0),
  };
}

/** What was not right with the sources decides how the command ends, the gravest first. What torn lines hold was never whole. */
function judge({ failed, sessions }: ImportReport): void {
  const unread = sessions.flatMap(({ problems }) => problems.filter(({ code }) => code === "unreadable-file"));
  const files = new Set([...failed, ...unread].map(({ path }) => path)).size;
  if (files > 0) throw new FilesFailedError(`${counted(files, "file")} could not be imported; see above.`);
  const malformed = countOf("malformed-line", sessions);
  if (malformed > 0)
    throw new InvalidJsonError(`${counted(malformed, "line")} could not be read and were left out; the rest was imported.`);
  const invalid = countOf("invalid-record", sessions);
  if (invalid > 0) throw new InvalidRecordsError(`${counted(invalid, "record")} fit no schema and were kept as foreign entries.`);
}

function countOf(code: ImportProblem["code"], sessions: ImportReport["sessions"]): number {
  return sessions.reduce((sum, { problemCounts }) => sum + (problemCounts[code] ?? 0), 0);
}
