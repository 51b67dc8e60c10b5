import { sql } from "kysely";
import type { EntrySeq } from "../../ids/ids.js";
import type { SearchPage, SearchRequest } from "../../port/search.js";
import { rowLimit } from "../../rules/values.js";
import type { Connection } from "../file/connection.js";
import { dynamicQuery, rawQuery } from "../query.js";
import { readHits } from "./hits.js";
import { allOf, entryConditions, numberConditions } from "./search-query.js";

const DEFAULT_LIMIT = 20;

/**
 * A search without words: the entries that meet the other conditions, the newest first. Cost: one row without payload for each entry
 * of the session, or of the store if the request names no session; the payloads of the page only.
 */
export function listByConditions(connection: Connection, request: SearchRequest): SearchPage {
  const conditions = allOf([...entryConditions(request), ...numberConditions(request, sql.ref("entry.seq"))]);
  const from = sql`FROM session CROSS JOIN entry ON entry.session_seq = session.seq WHERE ${conditions}`;
  const counted = dynamicQuery<{ total: number }>(() => rawQuery(sql<{ total: number }>`SELECT count(*) AS total ${from}`));
  const limit = rowLimit(request.limit ?? DEFAULT_LIMIT);
  const offset = rowLimit(Number(request.cursor?.split(".")[0] ?? 0));
  const listed = dynamicQuery<{ seq: EntrySeq }>(() =>
    rawQuery(sql<{ seq: EntrySeq }>`SELECT entry.seq ${from} ORDER BY entry.seq DESC LIMIT ${limit} OFFSET ${offset}`),
  );
  const total = connection.get(counted, {})?.total ?? 0;
  const hits = readHits(connection, connection.all(listed, {}), { terms: [], atLeast: 0 }, request);
  const end = offset + limit;
  return { hits, total, matched: { kind: "all" }, unclosedQuote: null, next: limit > 0 && end < total ? String(end) : null };
}
