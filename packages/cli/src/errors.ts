/** Base of the errors that the command itself throws. `code` selects the exit code; `message` is one line. */
export abstract class CommandError extends Error {
  abstract readonly code: string;
}

/** Invalid command line: an option or argument is missing, empty, or excludes another one. */
export class UsageError extends CommandError {
  readonly code = "USAGE";
  override readonly name = "UsageError";
}

/** `verify` found integrity violations in the store. */
export class ViolationsError extends CommandError {
  readonly code = "FINDINGS";
  override readonly name = "ViolationsError";
}

/** `secrets --check` found secrets. */
export class SecretsFoundError extends CommandError {
  readonly code = "SECRETS_FOUND";
  override readonly name = "SecretsFoundError";
}

/** `import`: some files could not be imported. The other files were imported. */
export class FilesFailedError extends CommandError {
  readonly code = "FILES_FAILED";
  override readonly name = "FilesFailedError";
}

/** `import`: some lines are not JSON. They were skipped; everything else was imported. */
export class InvalidJsonError extends CommandError {
  readonly code = "INVALID_JSON";
  override readonly name = "InvalidJsonError";
}

/** `import`: some records match no schema. They were stored as `foreign` entries. */
export class InvalidRecordsError extends CommandError {
  readonly code = "INVALID_RECORDS";
  override readonly name = "InvalidRecordsError";
}

/** The session that is meant where none is named has no such entry. */
export class DefaultSessionEntryError extends CommandError {
  readonly code = "ENTRY_NOT_FOUND";
  override readonly name = "DefaultSessionEntryError";
}

/** The user answered no to a confirmation. Nothing was changed. */
export class DeclinedError extends CommandError {
  readonly code = "DECLINED";
  override readonly name = "DeclinedError";
}

/** There is no leaf move to undo or redo, or no active compaction to undo. */
export class NothingToUndoError extends CommandError {
  readonly code = "NOTHING_TO_UNDO";
  override readonly name = "NothingToUndoError";
}

/** The user interrupted the command. Nothing was written, except for the sessions that an import had finished. */
export class CancelledError extends CommandError {
  readonly code = "CANCELLED";
  override readonly name = "CancelledError";
}

/** No part of the context can be compacted; `message` gives the reason. */
export class NothingToCompactError extends CommandError {
  readonly code = "NOTHING_TO_COMPACT";
  override readonly name = "NothingToCompactError";
}

/** While the summary was written, the leaf moved to another branch or another compaction was written. Nothing was written. */
export class SupersededError extends CommandError {
  readonly code = "SUPERSEDED";
  override readonly name = "SupersededError";
}

/** The preset compacts at the end of a turn only, and the session is inside a turn. Nothing was written. */
export class TurnOpenError extends CommandError {
  readonly code = "TURN_RUNNING";
  override readonly name = "TurnOpenError";
}

/** The path of the leaf has no checkpoint with this number. */
export class CheckpointNotFoundError extends CommandError {
  readonly code = "CHECKPOINT_NOT_FOUND";
  override readonly name = "CheckpointNotFoundError";
}

/** The compaction to undo was made by the program of an import, there is no terminal to ask on, and `--yes` is missing. */
export class ImportedCompactionError extends CommandError {
  readonly code = "IMPORTED_COMPACTION";
  override readonly name = "ImportedCompactionError";
}

/** The command needs a confirmation, stdin is not a terminal, and `--yes` is missing. */
export class ConfirmationNeededError extends CommandError {
  readonly code = "CONFIRMATION_NEEDED";
  override readonly name = "ConfirmationNeededError";
}

/** A program that publishes a page, or takes one back, is missing or failed. */
export class ShareFailedError extends CommandError {
  readonly code = "SHARE_FAILED";
  override readonly name = "ShareFailedError";
}

/** No shared page, or more than one, has this link. */
export class ShareNotFoundError extends CommandError {
  readonly code = "SHARE_NOT_FOUND";
  override readonly name = "ShareNotFoundError";
}

/** A name means several sessions or entries, which are listed above the message, and none was chosen. */
export class AmbiguousChoiceError extends CommandError {
  readonly code = "AMBIGUOUS_NAME";
  override readonly name = "AmbiguousChoiceError";
}

/** No session was given, and there is no default session. */
export class NoSessionError extends CommandError {
  readonly code = "NO_SESSION";
  override readonly name = "NoSessionError";
}

/** The command draws a screen, and there is no terminal. */
export class NoTerminalError extends CommandError {
  readonly code = "NO_TERMINAL";
  override readonly name = "NoTerminalError";
}

/** No store was given, and there is no home directory for the default store. */
export class NoHomeError extends CommandError {
  readonly code = "NO_HOME";
  override readonly name = "NoHomeError";
}

