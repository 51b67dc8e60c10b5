import { checkArgument, list, NUMBER, nullable, optional, TEXT } from "../arguments/rules.js";
import { ID, OUTLINE, RANGE, SCAN, WALK } from "../arguments/shapes.js";
import type { Entry } from "../entry/entry.js";
import { SessionNotFoundError } from "../errors/session-errors.js";
import type { EntryId, SessionId } from "../ids/ids.js";
import type {
  Label,
  LeafMove,
  LeafRecord,
  OutlineRow,
  Page,
  PathScan,
  SessionRecord,
  SessionRow,
  Statistics,
  StoredValue,
} from "../port/records.js";
import type { PathRange, SessionStorage } from "../port/session-storage.js";
import type { FileOperation } from "../tools/file-operations.js";
import { resolveEntry } from "./entry-names.js";

/** How many rows a page has where the caller does not say. */
const PAGE = 1000;

/** What can be read of a session. Reading never writes and never waits for a writer. */
export abstract class SessionReader {
  abstract readonly leafId: EntryId | null;

  protected readonly storage: SessionStorage;
  /** The session that was opened, and none that has its id after it was deleted. */
  protected readonly row: SessionRow;
  /** The leaf that this handle works on; `main` unless another one was asked for. */
  readonly leafName: string;

  constructor(storage: SessionStorage, row: SessionRow, leafName: string) {
    this.storage = storage;
    this.row = row;
    this.leafName = leafName;
  }

  get id(): SessionId {
    return this.row.id;
  }

  /** Title, counts and times of the session. @throws {SessionNotFoundError} it was deleted meanwhile. */
  async record(): Promise<SessionRecord> {
    const record = await this.storage.findSession(this.row);
    if (record === undefined) throw new SessionNotFoundError(this.id);
    return record;
  }

  /** One entry with its payload. @throws {EntryNotFoundError} */
  async entry(id: EntryId): Promise<Entry> {
    checkArgument("id", id, ID);
    return this.storage.entry(this.row, id);
  }

  /** The entry a person means by an id, a unique id prefix, a label, `@leaf`, `@root`, `@NAME` or any of them with `~N`. */
  async resolve(name: string): Promise<EntryId> {
    checkArgument("name", name, TEXT);
    return resolveEntry({ storage: this.storage, session: this.row, leafId: this.leafId }, name);
  }

  /**
   * The entries from the first down to `leafId` (default: the leaf as this handle last saw it; see `refresh`), in that
   * order. Holds the whole path; see `walk` and `scan`.
   */
  async path(leafId: EntryId | null = this.leafId): Promise<readonly Entry[]> {
    checkArgument("leafId", leafId, nullable(ID));
    return (await this.storage.scanPath(this.row, { leafId, order: "down" })).items;
  }

  /** A page of a path, from the leaf up or from the first entry down, with filters. Each page down walks the whole path; `walk` does not. */
  async scan(scan: PathScan = {}): Promise<Page<Entry>> {
    checkArgument("scan", scan, SCAN);
    return this.storage.scanPath(this.row, { ...scan, leafId: scan.leafId === undefined ? this.leafId : scan.leafId });
  }

  /**
   * Every entry from the first down to `leafId` (default: the leaf as this handle last saw it), for paths that must not be held whole: memory has
   * one page of them, and a number for each. `stopAt`: only entries below this one.
   */
  async *walk(scan: Pick<PathScan, "leafId" | "stopAt"> = {}): AsyncGenerator<Entry, void, void> {
    checkArgument("scan", scan, WALK);
    const leafId = scan.leafId === undefined ? this.leafId : scan.leafId;
    const seqs = await this.storage.pathSeqs(this.row, leafId, scan.stopAt);
    for (let at = 0; at < seqs.length; at += PAGE) yield* await this.storage.entriesAt(this.row, seqs.slice(at, at + PAGE));
  }

  /** The children of an entry, oldest first; null: the first entries of the session. */
  async children(id: EntryId | null): Promise<readonly OutlineRow[]> {
    checkArgument("id", id, nullable(ID));
    return this.storage.children(this.row, id);
  }

