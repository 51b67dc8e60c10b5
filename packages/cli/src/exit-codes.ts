import type * as compaction from "@bough/compaction";
import type * as core from "@bough/session-core";
import type * as own from "./errors.js";

type CodeOf<T> = T extends abstract new (
  ...args: never
) => { readonly code: infer C extends string }
  ? string extends C
    ? never
    : C
  : never;
type CodesIn<T> = { [K in keyof T]: CodeOf<T[K]> }[keyof T];

/** The code of every error that a command can end with; one that is missing below does not compile. */
export type ErrorCode = CodesIn<typeof core> | CodesIn<typeof compaction> | CodesIn<typeof own>;

/** What a command ends with, and what it means to whoever called it. */
export interface ExitCode {
  readonly exit: number;
  readonly meaning: string;
}

/** The exit code of each failure. The numbers are stable: scripts may rely on them. */
export const EXIT_CODES: Readonly<Record<ErrorCode, ExitCode>> = {
  USAGE: { exit: 2, meaning: "The command line does not make sense: unknown command or option, missing or contradicting arguments" },
  FINDINGS: { exit: 3, meaning: "`verify` found something that does not hold" },
  FILES_FAILED: { exit: 4, meaning: "`import`: some files could not be imported; the others were" },
  DECLINED: { exit: 5, meaning: "A question was answered with no; nothing was done" },
  NOTHING_TO_UNDO: { exit: 6, meaning: "`undo`: no move of the leaf is left to undo or redo; `compact --undo`: no compaction is in force" },
  CONFIRMATION_NEEDED: { exit: 7, meaning: "`delete`, `restore`: nobody is there to confirm; give `--yes`" },
  NO_SESSION: { exit: 8, meaning: "No session was named, and there is none to take instead" },
  OUTPUT_FAILED: { exit: 9, meaning: "A file could not be written" },
  SESSION_NOT_FOUND: { exit: 10, meaning: "No session has this id, prefix or title" },
  ENTRY_NOT_FOUND: { exit: 11, meaning: "No entry of the session has this id, prefix, label or mark" },
  AMBIGUOUS_NAME: { exit: 12, meaning: "Several sessions or entries have this name; the message lists them" },
  LEAF_NOT_FOUND: { exit: 13, meaning: "The session has no leaf of this name" },
  SESSION_EXISTS: { exit: 14, meaning: "A session with this id exists already" },
  LEAF_MOVED: { exit: 15, meaning: "Another process moved the leaf meanwhile; nothing was written" },
  MAIN_LEAF: { exit: 16, meaning: "The leaf `main` cannot be taken away" },
  CHECKPOINT_NOT_FOUND: { exit: 17, meaning: "`checkpoints`: the path has no checkpoint of this number" },
  STORE_NOT_FOUND: { exit: 20, meaning: "There is no store, or no backup to restore, at this path" },
  FOREIGN_FILE: { exit: 21, meaning: "The file is another program's; it was left as it is" },
  NEWER_STORE: { exit: 22, meaning: "The store was written by a newer Bough; it was left as it is" },
  STORE_BUSY: { exit: 23, meaning: "Another process held the write lock too long; nothing was written" },
  STORE_READ_ONLY: { exit: 24, meaning: "The store can only be read; nothing was written" },
  STORE_FULL: { exit: 25, meaning: "No space left; nothing was written" },
  STORE_DAMAGED: { exit: 26, meaning: "The store is damaged" },
  STORE_UNAVAILABLE: {
    exit: 27,
    meaning: "The store cannot be opened, or its file was replaced while it was open: a write was refused or is not certain",
  },
  STORE_CLOSED: { exit: 28, meaning: "The store was closed too early (a fault of Bough)" },
  TARGET_EXISTS: { exit: 29, meaning: "The file to write exists already; it was left as it is" },
  SOURCE_NOT_FOUND: { exit: 30, meaning: "`import`: nothing to read at this path" },
  NO_SESSIONS_FOUND: { exit: 31, meaning: "`import`: the folder holds no session files" },
  UNKNOWN_FORMAT: { exit: 32, meaning: "`import`: the file is not a session file of a known agent" },
  UNKNOWN_FORMAT_VERSION: { exit: 33, meaning: "`import`: the file is of a version that is not known" },
  INVALID_JSON: { exit: 34, meaning: "`import`: lines that are not JSON or too long were left out; everything else was imported" },
  INVALID_RECORDS: { exit: 35, meaning: "`import`: records that fit no schema were kept as `foreign` entries; everything was imported" },
  SOURCE_UNREADABLE: { exit: 36, meaning: "`import`: the path cannot be read: no permission, a pipe or a device, links in a circle" },
  INVALID_ENTRY: { exit: 40, meaning: "An entry, label or title does not fit its schema; the message names the field" },
  UNSERIALISABLE_VALUE: { exit: 41, meaning: "A value cannot be kept as JSON" },
  ENTRY_CONFLICT: { exit: 42, meaning: "An entry of this id has other content; entries never change" },
  INVALID_REFERENCE: { exit: 43, meaning: "An entry refers to one that is not where it must be" },
  VALUE_TOO_LARGE: { exit: 44, meaning: "A small named value is too large" },
  INVALID_ARGUMENT: { exit: 46, meaning: "A function of the library was called with a wrong argument (a fault of Bough)" },
  TOO_LARGE: { exit: 47, meaning: "An entry or another text is larger than one row of the store can be; nothing was written" },
  INVALID_QUERY: { exit: 45, meaning: "`search`: the query cannot be understood" },
  NOTHING_TO_COMPACT: { exit: 50, meaning: "`compact`: there is nothing to compact; the message says why" },
  SUPERSEDED: {
    exit: 51,
    meaning: "`compact`: while the summary was written the leaf went elsewhere, or another compaction was faster; nothing was written",
  },
  SUMMARIZER_CALL: { exit: 52, meaning: "The model that was to write the summary could not be called; nothing was written" },
  SUMMARY_REJECTED: { exit: 53, meaning: "The model's answer is no summary, or larger than what it replaces; nothing was written" },
  INVALID_SETTING: { exit: 54, meaning: "A setting of the compaction is out of range; the message names it" },
  COMPACTOR_BUSY: { exit: 55, meaning: "Another compaction or navigation of this session is running in this program" },
  TURN_RUNNING: { exit: 56, meaning: "`compact`: the preset waits for the end of a turn, and the session is inside one" },
  REQUEST_TOO_LARGE: { exit: 57, meaning: "The request does not fit the window, whatever is left out of it" },
  CHECKPOINT: { exit: 58, meaning: "A checkpoint file or its folder could not be read, written or removed" },
  HOOK_RESULT: { exit: 59, meaning: "A hook supplied a result that cannot be used (a fault of Bough: the command has no hooks)" },
  AI_SDK_MISSING: { exit: 60, meaning: "The package `ai` is missing (a fault of Bough: the command does not use it)" },
  CONFIG_INVALID: { exit: 61, meaning: "The config file cannot be read or written, or a setting in it is not valid; the message names it" },
  NO_TERMINAL: { exit: 62, meaning: "The shell and the navigator need a terminal to draw on; `bough sessions` and `bough tree` print" },
  BACKUP_DAMAGED: { exit: 63, meaning: "`restore`: something does not hold in the backup; nothing was replaced" },
  STORE_IN_USE: { exit: 64, meaning: "`restore`: another program has the store open; nothing was replaced" },
  DRIVER_UNUSABLE: { exit: 70, meaning: "better-sqlite3 cannot run on this Node; the message says the command that repairs it" },
  NO_HOME: { exit: 71, meaning: "No store was named, and there is no home directory to look for one in" },
  DEMO_FAILED: { exit: 72, meaning: "`demo`: a command that it runs has failed, and said why above" },
  CANCELLED: {
    exit: 130,
    meaning:
      "Interrupted (Ctrl+C); nothing half done is in the store: `import` keeps the sessions before, and says how many; all else wrote nothing",
  },
};

/** The codes that belong to no error of ours. */
export const OTHER_EXIT_CODES: readonly ExitCode[] = [
  { exit: 0, meaning: "Done; also when whoever read the output stopped reading (`| head`)" },
  { exit: 1, meaning: "Something nobody expected: a fault of Bough, please report it" },
];

/** Nothing went wrong. */
export const EXIT_OK = 0;
/** What an unexpected failure ends with. */
export const EXIT_UNEXPECTED = 1;
/** What an interruption ends with. */
export const EXIT_INTERRUPTED = EXIT_CODES.CANCELLED.exit;

/** The exit code for what a command threw; undefined: nobody expected it. */
export function exitCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return undefined;
  return Object.hasOwn(EXIT_CODES, error.code) ? EXIT_CODES[error.code as ErrorCode].exit : undefined;
}

/** Every exit code with the name of its failure, in order of number. */
export function exitCodeList(): readonly (ExitCode & { readonly name: string })[] {
  const named = Object.entries(EXIT_CODES).map(([name, code]) => ({ name, ...code }));
  return [...named, ...OTHER_EXIT_CODES.map((code) => ({ name: "", ...code }))].sort((a, b) => a.exit - b.exit);
}
