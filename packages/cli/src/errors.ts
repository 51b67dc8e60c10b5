/** The codes of the errors that nothing but their exit code tells apart. `exit-codes.ts` has the meaning of each. */
export type CommandCode =
  | "AGENTS_NOT_FOUND"
  | "AGENT_FAILED"
  | "AMBIGUOUS_NAME"
  | "CHECKPOINT_NOT_FOUND"
  | "CHOICE_NEEDED"
  | "CONFIRMATION_NEEDED"
  | "DECLINED"
  | "DEMO_FAILED"
  | "EDITOR_FAILED"
  | "ENTRY_NOT_FOUND"
  | "FILES_FAILED"
  | "FINDINGS"
  | "IMPORTED_COMPACTION"
  | "INVALID_JSON"
  | "INVALID_RECORDS"
  | "KEY_COMMAND"
  | "NOTHING_TO_COMPACT"
  | "NOTHING_TO_UNDO"
  | "NOT_ON_SERVER"
  | "NOT_RESUMABLE"
  | "NO_HOME"
  | "NO_SESSION"
  | "NO_TERMINAL"
  | "PORT_REFUSED"
  | "REMOTE_VERSION"
  | "SECRETS_FOUND"
  | "SERVICE_FAILED"
  | "SERVICE_UNKNOWN"
  | "SESSIONS_LEFT"
  | "SHARE_FAILED"
  | "SHARE_NOT_FOUND"
  | "SUPERSEDED"
  | "TARGET_EXISTS"
  | "TURN_RUNNING";

/** Base of the errors that the command itself throws. `code` selects the exit code; `message` is one line. */
export abstract class CommandFailure extends Error {
  abstract readonly code: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** An error of the command that no caller tells apart from the others. */
export class CommandError extends CommandFailure {
  readonly code: CommandCode;

  constructor(code: CommandCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Invalid command line: an option or argument is missing, empty, or excludes another one. */
export class UsageError extends CommandFailure {
  readonly code = "USAGE";
}

/** The user interrupted the command. Nothing was written, except for the sessions that an import had finished. */
export class CancelledError extends CommandFailure {
  readonly code = "CANCELLED";
}

/** The store, or the backup to restore, does not exist. */
export class NoStoreError extends CommandFailure {
  readonly code = "STORE_NOT_FOUND";
}

/** A file could not be written. */
export class OutputFailedError extends CommandFailure {
  readonly code = "OUTPUT_FAILED";
}

/** The config file cannot be read or written, or a setting in it is invalid. `message` names the file and the setting. */
export class ConfigError extends CommandFailure {
  readonly code = "CONFIG_INVALID";
}

/** `mcp --install`: the config file of a client cannot be read, or is not what its format says. Nothing was written. */
export class ClientConfigError extends CommandFailure {
  readonly code = "CLIENT_CONFIG";
}

/** `copy`: the other machine cannot be reached, or the connection ended. What was written is whole; a second run goes on. */
export class RemoteEndedError extends CommandFailure {
  readonly code = "REMOTE_ENDED";
}

/** `copy`: the other side sent something that is not of the protocol. Nothing more was written. */
export class RemoteProtocolError extends CommandFailure {
  readonly code = "REMOTE_PROTOCOL";

  /** `what`: "a line that is not JSON". */
  constructor(what: string) {
    super(`The other side sent ${what}. Nothing more was written.`);
  }
}

/** `copy`: an error of the store on the other machine, with the code that it has there. */
export class RemoteStoreError extends CommandFailure {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** `blame`: the file or the commit cannot be read, is no text, or does not have this line. */
export class BlameSourceError extends CommandFailure {
  readonly code = "BLAME_SOURCE";
}

/** `blame`: there is no such file; a commit may have it. */
export class MissingFileError extends BlameSourceError {}
