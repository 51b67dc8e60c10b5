import { resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Store } from "@bough/session-core";
import { CALLBACK, checkArgument, FILE, optional, options as optionsOf, type RulesOf, withMethods } from "@bough/session-core/arguments";
import { NoConversationError, NoSessionsFoundError, UnknownFormatError } from "../errors.js";
import { isAtOrBelow } from "../source/links.js";
import { closeDetected } from "../source/source-database.js";
import { type FoundFiles, findSourceFiles, SourceFolders } from "../source/source-folders.js";
import type { SourceFormat } from "../source/source-format.js";
import { agentsOf, ENVIRONMENT, foldersOf, processEnvironment } from "./agents.js";
import { asSourceError, type ImportPathOptions, type ImportReport, ImportRun } from "./import-run.js";
import { ReadingThreads, THREADS } from "./reading-thread.js";
import { beginSession, detectFormat, sessionsOfFile } from "./sessions-of-file.js";

const OPTIONS = optionsOf({
  onProgress: optional(CALLBACK),
  environment: optional(ENVIRONMENT),
  threads: optional(THREADS),
} satisfies RulesOf<ImportPathOptions>);

/**
 * Imports the sessions of a file, or of every file below a folder. The format is detected from the content. Source files are
 * never changed. Each session is all or nothing; those of small files share a transaction. Importing again adds only new entries.
 *
 * Of a file in a folder of an agent that has changed in the last seconds, the reply that is still being written is left out
 * (`heldUntilMs`); every other file is complete as it is.
 *
 * A file of a folder that cannot be imported is listed in `failed` with its error; the others are imported. Pipes, devices and
 * sockets are never read. The cost is linear in the size of the folder: each folder is listed once, each file is read a fixed
 * number of times.
 *
 * @throws {SourceNotFoundError | SourceUnreadableError} there is no file and no folder at `path`, or it cannot be read.
 * @throws {UnknownFormatError | UnknownFormatVersionError} the file is of an unknown format or version.
 * @throws {NoSessionsFoundError} the folder contains no session file.
 * @throws {NoConversationError} the file, or each session file of the folder, contains no conversation.
 * @example
 * const { sessions } = await importPath(store, "sessions");
 */
export async function importPath(store: Store, path: string, options: ImportPathOptions = {}): Promise<ImportReport> {
  checkArgument("store", store, withMethods("a store", "openSession"));
  checkArgument("path", path, FILE);
  checkArgument("options", options, OPTIONS);
  return store.whileOpen(() => importFiles(store, resolve(path), options));
}

/**
 * Throws unless an import of this path would find a conversation, or a file that it reports. Reads files until it finds one; writes nothing.
 *
 * @throws {SourceNotFoundError | SourceUnreadableError | UnknownFormatError | NoSessionsFoundError | NoConversationError} as `importPath`.
 * @example
 * await assertImportable("sessions"); // before a store is created for them
 */
export async function assertImportable(path: string): Promise<void> {
  checkArgument("path", path, FILE);
  const { FORMATS } = await import("../registry.js");
  const folders = new SourceFolders();
  const { files, unreadable, isFolder } = findSourceFiles(resolve(path), folders);
  let isKnown = false;
  for (const file of files) {
    try {
      const format = detectFormat(file.path, FORMATS, folders);
      if (format === undefined) continue;
      isKnown = true;
      if (file.bytes > MOST_SETTINGS_BYTES || hasConversation(file.path, format, folders)) return;
    } catch (error) {
      if (isFolder && asSourceError(error, file.path) !== undefined) return;
      throw error;
    } finally {
      closeDetected(folders);
    }
  }
  if (unreadable.length > 0) return;
  if (isKnown) throw new NoConversationError(path);
  throw isFolder ? new NoSessionsFoundError(path, files.length) : new UnknownFormatError(path, "its content matches none");
}

/** A larger file is not only a header and settings, in bytes. */
const MOST_SETTINGS_BYTES = 1 << 20;

function hasConversation(path: string, format: SourceFormat, folders: SourceFolders): boolean {
  for (const session of sessionsOfFile(path, format, folders)) {
    const begun = beginSession(session, format);
    begun?.close();
    if (begun !== undefined) return true;
  }
  return false;
}

async function importFiles(store: Store, path: string, options: ImportPathOptions): Promise<ImportReport> {
  const folders = new SourceFolders();
  const found = findSourceFiles(path, folders, { leftOut: store.sources.files });
  const threads = new ReadingThreads(options.threads);
  threads.prepareFor(found.files);
  try {
    return await importFound(store, path, found, { folders, threads }, options);
  } finally {
    threads.release();
  }
}

async function importFound(
  store: Store,
  path: string,
  found: FoundFiles,
  { folders, threads }: { readonly folders: SourceFolders; readonly threads: ReadingThreads },
  options: ImportPathOptions,
): Promise<ImportReport> {
  // The readers of formats are loaded with the first import: most processes import nothing.
  const { FORMATS } = await import("../registry.js");
  const environment = options.environment ?? processEnvironment();
  const ofAgents = agentsOf(FORMATS).flatMap(({ agent }) => foldersOf(agent, environment));
  const mayBeWritten = (file: string) => ofAgents.some((folder) => isAtOrBelow(file, folder));
  const run = new ImportRun(store, found, { folders, formats: FORMATS, threads, mayBeWritten }, options);
  try {
    for (const file of found.files) {
      await run.importFile(file);
      // A transaction is synchronous. Timers and signals are handled between files.
      await setImmediate();
    }
  } finally {
    await run.finish();
  }
  const { sessions, failed } = run.report;
  if (sessions.length > 0 || failed.length > 0) return run.report;
  throw run.hasEmptyFiles ? new NoConversationError(path) : new NoSessionsFoundError(path, found.files.length);
}
