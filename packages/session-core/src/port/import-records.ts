import type { SessionId } from "../ids/ids.js";
import type { ImportProblem } from "../source/source-session.js";

/** Where the source was read, for the session's record. */
export interface ImportOptions {
  readonly format: string;
  readonly path: string;
  /** Called after every few hundred records with how many this session has had so far. */
  readonly onRecords?: ((records: number) => void) | undefined;
}

/** What became of one session of a source. */
export interface ImportedSession {
  /** The session it is in now. */
  readonly sessionId: SessionId;
  /** The id that the source claims; another one than `sessionId` when that session holds different entries. */
  readonly claimedId: SessionId;
  /** `created`: it is new. `extended`: entries were added. `unchanged`: everything was there already. */
  readonly outcome: "created" | "extended" | "unchanged";
  readonly entriesAdded: number;
  /** Entries that were there already, equal. */
  readonly entriesKnown: number;
  /** Records kept whole as `foreign` entries, among those added. */
  readonly foreignAdded: number;
  /** In the order of the file, at most 1,000 of each code; the counts are of all. */
  readonly problems: readonly ImportProblem[];
  readonly problemCount: number;
  /** How many problems there are of each code, those of `problems` included. A code that is missing has none. */
  readonly problemCounts: Readonly<Partial<Record<ImportProblem["code"], number>>>;
}
