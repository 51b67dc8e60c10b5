import {
  type Entry,
  type EntryId,
  type FileOperation,
  InvalidReferenceError,
  type Page,
  type SessionId,
  type StoredFileTouch,
} from "@bough/session-core";
import type * as port from "@bough/session-core/engine";
import {
  type EntrySeq,
  kindsWith,
  type PathScanFrom,
  rowLimit,
  type SessionKey,
  type StoredOperation,
  sessionIdOf,
  toEntrySeq,
  toKindNumber,
  withOutcomes,
} from "@bough/session-core/engine";
import type { Database, PgDatabase } from "./database.js";
import {
  clampSeq,
  ENTRY_COLUMNS,
  type EntryRow,
  eachFilter,
  type FilterParameters,
  joinEntries,
  matching,
  NO_ENTRY,
  readEntriesAt,
  requireSeqs,
  toEntry,
} from "./entries.js";
import { pgQuery, pgRaw } from "./query.js";
import { isOnPath, lastShared, MAX_SEQ, rangesUp, readRanges } from "./runs.js";
import { ofSession, requireSession } from "./session-key.js";

interface ScanParameters extends FilterParameters {
  session: SessionId;
  from: number;
  /** Only entries after this one. */
  after: number;
  /** Only entries up to this one. */
  upTo: number;
  /** The most entries that a page takes from its end of the path, if no condition leaves any out. */
  most: number;
  limit: number;
}

// The entries of a range come in the order of the page, and ranges do as well, so that no more of them are read than the page takes.
const inOrder = (order: "up" | "down") =>
  eachFilter((shape) =>
    pgQuery<ScanParameters, EntryRow>(({ sql, p }) => {
      const direction = sql.raw(order === "up" ? "DESC" : "ASC");
      return pgRaw(sql<EntryRow>`
        WITH RECURSIVE ${rangesUp(sql, p, { from: p.from, stop: p.after, entries: p.most })}
        SELECT found.* FROM (SELECT * FROM range ORDER BY first ${direction}) AS range CROSS JOIN LATERAL (
          SELECT ${sql.raw(ENTRY_COLUMNS)} FROM entry
          WHERE ${ofSession(sql, p, "entry")} AND entry.seq >= range.first AND entry.seq <= range.last
            AND entry.seq > ${p.after} AND entry.seq <= ${p.upTo} ${matching(sql, p, shape)}
          ORDER BY entry.seq ${direction} LIMIT ${p.limit}) AS found
        ORDER BY range.first ${direction}, found.seq ${direction} LIMIT ${p.limit}`);
    }),
  );
const scanUp = inOrder("up");
const scanDown = inOrder("down");

/**
 * Reads a page of a path. The cursor is the number of the last entry of the page before. Cost: the page, and the runs of the path; with a
 * condition, also what it leaves out.
 *
 * @throws {SessionNotFoundError | EntryNotFoundError | InvalidReferenceError} an id is unknown; `stopAt` is not on the path.
 */
export async function scanPath(database: PgDatabase, key: SessionKey, scan: PathScanFrom): Promise<Page<Entry>> {
  const { leaf, stop } = await readEnds(database, key, scan.leafId, scan.stopAt);
  if (leaf === null || leaf === stop) return { items: [], next: null };
  const session = sessionIdOf(key);
  const isUp = (scan.order ?? "up") === "up";
  const cursor = scan.cursor === undefined ? undefined : clampSeq(Number(scan.cursor));
  const limit = rowLimit(scan.limit ?? Number.POSITIVE_INFINITY);
  const filter = filterOf(scan);
  const isWhole = filter.kinds === null && filter.customType === null;
  const rows = await database.all((isUp ? scanUp : scanDown)(filter), {
    session,
    ...filter,
    from: isUp && cursor !== undefined ? cursor : leaf,
    after: Math.max(stop, isUp ? 0 : (cursor ?? 0)),
    upTo: isUp && cursor !== undefined ? cursor - 1 : MAX_SEQ,
    // One more, because the page does not include the entry of its cursor.
    most: isUp && isWhole ? Math.min(limit + 2, MAX_SEQ) : MAX_SEQ,
    limit: limit + 1,
  });
  const items = rows.slice(0, limit).map((row) => toEntry(session, row));
  return { items, next: rows.length > limit ? String(items.at(-1)?.seq) : null };
}

function filterOf({ types = [], roles = [], customType }: PathScanFrom): FilterParameters {
  const isAny = types.length === 0 && roles.length === 0;
  const kinds = isAny ? null : kindsWith(types.length === 0 ? undefined : types, roles.length === 0 ? undefined : roles);
  return { kinds, customType: customType ?? null };
}

/** Returns the numbers of the last entry of a path and of the one above its part; 0: none. @throws {SessionNotFoundError | EntryNotFoundError | InvalidReferenceError} */
async function readEnds(
  database: Database,
  key: SessionKey,
  leafId: EntryId | null,
  stopAt: EntryId | undefined,
): Promise<{ readonly leaf: EntrySeq | null; readonly stop: EntrySeq }> {
  const ids = [...(leafId === null ? [] : [leafId]), ...(stopAt === undefined ? [] : [stopAt])];
  if (ids.length === 0) await requireSession(database, key);
  const seqs = ids.length === 0 ? undefined : await requireSeqs(database, key, ids);
  const leaf = leafId === null ? null : (seqs?.get(leafId) ?? null);
  const stop = stopAt === undefined ? NO_ENTRY : (seqs?.get(stopAt) ?? NO_ENTRY);
  if (stopAt !== undefined && leaf !== null && !(await isOnPath(database, sessionIdOf(key), stop, leaf)))
    throw new InvalidReferenceError("stopAt", stopAt, "is not on the path");
  return { leaf, stop };
}

