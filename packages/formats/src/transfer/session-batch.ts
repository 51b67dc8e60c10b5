import type { SessionImport } from "@bough/session-core";
import type { ImportOptions, OpenEnd, SourceRecord, SourceSession } from "@bough/session-core/engine";

/** The largest file whose sessions wait for those of others, in bytes. */
const MOST_FILE_BYTES = 1 << 16;

/** A batch is written when it has so many sessions, or their files so many bytes: the store is locked for about a tenth of a second. */
const MOST_SESSIONS = 128;
const MOST_BYTES = 1 << 20;

/**
 * Sessions of small files that wait for their common transaction: a commit, with its wait for the disk, costs more than such a session.
 * Each is read when it is added, so that its file may be closed and its reader may go on. `I`: what the import knows of a session.
 */
export class SessionBatch<I> {
  #waiting: { readonly imported: SessionImport; readonly about: I }[] = [];
  #bytes = 0;

  /** True if the sessions of a file of this size may wait. */
  static takes(bytes: number | undefined): boolean {
    return bytes !== undefined && bytes <= MOST_FILE_BYTES;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  get isFull(): boolean {
    return this.#waiting.length >= MOST_SESSIONS || this.#bytes >= MOST_BYTES;
  }

  /** Reads the records of a session. @throws the errors of its reader */
  add(source: SourceSession, options: ImportOptions, bytes: number, about: I): void {
    this.#waiting.push({ imported: readWhole(source, options), about });
    this.#bytes += bytes;
  }

  /** Takes the sessions out, in the order in which they were added. */
  take(): readonly { readonly imported: SessionImport; readonly about: I }[] {
    const taken = this.#waiting;
    this.#waiting = [];
    this.#bytes = 0;
    return taken;
  }
}

/** The session with its records in memory, up to its open end if that is left out. */
function readWhole(source: SourceSession, options: ImportOptions): SessionImport {
  const decided = new Map<OpenEnd, number | null>();
  const heldUntil = (end: OpenEnd) => decided.get(end) ?? options.heldUntil?.(end) ?? null;
  const records: SourceRecord[] = [];
  for (const record of source.records(options.sync?.from)) {
    records.push(record);
    if (record.kind !== "open") continue;
    // The importer meets the same mark, and must decide the same: a reader has a position for the end at which it was left.
    decided.set(record, heldUntil(record));
    if (decided.get(record) !== null) break;
  }
  const { header, path, revision } = source;
  const position = source.position?.();
  const read = { header, path, revision, records: () => records, ...(source.position === undefined ? {} : { position: () => position }) };
  return { source: read, options: { ...options, heldUntil } };
}
