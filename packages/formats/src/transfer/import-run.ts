import {
  BoughError,
  type ImportedSession,
  InvalidEntryError,
  type Store,
  TooLargeError,
  UnserializableValueError,
  ValueTooLargeError,
} from "@bough/session-core";
import { errorCode, type OpenEnd, type ReadingPosition, type SourceSession, type SyncedImport } from "@bough/session-core/engine";
import {
  NoConversationError,
  SourceNotFoundError,
  SourceUnreadableError,
  UnknownFormatError,
  UnknownFormatVersionError,
} from "../errors.js";
import type { SourceEnvironment } from "../source/agent-folders.js";
import { readDocumentHead } from "../source/json-document.js";
import { readHead, readHeadOnce } from "../source/json-lines.js";
import { closeDetected } from "../source/source-database.js";
import { holdSmallFile } from "../source/source-file.js";
import { type FileFilter, type FoundFile, type FoundFiles, openUntil, type SourceFolders } from "../source/source-folders.js";
import type { SourceFormat } from "../source/source-format.js";
import { type ReadingThread, ReadingThreadEndedError, ReadingThreadFailedError, type ReadingThreads } from "./reading-thread.js";
import { SessionBatch } from "./session-batch.js";
import { beginSession, detectFormat, sessionsOfFile, wholeSession } from "./sessions-of-file.js";

/** An imported session, and its file. */
export interface ImportedFileSession extends ImportedSession {
  readonly format: string;
  readonly path: string;
}

/** A file or folder that could not be imported; nothing of it was written. */
export interface FailedFile {
  readonly path: string;
  readonly error: BoughError;
}

/** A file of the folder that was left out. */
export interface SkippedFile {
  readonly path: string;
  /** The reason, for a person. */
  readonly reason: string;
}

/** The most skipped files that a report names. */
const MOST_SKIPPED = 1000;

/** The result of an import. */
export interface ImportReport {
  readonly sessions: readonly ImportedFileSession[];
  readonly failed: readonly FailedFile[];
  /** The number of files in the folder that are of no known format or contain no conversation. */
  readonly otherFiles: number;
  /** These files, at most 1,000 of them. */
  readonly skipped: readonly SkippedFile[];
}

/** The progress of an import. */
export interface ImportProgress {
  readonly path: string;
  readonly filesDone: number;
  readonly filesTotal: number;
  /** Sessions that are in the store now, including unchanged ones. */
  readonly sessionsDone: number;
  readonly bytesDone: number;
  readonly bytesTotal: number;
  /** Records of the current session that have been read. */
  readonly records: number;
}

/** Options of `importPath`. */
export interface ImportPathOptions {
  /** Called before each file and every few hundred records. If it throws, the import ends; earlier sessions stay in the store. */
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined;
  /** The environment from which the folders of agents are computed. Default: that of this process. */
  readonly environment?: SourceEnvironment | undefined;
  /**
   * Where files are read: in a second thread while this one writes, if they have 8 MiB or more together and the machine has two cores
   * (true, the default); always in a second thread, if one can be started ("always"); in this thread (false). The result is the same.
   */
  readonly threads?: boolean | "always" | undefined;
}

/** The decisions of a sync about the files of an import. */
export interface ImportChoices {
  /** Returns true if a file with sessions of another one is read too: an unchanged one is not. */
  reads(path: string): boolean;
  /** Returns true if no earlier sync has read a file. */
  isNew(path: string): boolean;
  /** Where an earlier sync ended the reading of a file of one session, if the bytes before it are unchanged. */
  earlier(path: string): ReadingPosition | undefined;
  /** Chooses the import of a session of this file; undefined: it is unchanged. */
  choose(session: SourceSession, path: string): Promise<SyncedImport | undefined>;
  /** Called when the end of this file was left out: the next sync reads it again. */
  hold(path: string): void;
  /** Called when all sessions of a file are in the store. `format`: its name; null: it is of no known format. */
  done(path: string, format: string | null): Promise<void>;
}

/** The dependencies of an import of files. */
interface ImportMeans {
  readonly folders: SourceFolders;
  readonly formats: readonly SourceFormat[];
  readonly threads: ReadingThreads;
  /** Returns true if an agent may be writing this file: then its times show if its end is complete. A copy has the time of the copying. */
  readonly mayBeWritten: (path: string) => boolean;
  readonly choices?: ImportChoices | undefined;
}

/** The facts that an import has of a session beside its records. */
interface AboutSession {
  readonly path: string;
  readonly format: SourceFormat;
}

/** A file that was read. `format`: its name; null: it is of no known one; undefined: it failed. */
interface EndedFile {
  readonly file: FoundFile;
  readonly format: string | null | undefined;
}

