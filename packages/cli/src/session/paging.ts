import {
  type EntryId,
  type OutlineRow,
  pagesOf,
  type SearchPage,
  type SearchRequest,
  type Session,
  type SessionFilter,
  type SessionRecord,
  type Store,
} from "@bough/session-core";

/** Rows per page of an outline. */
const PAGE = 5000;

/** The outline of a session in pages, parents before children. `after`: only rows with a greater sequence number. */
export async function* outlinePages(session: Session, after = 0): AsyncGenerator<readonly OutlineRow[], void, void> {
  for (let afterSeq = after; ; ) {
    const page = await session.tree.outline({ afterSeq, limit: PAGE });
    yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    afterSeq = last.seq;
  }
}

/** Reads the whole outline of a session, as `outlinePages`. */
export async function readOutline(session: Session, after = 0): Promise<readonly OutlineRow[]> {
  const rows: OutlineRow[] = [];
  for await (const page of outlinePages(session, after)) for (const row of page) rows.push(row);
  return rows;
}

/** Reads the rows of the path of an entry, oldest first; `most`: of a longer path only the last ones. Null has none. */
export async function readPath(session: Session, id: EntryId | null, most = Number.MAX_SAFE_INTEGER): Promise<readonly OutlineRow[]> {
  return (await session.tree.path(id, most)).toReversed();
}

/** Lists all sessions that meet a filter, the most recently active first. */
export async function listSessions(store: Store, filter: SessionFilter): Promise<readonly SessionRecord[]> {
  const records: SessionRecord[] = [];
  for await (const page of sessionPages(store, filter)) for (const record of page) records.push(record);
  return records;
}

/**
 * The pages of a search, the best hits first: `request.limit` hits of the first one, which has to arrive fast, and `laterLimit` of each
 * later one.
 */
export function hitPages(
  place: { search(request: SearchRequest): Promise<SearchPage> },
  request: SearchRequest,
  laterLimit = request.limit,
): AsyncGenerator<SearchPage> {
  return pagesOf((cursor) => place.search(cursor === undefined ? request : { ...request, limit: laterLimit, cursor }));
}

/** The sessions that meet a filter, the most recently active first, `filter.limit` of them at a time. */
export async function* sessionPages(store: Store, filter: SessionFilter): AsyncGenerator<readonly SessionRecord[]> {
  for await (const { items } of pagesOf((cursor) => store.listSessions({ ...filter, cursor }))) yield items;
}
