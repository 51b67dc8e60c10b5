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

/** The code of every error that can end a command. An error without a row in `ERRORS` does not compile. */
type ErrorCode = CodesIn<typeof core> | CodesIn<typeof formats> | CodesIn<typeof compaction> | CodesIn<typeof own>;

/** The classes of exit codes, in the manner of sysexits(3). A script that must tell more apart reads the error's code. */
const EXIT_CLASSES = {
  ok: { exit: 0, meaning: "Success; also when the reader of the output closes the pipe (`| head`)" },
  fault: { exit: 1, meaning: "A fault of Bough: please report it" },
  usage: { exit: 2, meaning: "The command line, a setting or a value is invalid; nothing was done" },
  findings: { exit: 3, meaning: "The command did its work and reports what is not in order" },
  notFound: { exit: 4, meaning: "What was named does not exist, or the name fits several" },
  conflict: { exit: 5, meaning: "What is there does not allow it; nothing was changed" },
  busy: { exit: 6, meaning: "Something else was in the way or faster; run the command again" },
  unavailable: { exit: 7, meaning: "A server, a model, another program or a driver cannot be reached or failed" },
  damaged: { exit: 8, meaning: "A file is damaged, of another program or of a newer version; it was not changed" },
  denied: { exit: 9, meaning: "The system or the server denies it: rights, a login, a full disk" },
  consent: { exit: 10, meaning: "A person must agree or a terminal is needed, and neither was there" },
  cancelled: { exit: 130, meaning: "Interrupted (Ctrl+C)" },
} as const satisfies Readonly<Record<string, { exit: number; meaning: string }>>;

/** A class of exit codes. */
type ExitClass = keyof typeof EXIT_CLASSES;

/** The row of an error. */
interface ErrorRow {
  readonly kind: ExitClass;
  /** Its meaning, as docs/exit-codes.md lists it. */
  readonly meaning: string;
  /** The next step of the user, as a command line; printed after the message. Undefined if the message already contains it. */
  readonly hint?: string;
}

