import type { ImportProblem } from "@bough/session-core";
import { type JsonObject, parseJsonObject } from "@bough/session-core/wire";
import { SourceFileReader } from "../source/source-file.js";
import type { RecordKind } from "./record-kind.js";

/** Index of a record in its file's index. */
export type NodeIndex = number;

/** The parent of a first record. */
export const ROOT: NodeIndex = -1;
/** The parent is not in the file, or not before its child. */
export const MISSING: NodeIndex = -2;

/** The index of a record: its position, not its content. With the entry in `nodeOf`, about 100 bytes a record. */
export interface IndexedRecord {
  readonly kind: RecordKind;
  /** Empty if the record has none. */
  readonly uuid: string;
  readonly line: number;
  readonly offset: number;
  readonly bytes: number;
  readonly parent: NodeIndex;
  /** The reply of its first line, of a result of its calls, or of noise after either; otherwise -1. */
  readonly reply: NodeIndex;
  /** The session in the file: 0 is the conversation, the others are sidechains. */
  readonly chain: number;
  /** True if a step of the conversation is its child, directly or through records like it. */
  hasStepChild: boolean;
  /** The parsed line, until it is read in the second pass; undefined: it is parsed again. */
  get object(): JsonObject | undefined;
  set object(object: undefined);
}

/** The records of an index, in the order of their lines. */
export interface IndexedRecords extends Iterable<IndexedRecord> {
  readonly length: number;
  get(node: NodeIndex): IndexedRecord | undefined;
  slice(from: NodeIndex, end?: NodeIndex): readonly IndexedRecord[];
}

/** A compaction with a boundary. */
export interface BoundaryFacts {
  summary: NodeIndex | undefined;
  /** The records that were kept, the first and the last one if its metadata names no more. */
  readonly kept: readonly NodeIndex[];
  /** True if all of them are named. */
  readonly isListed: boolean;
  /** True if they come before the summary: what followed them was summarized. */
  readonly isBefore: boolean;
  /** The parent of the boundary is not in the file. */
  readonly isParentMissing: boolean;
  /** The records that it kept follow it: a fork that is made after a compaction begins with it. */
  isFollowed: boolean;
}

/** A tool call. */
export interface CallFacts {
  readonly name: string;
  readonly reply: NodeIndex;
  /** The description of a call that starts an agent. */
  readonly description: string | undefined;
  /** The first record with its result. */
  answer: NodeIndex | undefined;
}

/** Facts about a session of the file; the first record that has one wins. */
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
  /** The session from which its first records were copied. */
  forkedFrom?: string | undefined;
  /** The digest of the first text, to find the call with this prompt. */
  promptDigest?: string | undefined;
}

/** The index of a file, the result of the first pass. */
export interface SessionFile {
  readonly path: string;
  readonly records: IndexedRecords;
  /** The record for a uuid; for an absorbed record, the one that contains it. */
  readonly nodeOf: Pick<ReadonlyMap<string, NodeIndex>, "get" | "has" | "size"> & { keys(): Iterable<string> };
  readonly problems: ReadonlyMap<NodeIndex, ImportProblem>;
  /** The later lines of replies that have more than one. */
  readonly replyLines: ReadonlyMap<NodeIndex, readonly NodeIndex[]>;
  readonly boundaries: ReadonlyMap<NodeIndex, BoundaryFacts>;
  readonly calls: ReadonlyMap<string, CallFacts>;
  /** Repeated results of a call, with the record of the first result. */
  readonly repeatedResults: ReadonlyMap<NodeIndex, NodeIndex>;
  /** Records whose uuid belongs to another record; they get a derived id. */
  readonly renamed: ReadonlySet<NodeIndex>;
  /** True if replies have no parent: then each record without one is below the one before it. Without any parents, by their times. */
  readonly isChain: boolean;
  /** The calls that started agents: by the agent's id, and by the digest of its prompt. */
  readonly agentCalls: ReadonlyMap<string, string>;
  readonly promptCalls: ReadonlyMap<string, string>;
  readonly chains: readonly ChainFacts[];
  readonly titles: { readonly user?: string | undefined; readonly auto?: string | undefined };
  /** True if the summary of this record is a title of the session. */
  isTitle(leafUuid: string): boolean;
}

/** The lines of the records of a session file: in the file, or in memory while they arrive. */
export interface LineSource {
  /** The text of the line of a record. */
  textAt(record: IndexedRecord): string;
  /** The object of a record; undefined if its line cannot be read any more. */
  takeObject(record: IndexedRecord): JsonObject | undefined;
}

/** The position of a line in a file, in bytes. */
interface LinePlace {
  readonly offset: number;
  readonly bytes: number;
}

/** The size of one read, in bytes: a system call for each line would take longer than parsing it. */
const WINDOW_BYTES = 1 << 18;

/**
 * Reads single lines of a file by position, so that a reply can be built from distant lines. Most reads are in order and are
 * answered from a window of 256 KiB. The caller closes it.
 *
 * @throws {SourceNotFoundError | SourceUnreadableError} the file cannot be opened or read.
 */
export class LineReader implements LineSource {
  readonly #file: SourceFileReader;
  #window: Buffer = Buffer.alloc(0);
  /** The position of the window in the file. */
  #start = 0;

  constructor(path: string) {
    this.#file = new SourceFileReader(path);
  }

  /** The text of the line; shorter if the file was truncated. */
  textAt(place: LinePlace): string {
    return this.#bytesOf(place)
      .toString("utf8")
      .replace(/^\uFEFF/, "");
  }

  #bytesOf({ offset, bytes }: LinePlace): Buffer {
    if (bytes > WINDOW_BYTES) return this.#file.bytesAt(offset, bytes);
    if (offset < this.#start || offset + bytes > this.#start + this.#window.length) {
      this.#window = this.#file.bytesAt(offset, WINDOW_BYTES);
      this.#start = offset;
    }
    return this.#window.subarray(offset - this.#start, offset - this.#start + bytes);
  }

  /** The object of a record, which is no longer kept; undefined if the file was changed after the first pass. */
  takeObject(record: IndexedRecord): JsonObject | undefined {
    const kept = record.object;
    record.object = undefined;
    return kept ?? parseJsonObject(this.textAt(record));
  }

  close(): void {
    this.#file.close();
  }
}
