import type { Database } from "better-sqlite3";
import { toEntryKind } from "../../entry/kinds.js";
import { contentKey, decideOriginals, type Holder, type SharedEntry, sourcesFirst } from "../../entry/origins.js";
import { parseStoredPayload } from "../../entry/stored-payload.js";
import { isRecorded, type ReplyUsage, usageOf } from "../../entry/usage.js";
import type { OnProgress } from "../../port/connection-options.js";
import { payloadsFrom } from "../file/old-payloads.js";

/** Adds to entries the origin of which they are copies, and to usage the number of replies that reported it. */
export const origins = {
  name: "0009-origins",
  statements: [
    `ALTER TABLE entry ADD COLUMN origin TEXT /* the same for all copies of an entry: the key of its content, or the ids of a session and
  of the entry of it that has none, with a space between; NULL: appended here, and perhaps the original of copies */`,
    `ALTER TABLE usage_total ADD COLUMN recorded_replies INTEGER NOT NULL DEFAULT 0 /* of the replies, those that report tokens or a cost */`,
    "CREATE INDEX entry_by_origin ON entry (origin) WHERE origin IS NOT NULL",
    "CREATE INDEX entry_inherited ON entry (session_seq, seq) WHERE inherited = 1",
  ],
  run(file: Database, onProgress?: OnProgress): void {
    // Older rows have only sums: the replies of a model without any figure recorded none.
    file.exec(`UPDATE usage_total SET recorded_replies = replies
      WHERE input_tokens + output_tokens + cache_read_tokens + cache_write_tokens + cost_usd <> 0`);
    setKeys(file, onProgress);
    setReferences(file);
    const changed = decide(file);
    if (changed.size > 0) countAgain(file, changed, onProgress);
    linkForks(file, changed);
  },
};

/** Imported entries have the key of their content. */
function setKeys(file: Database, onProgress?: OnProgress): void {
  // The plus sign keeps SQLite from the index of sessions, which has another order: each page would sort all entries that are left.
  const imported = "+entry.session_seq IN (SELECT seq FROM main.session WHERE source_format IS NOT NULL)";
  const place = file.prepare<[number], { id: string; created_at_ms: number }>("SELECT id, created_at_ms FROM entry WHERE seq = ?");
  const setOrigin = file.prepare("UPDATE entry SET origin = ? WHERE seq = ?");
  for (const { seq, kind, json } of payloadsFrom(file, EVERY_KIND, onProgress, imported)) {
    const entry = place.get(seq);
    const payload = json === undefined ? undefined : parse(kind, json);
    if (payload !== undefined && entry !== undefined) setOrigin.run(contentKey(payload, entry.created_at_ms, entry.id) ?? null, seq);
  }
}

const EVERY_KIND = Array.from({ length: 14 }, (_, at) => at + 1).join(", ");