/** The class and the meaning of each error. Numbers and codes are stable: scripts may rely on them. */
const ERRORS: Readonly<Record<ErrorCode, ErrorRow>> = {
  USAGE: { kind: "usage", meaning: "Invalid command line: unknown command or option, missing or contradictory arguments" },
  FINDINGS: { kind: "findings", meaning: "`verify`: integrity violations in the store" },
  FILES_FAILED: { kind: "findings", meaning: "`import`, `sync`: some files could not be imported; the others were" },
  DECLINED: { kind: "consent", meaning: "The confirmation was answered with no; nothing was changed" },
  NOTHING_TO_UNDO: { kind: "conflict", meaning: "`undo`: no move of the leaf to undo or redo; `compact --undo`: no active compaction" },
  CONFIRMATION_NEEDED: { kind: "consent", meaning: "`delete`, `restore`: stdin is not a terminal, so the confirmation needs `--yes`" },
  NO_SESSION: { kind: "notFound", meaning: "No session was given, and there is no default session" },
  OUTPUT_FAILED: { kind: "denied", meaning: "A file could not be written" },
  SESSION_NOT_FOUND: {
    kind: "notFound",
    meaning: "No session has this id, prefix or title",
    hint: "List sessions with `bough sessions`.",
  },
  ENTRY_NOT_FOUND: {
    kind: "notFound",
    meaning: "No entry of the session has this id, prefix or label, or the @NAME does not exist",
    hint: "List entries with `bough tree SESSION --all`.",
  },
  AMBIGUOUS_NAME: {
    kind: "notFound",
    meaning: "Several sessions or entries have this name; the message lists them",
    hint: "Type more of the name, or the id that the list shows.",
  },
  LEAF_NOT_FOUND: { kind: "notFound", meaning: "The session has no leaf with this name", hint: "List leaves with `bough show SESSION`." },
  SESSION_EXISTS: { kind: "conflict", meaning: "A session with this id exists already" },
  LEAF_MOVED: { kind: "busy", meaning: "Another process moved the leaf; nothing was written", hint: "Run the command again." },
  MAIN_LEAF: { kind: "conflict", meaning: "The leaf `main` cannot be deleted" },
  CHECKPOINT_NOT_FOUND: { kind: "notFound", meaning: "`checkpoints`: the path of the leaf has no checkpoint with this number" },
  VALUE_CHANGED: {
    kind: "busy",
    meaning: "Another process changed a value of the session; nothing was written",
    hint: "Run the command again.",
  },
  STORE_NOT_FOUND: { kind: "notFound", meaning: "The store, or the backup to restore, does not exist" },
  FOREIGN_FILE: {
    kind: "damaged",
    meaning: "The file belongs to another program; it was not changed",
    hint: "Name another file with --store PATH.",
  },
  NEWER_STORE: {
    kind: "damaged",
    meaning: "The store was written by a newer version of Bough; it was not changed",
    hint: "Update Bough: npm install --global @bough/cli.",
  },
  STORE_BUSY: {
    kind: "busy",
    meaning: "Another process held the write lock for too long; nothing was written",
    hint: "Run the command again.",
  },
  STORE_LOCKED: {
    kind: "denied",
    meaning: "The store is locked, and no key was given; no byte was changed",
    hint: "Give its key in BOUGH_KEY, or in BOUGH_KEY_COMMAND a command that prints it.",
  },
  WRONG_KEY: {
    kind: "denied",
    meaning: "The key does not fit the locked store; no byte was changed",
    hint: "Check BOUGH_KEY, or what the command in BOUGH_KEY_COMMAND prints.",
  },
  STORE_NOT_LOCKED: {
    kind: "conflict",
    meaning: "A key was given for a store that is not locked; no byte was changed",
    hint: "Lock it with `bough lock`, or run this command with BOUGH_KEY set to nothing.",
  },
  CIPHERS_MISSING: {
    kind: "unavailable",
    meaning:
      "A locked store needs the package better-sqlite3-multiple-ciphers, which is not installed; the hint names the command that installs it",
  },
  KEY_COMMAND: {
    kind: "unavailable",
    meaning:
      "The command in BOUGH_KEY_COMMAND cannot be run, failed, took too long, or did not print one line of text; nothing was changed",
    hint: "Run that command by hand.",
  },
  STORE_READ_ONLY: {
    kind: "denied",
    meaning: "The store cannot be written; nothing was changed",
    hint: "Check the permissions of the file and its folder, or name another store with --store PATH.",
  },
  STORE_FULL: {
    kind: "denied",
    meaning: "No space left on the disk; nothing was written",
    hint: "Free some space, then run the command again.",
  },
  STORE_DAMAGED: {
    kind: "damaged",
    meaning: "The store is damaged",
    hint: "Restore a backup with `bough restore FILE`, or export what is readable with `bough export SESSION`.",
  },
  STORE_UNAVAILABLE: {
    kind: "unavailable",
    meaning: "The store cannot be opened, or its file was replaced while it was open: a write failed or may not be durable",
  },
  STORE_CLOSED: { kind: "fault", meaning: "The store was closed too early (a bug in Bough)" },
  TARGET_EXISTS: {
    kind: "conflict",
    meaning: "The output file exists; it was not changed",
    hint: "Name another file; --force replaces the file.",
  },
  SOURCE_NOT_FOUND: { kind: "notFound", meaning: "`import`: the path does not exist", hint: "Check the path." },
  NO_SESSIONS_FOUND: {
    kind: "notFound",
    meaning: "`import`: the folder contains no session files",
    hint: `Supported are ${SUPPORTED_SOURCES}.`,
  },
  UNKNOWN_FORMAT: {
    kind: "damaged",
    meaning: "`import`: the file is not a session file of a supported agent",
    hint: `Supported are ${SUPPORTED_SOURCES}.`,
  },
  UNKNOWN_FORMAT_VERSION: {
    kind: "damaged",
    meaning: "`import`: the version of the file format is not supported",
    hint: "Update Bough: npm install --global @bough/cli.",
  },
  INVALID_JSON: {
    kind: "findings",
    meaning: "`import`, `sync`: lines that are not JSON or too long were skipped; everything else was imported",
  },
  INVALID_RECORDS: {
    kind: "findings",
    meaning: "`import`, `sync`: records that match no schema were stored as `foreign` entries; everything was imported",
  },
  SOURCE_UNREADABLE: {
    kind: "denied",
    meaning: "`import`: the path cannot be read: no permission, a pipe or device, or a cycle of symbolic links",
  },
  INVALID_ENTRY: { kind: "usage", meaning: "An entry, label or title does not match its schema; the message names the field" },
  UNSERIALIZABLE_VALUE: { kind: "usage", meaning: "A value cannot be stored as JSON" },
  ENTRY_CONFLICT: { kind: "conflict", meaning: "An entry with this id and different content exists; entries never change" },
  INVALID_REFERENCE: { kind: "conflict", meaning: "An entry refers to an entry that is missing or on another path" },
  VALUE_TOO_LARGE: { kind: "usage", meaning: "A named value of the session exceeds its size limit" },
  INVALID_QUERY: { kind: "usage", meaning: "`search`: the query is invalid" },
  INVALID_EXPRESSION: {
    kind: "usage",
    meaning: "`search`: the regular expression is invalid; the message names the position",
    hint: "In quotation marks it is searched as a text.",
  },
  SLOW_EXPRESSION: { kind: "usage", meaning: "`search`: the regular expression takes too long" },
  INVALID_ARGUMENT: { kind: "fault", meaning: "A library function was called with an invalid argument (a bug in Bough)" },
  TOO_LARGE: { kind: "usage", meaning: "An entry or another text exceeds the maximum size of a row in the store; nothing was written" },
  NOTHING_TO_COMPACT: { kind: "conflict", meaning: "`compact`: there is nothing to compact; the message gives the reason" },
  SUPERSEDED: {
    kind: "busy",
    meaning:
      "`compact`: while the summary was written, the leaf moved to another branch or another compaction was written; nothing was written",
  },
  SUMMARIZER_CALL: { kind: "unavailable", meaning: "The request to the summary model failed; nothing was written" },
  SUMMARY_REJECTED: {
    kind: "unavailable",
    meaning: "The model returned no usable summary, or one larger than its source; nothing was written",
  },
  INVALID_SETTING: { kind: "usage", meaning: "A compaction setting is out of range; the message names it" },
  COMPACTOR_BUSY: { kind: "busy", meaning: "Another compaction or navigation of this session is running in this process" },
  TURN_RUNNING: { kind: "conflict", meaning: "`compact`: the preset compacts at the end of a turn, and the session is inside a turn" },
  REQUEST_TOO_LARGE: { kind: "conflict", meaning: "The request does not fit the context window, even with everything optional removed" },
  CHECKPOINT: { kind: "denied", meaning: "A checkpoint file or its folder could not be read, written or removed" },
  HOOK_RESULT: { kind: "fault", meaning: "A hook returned an invalid result (a bug in Bough: the command has no hooks)" },
  AI_SDK_MISSING: { kind: "fault", meaning: "The package `ai` is not installed (a bug in Bough: it is a dependency)" },
  CONFIG_INVALID: { kind: "usage", meaning: "The config file cannot be read or written, or a setting is invalid; the message names it" },
  NO_TERMINAL: { kind: "consent", meaning: "The shell and the navigator need a terminal; `bough sessions` and `bough tree` print instead" },
  BACKUP_DAMAGED: {
    kind: "damaged",
    meaning: "`restore`: the backup is damaged or has integrity violations; nothing was replaced",
    hint: "Restore another backup.",
  },
  STORE_IN_USE: {
    kind: "busy",
    meaning: "`restore`, `lock`, `unlock`, `rekey`: another process has the store open; nothing was replaced",
    hint: "End that process, then run the command again.",
  },
  PAYLOAD_DAMAGED: {
    kind: "damaged",
    meaning: "The payload of an entry cannot be read; other sessions are not affected",
    hint: "`bough verify` names the damage; restore a backup with `bough restore FILE`, or export the other sessions.",
  },
  RECALL_INPUT: {
    kind: "usage",
    meaning: "`search`, `show`: a value of --lines, --grep or another option is not valid; the message names it",
  },
  CLIENT_CONFIG: {
    kind: "damaged",
    meaning: "`mcp --install`: the config file of the client cannot be read; nothing was written",
    hint: "Repair that file, or add the printed entry by hand.",
  },
  DRIVER_UNUSABLE: {
    kind: "unavailable",
    meaning: "better-sqlite3 does not load on this version of Node; the hint names the command that repairs it",
  },
  NO_HOME: { kind: "notFound", meaning: "No store was given, and there is no home directory for the default store" },
  IMPORTED_COMPACTION: {
    kind: "consent",
    meaning:
      "`compact --undo`: the compaction came with an import, and stdin is not a terminal, so the confirmation needs `--yes`; nothing was written",
  },
  DEMO_FAILED: { kind: "unavailable", meaning: "`demo`: a command that it runs failed; its message is printed above" },
  CHOICE_NEEDED: {
    kind: "consent",
    meaning: "`import` without a path: sessions were found, but stdin is not a terminal to ask; --yes imports them",
  },
  AGENTS_NOT_FOUND: {
    kind: "notFound",
    meaning: "`import` without a path, `sync`: no sessions of an agent were found at the usual places",
  },
  EDITOR_FAILED: { kind: "unavailable", meaning: "`edit`: the editor could not be started, or it ended with an error" },
  SHARE_FAILED: { kind: "unavailable", meaning: "`share`: a program that publishes the page, or takes it back, is missing or failed" },
  SHARE_NOT_FOUND: {
    kind: "notFound",
    meaning: "`share --revoke`: no shared page, or more than one, has this link",
    hint: "List shared pages with `bough share --list`.",
  },
  SECRETS_FOUND: { kind: "findings", meaning: "`secrets --check`: sessions contain secrets" },
  PORT_REFUSED: { kind: "conflict", meaning: "`view`: the port is in use, or may not be used" },
  NOT_RESUMABLE: { kind: "conflict", meaning: "`resume`: no agent can go on with the session, or not at this entry; nothing was written" },
  AGENT_FAILED: { kind: "unavailable", meaning: "`resume`: the agent could not be started, or ended with an error; its session stays" },
  BLAME_SOURCE: {
    kind: "notFound",
    meaning: "`blame`: the file or the commit cannot be read, is no text, or does not have these lines",
  },
  SERVICE_UNKNOWN: {
    kind: "conflict",
    meaning: "`sync --install`, `--uninstall`: no service is known for this system; the message names the command that it would run",
  },
  SERVICE_FAILED: {
    kind: "unavailable",
    meaning:
      "`sync --install`, `--uninstall`: the file of the service is of another program, cannot be read or its folder not be made, or a command that starts or ends the service failed; the message says what was written",
  },
  CANCELLED: {
    kind: "cancelled",
    meaning: "Interrupted (Ctrl+C): `import` and `sync` keep the sessions that were finished; other commands write nothing",
  },
  SERVER_UNAVAILABLE: { kind: "unavailable", meaning: "The PostgreSQL server of the store cannot be reached; nothing was written" },
  SERVER_LOGIN: {
    kind: "denied",
    meaning: "The PostgreSQL server refused the login",
    hint: "Give the password in PGPASSWORD, ~/.pgpass or the URL.",
  },
  DATABASE_NOT_FOUND: { kind: "notFound", meaning: "The PostgreSQL server has no database with this name" },
  SERVER_RIGHTS: { kind: "denied", meaning: "The database user lacks a right; nothing was written" },
  SERVER_FULL: { kind: "busy", meaning: "The PostgreSQL server takes no more connections; nothing was written" },
  POOL_EXHAUSTED: {
    kind: "busy",
    meaning: "All connections of the store were in use; nothing was written",
    hint: "Run the command again.",
  },
  SERVER_UNSUITABLE: { kind: "unavailable", meaning: "The PostgreSQL server is too old, or its database cannot hold a store" },
  CONNECTION_LOST: {
    kind: "unavailable",
    meaning: "The connection to the PostgreSQL server was lost; the message says whether the write happened",
  },
  SERVER_TIMEOUT: {
    kind: "busy",
    meaning:
      "The PostgreSQL server ended the operation, which took longer than its `statement_timeout` or was cancelled; nothing was written",
  },
  SERVER_REFUSED: { kind: "unavailable", meaning: "The PostgreSQL server refused a value or an operation; nothing was written" },
  UNSUPPORTED_OPERATION: {
    kind: "conflict",
    meaning: "The command is not for a store on a server: the server does it itself, as the message says",
  },
  SESSIONS_LEFT: {
    kind: "findings",
    meaning: "`copy`: some sessions were left: the target has them with other content, or they failed; the others were copied",
  },
  SESSION_CHANGED: {
    kind: "busy",
    meaning: "`copy`: another process wrote to a session of the target while it was copied",
    hint: "Run the command again.",
  },
  COPY_DIFFERS: {
    kind: "damaged",
    meaning: "`copy`: what was read back from the target is not what the source has: one of the stores is damaged",
    hint: "Check both with `bough verify`.",
  },
  INVALID_COPY: {
    kind: "damaged",
    meaning: "`copy`: a session that arrived over ssh is not one that a store can have; it was left",
    hint: "Run `bough verify` on the machine that it comes from.",
  },
  REMOTE_ENDED: {
    kind: "unavailable",
    meaning: "`copy`: the other machine cannot be reached, or the connection ended; both stores are whole",
    hint: "Run the command again: it goes on where it ended.",
  },
  REMOTE_VERSION: {
    kind: "unavailable",
    meaning: "`copy`: there is no `bough` on the other machine, or one that is too old or too new; the message says what to do",
  },
  REMOTE_PROTOCOL: {
    kind: "unavailable",
    meaning: "`copy`: the other machine sent something that is not of the protocol; nothing more was written",
    hint: "Install the same version of Bough on both machines.",
  },
  NOT_ON_SERVER: {
    kind: "conflict",
    meaning: "`backup`, `restore`, `pack`: the store is on a server, which does this itself; the message names the command for it",
  },
  POSTGRES_DRIVER: { kind: "unavailable", meaning: "The package `pg` cannot be loaded" },
};

