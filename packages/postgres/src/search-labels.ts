import type { SearchRequest } from "@bough/session-core";
import { includesLabels, type LabelRow, type Matching, matchLabels } from "@bough/session-core/engine";
import { sql } from "kysely";
import type { Database } from "./database.js";
import { entryNamed } from "./entries.js";
import { pgDynamicQuery } from "./query.js";
import { type FoundEntry, findCopies } from "./search-rows.js";
import { searchedCopies } from "./search-words.js";

// The entries that a search finds by their labels.

/** The entries whose labels match. */
export interface Labelled {
  /** Best first. */
  readonly entries: readonly LabelRow[];
  /** These and their copies. */
  readonly all: readonly Pick<FoundEntry, "session_id" | "seq">[];
}

/** Finds the entries whose labels match. `rows`: those of `readLabels`. */
export async function findLabelled(
  database: Database,
  rows: readonly LabelRow[],
  matching: Matching,
  request: SearchRequest,
): Promise<Labelled> {
  const entries = includesLabels(request, matching) ? matchLabels(rows, matching, request) : [];
  return { entries, all: [...entries, ...(await findCopies(database, entries))] };
}

/** The entries with labels that a request allows: originals first, copies in the order of their sessions. Cost: all labels there. */
export function readLabels(database: Database, request: SearchRequest, untilMs: number | null): Promise<readonly LabelRow[]> {
  const { where } = searchedCopies(request, database.tenant, untilMs);
  const ofSession = request.sessionId === undefined ? sql`` : sql`AND label.session_id = ${request.sessionId}`;
  const entry = entryNamed(sql`label.tenant`, sql`label.session_id`, "seq", sql`label.entry_seq`);
  return database.all(
    pgDynamicQuery(sql<LabelRow>`
        SELECT label.label, found.seq, found.session_id, found.created_at_ms, found.origin FROM label CROSS JOIN LATERAL (
          SELECT entry.seq, entry.session_id, entry.created_at_ms, entry.inherited, session.seq AS session_seq,
            coalesce(entry.origin, entry.session_id || ' ' || entry.id) AS origin
          FROM ${entry} AS entry JOIN session ON session.tenant = entry.tenant AND session.session_id = entry.session_id
          WHERE ${where} OFFSET 0) AS found
        WHERE label.tenant = ${database.tenant} ${ofSession}
        ORDER BY found.inherited, found.session_seq, found.session_id, found.seq`),
    {},
  );
}
