import type * as compaction from "@bough/compaction";
import type * as formats from "@bough/formats";
import { SUPPORTED_SOURCES } from "@bough/formats/agents";
import type * as core from "@bough/session-core";
import { errorCode } from "@bough/session-core/engine";
import type * as own from "./errors.js";

type CodeOf<T> = T extends abstract new (
  ...args: never
) => { readonly code: infer C extends string }
  ? string extends C
    ? never
    : C
  : never;
type CodesIn<T> = { [K in keyof T]: CodeOf<T[K]> }[keyof T];

/** The code of every error that can end a command. An error without a row in `EXITS`, or with two, does not compile. */
type ErrorCode = CodesIn<typeof core> | CodesIn<typeof formats> | CodesIn<typeof compaction> | CodesIn<typeof own>;

/** The row of an error. */
interface ErrorRow {
  /** Its meaning, as docs/exit-codes.md lists it. */
  readonly meaning: string;
  /** The next step of the user, as a command line; printed after the message. Undefined if the message already contains it. */
  readonly hint?: string;
}

/** An exit code: its number, its meaning and its errors. */
interface Exit {
  readonly exit: number;
  readonly meaning: string;
  readonly errors: Readonly<Partial<Record<ErrorCode, ErrorRow>>>;
}

/**
 * The exit codes, in the manner of sysexits(3), each with its errors by their codes. Numbers and codes are stable: scripts may rely on them. A script
 * that must tell more apart reads the error's code.
 */