/** Imports files, each once, and a session before those of its agents. */
export class ImportRun {
  readonly #sessions: ImportedFileSession[] = [];
  readonly #failed: FailedFile[];
  readonly #startedPaths = new Set<string>();
  /** Files of agents that were imported with the file of their starter, and that file. */
  readonly #starterOf = new Map<string, string>();
  /** The files of a known format that contain a conversation. */
  readonly #withSessions = new Set<string>();
  readonly #listedIds = new Set<string>();
  readonly #waiting = new SessionBatch<AboutSession>();
  /** The files that were read while sessions waited. */
  readonly #ended: EndedFile[] = [];
  readonly #byPath: ReadonlyMap<string, FoundFile>;
  readonly #bytesTotal: number;
  #otherFiles: number;
  readonly #skipped: SkippedFile[];
  #hasEmptyFiles = false;
  #filesDone = 0;
  #bytesDone = 0;

  readonly #store: Store;
  readonly #found: FoundFiles;
  readonly #means: ImportMeans;
  readonly #options: ImportPathOptions;

  constructor(store: Store, found: FoundFiles, means: ImportMeans, options: ImportPathOptions) {
    this.#store = store;
    this.#found = found;
    this.#means = means;
    this.#options = options;
    this.#failed = [...found.unreadable];
    this.#otherFiles = found.others.length;
    this.#skipped = found.others.slice(0, MOST_SKIPPED).map((path) => ({ path, reason: "it is no file, or a link that leads to none" }));
    this.#byPath = new Map(found.files.map((file) => [file.path, file]));
    this.#bytesTotal = found.files.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  get report(): ImportReport {
    return { sessions: this.#sessions, failed: this.#failed, otherFiles: this.#otherFiles, skipped: this.#skipped };
  }

  /** True if a file was skipped although it is of a known format. */
  get hasEmptyFiles(): boolean {
    return this.#hasEmptyFiles;
  }

  async importFile(file: FoundFile): Promise<void> {
    if (this.#startedPaths.has(file.path)) return;
    this.#startedPaths.add(file.path);
    this.#progress(file, 0);
    let format: string | null | undefined;
    await this.#runOrRecordFailure(file.path, this.#found.isFolder, async () => {
      format = await this.#whileHeld(file, () => this.#import(file)).finally(() => closeDetected(this.#means.folders));
    });
    this.#ended.push({ file, format });
    if (this.#waiting.isEmpty || this.#waiting.isFull) await this.finish();
  }

  /** Runs work on a file that this thread reads: of a small one, it reads the content once. */
  async #whileHeld<T>(file: FoundFile | undefined, work: () => Promise<T>): Promise<T> {
    const release = file === undefined || this.#threadFor(file) !== undefined ? undefined : holdSmallFile(file, this);
    return work().finally(release);
  }

