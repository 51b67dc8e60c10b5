import { BoughError } from "@bough/session-core";
import { SUPPORTED_SOURCES } from "./agents.js";

/** There is no file and no folder at the path to import. */
export class SourceNotFoundError extends BoughError {
  readonly code = "SOURCE_NOT_FOUND";
  readonly path: string;

  constructor(path: string, options?: { cause: unknown }) {
    super(`There is no file and no folder at ${path}.`, options);
    this.path = path;
  }
}

/** The file or folder cannot be read: no permission, a pipe or a device, a cycle of links. Nothing of it was imported. */
export class SourceUnreadableError extends BoughError {
  readonly code = "SOURCE_UNREADABLE";
  readonly path: string;
  readonly reason: string;

  constructor(path: string, reason: string, options?: { cause: unknown }) {
    super(`${path} cannot be read: ${reason}.`, options);
    this.path = path;
    this.reason = reason;
  }
}

/** The folder contains no session file of a known format. Nothing was imported. `looked`: files that were examined. */
export class NoSessionsFoundError extends BoughError {
  readonly code = "NO_SESSIONS_FOUND";
  readonly path: string;
  readonly looked: number;

  constructor(path: string, looked: number) {
    super(`${path} contains no session files of a known format (files examined: ${looked}).`, { hint: KNOWN_FORMATS });
    this.path = path;
    this.looked = looked;
  }
}

const NO_CONVERSATION = "contains no conversation yet, only a header or settings";

/** The file, or each session file of the folder, contains only a header or settings, and no conversation yet. Nothing was imported. */
export class NoConversationError extends BoughError {
  /** The reason for which such a file in a folder is skipped. */
  static readonly REASON = `it ${NO_CONVERSATION}`;
  readonly code = "NO_CONVERSATION";
  readonly path: string;

  constructor(path: string) {
    super(`${path} ${NO_CONVERSATION}.`);
    this.path = path;
  }
}

/** The content of the file is of no known format. Nothing was imported. */
export class UnknownFormatError extends BoughError {
  readonly code = "UNKNOWN_FORMAT";
  readonly path: string;
  readonly reason: string;

  constructor(path: string, reason: string) {
    super(`${path} is not a session file of a known format: ${reason}.`, { hint: KNOWN_FORMATS });
    this.path = path;
    this.reason = reason;
  }
}

/** The file is of a newer format version than this version of Bough reads. Nothing was imported. */
export class UnknownFormatVersionError extends BoughError {
  readonly code = "UNKNOWN_FORMAT_VERSION";
  readonly path: string;
  readonly format: string;
  readonly version: number;
  readonly supported: number;

  constructor(path: string, format: string, version: number, supported: number) {
    super(`${path} is a ${format} file of version ${version}; the newest supported version is ${supported}.`, { hint: "Update Bough." });
    this.path = path;
    this.format = format;
    this.version = version;
    this.supported = supported;
  }
}

const KNOWN_FORMATS = `Known: ${SUPPORTED_SOURCES}.`;
