import { crc32 } from "node:zlib";
import type { Store } from "@bough/session-core";
import type {
  CheckedPosition,
  ReadingPosition,
  SourceFileRecord,
  SourceSession,
  SourceSessionRecord,
  SyncedImport,
} from "@bough/session-core/engine";
import { isThere, SourceFileReader } from "../source/source-file.js";
import type { FoundFile } from "../source/source-folders.js";
import type { ImportChoices } from "./import-run.js";

/** A file that was written this short a time ago may be written again without another time, so it is read again. In milliseconds. */
const SETTLED_AFTER_MS = 2000;

/** The stamp of a file that exists no longer. */
const GONE = "gone";

/** The number of files that are kept in one transaction. */
const KEPT_AT_ONCE = 500;

const LF = 0x0a;
const CHUNK_BYTES = 1 << 20;

/** A place after a line of a file, and the CRC-32 of the bytes before it. */
interface CheckedOffset {
  readonly offset: number;
  readonly checksum: number;
}

/** The start of a file. */
const FILE_START: CheckedOffset = { offset: 0, checksum: 0 };

/** The files of an agent, compared with the records of the last sync. */
export class SyncedFiles implements ImportChoices {
  /** The files to read. */
  readonly changed: readonly FoundFile[];
  /** The number of them that no sync has read. */
  readonly newFiles: number;
  /** The files that were removed since the last sync. */
  readonly gone: readonly SourceFileRecord[];
  readonly #store: Store;
  readonly #found: ReadonlyMap<string, FoundFile>;
  readonly #known: ReadonlySet<string>;
  readonly #unchanged: ReadonlySet<string>;
  readonly #sessions = new Map<string, ReadonlyMap<string, SourceSessionRecord>>();
  /** The places of positions whose bytes were compared. */
  readonly #places = new Map<string, { readonly position: CheckedPosition; readonly place: CheckedOffset | undefined }>();
  readonly #seen = new Map<string, Set<string>>();
  /** The files whose end was left out. */
  readonly #held = new Set<string>();
  #kept: SourceFileRecord[] = [];