/** Returns the numbers of a path, oldest first; with `stopAt`, of the entries below it. @throws {SessionNotFoundError | EntryNotFoundError | InvalidReferenceError} */
export async function readPathSeqs(
  database: PgDatabase,
  key: SessionKey,
  leafId: EntryId | null,
  stopAt?: EntryId,
): Promise<readonly EntrySeq[]> {
  const { leaf, stop } = await readEnds(database, key, leafId, stopAt);
  if (leaf === null) return [];
  const ranges = await readRanges(database, sessionIdOf(key), leaf, stop);
  const seqs: EntrySeq[] = [];
  for (const { first, last } of ranges.toReversed()) {
    for (let seq = Math.max(first, stop + 1); seq <= last; seq += 1) seqs.push(toEntrySeq(seq));
  }
  return seqs;
}

/** Returns the deepest entry on the paths of both, or null. Cost: the runs of both paths. @throws {SessionNotFoundError | EntryNotFoundError} */
export async function findCommonAncestor(database: PgDatabase, key: SessionKey, a: EntryId, b: EntryId): Promise<EntryId | null> {
  const seqs = await requireSeqs(database, key, [a, b]);
  const session = sessionIdOf(key);
  const [one, other] = await Promise.all([a, b].map((id) => readRanges(database, session, seqs.get(id) ?? NO_ENTRY)));
  const seq = lastShared(one ?? [], other ?? []);
  if (seq === null) return null;
  const [shared] = await readEntriesAt(database, key, [seq]);
  return shared?.id ?? null;
}

interface OperationsRow {
  readonly seq: EntrySeq;
  readonly id: EntryId;
  readonly kind: number;
  readonly call_id: string | null;
  readonly failed: boolean;
  readonly file_operations: string | null;
}

const TOOL_RESULT = toKindNumber("message", "toolResult");

const operationsOnPath = pgQuery<{ session: SessionId; from: number; stop: number }, OperationsRow>(({ sql, p }) =>
  pgRaw(sql<OperationsRow>`
    WITH RECURSIVE ${rangesUp(sql, p, { from: p.from, stop: p.stop })}
    SELECT entry.seq, entry.id, entry.kind, entry.call_id, entry.is_error AS failed, entry.file_operations
    FROM range ${joinEntries(sql, p, "seq", sql`greatest(range.first, ${p.stop}::integer)`, sql`range.last`)}
    WHERE entry.file_operations IS NOT NULL OR entry.kind = ${sql.lit(TOOL_RESULT)}
    ORDER BY entry.seq`),
);

/**
 * Reads the file operations between two entries of one path, both included, oldest first. Cost: the entries between them.
 *
 * @throws {SessionNotFoundError | EntryNotFoundError | InvalidReferenceError} an id is unknown; `fromId` is not on the path of `toId`.
 */
export async function readFileOperations(
  database: PgDatabase,
  key: SessionKey,
  { fromId, toId }: port.PathRange,
): Promise<readonly FileOperation[]> {
  const session = sessionIdOf(key);
  const seqs = await requireSeqs(database, key, fromId === undefined ? [toId] : [toId, fromId]);
  const [from, stop] = [seqs.get(toId) ?? NO_ENTRY, fromId === undefined ? NO_ENTRY : (seqs.get(fromId) ?? NO_ENTRY)];
  if (fromId !== undefined && !(await isOnPath(database, session, stop, from)))
    throw new InvalidReferenceError("fromId", fromId, `is not on the path of ${toId}`);
  const rows = await database.all(operationsOnPath, { session, from, stop });
  const results = rows.filter(({ kind }) => kind === TOOL_RESULT).toReversed();
  return withOutcomes(rows.flatMap(operationsOf), results);
}

function operationsOf({ seq, id, file_operations }: OperationsRow) {
  const operations: readonly StoredOperation[] = file_operations === null ? [] : JSON.parse(file_operations);
  return operations.map((operation) => ({ ...operation, entry_seq: seq, entry_id: id }));
}

interface TouchedRow extends Omit<StoredFileTouch, "isCopy" | "kind" | "path" | "toolCallId"> {
  readonly copied: boolean;
  readonly operations: string;
}

// The operations are JSON in a column without an index: a pass over the entries with operations that have one of the texts in them.
const touchesOfPaths = pgQuery<{ names: readonly string[] }, TouchedRow>(({ sql, p }) =>
  pgRaw(sql<TouchedRow>`
    SELECT entry.session_id AS "sessionId", session.cwd, entry.id AS "entryId", entry.created_at_ms AS "createdAtMs",
      entry.inherited AS copied, entry.file_operations AS operations
    FROM entry JOIN session ON session.tenant = entry.tenant AND session.session_id = entry.session_id
    WHERE entry.tenant = ${p.tenant} AND entry.file_operations IS NOT NULL
      AND EXISTS (SELECT 1 FROM unnest(${p.names}::text[]) AS name WHERE strpos(entry.file_operations, name) > 0)
    ORDER BY entry.created_at_ms, entry.inherited, entry.session_id, entry.seq`),
);

/** Reads the calls of all sessions that name one of these paths, oldest first. */
export async function readFileTouches(database: PgDatabase, paths: readonly string[]): Promise<readonly StoredFileTouch[]> {
  const wanted = new Set(paths);
  const rows = await database.all(touchesOfPaths, { names: [...wanted].map((path) => `"path":${JSON.stringify(path)}`) });
  return rows.flatMap(({ copied, operations, ...entry }) => {
    const stored: readonly StoredOperation[] = JSON.parse(operations);
    return stored
      .filter(({ path }) => wanted.has(path))
      .map(({ kind, path, tool_call_id: toolCallId }) => ({ ...entry, kind, path, toolCallId, isCopy: copied }));
  });
}