  /** Writes the sessions that wait, and reports the files that have been read. Call it after the last file. */
  async finish(): Promise<void> {
    await this.#writeWaiting();
    for (const end of this.#ended.splice(0)) await this.#endFile(end);
  }

  async #endFile({ file, format }: EndedFile): Promise<void> {
    // A session of the file may have failed together with its starter.
    if (format !== undefined && !this.#failed.some(({ path }) => path === file.path)) await this.#means.choices?.done(file.path, format);
    this.#filesDone += 1;
    this.#bytesDone += file.bytes;
    this.#progress(file, 0);
  }

  async #writeWaiting(): Promise<void> {
    const waiting = this.#waiting.take();
    const outcomes = waiting.length === 0 ? [] : await this.#store.importSessions(waiting.map(({ imported }) => imported));
    for (const [at, outcome] of outcomes.entries()) {
      const about = waiting[at]?.about;
      if (about === undefined) continue;
      await this.#runOrRecordFailure(about.path, true, async () => {
        if (outcome.status === "rejected") throw outcome.reason;
        this.#list(outcome.value, about);
      });
    }
  }

  // An error of one file does not end the import of a folder; an error of the store does.
  async #runOrRecordFailure(path: string, isOneOfSeveral: boolean, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const failure = asSourceError(error, path);
      if (failure === undefined) throw error;
      if (!isOneOfSeveral) throw failure;
      this.#failed.push({ path, error: failure });
    }
  }

  /** Returns the name of the format; null: it is of no known one. */
  async #import(file: FoundFile): Promise<string | null> {
    if (this.#found.isFolder && this.#means.formats.some((format) => format.isPart?.(file.path, this.#means.folders) === true)) return null;
    const format = await this.#detect(file);
    if (format === undefined) {
      if (!this.#found.isFolder) throw new UnknownFormatError(file.path, "its content matches none");
      this.#skip(file.path, whyUnknown(file.path));
      return null;
    }
    // A session is imported with its agents, so it comes before them: each file is then imported once.
    const starter = this.#byPath.get(format.starterOf?.(file.path, this.#means.folders) ?? "");
    if (starter !== undefined) await this.importFile(starter);
    if (this.#starterOf.has(file.path)) return format.name;
    await this.#importSessions(file, format);
    if (!this.#withSessions.has(file.path)) {
      this.#hasEmptyFiles = true;
      this.#skip(file.path, NoConversationError.REASON);
    }
    return format.name;
  }

  #skip(path: string, reason: string): void {
    this.#otherFiles += 1;
    if (this.#skipped.length < MOST_SKIPPED) this.#skipped.push({ path, reason });
  }

  /** The format of a file. The thread that reads a database also copies it. */
  async #detect(file: FoundFile): Promise<SourceFormat | undefined> {
    const thread = this.#threadFor(file);
    if (thread === undefined || !readHeadOnce(file.path, this.#means.folders).isSqlite)
      return detectFormat(file.path, this.#means.formats, this.#means.folders);
    const name = await this.#withThread(file, (one) => one.detect(file.path));
    // If it failed: what it met, this thread meets again and reports.
    return name === FAILED
      ? detectFormat(file.path, this.#means.formats, this.#means.folders)
      : this.#means.formats.find((format) => format.name === name);
  }

  /**
   * Runs work of the reading thread for a file, and if the thread ended, once more in another one. If there is none, or it failed, nothing
   * is lost. @throws {SourceUnreadableError} the thread ended twice.
   */
  async #withThread<T>(file: FoundFile, work: (thread: ReadingThread) => Promise<T>): Promise<T | typeof FAILED> {
    const ends: unknown[] = [];
    for (;;) {
      const thread = this.#threadFor(file);
      if (ends.length === MOST_ENDS || (ends.length > 0 && thread === undefined)) throw endOfThread(file.path, ends.at(-1));
      if (thread === undefined) return FAILED;
      try {
        return await work(thread);
      } catch (error) {
        if (error instanceof ReadingThreadFailedError) return FAILED;
        if (!(error instanceof ReadingThreadEndedError)) throw error;
        ends.push(await thread.ended);
      }
    }
  }

  async #importSessions(file: FoundFile, format: SourceFormat): Promise<void> {
    const done = await this.#importByThread(file, format);
    if (done === undefined) return;
    let at = 0;
    const earlier = (path: string) => this.#means.choices?.earlier(path);
    for (const session of sessionsOfFile(file.path, format, this.#means.folders, (path) => this.#reads(file, path), earlier)) {
      if (at >= done) await this.#importOneOf(file, format, session);
      at += 1;
    }
  }

  /**
   * Imports the sessions of a file that another thread reads. Returns undefined if all were imported; otherwise the number that was, before
   * that thread failed: what it met, this one meets again and reports.
   */
  async #importByThread(file: FoundFile, format: SourceFormat): Promise<number | undefined> {
    let done = 0;
    const read = await this.#withThread(file, async (thread) => {
      let at = 0;
      for await (const session of thread.sessions(file.path, format.name)) {
        if (at >= done) await this.#importOneOf(file, format, session);
        at += 1;
        done = Math.max(done, at);
      }
    });
    return read === FAILED ? done : undefined;
  }

  /** The thread that reads a file; undefined: this one. Of a file that an earlier sync has read, only a part is new. */
  #threadFor({ path, bytes }: FoundFile): ReadingThread | undefined {
    return this.#means.choices?.isNew(path) === false ? undefined : this.#means.threads.threadFor(bytes);
  }

  #reads(file: FoundFile, path: string): boolean {
    return path === file.path || this.#means.choices?.reads(path) !== false;
  }

  async #importOneOf(file: FoundFile, format: SourceFormat, session: SourceSession): Promise<void> {
    const path = session.path ?? file.path;
    if (path === file.path) await this.#importSession(file, format, session);
    else if (this.#reads(file, path)) await this.#runOrRecordFailure(path, true, () => this.#importRelated(file, format, session, path));
  }

  async #importRelated(file: FoundFile, format: SourceFormat, session: SourceSession, path: string): Promise<void> {
    const starter = this.#starterOf.get(path);
    if (starter !== undefined && starter !== file.path) return;
    this.#starterOf.set(path, file.path);
    await this.#whileHeld(this.#byPath.get(path), () => this.#importSession(file, format, session));
  }

  async #importSession(file: FoundFile, format: SourceFormat, found: SourceSession): Promise<void> {
    const path = found.path ?? file.path;
    const sync = await this.#means.choices?.choose(found, path);
    const isUnchanged = this.#means.choices !== undefined && sync === undefined;
    const begun = isUnchanged || sync?.known !== undefined ? wholeSession(found) : beginSession(found, format);
    if (begun !== undefined) this.#withSessions.add(file.path);
    if (begun === undefined || isUnchanged) return;
    try {
      await this.#writeSession(file, format, begun.session, sync);
    } finally {
      begun.close();
    }
  }

  async #writeSession(file: FoundFile, format: SourceFormat, session: SourceSession, sync: SyncedImport | undefined): Promise<void> {
    const path = session.path ?? file.path;
    const onRecords = (records: number) => this.#progress(file, records);
    const writtenAtMs = Math.trunc(file.writtenAtMs);
    const heldUntil = (end: OpenEnd) =>
      end.changedAtMs !== undefined || this.#means.mayBeWritten(path) ? openUntil(path, end, besideOf(format)) : null;
    const options = { format: format.name, path, writtenAtMs, onRecords, sync, heldUntil };
    const bytes = this.#byPath.get(path)?.bytes ?? 0;
    if (this.#mayWait(file, path) && sync?.known === undefined) {
      if (this.#waiting.isFull) await this.#writeWaiting();
      this.#waiting.add(session, options, bytes, { path, format });
    } else {
      await this.#writeWaiting();
      this.#list(await this.#store.importSession(session, options), { path, format });
    }
  }

  /** True if the sessions of a file may be written together with those of others: it is small and new, and this thread reads it. */
  #mayWait(file: FoundFile, path: string): boolean {
    const isSmall = [file.path, path].every((one) => SessionBatch.takes(this.#byPath.get(one)?.bytes));
    return isSmall && this.#found.files.length > 1 && this.#means.choices?.isNew(path) !== false && this.#threadFor(file) === undefined;
  }

  /** Lists a session that is in the store. */
  #list(imported: ImportedSession, { path, format }: AboutSession): void {
    if (imported.heldUntilMs !== null) this.#means.choices?.hold(path);
    // A copy of a session, or an agent that was imported before its starter, is listed once.
    if (imported.outcome === "unchanged" && this.#listedIds.has(imported.sessionId)) return;
    this.#listedIds.add(imported.sessionId);
    this.#sessions.push({ ...imported, format: format.name, path });
  }

  #progress(file: FoundFile, records: number): void {
    this.#options.onProgress?.({
      path: file.path,
      filesDone: this.#filesDone,
      filesTotal: this.#found.files.length,
      sessionsDone: this.#sessions.length,
      bytesDone: this.#bytesDone,
      bytesTotal: this.#bytesTotal,
      records,
    });
  }
}

