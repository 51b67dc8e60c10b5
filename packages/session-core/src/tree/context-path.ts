import type { EntryPayload } from "../entry/entry.js";
import type { ContextEntry, ContextPath } from "../port/records.js";
import type { Connection } from "../storage/connection.js";
import { plain, query } from "../storage/query.js";
import type { EntrySeq, EntryTable } from "../storage/schema.js";
import { isOnPath, upTo } from "./ancestry.js";
import { payloadOf, type Tip } from "./entry-rows.js";

type WindowRow = Pick<EntryTable, "seq" | "id" | "type" | "payload_json">;

// The bounded walk: parents are older, so `stop` ends it, and what lies before the first kept entry is never read.
// Only what can appear in a context is parsed.
const walk = query<{ from: EntrySeq; stop: number }, WindowRow>(({ sql, p }) =>
  plain(sql<WindowRow>`
    WITH RECURSIVE ${upTo(sql, p.from, p.stop)}
    SELECT entry.seq, entry.id, entry.type, entry.payload_json FROM up CROSS JOIN entry ON entry.seq = up.seq`),
);

const firstKeptOf = query<{ seq: EntrySeq }, { first_kept_seq: EntrySeq | null }>(({ db, p }) =>
  db.selectFrom("entry").select("first_kept_seq").where("seq", "=", p.seq),
);

/**
 * What the context at `tip` is built from. `knownSeq`: the end of a window that the caller holds; if `tip` continues
 * it, only what follows is read. Call it inside `read`.
 *
 * Cost: the entries from the first kept one to the leaf, whatever lies before them and however large the store is.
 */
export function contextPath(connection: Connection, tip: Tip, knownSeq: number | null, payloads: SettingPayloads): ContextPath {
  const settings = {
    leaf: tip,
    model: payloads.at(connection, tip.modelSeq),
    thinking: payloads.at(connection, tip.thinkingSeq),
    system: payloads.at(connection, tip.systemSeq),
  };
  if (tip.seq === null) return { ...settings, entries: [], continues: false, compactionSeq: null, firstKeptSeq: null };
  const firstKeptSeq =
    tip.compactionSeq === null ? null : (connection.get(firstKeptOf, { seq: tip.compactionSeq })?.first_kept_seq ?? null);
  const window = { compactionSeq: tip.compactionSeq, firstKeptSeq };
  const news = knownSeq === null ? undefined : continuation(connection, tip.seq, knownSeq);
  if (news !== undefined) return { ...settings, ...window, entries: news, continues: true };
  const stop = firstKeptSeq ?? tip.compactionSeq ?? 0;
  return { ...settings, ...window, entries: entriesUp(connection, tip.seq, stop), continues: false };
}

/** The entries below `known`, if it is on the path of `tip`: asked of the structure first, so that no payload is read in vain. */
function continuation(connection: Connection, tip: EntrySeq, known: number): readonly ContextEntry[] | undefined {
  if (known === tip) return [];
  if (known > tip || !isOnPath(connection, known as EntrySeq, tip)) return undefined;
  return entriesUp(connection, tip, known).slice(1);
}

function entriesUp(connection: Connection, from: EntrySeq, stop: number): readonly ContextEntry[] {
  const rows = connection.all(walk, { from, stop });
  const entries: ContextEntry[] = new Array(rows.length);
  for (const [index, row] of rows.entries()) {
    entries[rows.length - 1 - index] = { id: row.id, seq: row.seq, payload: payloadOf(row) };
  }
  return entries;
}

const payloadBySeq = query<{ seq: EntrySeq }, Pick<EntryTable, "type" | "payload_json">>(({ db, p }) =>
  db.selectFrom("entry").select(["type", "payload_json"]).where("seq", "=", p.seq),
);

/** How many payloads are remembered: a few settings for each of the sessions that a process has open. */
const REMEMBERED = 64;

/**
 * The entries that set the model, the thinking level and the system message: asked for at every context and seldom
 * new. An entry never changes, so one that was read stays true.
 */
export class SettingPayloads {
  readonly #payloads = new Map<EntrySeq, EntryPayload>();

  at(connection: Connection, seq: EntrySeq | null): EntryPayload | null {
    if (seq === null) return null;
    const known = this.#payloads.get(seq);
    if (known !== undefined) return known;
    const row = connection.get(payloadBySeq, { seq });
    if (row === undefined) return null;
    if (this.#payloads.size >= REMEMBERED) this.#payloads.clear();
    const payload = payloadOf(row);
    this.#payloads.set(seq, payload);
    return payload;
  }
}