const EXITS = {
  ok: {
    exit: 0,
    meaning: "Success; also when the reader of the output closes the pipe (`| head`)",
    errors: {},
  },
  fault: {
    exit: 1,
    meaning: "A fault of Bough: please report it",
    errors: {
      AI_SDK_MISSING: { meaning: "The package `ai` is not installed (a bug in Bough: it is a dependency)" },
      HOOK_RESULT: { meaning: "A hook returned an invalid result (a bug in Bough: the command has no hooks)" },
      INVALID_ARGUMENT: { meaning: "A library function was called with an invalid argument (a bug in Bough)" },
      STORE_CLOSED: { meaning: "The store was closed too early (a bug in Bough)" },
    },
  },
  usage: {
    exit: 2,
    meaning: "The command line, a setting or a value is invalid; nothing was done",
    errors: {
      CONFIG_INVALID: { meaning: "The config file cannot be read or written, or a setting is invalid; the message names it" },
      INVALID_ENTRY: {
        meaning: "An entry, a session id, the name of a leaf or another value does not match its schema; the message names it",
      },
      INVALID_EXPRESSION: {
        meaning: "`search`: the regular expression is invalid; the message names the position",
        hint: "In quotation marks it is searched as a text.",
      },
      INVALID_QUERY: { meaning: "`search`: the query is invalid" },
      INVALID_SETTING: { meaning: "A compaction setting is out of range; the message names it" },
      RECALL_INPUT: { meaning: "`search`, `show`: a value of --lines, --grep or another option is not valid; the message names it" },
      SLOW_EXPRESSION: { meaning: "`search`: the regular expression takes too long" },
      TOO_LARGE: { meaning: "An entry or another text exceeds the maximum size of a row in the store; nothing was written" },
      UNSERIALIZABLE_VALUE: { meaning: "A value cannot be stored as JSON" },
      USAGE: { meaning: "Invalid command line: unknown command or option, missing or contradictory arguments" },
      VALUE_TOO_LARGE: { meaning: "A named value of the session exceeds its size limit" },
    },
  },
  findings: {
    exit: 3,
    meaning: "The command did its work and reports what is not in order",
    errors: {
      FILES_FAILED: { meaning: "`import`, `sync`: some files could not be imported; the others were" },
      FINDINGS: { meaning: "`verify`: integrity violations in the store" },
      INVALID_JSON: { meaning: "`import`, `sync`: lines that are not JSON or too long were skipped; everything else was imported" },
      INVALID_RECORDS: {
        meaning: "`import`, `sync`: records that match no schema were stored as `foreign` entries; everything was imported",
      },
      SECRETS_FOUND: { meaning: "`secrets --check`: sessions contain secrets" },
      SESSIONS_LEFT: {
        meaning: "`copy`: some sessions were left: the target has them with other content, or they failed; the others were copied",
      },
    },
  },
  notFound: {
    exit: 4,
    meaning: "What was named does not exist, or the name fits several",
    errors: {
      AGENTS_NOT_FOUND: { meaning: "`import` without a path, `sync`: no sessions of an agent were found at the usual places" },
      AMBIGUOUS_NAME: {
        meaning: "Several sessions or entries have this name; the message lists them",
        hint: "Type more of the name, or the id that the list shows.",
      },
      BLAME_SOURCE: { meaning: "`blame`: the file or the commit cannot be read, is no text, or does not have these lines" },
      CHECKPOINT_NOT_FOUND: { meaning: "`checkpoints`: the path of the leaf has no checkpoint with this number" },
      DATABASE_NOT_FOUND: { meaning: "The PostgreSQL server has no database with this name" },
      ENTRY_NOT_FOUND: {
        meaning: "No entry of the session has this id, prefix or label, or the @NAME does not exist",
        hint: "List entries with `bough tree SESSION --all`.",
      },
      LEAF_NOT_FOUND: { meaning: "The session has no leaf with this name", hint: "List leaves with `bough show SESSION`." },
      NO_HOME: { meaning: "There is no home directory for the default store, the sessions of an agent, or the settings of a client" },
      NO_SESSION: { meaning: "No session was given, and there is no default session" },
      NO_CONVERSATION: { meaning: "`import`: the file, or each session file of the folder, contains only a header or settings" },
      NO_SESSIONS_FOUND: { meaning: "`import`: the folder contains no session files", hint: `Supported are ${SUPPORTED_SOURCES}.` },
      SESSION_NOT_FOUND: { meaning: "No session has this id, prefix or title", hint: "List sessions with `bough sessions`." },
      SHARE_NOT_FOUND: {
        meaning: "`share --revoke`: no shared page, or more than one, has this link",
        hint: "List shared pages with `bough share --list`.",
      },
      SOURCE_NOT_FOUND: { meaning: "`import`: the path does not exist", hint: "Check the path." },
      STORE_NOT_FOUND: { meaning: "The store, or the backup to restore, does not exist" },
    },
  },
  conflict: {
    exit: 5,
    meaning: "What is there does not allow it; nothing was changed",
    errors: {
      ENTRY_CONFLICT: { meaning: "An entry with this id and different content exists; entries never change" },
      INVALID_REFERENCE: { meaning: "An entry refers to an entry that is missing or on another path" },
      MAIN_LEAF: { meaning: "The leaf `main` cannot be deleted" },
      NOT_ON_SERVER: {
        meaning: "`backup`, `restore`, `pack`: the store is on a server, which does this itself; the message names the command for it",
      },
      NOT_RESUMABLE: { meaning: "`resume`: no agent can go on with the session, or not at this entry; nothing was written" },
      NOTHING_TO_COMPACT: { meaning: "`compact`: there is nothing to compact; the message gives the reason" },
      NOTHING_TO_UNDO: { meaning: "`undo`: no move of the leaf to undo or redo; `compact --undo`: no active compaction" },
      PORT_REFUSED: { meaning: "`view`: the port is in use, or may not be used" },
      REQUEST_TOO_LARGE: { meaning: "The request does not fit the context window, even with everything optional removed" },
      SERVICE_UNKNOWN: {
        meaning: "`sync --install`, `--uninstall`: no service is known for this system; the message names the command that it would run",
      },
      SESSION_EXISTS: { meaning: "A session with this id exists already" },
      STORE_NOT_LOCKED: {
        meaning: "A key was given for a store that is not locked; no byte was changed",
        hint: "Lock it with `bough lock`, or run this command with BOUGH_KEY set to nothing.",
      },
      TARGET_EXISTS: {
        meaning: "The output file exists; it was not changed",
        hint: "Name another file; `bough export --force` replaces one.",
      },
      TURN_RUNNING: { meaning: "`compact`: the preset compacts at the end of a turn, and the session is inside a turn" },
      UNSUPPORTED_OPERATION: { meaning: "The command is not for a store on a server: the server does it itself, as the message says" },
    },
  },
  busy: {
    exit: 6,
    meaning: "Something else was in the way or faster; run the command again",
    errors: {
      COMPACTOR_BUSY: { meaning: "Another compaction or navigation of this session is running in this process" },
      LEAF_MOVED: { meaning: "Another process moved the leaf; nothing was written", hint: "Run the command again." },
      POOL_EXHAUSTED: { meaning: "All connections of the store were in use; nothing was written", hint: "Run the command again." },
      SERVER_FULL: { meaning: "The PostgreSQL server takes no more connections; nothing was written" },
      SERVER_TIMEOUT: {
        meaning:
          "The PostgreSQL server ended the operation, which took longer than its `statement_timeout` or was cancelled; nothing was written",
      },
      SESSION_CHANGED: {
        meaning: "`copy`: another process wrote to a session of the target while it was copied",
        hint: "Run the command again.",
      },
      STORE_BUSY: { meaning: "Another process held the write lock for too long; nothing was written", hint: "Run the command again." },
      STORE_IN_USE: {
        meaning: "`restore`, `lock`, `unlock`, `rekey`: another process has the store open; nothing was replaced",
        hint: "End that process, then run the command again.",
      },
      SUPERSEDED: {
        meaning:
          "`compact`: while the summary was written, the leaf moved to another branch or another compaction was written; nothing was written",
      },
      VALUE_CHANGED: { meaning: "Another process changed a value of the session; nothing was written", hint: "Run the command again." },
    },
  },
  unavailable: {
    exit: 7,
    meaning: "A server, a model, another program or a driver cannot be reached or failed",
    errors: {
      AGENT_FAILED: { meaning: "`resume`: the agent could not be started, or ended with an error; its session stays" },
      CIPHERS_MISSING: {
        meaning:
          "A locked store needs the package better-sqlite3-multiple-ciphers, which is not installed; the hint names the command that installs it",
      },
      CONNECTION_LOST: { meaning: "The connection to the PostgreSQL server was lost; the message says whether the write happened" },
      DEMO_FAILED: { meaning: "`demo`: a command that it runs failed; its message is printed above" },
      DRIVER_UNUSABLE: { meaning: "better-sqlite3 does not load on this version of Node; the hint names the command that repairs it" },
      EDITOR_FAILED: { meaning: "`edit`: the editor could not be started, or it ended with an error" },
      KEY_COMMAND: {
        meaning:
          "The command in BOUGH_KEY_COMMAND cannot be run, failed, took too long, or did not print one line of text; nothing was changed",
        hint: "Run that command by hand.",
      },
      POSTGRES_DRIVER: { meaning: "The package `pg` cannot be loaded" },
      REMOTE_ENDED: {
        meaning: "`copy`: the other machine cannot be reached, or the connection ended; both stores are whole",
        hint: "Run the command again: it goes on where it ended.",
      },
      REMOTE_PROTOCOL: {
        meaning: "`copy`: the other machine sent something that is not of the protocol; nothing more was written",
        hint: "Install the same version of Bough on both machines.",
      },
      REMOTE_VERSION: {
        meaning: "`copy`: there is no `bough` on the other machine, or one that is too old or too new; the message says what to do",
      },
      SERVER_REFUSED: { meaning: "The PostgreSQL server refused a value or an operation; nothing was written" },
      SERVER_UNAVAILABLE: { meaning: "The PostgreSQL server of the store cannot be reached; nothing was written" },
      SERVER_UNSUITABLE: { meaning: "The PostgreSQL server is too old, or its database cannot hold a store" },
      SERVICE_FAILED: {
        meaning:
          "`sync --install`, `--uninstall`: the file of the service is of another program, cannot be read or its folder not be made, or a command that starts or ends the service failed; the message says what was written",
      },
      SHARE_FAILED: { meaning: "`share`: a program that publishes the page, or takes it back, is missing or failed" },
      STORE_UNAVAILABLE: {
        meaning: "The store cannot be opened, or its file was replaced while it was open: a write failed or may not be durable",
      },
      SUMMARIZER_CALL: { meaning: "The request to the summary model failed; nothing was written" },
      SUMMARY_REJECTED: { meaning: "The model returned no usable summary, or one larger than its source; nothing was written" },
    },
  },
  damaged: {
    exit: 8,
    meaning: "A file is damaged, of another program or of a newer version; it was not changed",
    errors: {
      BACKUP_DAMAGED: {
        meaning: "`restore`: the backup is damaged or has integrity violations; nothing was replaced",
        hint: "Restore another backup.",
      },
      CLIENT_CONFIG: {
        meaning: "`mcp --install`: the config file of the client cannot be read; nothing was written",
        hint: "Repair that file, or add the printed entry by hand.",
      },
      COPY_DIFFERS: {
        meaning: "`copy`: what was read back from the target is not what the source has: one of the stores is damaged",
        hint: "Check both with `bough verify`.",
      },
      FOREIGN_FILE: { meaning: "The file belongs to another program; it was not changed", hint: "Name another file with --store PATH." },
      INVALID_COPY: {
        meaning: "`copy`: a session that arrived over ssh is not one that a store can have; it was left",
        hint: "Run `bough verify` on the machine that it comes from.",
      },
      NEWER_STORE: {
        meaning: "The store was written by a newer version of Bough; it was not changed",
        hint: "Update Bough: npm install --global @bough/cli.",
      },
      PAYLOAD_DAMAGED: {
        meaning: "The payload of an entry cannot be read; other sessions are not affected",
        hint: "`bough verify` names the damage; restore a backup with `bough restore FILE`, or export the other sessions.",
      },
      STORE_DAMAGED: {
        meaning: "The store is damaged",
        hint: "Restore a backup with `bough restore FILE`, or export what is readable with `bough export SESSION`.",
      },
      UNKNOWN_FORMAT: {
        meaning: "`import`: the file is not a session file of a supported agent",
        hint: `Supported are ${SUPPORTED_SOURCES}.`,
      },
      UNKNOWN_FORMAT_VERSION: {
        meaning: "`import`: the version of the file format is not supported",
        hint: "Update Bough: npm install --global @bough/cli.",
      },
    },
  },
  denied: {
    exit: 9,
    meaning: "The system or the server denies it: rights, a login, a full disk",
    errors: {
      CHECKPOINT: { meaning: "A checkpoint file or its folder could not be read, written or removed" },
      OUTPUT_FAILED: { meaning: "A file could not be written" },
      SERVER_LOGIN: { meaning: "The PostgreSQL server refused the login", hint: "Give the password in PGPASSWORD, ~/.pgpass or the URL." },
      SERVER_RIGHTS: { meaning: "The database user lacks a right; nothing was written" },
      SOURCE_UNREADABLE: { meaning: "`import`: the path cannot be read: no permission, a pipe or device, or a cycle of symbolic links" },
      STORE_DENIED: { meaning: "The permissions of the store's file or folder do not let this user open it; nothing was written" },
      STORE_FULL: { meaning: "No space left on the disk; nothing was written", hint: "Free some space, then run the command again." },
      STORE_LOCKED: {
        meaning: "The store is locked, and no key was given; no byte was changed",
        hint: "Give its key in BOUGH_KEY, or in BOUGH_KEY_COMMAND a command that prints it.",
      },
      STORE_READ_ONLY: {
        meaning: "The store cannot be written; nothing was changed",
        hint: "Check the permissions of the file and its folder, or name another store with --store PATH.",
      },
      WRONG_KEY: {
        meaning: "The key does not fit the locked store; no byte was changed",
        hint: "Check BOUGH_KEY, or what the command in BOUGH_KEY_COMMAND prints.",
      },
    },
  },
  consent: {
    exit: 10,
    meaning: "A person must agree or a terminal is needed, and neither was there",
    errors: {
      CHOICE_NEEDED: { meaning: "`import` without a path: sessions were found, but stdin is not a terminal to ask; --yes imports them" },
      CONFIRMATION_NEEDED: { meaning: "`delete`, `restore`: stdin is not a terminal, so the confirmation needs `--yes`" },
      DECLINED: { meaning: "The confirmation was answered with no; nothing was changed" },
      IMPORTED_COMPACTION: {
        meaning:
          "`compact --undo`: the compaction came with an import, and stdin is not a terminal, so the confirmation needs `--yes`; nothing was written",
      },
      NO_TERMINAL: { meaning: "The shell and the navigator need a terminal; `bough sessions` and `bough tree` print instead" },
    },
  },
  cancelled: {
    exit: 130,
    meaning: "Interrupted (Ctrl+C)",
    errors: {
      CANCELLED: {
        meaning: "Interrupted (Ctrl+C): `import` and `sync` keep the sessions that were finished; other commands write nothing",
      },
    },
  },
} as const satisfies Readonly<Record<string, Exit>>;