/** A damaged payload has no origin; `verify` reports it. */
function parse(kind: number, json: string) {
  try {
    return parseStoredPayload(toEntryKind(kind).type, json);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Sets the origin of entries that forks, or agents under the same id, have copied: the origin of the source, or a reference to it. */
function setReferences(file: Database): void {
  const sessions = file
    .prepare<[], { seq: number; id: string; parent: string }>(
      "SELECT seq, id, parent_session_id AS parent FROM session WHERE parent_session_id IS NOT NULL ORDER BY seq",
    )
    .all();
  const setOrigins = file.prepare(`
    UPDATE entry SET origin = coalesce(
      (SELECT known.origin FROM entry AS known WHERE known.session_seq = (SELECT seq FROM session WHERE id = ?) AND known.id = entry.id),
      ? || ' ' || entry.id)
    WHERE session_seq = ? AND (inherited = 1 AND origin IS NULL OR EXISTS (
      SELECT 1 FROM entry AS known WHERE known.session_seq = (SELECT seq FROM session WHERE id = ?) AND known.id = entry.id
        AND known.created_at_ms = entry.created_at_ms AND entry.origin IS NOT NULL))`);
  for (const { seq, parent } of sourcesFirst(sessions)) setOrigins.run(parent, parent, seq, parent);
}

type HolderRow = Holder & { readonly seq: number };

/** Marks the copies. Returns the sessions whose marks changed. */
function decide(file: Database): ReadonlySet<number> {
  const holders = new Map(
    file
      .prepare<[], HolderRow>(`SELECT seq, id AS sessionId, parent_session_id AS parentId, created_at_ms AS createdAtMs,
        active_at_ms AS activeAtMs, seq AS arrival FROM session`)
      .all()
      .map((row) => [row.seq, row]),
  );
  const shared = file.prepare<[], { origin: string; session: number; seq: number; inherited: number }>(`
    SELECT origin, session_seq AS session, seq, inherited FROM entry
      WHERE origin IN (SELECT origin FROM entry WHERE origin IS NOT NULL GROUP BY origin HAVING min(session_seq) < max(session_seq) OR max(inherited) = 1)
    UNION ALL
    SELECT copy.origin, known.session_seq, known.seq, known.inherited FROM
      (SELECT DISTINCT origin, substr(origin, 1, instr(origin, ' ') - 1) AS session_id, substr(origin, instr(origin, ' ') + 1) AS id
        FROM entry WHERE origin IS NOT NULL AND instr(origin, ' ') > 0) AS copy
      CROSS JOIN session ON session.id = copy.session_id CROSS JOIN entry AS known ON known.session_seq = session.seq AND known.id = copy.id
      WHERE known.origin IS NULL
    ORDER BY 1`);
  const mark = file.prepare("UPDATE entry SET inherited = ? WHERE seq = ?");
  const changed = new Set<number>();
  const rows: SharedEntry<number>[] = shared.all().map((row) => ({ ...row, inherited: row.inherited === 1 }));
  for (const { session, seq, inherited } of decideOriginals(rows, (session) => holders.get(session))) {
    mark.run(inherited ? 1 : 0, seq);
    changed.add(session);
  }
  return changed;
}

/** Links imported conversations that begin with messages of another session, among them a reply. */
function linkForks(file: Database, sessions: ReadonlySet<number>): void {
  const lastCopy = file.prepare<[number, number], { origin: string; replies: number }>(`
    WITH copied AS (SELECT seq, kind, origin FROM entry WHERE session_seq = ? AND inherited = 1 AND kind BETWEEN 2 AND 4 AND seq < coalesce(
      (SELECT seq FROM entry WHERE session_seq = ? AND inherited = 0 AND kind BETWEEN 2 AND 4 ORDER BY seq LIMIT 1), 9e15))
    SELECT origin, (SELECT count(*) FROM copied WHERE kind = 3) AS replies FROM copied ORDER BY seq DESC LIMIT 1`);
  const original = file.prepare<[string], { session: string; entry: string }>(`
    SELECT session.id AS session, entry.id AS entry FROM entry CROSS JOIN session ON session.seq = entry.session_seq
    WHERE entry.origin = ? AND entry.inherited = 0 LIMIT 1`);
  const link = file.prepare(`
    UPDATE session SET parent_session_id = ?, parent_entry_id = ?
    WHERE seq = ? AND source_format IS NOT NULL AND kind = 'conversation' AND parent_session_id IS NULL`);
  for (const session of sessions) {
    const last = lastCopy.get(session, session);
    const found = last === undefined || last.replies === 0 ? undefined : original.get(last.origin);
    if (found !== undefined) link.run(found.session, found.entry, session);
  }
}

/** Adds up the usage of these sessions again: the entries that have one are replies and summaries. */
function countAgain(file: Database, sessions: ReadonlySet<number>, onProgress?: OnProgress): void {
  const isInherited = file.prepare<[number], number>("SELECT inherited FROM entry WHERE seq = ?").pluck();
  const drop = file.prepare("DELETE FROM usage_total WHERE session_seq = ?");
  for (const session of sessions) drop.run(session);
  const add = file.prepare(`
    INSERT INTO usage_total VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (session_seq, inherited, provider, model) DO UPDATE SET
      replies = replies + excluded.replies, input_tokens = input_tokens + excluded.input_tokens, output_tokens = output_tokens + excluded.output_tokens,
      cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens, cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens,
      cost_usd = cost_usd + excluded.cost_usd, recorded_replies = recorded_replies + excluded.recorded_replies`);
  const ofThese = `+entry.session_seq IN (${[...sessions].join(", ")})`;
  for (const { seq, session, kind, json } of payloadsFrom(file, "3, 7, 8", onProgress, ofThese)) {
    const payload = json === undefined ? undefined : parse(kind, json);
    const used = payload && usageOf(payload);
    if (used !== undefined) add.run(session, isInherited.get(seq) ?? 0, ...figuresOf(used));
  }
}

function figuresOf({ provider, model, replies, usage }: ReplyUsage) {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, cost } = usage;
  return [provider, model, replies, input, output, cacheRead, cacheWrite, cost?.total ?? 0, isRecorded(usage) ? replies : 0];
}
