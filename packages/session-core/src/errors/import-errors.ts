import { BoughError } from "./base.js";

/** Nothing is at the path to import. */
export class SourceNotFoundError extends BoughError {
  readonly code = "SOURCE_NOT_FOUND";
  override readonly name = "SourceNotFoundError";
  constructor(
    readonly path: string,
    options?: { cause: unknown },
  ) {
    super(`Nothing to read at ${path}. Check the path.`, options);
  }
}

/** Something is at the path, and it cannot be read: a pipe or a device, no permission, links in a circle. Nothing of it was imported. */
export class SourceUnreadableError extends BoughError {
  readonly code = "SOURCE_UNREADABLE";
  override readonly name = "SourceUnreadableError";
  constructor(
    readonly path: string,
    readonly reason: string,
    options?: { cause: unknown },
  ) {
    super(`${path} cannot be read: ${reason}.`, options);
  }
}

/** A directory without a single session file. Nothing was imported. */
export class NoSessionsFoundError extends BoughError {
  readonly code = "NO_SESSIONS_FOUND";
  override readonly name = "NoSessionsFoundError";
  constructor(
    readonly path: string,
    readonly looked: number,
  ) {
    super(
      `No session files of a known agent in ${path} (${looked} files looked at). Name a folder of pi, oh-my-pi, Claude Code or Bough sessions.`,
    );
  }
}

/** The content of the file fits no known format. Nothing was imported. */
export class UnknownFormatError extends BoughError {
  readonly code = "UNKNOWN_FORMAT";
  override readonly name = "UnknownFormatError";
  constructor(
    readonly path: string,
    readonly reason: string,
  ) {
    super(`${path} is not a session file of a known agent: ${reason}. Known: pi, oh-my-pi, Claude Code, Bough.`);
  }
}

/** The file is in a format version this program does not know. Nothing was imported. */
export class UnknownFormatVersionError extends BoughError {
  readonly code = "UNKNOWN_FORMAT_VERSION";
  override readonly name = "UnknownFormatVersionError";
  constructor(
    readonly path: string,
    readonly format: string,
    readonly version: number,
    readonly supported: number,
  ) {
    super(`${path} is a ${format} file of version ${version}; versions up to ${supported} are read. Update Bough.`);
  }
}