/** A file at which so many reading threads ended is reported. */
const MOST_ENDS = 2;

/** The result of work of a reading thread that failed, or that there is not. */
const FAILED = Symbol("failed");

/** The error of a file that was read when the reading thread ended. */
function endOfThread(path: string, cause: unknown): SourceUnreadableError {
  const isMemory = errorCode(cause) === "ERR_WORKER_OUT_OF_MEMORY";
  const reason = isMemory ? "there is not enough memory for it" : `the thread that read it ended (${String(cause)})`;
  return new SourceUnreadableError(path, reason, { cause });
}

/** The files beside a session's whose change is one of the session. */
function besideOf({ agents = [] }: SourceFormat): FileFilter["beside"] {
  const all = agents.flatMap(({ beside }) => (beside === undefined ? [] : [beside]));
  return (path) => all.flatMap((beside) => beside(path));
}

/** The error as one of the source file: it is unreadable, or has an id, a time or a value that no store accepts. Otherwise undefined. */
export function asSourceError(error: unknown, path: string): BoughError | undefined {
  // A RangeError means a text longer than the longest string, or nesting deeper than the stack: the source is too large.
  if (error instanceof RangeError)
    return new SourceUnreadableError(path, `it is too large or too deeply nested (${error.message})`, { cause: error });
  return error instanceof BoughError && OF_SOURCE.some((kind) => error instanceof kind) ? error : undefined;
}

const OF_SOURCE = [
  SourceNotFoundError,
  SourceUnreadableError,
  UnknownFormatError,
  UnknownFormatVersionError,
  InvalidEntryError,
  UnserializableValueError,
  ValueTooLargeError,
  TooLargeError,
];

/** The most members of a record that a reason names, and the most characters of a name. */
const MOST_NAMES = 8;
const MOST_CHARS = 40;

/** Returns the reason why a file is of no known format, with members of its first record, from which a person may recognize its program. */
function whyUnknown(path: string): string {
  const head = readHead(path);
  if (head.text === "") return "it does not begin with JSON";
  const names = Object.keys(head.records[0] ?? readDocumentHead(head, []).members);
  const named = names.slice(0, MOST_NAMES).map((name) => name.slice(0, MOST_CHARS));
  const more = names.length > MOST_NAMES ? ", …" : "";
  return names.length === 0
    ? "its JSON does not begin with an object that has members"
    : `no known format has a first record with ${named.join(", ")}${more}`;
}