  /** The other children of an entry's parent, oldest first. */
  async siblings(id: EntryId): Promise<readonly OutlineRow[]> {
    checkArgument("id", id, ID);
    const { parentId } = await this.storage.entry(this.row, id);
    return (await this.storage.children(this.row, parentId)).filter((row) => row.id !== id);
  }

  /** Entries with more than one child, oldest first. */
  async branchPoints(): Promise<readonly OutlineRow[]> {
    return this.storage.branchPoints(this.row);
  }

  /** Entries without a child, oldest first: the end of each branch. */
  async tips(): Promise<readonly OutlineRow[]> {
    return this.storage.tips(this.row);
  }

  /** The whole tree without bodies, in order of arrival (parents first), `limit` (default 1,000) rows after `afterSeq`. */
  async outline(options: { readonly afterSeq?: number; readonly limit?: number } = {}): Promise<readonly OutlineRow[]> {
    checkArgument("options", options, OUTLINE);
    return this.storage.outline(this.row, options.afterSeq ?? 0, options.limit ?? PAGE);
  }

  /** Entries of all branches that arrived after `seq`, oldest first, at most `limit` (default 1,000). */
  async entriesSince(seq: number, limit = PAGE): Promise<readonly Entry[]> {
    checkArgument("seq", seq, NUMBER);
    checkArgument("limit", limit, NUMBER);
    return this.storage.entriesSince(this.row, seq, limit);
  }

  /** Every entry of all branches in order of arrival, a page at a time. */
  async *entries(): AsyncGenerator<Entry, void, void> {
    for (let after = 0; ; ) {
      const page = await this.storage.entriesSince(this.row, after, PAGE);
      yield* page;
      const last = page.at(-1);
      if (last === undefined) return;
      after = last.seq;
    }
  }

  /** The deepest entry on the paths of both; null: they share none. */
  async commonAncestor(a: EntryId, b: EntryId): Promise<EntryId | null> {
    checkArgument("a", a, ID);
    checkArgument("b", b, ID);
    return this.storage.commonAncestor(this.row, a, b);
  }

  /** The named leaves: one for each writer, `main` among them. */
  async leaves(): Promise<readonly LeafRecord[]> {
    return this.storage.leaves(this.row);
  }

  /** The moves of this handle's leaf, newest first, at most `limit` (default 100). */
  async leafMoves(limit = 100): Promise<readonly LeafMove[]> {
    checkArgument("limit", limit, NUMBER);
    return this.storage.leafMoves(this.row, this.leafName, limit);
  }

  /** The labels that contain `text` (default: all), whatever the case, oldest entry first. */
  async labels(text?: string): Promise<readonly Label[]> {
    checkArgument("text", text, optional(TEXT));
    return this.storage.labels(this.row, text);
  }

  /** A value kept with the session; undefined: none. */
  async value(key: string): Promise<unknown> {
    checkArgument("key", key, TEXT);
    return (await this.storage.value(this.row, key))?.value;
  }

  /** The values whose key starts with `prefix`, in order of key. */
  async values(prefix = ""): Promise<readonly StoredValue[]> {
    checkArgument("prefix", prefix, TEXT);
    return this.storage.values(this.row, prefix);
  }

  /** The file operations between two entries of one path, both included, oldest first; see `fileLists`. */
  async fileOperations(range: Partial<PathRange> = {}): Promise<readonly FileOperation[]> {
    checkArgument("range", range, RANGE);
    const toId = range.toId ?? this.leafId;
    return toId === null ? [] : this.storage.fileOperations(this.row, { fromId: range.fromId, toId });
  }

  /**
   * What `saveTokenCounts` kept of these entries under this counter's name; entries without a count are missing. One
   * query, also for 100,000 ids.
   */
  async tokenCounts(counter: string, ids: readonly EntryId[]): Promise<ReadonlyMap<EntryId, number>> {
    checkArgument("counter", counter, TEXT);
    checkArgument("ids", ids, list(ID, "an array of ids"));
    return this.storage.tokenCounts(this.row, counter, ids);
  }

  /** Entries by type, size, and what the models of this session used. */
  async statistics(): Promise<Statistics> {
    return this.storage.statistics(this.row);
  }
}