/** The store, or the backup to restore, does not exist. */
export class NoStoreError extends CommandError {
  readonly code = "STORE_NOT_FOUND";
  override readonly name = "NoStoreError";
}

/** The store is on a server, and the command is for files: the message names what does it there. Nothing was done. */
export class NotOnServerError extends CommandError {
  readonly code = "NOT_ON_SERVER";
  override readonly name = "NotOnServerError";
}

/** A command that `bough demo` runs failed; its own message is already printed. */
export class DemoFailedError extends CommandError {
  readonly code = "DEMO_FAILED";
  override readonly name = "DemoFailedError";
}

/** The output file exists. */
export class OutputExistsError extends CommandError {
  readonly code = "TARGET_EXISTS";
  override readonly name = "OutputExistsError";
}

/** A file could not be written. */
export class OutputFailedError extends CommandError {
  readonly code = "OUTPUT_FAILED";
  override readonly name = "OutputFailedError";
}

/** The config file cannot be read or written, or a setting in it is invalid. `message` names the file and the setting. */
export class ConfigError extends CommandError {
  readonly code = "CONFIG_INVALID";
  override readonly name = "ConfigError";
}

/** `mcp --install`: the config file of a client cannot be read, or is not what its format says. Nothing was written. */
export class ClientConfigError extends CommandError {
  readonly code = "CLIENT_CONFIG";
  override readonly name = "ClientConfigError";
}

/** `view`: the port is taken, or may not be used. */
export class PortRefusedError extends CommandError {
  readonly code = "PORT_REFUSED";
  override readonly name = "PortRefusedError";
}

/** `import` without a path, and without a terminal to ask: the message names the folders that were found. */
export class ChoiceNeededError extends CommandError {
  readonly code = "CHOICE_NEEDED";
  override readonly name = "ChoiceNeededError";
}

/** `import` without a path: there are no sessions of an agent that can be imported. */
export class AgentsNotFoundError extends CommandError {
  readonly code = "AGENTS_NOT_FOUND";
  override readonly name = "AgentsNotFoundError";
}

/** `resume`: no agent can continue the session, or not at this entry. Nothing was written. */
export class NotResumableError extends CommandError {
  readonly code = "NOT_RESUMABLE";
  override readonly name = "NotResumableError";
}

/** `resume`: the agent that was started ended with an error. The session that was written for it stays. */
export class AgentFailedError extends CommandError {
  readonly code = "AGENT_FAILED";
  override readonly name = "AgentFailedError";
}

/** `sync --install`: no service is known for this system. */
export class ServiceUnknownError extends CommandError {
  readonly code = "SERVICE_UNKNOWN";
  override readonly name = "ServiceUnknownError";
}

/** `sync --install`, `--uninstall`: the file of the service belongs to somebody else, or a program that starts or ends it failed. */
export class ServiceFailedError extends CommandError {
  readonly code = "SERVICE_FAILED";
  override readonly name = "ServiceFailedError";
}

/** `edit`: there is no editor, or it failed. */
export class EditorFailedError extends CommandError {
  readonly code = "EDITOR_FAILED";
  override readonly name = "EditorFailedError";
}

/** `copy`: some sessions were not copied: the target has them with other content, or they could not be read or written. */
export class SessionsLeftError extends CommandError {
  readonly code = "SESSIONS_LEFT";
  override readonly name = "SessionsLeftError";
}

/** `copy`: the other machine cannot be reached, or the connection ended. What was written is whole; a second run goes on. */
export class RemoteEndedError extends CommandError {
  readonly code = "REMOTE_ENDED";
  override readonly name = "RemoteEndedError";
}

/** `copy`: there is no Bough on the other machine, or one that speaks another version of the protocol. */
export class RemoteVersionError extends CommandError {
  readonly code = "REMOTE_VERSION";
  override readonly name = "RemoteVersionError";
}

/** `copy`: the other side sent something that is not of the protocol. Nothing more was written. */
export class RemoteProtocolError extends CommandError {
  readonly code = "REMOTE_PROTOCOL";
  override readonly name = "RemoteProtocolError";

  /** `what`: "a line that is not JSON". */
  constructor(what: string) {
    super(`The other side sent ${what}. Nothing more was written.`);
  }
}

/** `copy`: an error of the store on the other machine, with the code that it has there. */
export class RemoteStoreError extends CommandError {
  readonly code: string;
  override readonly name = "RemoteStoreError";

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** `blame`: the file or the commit cannot be read, is no text, or does not have this line. */
export class BlameSourceError extends CommandError {
  readonly code = "BLAME_SOURCE";
  override readonly name = "BlameSourceError";
}

/** The command that prints the key of a store cannot be run, failed, printed nothing, or took too long. */
export class KeyCommandError extends CommandError {
  readonly code = "KEY_COMMAND";
  override readonly name = "KeyCommandError";
}
