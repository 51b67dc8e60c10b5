import type * as compaction from "@bough/compaction";
import type * as formats from "@bough/formats";
import { SUPPORTED_SOURCES } from "@bough/formats/agents";
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

/** The code of every error that can end a command. An error without a row in `EXIT_CODES` does not compile. */
type ErrorCode = CodesIn<typeof core> | CodesIn<typeof formats> | CodesIn<typeof compaction> | CodesIn<typeof own>;

/** An exit code of the program. */
interface ExitCode {
  readonly exit: number;
  /** Its meaning, as docs/exit-codes.md lists it. */
  readonly meaning: string;
  /** The next step of the user, as a command line; printed after the message. Undefined if the message already contains it. */
  readonly hint?: string;
}

/** The exit code of each error. The numbers are stable: scripts may rely on them. */
export const EXIT_CODES: Readonly<Record<ErrorCode, ExitCode>> = {
  USAGE: { exit: 2, meaning: "Invalid command line: unknown command or option, missing or contradictory arguments" },
  FINDINGS: { exit: 3, meaning: "`verify`: integrity violations in the store" },
  FILES_FAILED: { exit: 4, meaning: "`import`, `sync`: some files could not be imported; the others were" },
  DECLINED: { exit: 5, meaning: "The confirmation was answered with no; nothing was changed" },
  NOTHING_TO_UNDO: { exit: 6, meaning: "`undo`: no move of the leaf to undo or redo; `compact --undo`: no active compaction" },
  CONFIRMATION_NEEDED: { exit: 7, meaning: "`delete`, `restore`: stdin is not a terminal, so the confirmation needs `--yes`" },
  NO_SESSION: { exit: 8, meaning: "No session was given, and there is no default session" },
  OUTPUT_FAILED: { exit: 9, meaning: "A file could not be written" },
  SESSION_NOT_FOUND: {
    exit: 10,
    meaning: "No session has this id, prefix or title",
    hint: "List sessions with `bough sessions`.",
  },
  ENTRY_NOT_FOUND: {
    exit: 11,
    meaning: "No entry of the session has this id, prefix or label, or the @NAME does not exist",
    hint: "List entries with `bough tree SESSION --all`.",
  },
  AMBIGUOUS_NAME: {
    exit: 12,
    meaning: "Several sessions or entries have this name; the message lists them",
    hint: "Type more of the name, or the id that the list shows.",
  },
  LEAF_NOT_FOUND: { exit: 13, meaning: "The session has no leaf with this name", hint: "List leaves with `bough show SESSION`." },
  SESSION_EXISTS: { exit: 14, meaning: "A session with this id exists already" },
  LEAF_MOVED: { exit: 15, meaning: "Another process moved the leaf; nothing was written", hint: "Run the command again." },
  MAIN_LEAF: { exit: 16, meaning: "The leaf `main` cannot be deleted" },
  CHECKPOINT_NOT_FOUND: { exit: 17, meaning: "`checkpoints`: the path of the leaf has no checkpoint with this number" },
  VALUE_CHANGED: {
    exit: 18,
    meaning: "Another process changed a value of the session; nothing was written",
    hint: "Run the command again.",
  },
  STORE_NOT_FOUND: { exit: 20, meaning: "The store, or the backup to restore, does not exist" },
  FOREIGN_FILE: {
    exit: 21,
    meaning: "The file belongs to another program; it was not changed",
    hint: "Name another file with --store PATH.",
  },
  NEWER_STORE: {
    exit: 22,
    meaning: "The store was written by a newer version of Bough; it was not changed",
    hint: "Update Bough: npm install --global @bough/cli.",
  },
  STORE_BUSY: {
    exit: 23,
    meaning: "Another process held the write lock for too long; nothing was written",
    hint: "Run the command again.",
  },
  STORE_READ_ONLY: {
    exit: 24,
    meaning: "The store cannot be written; nothing was changed",
    hint: "Check the permissions of the file and its folder, or name another store with --store PATH.",
  },
  STORE_FULL: { exit: 25, meaning: "No space left on the disk; nothing was written", hint: "Free some space, then run the command again." },
  STORE_DAMAGED: {
    exit: 26,
    meaning: "The store is damaged",
    hint: "Restore a backup with `bough restore FILE`, or export what is readable with `bough export SESSION`.",
  },
  STORE_UNAVAILABLE: {
    exit: 27,
    meaning: "The store cannot be opened, or its file was replaced while it was open: a write failed or may not be durable",
  },
  STORE_CLOSED: { exit: 28, meaning: "The store was closed too early (a bug in Bough)" },
  TARGET_EXISTS: {
    exit: 29,
    meaning: "The output file exists; it was not changed",
    hint: "Name another file; --force replaces the file.",
  },
  SOURCE_NOT_FOUND: { exit: 30, meaning: "`import`: the path does not exist", hint: "Check the path." },
  NO_SESSIONS_FOUND: {
    exit: 31,
    meaning: "`import`: the folder contains no session files",
    hint: `Supported are ${SUPPORTED_SOURCES}.`,
  },
  UNKNOWN_FORMAT: {
    exit: 32,
    meaning: "`import`: the file is not a session file of a supported agent",
    hint: `Supported are ${SUPPORTED_SOURCES}.`,
  },
  UNKNOWN_FORMAT_VERSION: {
    exit: 33,
    meaning: "`import`: the version of the file format is not supported",
    hint: "Update Bough: npm install --global @bough/cli.",
  },
  INVALID_JSON: { exit: 34, meaning: "`import`, `sync`: lines that are not JSON or too long were skipped; everything else was imported" },
  INVALID_RECORDS: {
    exit: 35,
    meaning: "`import`, `sync`: records that match no schema were stored as `foreign` entries; everything was imported",
  },
  SOURCE_UNREADABLE: {
    exit: 36,
    meaning: "`import`: the path cannot be read: no permission, a pipe or device, or a cycle of symbolic links",
  },
  INVALID_ENTRY: { exit: 40, meaning: "An entry, label or title does not match its schema; the message names the field" },
  UNSERIALIZABLE_VALUE: { exit: 41, meaning: "A value cannot be stored as JSON" },
  ENTRY_CONFLICT: { exit: 42, meaning: "An entry with this id and different content exists; entries never change" },
  INVALID_REFERENCE: { exit: 43, meaning: "An entry refers to an entry that is missing or on another path" },
  VALUE_TOO_LARGE: { exit: 44, meaning: "A named value of the session exceeds its size limit" },
  INVALID_QUERY: { exit: 45, meaning: "`search`: the query is invalid" },
  INVALID_EXPRESSION: {
    exit: 68,
    meaning: "`search`: the regular expression is invalid; the message names the position",
    hint: "In quotation marks it is searched as a text.",
  },
  SLOW_EXPRESSION: { exit: 69, meaning: "`search`: the regular expression takes too long" },
  INVALID_ARGUMENT: { exit: 46, meaning: "A library function was called with an invalid argument (a bug in Bough)" },
  TOO_LARGE: { exit: 47, meaning: "An entry or another text exceeds the maximum size of a row in the store; nothing was written" },
  NOTHING_TO_COMPACT: { exit: 50, meaning: "`compact`: there is nothing to compact; the message gives the reason" },
  SUPERSEDED: {
    exit: 51,
    meaning:
      "`compact`: while the summary was written, the leaf moved to another branch or another compaction was written; nothing was written",
  },
  SUMMARIZER_CALL: { exit: 52, meaning: "The request to the summary model failed; nothing was written" },
  SUMMARY_REJECTED: { exit: 53, meaning: "The model returned no usable summary, or one larger than its source; nothing was written" },
  INVALID_SETTING: { exit: 54, meaning: "A compaction setting is out of range; the message names it" },
  COMPACTOR_BUSY: { exit: 55, meaning: "Another compaction or navigation of this session is running in this process" },
  TURN_RUNNING: { exit: 56, meaning: "`compact`: the preset compacts at the end of a turn, and the session is inside a turn" },
  REQUEST_TOO_LARGE: { exit: 57, meaning: "The request does not fit the context window, even with everything optional removed" },
  CHECKPOINT: { exit: 58, meaning: "A checkpoint file or its folder could not be read, written or removed" },
  HOOK_RESULT: { exit: 59, meaning: "A hook returned an invalid result (a bug in Bough: the command has no hooks)" },
  AI_SDK_MISSING: { exit: 60, meaning: "The package `ai` is not installed (a bug in Bough: it is a dependency)" },
  CONFIG_INVALID: { exit: 61, meaning: "The config file cannot be read or written, or a setting is invalid; the message names it" },
  NO_TERMINAL: { exit: 62, meaning: "The shell and the navigator need a terminal; `bough sessions` and `bough tree` print instead" },
  BACKUP_DAMAGED: {
    exit: 63,
    meaning: "`restore`: the backup is damaged or has integrity violations; nothing was replaced",
    hint: "Restore another backup.",
  },
  STORE_IN_USE: {
    exit: 64,
    meaning: "`restore`: another process has the store open; nothing was replaced",
    hint: "End that process, then run the command again.",
  },
  PAYLOAD_DAMAGED: {
    exit: 65,
    meaning: "The payload of an entry cannot be read; other sessions are not affected",
    hint: "`bough verify` names the damage; restore a backup with `bough restore FILE`, or export the other sessions.",
  },
  RECALL_INPUT: { exit: 66, meaning: "`search`, `show`: a value of --lines, --grep or another option is not valid; the message names it" },
  CLIENT_CONFIG: {
    exit: 67,
    meaning: "`mcp --install`: the config file of the client cannot be read; nothing was written",
    hint: "Repair that file, or add the printed entry by hand.",
  },
  DRIVER_UNUSABLE: {
    exit: 70,
    meaning: "better-sqlite3 does not load on this version of Node; the hint names the command that repairs it",
  },
  NO_HOME: { exit: 71, meaning: "No store was given, and there is no home directory for the default store" },
  IMPORTED_COMPACTION: {
    exit: 77,
    meaning:
      "`compact --undo`: the compaction came with an import, and stdin is not a terminal, so the confirmation needs `--yes`; nothing was written",
  },
  DEMO_FAILED: { exit: 72, meaning: "`demo`: a command that it runs failed; its message is printed above" },
  CHOICE_NEEDED: {
    exit: 73,
    meaning: "`import` without a path: sessions were found, but stdin is not a terminal to ask; --yes imports them",
  },
  AGENTS_NOT_FOUND: { exit: 74, meaning: "`import` without a path, `sync`: no sessions of an agent were found at the usual places" },
  EDITOR_FAILED: { exit: 75, meaning: "`edit`: the editor could not be started, or it ended with an error" },
  SECRETS_FOUND: { exit: 79, meaning: "`secrets --check`: sessions contain secrets" },
  PORT_REFUSED: { exit: 81, meaning: "`view`: the port is in use, or may not be used" },
  NOT_RESUMABLE: { exit: 86, meaning: "`resume`: no agent can go on with the session, or not at this entry; nothing was written" },
  AGENT_FAILED: { exit: 87, meaning: "`resume`: the agent could not be started, or ended with an error; its session stays" },
  SERVICE_UNKNOWN: {
    exit: 84,
    meaning: "`sync --install`, `--uninstall`: no service is known for this system; the message names the command that it would run",
  },
  SERVICE_FAILED: {
    exit: 85,
    meaning:
      "`sync --install`, `--uninstall`: the file of the service is of another program, cannot be read or its folder not be made, or a command that starts or ends the service failed; the message says what was written",
  },
  CANCELLED: {
    exit: 130,
    meaning: "Interrupted (Ctrl+C): `import` and `sync` keep the sessions that were finished; other commands write nothing",
  },
  SERVER_UNAVAILABLE: { exit: 88, meaning: "The PostgreSQL server of the store cannot be reached; nothing was written" },
  SERVER_LOGIN: {
    exit: 89,
    meaning: "The PostgreSQL server refused the login",
    hint: "Give the password in PGPASSWORD, ~/.pgpass or the URL.",
  },
  DATABASE_NOT_FOUND: { exit: 90, meaning: "The PostgreSQL server has no database with this name" },
  SERVER_RIGHTS: { exit: 91, meaning: "The database user lacks a right; nothing was written" },
  SERVER_FULL: { exit: 92, meaning: "The PostgreSQL server takes no more connections; nothing was written" },
  POOL_EXHAUSTED: { exit: 93, meaning: "All connections of the store were in use; nothing was written", hint: "Run the command again." },
  SERVER_UNSUITABLE: { exit: 94, meaning: "The PostgreSQL server is too old, or its database cannot hold a store" },
  CONNECTION_LOST: { exit: 95, meaning: "The connection to the PostgreSQL server was lost; the message says whether the write happened" },
  SERVER_TIMEOUT: {
    exit: 104,
    meaning:
      "The PostgreSQL server ended the operation, which took longer than its `statement_timeout` or was cancelled; nothing was written",
  },
  SERVER_REFUSED: { exit: 105, meaning: "The PostgreSQL server refused a value or an operation; nothing was written" },
  UNSUPPORTED_OPERATION: {
    exit: 97,
    meaning: "The command is not for a store on a server: the server does it itself, as the message says",
  },
  SESSIONS_LEFT: {
    exit: 103,
    meaning: "`copy`: some sessions were left: the target has them with other content, or they failed; the others were copied",
  },
  SESSION_CHANGED: {
    exit: 98,
    meaning: "`copy`: another process wrote to a session of the target while it was copied",
    hint: "Run the command again.",
  },
  COPY_DIFFERS: {
    exit: 99,
    meaning: "`copy`: what was read back from the target is not what the source has: one of the stores is damaged",
    hint: "Check both with `bough verify`.",
  },
  NOT_ON_SERVER: {
    exit: 100,
    meaning: "`backup`, `restore`, `pack`: the store is on a server, which does this itself; the message names the command for it",
  },
  POSTGRES_DRIVER: { exit: 96, meaning: "The package `pg` cannot be loaded" },
};

/** The exit codes without an error. */
const OTHER_EXIT_CODES: readonly ExitCode[] = [
  { exit: 0, meaning: "Success; also when the reader of the output closes the pipe (`| head`)" },
  { exit: 1, meaning: "Unexpected error: a bug in Bough, please report it" },
];

/** Success. */
export const EXIT_OK = 0;
/** An unexpected error. */
export const EXIT_UNEXPECTED = 1;
/** An interruption by SIGINT. */
export const EXIT_INTERRUPTED = EXIT_CODES.CANCELLED.exit;

/** The row of the table for an error; undefined: the error is unexpected. */
export function findExitCode(error: unknown): ExitCode | undefined {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return undefined;
  return isErrorCode(error.code) ? EXIT_CODES[error.code] : undefined;
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(EXIT_CODES, code);
}

/** Every exit code with the code of its error ("" for success and unexpected errors), ordered by number. */
export function listExitCodes(): readonly (ExitCode & { readonly name: string })[] {
  const named = Object.entries(EXIT_CODES).map(([name, code]) => ({ name, ...code }));
  return [...named, ...OTHER_EXIT_CODES.map((code) => ({ name: "", ...code }))].sort((a, b) => a.exit - b.exit);
}