/** Success. */
export const EXIT_OK = EXITS.ok.exit;
/** The command line is invalid. */
export const EXIT_USAGE = EXITS.usage.exit;
/** An interruption by SIGINT. */
export const EXIT_INTERRUPTED = EXITS.cancelled.exit;

type ExitName = keyof typeof EXITS;
/** The codes with a row at these exits. */
type ListedCode<N extends ExitName> = N extends N ? keyof (typeof EXITS)[N]["errors"] : never;
/** The codes with rows at two exits. */
type RepeatedCode = { [N in ExitName]: ListedCode<N> & ListedCode<Exclude<ExitName, N>> }[ExitName];
/** The table, if each code has one row. */
type CheckedExits = [ErrorCode, RepeatedCode] extends [ListedCode<ExitName>, never] ? typeof EXITS : never;

/** An exit code with its meaning, and the errors that have it. */
export interface ListedExit extends Omit<Exit, "errors"> {
  readonly errors: readonly (ErrorRow & { readonly code: string })[];
}

/** Lists every exit code, ordered by number, with its errors in the order of their names. */
export function listExitCodes(): readonly ListedExit[] {
  const exits: readonly Exit[] = Object.values(EXITS satisfies CheckedExits);
  return exits.map((one) => ({ ...one, errors: Object.entries(one.errors).map(([code, row]) => ({ code, ...row })) }));
}

/** The report of an error that ends a command. */
interface ExitReport {
  readonly exit: number;
  /** Undefined: the error is unexpected. */
  readonly code: string | undefined;
  readonly hint: string | undefined;
}

/** Returns the exit code, the stable code and the hint of an error. */
export function exitReport(error: unknown): ExitReport {
  const given = errorCode(error);
  for (const { exit, errors } of listExitCodes()) for (const { code, hint } of errors) if (code === given) return { exit, code, hint };
  return { exit: EXITS.fault.exit, code: undefined, hint: undefined };
}
