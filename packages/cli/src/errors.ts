/** Base of the failures that the command itself raises. `code` chooses the exit code; `message` is one line for people. */
export abstract class CommandError extends Error {
  abstract readonly code: string;
}

/** What was typed does not fit together. */
export class UsageError extends CommandError {
  readonly code = "USAGE";
  override readonly name = "UsageError";
}

/** `verify` found something that does not hold. */
export class ViolationsError extends CommandError {
  readonly code = "FINDINGS";
  override readonly name = "FindingsError";
}

/** Files of a folder could not be imported; the others were. */
export class FilesFailedError extends CommandError {
  readonly code = "FILES_FAILED";
  override readonly name = "FilesFailedError";
}

/** Lines of imported files are not JSON; they were left out, everything else was imported. */
export class InvalidJsonError extends CommandError {
  readonly code = "INVALID_JSON";
  override readonly name = "InvalidJsonError";
}

/** Records of imported files fit no schema; they were kept as `foreign` entries. */
export class InvalidRecordsError extends CommandError {
  readonly code = "INVALID_RECORDS";
  override readonly name = "InvalidRecordsError";
}

/** The person said no. Nothing was done. */
export class DeclinedError extends CommandError {
  readonly code = "DECLINED";
  override readonly name = "DeclinedError";
}

/** There is no leaf move left to undo or redo, or no compaction in force to undo. */
export class NothingToUndoError extends CommandError {
  readonly code = "NOTHING_TO_UNDO";
  override readonly name = "NothingToUndoError";
}

/** The person interrupted work that can be cancelled. Nothing was written, but for the sessions that an import had done. */
export class CancelledError extends CommandError {
  readonly code = "CANCELLED";
  override readonly name = "CancelledError";
}

/** There is nothing that a compaction could take out of the context. */
export class NothingToCompactError extends CommandError {
  readonly code = "NOTHING_TO_COMPACT";
  override readonly name = "NothingToCompactError";
}

/** While the summary was written the leaf went elsewhere, or another compaction was faster. Nothing was written. */
export class SupersededError extends CommandError {
  readonly code = "SUPERSEDED";
  override readonly name = "SupersededError";
}

/** The compaction would have to wait until a turn is over, and nobody here runs one. */
export class TurnOpenError extends CommandError {
  readonly code = "TURN_RUNNING";
  override readonly name = "TurnOpenError";
}

/** No checkpoint on the path has this number. */
export class CheckpointNotFoundError extends CommandError {
  readonly code = "CHECKPOINT_NOT_FOUND";
  override readonly name = "CheckpointNotFoundError";
}

/** Nobody is there to confirm, and `--yes` was not given. */
export class ConfirmationNeededError extends CommandError {
  readonly code = "CONFIRMATION_NEEDED";
  override readonly name = "ConfirmationNeededError";
}

/** No session was named, and there is none to take instead. */
export class NoSessionError extends CommandError {
  readonly code = "NO_SESSION";
  override readonly name = "NoSessionError";
}

/** What was asked for is drawn on a terminal, and there is none. */
export class NoTerminalError extends CommandError {
  readonly code = "NO_TERMINAL";
  override readonly name = "NoTerminalError";
}

/** No store was named, and the person has no home directory where one could be. */
export class NoHomeError extends CommandError {
  readonly code = "NO_HOME";
  override readonly name = "NoHomeError";
}

/** The store that would be used is not there yet. */
export class NoStoreError extends CommandError {
  readonly code = "STORE_NOT_FOUND";
  override readonly name = "NoStoreYetError";
}

/** A command that `bough demo` runs has failed; it has said why. */
export class DemoFailedError extends CommandError {
  readonly code = "DEMO_FAILED";
  override readonly name = "DemoFailedError";
}

/** A file to export to is there already. */
export class OutputExistsError extends CommandError {
  readonly code = "TARGET_EXISTS";
  override readonly name = "OutputExistsError";
}

/** A file could not be written. */
export class OutputFailedError extends CommandError {
  readonly code = "OUTPUT_FAILED";
  override readonly name = "OutputFailedError";
}

/** The config file cannot be read or written, or a setting in it is not valid. `message` names the file and the field. */
export class ConfigError extends CommandError {
  readonly code = "CONFIG_INVALID";
  override readonly name = "ConfigError";
}

/** An error as one line; what a store or a model throws may be anything. */
export function errorLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
}
