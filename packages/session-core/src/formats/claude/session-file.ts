import { type JsonObject, parseJsonObject } from "../../source/json.js";
import { SourceFileReader } from "../../source/source-file.js";
import type { ImportProblem } from "../../source/source-session.js";
import type { RecordKind } from "./record-kind.js";

/** Index of a record in its file's index. */
export type NodeIndex = number;

/** The parent of a first record. */
export const ROOT: NodeIndex = -1;
/** A parent that is not in the file, or not before its child. */
export const MISSING: NodeIndex = -2;

/**
 * What is kept of one record while its file is read: where it stands, never what it says. Together with the entry in
 * `nodeOf` this is about 250 bytes a record (measured), so a file of 100,000 records needs 25 MB, whatever its size.
 */
export interface IndexedRecord {
  kind: RecordKind;
  /** Empty for a record without one. */
  readonly uuid: string;
  readonly line: number;
  readonly offset: number;
  readonly bytes: number;
  readonly parent: NodeIndex;
  /** The reply that this record belongs to: its first line, a result of its calls, or noise behind either; else -1. */
  readonly reply: NodeIndex;
  /** Which session of the file: 0 is the conversation, the others are sidechains. */
  readonly chain: number;
  /** Whether a record that is a step of the conversation hangs on it, directly or through others like it. */
  leads: boolean;
}

/** A compaction that a boundary announced. */
export interface BoundaryFacts {
  summary: NodeIndex | undefined;
  /** The first record that was kept word for word. */
  readonly firstKept: NodeIndex | undefined;
  readonly lastKept: NodeIndex | undefined;
  /** Whether the boundary named a record before it that the file does not have. */
  readonly parentMissing: boolean;
}

/** A tool call, by the id that its results name. */
export interface CallFacts {
  readonly name: string;
  readonly reply: NodeIndex;
  /** What the call says it is for; kept for calls that start agents only. */
  readonly description: string | undefined;
  /** The first record that answered it. */
  answer: NodeIndex | undefined;
}

/** What the records of one session of the file say about it; the first that says it wins. */
export interface ChainFacts {
  /** Empty for the conversation; else the agent's id, or the uuid of its first record. */
  readonly key: string;
  /** Records with a uuid. */
  records: number;
  createdAtMs?: number | undefined;
  cwd?: string | undefined;
  gitBranch?: string | undefined;
  version?: string | undefined;
  recordedSessionId?: string | undefined;
  /** Digest of the first text, to find the call whose prompt it was. */
  promptDigest?: string | undefined;
}

/** One Claude Code file after the first pass. */
export interface SessionFile {
  readonly path: string;
  readonly records: readonly IndexedRecord[];
  /** Which record stands for a uuid; one uuid may stand behind another record (see absorbed). */
  readonly nodeOf: ReadonlyMap<string, NodeIndex>;
  readonly problems: ReadonlyMap<NodeIndex, ImportProblem>;
  /** The later lines of replies that have more than one. */
  readonly replyLines: ReadonlyMap<NodeIndex, readonly NodeIndex[]>;
  readonly boundaries: ReadonlyMap<NodeIndex, BoundaryFacts>;
  readonly calls: ReadonlyMap<string, CallFacts>;
  /** Results of calls that an earlier record answered already, with that record. */
  readonly repeatedAnswers: ReadonlyMap<NodeIndex, NodeIndex>;
  /** Records whose uuid belongs to another one; they get an id of their own. */
  readonly renamed: ReadonlySet<NodeIndex>;
  /** The calls that started agents: by the agent's id, and by the digest of its prompt. */
  readonly agentCalls: ReadonlyMap<string, string>;
  readonly promptCalls: ReadonlyMap<string, string>;
  readonly chains: readonly ChainFacts[];
  readonly titles: { readonly user?: string | undefined; readonly auto?: string | undefined };
}

/** Where one line stands in a file, in bytes. */
interface LinePlace {
  readonly offset: number;
  readonly bytes: number;
}

/**
 * Reads single lines of a file by their place. Memory holds one line at a time, which is what lets a reply be put
 * together from lines that are far apart. Close it when done.
 *
 * @throws {SourceNotFoundError | SourceUnreadableError} the file cannot be opened or read.
 */
export class LineReader {
  readonly #file: SourceFileReader;

  constructor(path: string) {
    this.#file = new SourceFileReader(path);
  }

  /** The text of the line; shorter than expected when the file was cut meanwhile. */
  textAt({ offset, bytes }: LinePlace): string {
    return this.#file
      .bytesAt(offset, bytes)
      .toString("utf8")
      .replace(/^\uFEFF/, "");
  }

  /** The object on the line; undefined when the file was rewritten since the line was found. */
  objectAt(place: LinePlace): JsonObject | undefined {
    return parseJsonObject(this.textAt(place));
  }

  close(): void {
    this.#file.close();
  }
}
