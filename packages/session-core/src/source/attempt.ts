import { SourceNotFoundError, SourceUnreadableError, UnknownFormatError, UnknownFormatVersionError } from "../errors/import-errors.js";
import type { ImportProblem } from "./source-session.js";

/** What was read of a file that belongs to a session, or why it could not be. */
export type Attempt<T> =
  | { readonly value: T; readonly problems: readonly [] }
  | { readonly value: undefined; readonly problems: readonly [ImportProblem] };

/**
 * Reads a file that belongs to a session and without which the session is imported all the same.
 *
 * @param consequence what the session lacks when `path` cannot be read, for the problem that says so.
 */
export function attempt<T>(path: string, consequence: string, read: () => T): Attempt<T> {
  try {
    return { value: read(), problems: [] };
  } catch (error) {
    if (!OF_FILE.some((kind) => error instanceof kind) || !(error instanceof Error)) throw error;
    const reason = error instanceof SourceUnreadableError ? error.reason : error.message;
    return { value: undefined, problems: [{ code: "unreadable-file", path, line: null, message: `${consequence}: ${reason}` }] };
  }
}

const OF_FILE = [SourceNotFoundError, SourceUnreadableError, UnknownFormatError, UnknownFormatVersionError];