/** Success. */
export const EXIT_OK = EXIT_CLASSES.ok.exit;
/** The command line is invalid. */
export const EXIT_USAGE = EXIT_CLASSES.usage.exit;
/** An interruption by SIGINT. */
export const EXIT_INTERRUPTED = EXIT_CLASSES.cancelled.exit;

/** The report of an error that ends a command. */
interface ExitReport {
  readonly exit: number;
  /** Undefined: the error is unexpected. */
  readonly code: ErrorCode | undefined;
  readonly hint: string | undefined;
}

/** Returns the exit code, the stable code and the hint of an error. */
export function exitReport(error: unknown): ExitReport {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string" || !isErrorCode(error.code))
    return { exit: EXIT_CLASSES.fault.exit, code: undefined, hint: undefined };
  const { kind, hint } = ERRORS[error.code];
  return { exit: EXIT_CLASSES[kind].exit, code: error.code, hint };
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}

/** An exit code with its meaning, and the errors that have it. */
export interface ListedExit {
  readonly exit: number;
  readonly meaning: string;
  readonly errors: readonly (Omit<ErrorRow, "kind"> & { readonly code: string })[];
}

/** Lists every exit code, ordered by number, with its errors in the order of their names. */
export function listExitCodes(): readonly ListedExit[] {
  const rows = Object.entries(ERRORS)
    .map(([code, row]) => ({ code, ...row }))
    .sort((a, b) => a.code.localeCompare(b.code, "en"));
  return Object.entries(EXIT_CLASSES).map(([kind, { exit, meaning }]) => ({
    exit,
    meaning,
    errors: rows
      .filter((row) => row.kind === kind)
      .map(({ code, meaning: text, hint }) => ({ code, meaning: text, ...(hint === undefined ? {} : { hint }) })),
  }));
}
