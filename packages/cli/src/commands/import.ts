import { resolve } from "node:path";
import {
  type BoughError,
  type ImportReport,
  importPath,
  NoSessionsFoundError,
  SourceNotFoundError,
  type Store,
  UnknownFormatError,
  UnknownFormatVersionError,
} from "@bough/session-core";
import { FilesFailedError, InvalidJsonError, InvalidRecordsError } from "../errors.js";
import { counted } from "../format/numbers.js";
import { withStore } from "../place/open.js";
import type { Printer } from "../terminal/printer.js";
import type { Command, CommonOptions, Invocation } from "./command.js";
import { required } from "./command.js";
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

async function importAll({ io, out, args }: Invocation, store: Store): Promise<readonly ImportReport[]> {
  const reports: ImportReport[] = [];
  for (const given of args) {
    const path = resolve(io.cwd, required(given));
    const progress = await startProgress(io, out, "importing");
    try {
      reports.push(await importPath(store, path, { onProgress: (at) => progress.at(at.bytesDone, at.bytesTotal, at.path) }));
    } catch (error) {
      // Of several paths, as a shell's pattern gives them, one that holds no sessions does not keep the others out.
      if (args.length === 1 || !isOfPath(error)) throw error;
      reports.push({ sessions: [], failed: [{ path, error }], otherFiles: 0 });
    } finally {
      progress.end();
    }
  }
  await index(store, out, await startProgress(io, out, "indexing for search"));
  return reports;
}

function isOfPath(error: unknown): error is BoughError {
  return (
    error instanceof SourceNotFoundError ||
    error instanceof NoSessionsFoundError ||
    error instanceof UnknownFormatError ||
    error instanceof UnknownFormatVersionError
  );
}

/** Entries that are put into the search index between two signs of life. */
const INDEX_STEP = 2000;

async function index(store: Store, out: Printer, progress: Progress): Promise<void> {
  try {
    let left = await store.catchUpSearch(INDEX_STEP);
    const total = left;
    if (left > 0) await out.flush();
    for (; left > 0; left = await store.catchUpSearch(INDEX_STEP))
      progress.at(total - left, total, counted(left, "entry left", "entries left"));
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
  if (failed.length > 0) throw new FilesFailedError(`${counted(failed.length, "file")} could not be imported; see above.`);
  const codes = new Map<string, number>();
  for (const { problems } of sessions) for (const { code } of problems) codes.set(code, (codes.get(code) ?? 0) + 1);
  const malformed = codes.get("malformed-line");
  if (malformed !== undefined)
    throw new InvalidJsonError(`${counted(malformed, "line")} could not be read and were left out; the rest was imported.`);
  const invalid = codes.get("invalid-record");
  if (invalid !== undefined) throw new InvalidRecordsError(`${counted(invalid, "record")} fit no schema and were kept as foreign entries.`);
}
