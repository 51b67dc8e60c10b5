import { sql } from "kysely";
import type { SearchRequest } from "../../port/search.js";
import { includesLabels, type LabelRow, matchLabels } from "../../rules/search/labels.js";
import type { Matching } from "../../rules/search/matching.js";
import type { Connection } from "../file/connection.js";
import { dynamicQuery } from "../query.js";
import { findCopies } from "./hits.js";
import { allOf, copyConditions, entryConditions } from "./search-query.js";

// The entries that a search finds by their labels.

/** The entries whose labels match. */
export interface Labelled {
  /** Best first. */
  readonly entries: readonly LabelRow[];
  /** These and their copies, by row number. */
  readonly seqs: readonly number[];
}

/** Finds the entries whose labels match. `rows`: those of `readLabels`. */
export function findLabelled(connection: Connection, rows: readonly LabelRow[], matching: Matching, request: SearchRequest): Labelled {
  const entries = includesLabels(request, matching) ? matchLabels(rows, matching, request) : [];
  const seqs = entries.map(({ seq }) => seq);
  return { entries, seqs: [...seqs, ...findCopies(connection, seqs)] };
}

/** The entries with labels that a request allows: originals first, copies in the order of their sessions. Cost: all labels there. */
export function readLabels(connection: Connection, request: SearchRequest): readonly LabelRow[] {
  const conditions = allOf([...entryConditions(request), ...copyConditions(request, sql.ref("entry.seq"))]);
  const from =
    request.sessionId === undefined
      ? sql`label CROSS JOIN session ON session.seq = label.session_seq`
      : sql`session CROSS JOIN label ON label.session_seq = session.seq`;
  const listed = dynamicQuery(sql<LabelRow>`
      SELECT label.label, entry.seq, session.id AS session_id, entry.created_at_ms, coalesce(entry.origin, session.id || ' ' || entry.id) AS origin
      FROM ${from} CROSS JOIN entry ON entry.seq = label.entry_seq
      WHERE ${conditions} ORDER BY entry.inherited, label.session_seq, label.entry_seq`);
  return connection.all(listed, {});
}
