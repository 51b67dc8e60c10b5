import { CALLBACK, checkArgument, FILE, having, optional, record } from "../arguments/rules.js";
import type { BoughError } from "../errors/base.js";
import { InvalidEntryError, UnserialisableValueError, ValueTooLargeError } from "../errors/entry-errors.js";
import { NoSessionsFoundError, SourceNotFoundError, UnknownFormatError, UnknownFormatVersionError } from "../errors/import-errors.js";
import type { ImportedSession } from "../port/import-records.js";
import { headOf } from "../source/file-head.js";
import type { SourceFormat, SourceSession } from "../source/source-session.js";
import type { Store } from "../store/store.js";
import { FORMATS } from "./formats.js";
import { type SourceFile, sourceFiles } from "./source-files.js";

/** One session of an import, and the file it was read from. */
export interface ImportedFileSession extends ImportedSession {
  readonly format: string;
  readonly path: string;
}

/** A file that holds sessions but could not be imported; nothing of it was written. */
export interface FailedFile {
  readonly path: string;
  readonly error: BoughError;
}

/** What an import came to. */
export interface ImportReport {
  readonly sessions: readonly ImportedFileSession[];
  readonly failed: readonly FailedFile[];
  /** Files of a folder that are no session files of a known agent. */
  readonly otherFiles: number;
}

/** How far an import is. */
export interface ImportProgress {
  readonly path: string;
  readonly filesDone: number;
  readonly filesTotal: number;
  readonly bytesDone: number;
  readonly bytesTotal: number;
  /** Records of the session that is being read. */
  readonly records: number;
}

/** What an import may be told. */
export interface ImportPathOptions {
  /** Called before each file and every few hundred records. */
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined;
}

const OPTIONS = record({ onProgress: optional(CALLBACK) });

/**
 * Brings the sessions of a file, or of every file below a folder, into a store. The format is told by content; sources
 * are opened for reading and never changed; each session is one transaction. Importing again adds only what is new.
 *
 * @throws {SourceNotFoundError} nothing is at `path`.
 * @throws {UnknownFormatError | UnknownFormatVersionError} the file is of no format, or no version, that is known.
 * @throws {NoSessionsFoundError} the folder holds no session file.
 * @example
 * const { sessions } = await importPath(store, "sessions");
 */
export async function importPath(store: Store, path: string, options: ImportPathOptions = {}): Promise<ImportReport> {
  checkArgument("store", store, having("a store", "openSession"));
  checkArgument("path", path, FILE);
  checkArgument("options", options, OPTIONS);
  const { isFolder, files } = sourceFiles(path);
  const run = new ImportRun(store, files, options);
  for (const file of files) await run.take(file, isFolder);
  if (!isFolder && run.report.sessions.length === 0) throw new UnknownFormatError(path, "it holds no conversation");
  if (isFolder && run.report.sessions.length === 0 && run.report.failed.length === 0) throw new NoSessionsFoundError(path, files.length);
  return run.report;
}

class ImportRun {
  readonly #sessions: ImportedFileSession[] = [];
  readonly #failed: FailedFile[] = [];
  readonly #met = new Set<string>();
  readonly #bytesTotal: number;
  #otherFiles = 0;
  #filesDone = 0;
  #bytesDone = 0;

  constructor(
    private readonly store: Store,
    private readonly files: readonly SourceFile[],
    private readonly options: ImportPathOptions,
  ) {
    this.#bytesTotal = files.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  get report(): ImportReport {
    return { sessions: this.#sessions, failed: this.#failed, otherFiles: this.#otherFiles };
  }

  async take(file: SourceFile, isFolder: boolean): Promise<void> {
    this.#progress(file, 0);
    try {
      await this.#import(file, isFolder);
    } catch (error) {
      // One bad file does not keep a folder's other sessions out; a store that cannot be written does.
      if (!isFolder || !isOfSource(error)) throw error;
      this.#failed.push({ path: file.path, error });
    }
    this.#filesDone += 1;
    this.#bytesDone += file.bytes;
    this.#progress(file, 0);
  }

  async #import(file: SourceFile, isFolder: boolean): Promise<void> {
    const format = formatOf(file.path);
    if (format === undefined) {
      if (!isFolder) throw new UnknownFormatError(file.path, "its content fits none");
      this.#otherFiles += 1;
      return;
    }
    for (const session of format.sessions(file.path)) await this.#importSession(file, format, session);
  }

  async #importSession(file: SourceFile, format: SourceFormat, session: SourceSession): Promise<void> {
    const { path } = file;
    const onRecords = (records: number) => this.#progress(file, records);
    const imported = await this.store.storage.importSession(session, { format: format.name, path, onRecords });
    // A subagent's file is read with its parent's, and met again by itself in the same folder.
    if (imported.outcome === "unchanged" && this.#met.has(imported.sessionId)) return;
    this.#met.add(imported.sessionId);
    this.#sessions.push({ ...imported, format: format.name, path });
  }

  #progress(file: SourceFile, records: number): void {
    this.options.onProgress?.({
      path: file.path,
      filesDone: this.#filesDone,
      filesTotal: this.files.length,
      bytesDone: this.#bytesDone,
      bytesTotal: this.#bytesTotal,
      records,
    });
  }
}

function formatOf(path: string): SourceFormat | undefined {
  const head = headOf(path);
  return FORMATS.find((format) => format.detects(head));
}

/** The file itself is what cannot be taken: what it is, or an id, a time or a value in it that no store can hold. */
function isOfSource(error: unknown): error is BoughError {
  return OF_SOURCE.some((kind) => error instanceof kind);
}

const OF_SOURCE = [
  SourceNotFoundError,
  UnknownFormatError,
  UnknownFormatVersionError,
  InvalidEntryError,
  UnserialisableValueError,
  ValueTooLargeError,
];