  private constructor(store: Store, files: readonly FoundFile[], known: ReadonlyMap<string, SourceFileRecord>) {
    this.#store = store;
    this.#known = new Set(known.keys());
    this.#found = new Map(files.map((file) => [file.path, file]));
    this.changed = files.filter(({ path, stamp }) => known.get(path)?.stamp !== stamp);
    this.newFiles = this.changed.filter(({ path }) => !known.has(path)).length;
    const changed = new Set(this.changed.map(({ path }) => path));
    this.#unchanged = new Set(files.flatMap(({ path }) => (changed.has(path) ? [] : [path])));
    this.gone = [...known.values()].filter(({ path, stamp }) => stamp !== GONE && !this.#found.has(path) && !isThere(path));
  }

  /** Compares the files at and below the paths `starts`. */
  static async compare(store: Store, files: readonly FoundFile[], starts: readonly { start: string }[]): Promise<SyncedFiles> {
    const known = await Promise.all(starts.map(({ start }) => store.sources.sourceFiles(start)));
    const synced = new SyncedFiles(store, files, new Map(known.flat().map((file) => [file.path, file])));
    for (const { path } of synced.changed) if (!synced.isNew(path)) await synced.#sessionsOf(path);
    return synced;
  }

  isNew(path: string): boolean {
    return !this.#known.has(path);
  }

  reads(path: string): boolean {
    return !this.#unchanged.has(path);
  }

  earlier(path: string): ReadingPosition | undefined {
    const [only, ...others] = [...(this.#sessions.get(path)?.values() ?? [])].flatMap(({ position }) => position ?? []);
    return only === undefined || others.length > 0 || this.#checked(path, only) === undefined ? undefined : only;
  }

  /** The place of a position, if the bytes before it are those that were read; otherwise undefined. */
  #checked(path: string, position: CheckedPosition): CheckedOffset | undefined {
    const known = this.#places.get(path);
    if (known?.position === position) return known.place;
    const place = checkLines(path, FILE_START, position.offset);
    const isSame = place.offset === position.offset && place.checksum === position.checksum;
    this.#places.set(path, { position, place: isSame ? place : undefined });
    return isSame ? place : undefined;
  }

  async choose(session: SourceSession, path: string): Promise<SyncedImport | undefined> {
    const { sessionId } = session.header;
    const seen = this.#seen.get(path) ?? new Set<string>();
    this.#seen.set(path, seen.add(sessionId));
    const row = (await this.#sessionsOf(path)).get(sessionId);
    if (row?.sessionId === null && (await this.#store.findSession(sessionId)) === undefined) return undefined;
    const known = row?.sessionId === null ? undefined : row;
    if (known?.goneAtMs === null && session.revision !== undefined && session.revision === known.revision) return undefined;
    if (session.position === undefined) return { known, checksumAt: () => undefined };
    const from = known?.position ?? undefined;
    const before = from && this.#checked(path, from);
    // Read before the records are: of a file that is written again meanwhile, the checksum of the old bytes is kept.
    const first = before ?? FILE_START;
    const places = [first];
    const start = checkLines(path, first, Number.POSITIVE_INFINITY, places);
    return { known, from: before && from, checksumAt: ({ offset }) => checksumAt(path, places, start, offset) };
  }

  async #sessionsOf(path: string): Promise<ReadonlyMap<string, SourceSessionRecord>> {
    const known = this.#sessions.get(path);
    if (known !== undefined) return known;
    const read = new Map((await this.#store.sources.sourceSessions(path)).map((session) => [session.sourceId, session]));
    this.#sessions.set(path, read);
    return read;
  }

  hold(path: string): void {
    this.#held.add(path);
  }

  async done(path: string, format: string | null): Promise<void> {
    const file = this.#found.get(path);
    if (file === undefined) return;
    const isSettled = Math.abs(Date.now() - file.writtenAtMs) >= SETTLED_AFTER_MS;
    this.#kept.push({ path, stamp: isSettled && !this.#held.has(path) ? file.stamp : "", format });
    const seen = this.#seen.get(path);
    const removed = [...(await this.#sessionsOf(path)).values()].filter((one) => one.goneAtMs === null && seen?.has(one.sourceId) !== true);
    if (removed.length > 0) await this.#store.sources.setSourcesGone(removed, Date.now());
    this.#sessions.delete(path);
    this.#places.delete(path);
    if (this.#kept.length >= KEPT_AT_ONCE) await this.#keepFiles();
  }

  /** Writes the records of the files that were read, and marks the sessions of removed files as gone. */
  async keep(): Promise<void> {
    for (const file of this.gone) {
      const sessions = (await this.#store.sources.sourceSessions(file.path)).filter(({ goneAtMs }) => goneAtMs === null);
      await this.#store.sources.setSourcesGone(sessions, Date.now());
      this.#kept.push({ ...file, stamp: GONE });
    }
    await this.#keepFiles();
  }

  async #keepFiles(): Promise<void> {
    const files = this.#kept;
    this.#kept = [];
    if (files.length > 0) await this.#store.sources.setSourceFiles(files);
  }
}

/**
 * The checksum of a file before `offset`. `start`: its last complete line when it was checked; `places`: earlier places, from the first one on.
 * undefined: the bytes that were checked changed while the file was read, so that the next reading starts at its beginning.
 */
function checksumAt(path: string, places: readonly CheckedOffset[], start: CheckedOffset, offset: number): number | undefined {
  const place = offset < start.offset ? places.findLast((one) => one.offset <= offset) : start;
  const end = place?.offset === offset ? place : place && checkLines(path, place, offset);
  if (end?.offset !== offset) return undefined;
  // A position before an open end: the bytes from there on must still be those that were checked.
  const again = offset < start.offset ? checkLines(path, end, start.offset) : start;
  return again.offset === start.offset && again.checksum === start.checksum ? end.checksum : undefined;
}

/**
 * The place after the last complete line before `end`, from an earlier one: only the bytes between are read. Cost: about 1 ms a megabyte.
 * `places`: gets a place for each megabyte.
 *
 * @throws {SourceNotFoundError | SourceUnreadableError} the file cannot be read.
 */
function checkLines(path: string, from: CheckedOffset, end: number, places?: CheckedOffset[]): CheckedOffset {
  const file = new SourceFileReader(path);
  try {
    let place = from;
    let checksum = from.checksum;
    const buffer = Buffer.allocUnsafe(Math.max(1, Math.min(CHUNK_BYTES, end - from.offset, file.bytes - from.offset)));
    for (let offset = from.offset; offset < end; ) {
      const bytes = buffer.subarray(0, Math.min(buffer.length, end - offset));
      const chunk = bytes.subarray(0, file.read(bytes, offset));
      if (chunk.length === 0) break;
      const lines = chunk.lastIndexOf(LF) + 1;
      checksum = crc32(chunk.subarray(0, lines), checksum);
      if (lines > 0) {
        place = { offset: offset + lines, checksum };
        places?.push(place);
      }
      checksum = crc32(chunk.subarray(lines), checksum);
      offset += chunk.length;
    }
    return place;
  } finally {
    file.close();
  }
}
