import { existsSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { InvalidArgumentError, type Store } from "@bough/session-core";
import {
  CALLBACK,
  checkArgument,
  FILE,
  FLAG,
  list,
  NAME,
  optional,
  options as optionsOf,
  type RulesOf,
  SIGNAL,
  withMethods,
} from "@bough/session-core/arguments";
import { SourceNotFoundError, SourceUnreadableError, UnknownFormatError } from "../errors.js";
import type { SourceEnvironment } from "../source/agent-folders.js";
import { isAtOrBelow } from "../source/links.js";
import { type FileFilter, type FoundFiles, findSourceFiles, type LeavingLink, SourceFolders } from "../source/source-folders.js";
import type { SourceFormat } from "../source/source-format.js";
import { agentsOf, ENVIRONMENT, type FormatAgent, foldersOf, processEnvironment } from "./agents.js";
import { type FailedFile, type ImportedFileSession, type ImportProgress, ImportRun } from "./import-run.js";
import { ReadingThreads, THREADS } from "./reading-thread.js";
import { SyncedFiles } from "./synced-files.js";

/** A folder in which an agent keeps sessions. */
export interface AgentFolder {
  /** The agent's name for people, such as `Claude Code`. */
  readonly agent: string;
  /** The format of its sessions, as `SessionRecord.source` names it. */
  readonly format: string;
  /** Absolute. */
  readonly folder: string;
  readonly exists: boolean;
  /** Matches the path below the folder of each file that may be a session, with `/` between names. */
  readonly files: RegExp;
  /** Matches the path below the folder of each folder that has no such files. undefined: none. */
  readonly skipped: RegExp | undefined;
}

/** Options of `syncSessions`. */
export interface SyncOptions {
  /** Only these agents: names such as `Claude Code` or formats such as `claude`, in any case. Default: all. */
  readonly agents?: readonly string[] | undefined;
  /** Only files at or below these absolute paths. They must be in folders of the agents; others are ignored. Default: all. */
  readonly paths?: readonly string[] | undefined;
  /** Only report which files would be read. */
  readonly dryRun?: boolean | undefined;
  /** The environment from which the folders of agents are computed. Default: that of this process. */
  readonly environment?: SourceEnvironment | undefined;
  /** Aborted between two files: throws its reason; the sessions before are in the store. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Where files are read: in a second thread while this one writes, if they have 8 MiB or more together and the machine has two cores
   * (true, the default); always in a second thread, if one can be started ("always"); in this thread (false). The result is the same.
   */
  readonly threads?: boolean | "always" | undefined;
  /** Called before each file that is read and every few hundred records. */
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined;
}

/** The result of a sync of one agent's files. */
export interface SyncedAgent {
  readonly agent: string;
  readonly format: string;
  /** The folders that exist. */
  readonly folders: readonly string[];
  /** Files that may be sessions. */
  readonly files: number;
  /** Files that were read, or with `dryRun` would be. */
  readonly newFiles: number;
  readonly changedFiles: number;
  /** Files that an earlier sync read and that exist no longer. Their sessions stay in the store. */
  readonly goneFiles: number;
  /** The sessions of the files that were read. */
  readonly sessions: readonly ImportedFileSession[];
  /** Files and folders that could not be imported; nothing of them was written. The next sync reads them again. */
  readonly failed: readonly FailedFile[];
  /** Links to folders elsewhere on the same file system that were followed. Links that are not followed are in `failed`. */
  readonly links: readonly LeavingLink[];
}

/** The result of a sync. */
export interface SyncReport {
  /** The agents that have a folder, in a fixed order. */
  readonly agents: readonly SyncedAgent[];
}

const OPTIONS = optionsOf({
  agents: optional(list(NAME, "an array of names")),
  paths: optional(list(FILE, "an array of paths")),
  dryRun: optional(FLAG),
  threads: optional(THREADS),
  environment: optional(ENVIRONMENT),
  signal: optional(SIGNAL),
  onProgress: optional(CALLBACK),
} satisfies RulesOf<SyncOptions>);

/**
 * Imports the new records in the folders of every agent on this machine. Of a file that did not change since the last sync it reads only
 * the size and times; it reads a file that grew from the end of the last reading, if the format allows. It never changes files.
 * Each session is all or nothing; those of small new files share a transaction. Sessions whose file is gone stay in the store; one that was
 * deleted in the store is not imported again.
 *
 * A file that cannot be imported is listed in `failed`; the others are imported. Several processes may sync at once.
 *
 * @throws {InvalidArgumentError} no agent has one of the names in `agents`.
 * @example
 * const { agents } = await syncSessions(store);
 * for (const { agent, sessions } of agents) console.log(agent, sessions.filter(({ entriesAdded }) => entriesAdded > 0).length);
 */
export async function syncSessions(store: Store, options: SyncOptions = {}): Promise<SyncReport> {
  checkArgument("store", store, withMethods("a store", "openSession"));
  checkArgument("options", options, OPTIONS);
  return store.whileOpen(async () => {
    const { FORMATS } = await import("../registry.js");
    const agents: SyncedAgent[] = [];
    const threads = new ReadingThreads(options.dryRun === true ? false : options.threads);
    try {
      for (const one of choose(agentsOf(FORMATS), options.agents)) {
        const synced = await syncAgent(store, { formats: FORMATS, threads }, one, options);
        if (synced.folders.length > 0) agents.push(synced);
      }
    } finally {
      threads.release();
    }
    return { agents };
  });
}

/** Returns the folders in which agents keep sessions, existing or not. Default: those of the environment of this process. */
export async function findAgentFolders(environment: SourceEnvironment = processEnvironment()): Promise<readonly AgentFolder[]> {
  checkArgument("environment", environment, ENVIRONMENT);
  const { FORMATS } = await import("../registry.js");
  return agentsOf(FORMATS).flatMap(({ agent, format }) =>
    foldersOf(agent, environment).map((folder) => ({
      agent: agent.name,
      format: format.name,
      folder,
      exists: existsSync(folder),
      files: agent.files,
      skipped: agent.skipped,
    })),
  );
}

function choose(all: readonly FormatAgent[], names: readonly string[] | undefined): readonly FormatAgent[] {
  const matches = ({ agent, format }: FormatAgent, name: string) =>
    [agent.name, format.name].some((own) => own.toLowerCase() === name.toLowerCase());
  for (const name of names ?? [])
    if (!all.some((one) => matches(one, name)))
      throw new InvalidArgumentError("agents", `among ${all.map(({ agent }) => agent.name).join(", ")}`, JSON.stringify(name));
  return names === undefined ? all : all.filter((one) => names.some((name) => matches(one, name)));
}

async function syncAgent(
  store: Store,
  { formats, threads }: { readonly formats: readonly SourceFormat[]; readonly threads: ReadingThreads },
  { agent, format }: FormatAgent,
  options: SyncOptions,
): Promise<SyncedAgent> {
  const folders = foldersOf(agent, options.environment ?? processEnvironment()).filter((folder) => existsSync(folder));
  const listed = new SourceFolders();
  const starts = folders.flatMap((root) => startsIn(root, options.paths).map((start) => ({ start, root })));
  const { files: names, skipped, beside, noteOf } = agent;
  const find = ({ start, root }: Start) => findFiles(start, { root, names, skipped, beside, noteOf, leftOut: store.sources.files }, listed);
  const found = mergeFound(starts.map(find));
  const files = await SyncedFiles.compare(store, found.files, starts);
  threads.prepareFor(files.changed.filter(({ path }) => files.isNew(path)));
  const run = new ImportRun(
    store,
    { ...found, files: files.changed },
    { folders: listed, formats, threads, mayBeWritten: () => true, choices: files },
    options,
  );
  if (options.dryRun !== true) await readChanged(run, files, options.signal);
  return {
    agent: agent.name,
    format: format.name,
    folders,
    files: found.files.length,
    newFiles: files.newFiles,
    changedFiles: files.changed.length - files.newFiles,
    goneFiles: files.gone.length,
    sessions: run.report.sessions,
    failed: run.report.failed,
    links: found.links,
  };
}

async function readChanged(run: ImportRun, files: SyncedFiles, signal: AbortSignal | undefined): Promise<void> {
  try {
    for (const file of files.changed) {
      signal?.throwIfAborted();
      await run.importFile(file);
      await setImmediate();
    }
  } finally {
    await run.finish().finally(() => files.keep());
  }
}

/** A folder or file in the folder of an agent. */
interface Start {
  readonly start: string;
  readonly root: string;
}

/** Returns the paths at which the search for files in a folder starts: each of `paths` that is in it, or the folder itself. */
function startsIn(folder: string, paths: readonly string[] = [folder]): readonly string[] {
  const inside = paths.map((path) => (isAtOrBelow(folder, path) ? folder : path)).filter((path) => isAtOrBelow(path, folder));
  return [...new Set(inside)];
}

type FoundIn = Pick<FoundFiles, "files" | "unreadable" | "links">;

/** The files that may be sessions. A folder that cannot be read is reported as such. */
function findFiles(start: string, filter: FileFilter, listed: SourceFolders): FoundIn {
  try {
    return findSourceFiles(start, listed, filter);
  } catch (error) {
    if (error instanceof SourceUnreadableError) return { files: [], unreadable: [{ path: start, error }], links: [] };
    // Removed since, or the store itself.
    if (error instanceof SourceNotFoundError || error instanceof UnknownFormatError) return { files: [], unreadable: [], links: [] };
    throw error;
  }
}

function mergeFound(found: readonly FoundIn[]): FoundFiles {
  const files = new Map(found.flatMap((some) => some.files).map((file) => [file.path, file]));
  return {
    isFolder: true,
    files: [...files.values()],
    unreadable: found.flatMap(({ unreadable }) => unreadable),
    links: found.flatMap(({ links }) => links),
    others: [],
  };
}
