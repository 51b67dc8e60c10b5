import type { RawBuilder, SelectQueryBuilder } from "kysely";
import type { SessionRecord } from "../port/records.js";
import type { Connection } from "../storage/connection.js";
import { type Query, query } from "../storage/query.js";
import type { SessionTable, Tables } from "../storage/schema.js";
import { recordOf } from "./session-rows.js";

type ByName = Query<{ name: string; limit: number }, SessionTable>;

// From exact to vague; the first that finds anything answers (regression R166: vague matches outranked exact ones).
// GLOB and LIKE take some characters as patterns, so prefixes and parts are compared with substr and instr.
const tiers: readonly ByName[] = [
  query(({ db, p }) => db.selectFrom("session").selectAll().where("id", "=", p.name).limit(p.limit)),
  query(({ db, sql, p }) =>
    db
      .selectFrom("session")
      .selectAll()
      .where(sql<boolean>`substr(id, 1, length(${p.name})) = ${p.name}`)
      .orderBy("kind")
      .orderBy("active_at_ms", "desc")
      .limit(p.limit),
  ),
  // A subagent's id is that of its conversation, a dot, and its own: the last part is enough to name it.
  query(({ db, sql, p }) =>
    titled(db.selectFrom("session").selectAll(), sql<boolean>`kind = 'subagent' AND instr(id, '.' || ${p.name}) > 0`, p.limit),
  ),
  query(({ db, sql, p }) =>
    titled(db.selectFrom("session").selectAll(), sql<boolean>`lower(coalesce(title, first_text)) = lower(${p.name})`, p.limit),
  ),
  query(({ db, sql, p }) =>
    titled(
      db.selectFrom("session").selectAll(),
      sql<boolean>`lower(substr(coalesce(title, first_text), 1, length(${p.name}))) = lower(${p.name})`,
      p.limit,
    ),
  ),
  query(({ db, sql, p }) =>
    titled(db.selectFrom("session").selectAll(), sql<boolean>`instr(lower(coalesce(title, first_text)), lower(${p.name})) > 0`, p.limit),
  ),
];

function titled(sessions: SelectQueryBuilder<Tables, "session", SessionTable>, fits: RawBuilder<boolean>, limit: number) {
  return sessions.where(fits).orderBy("kind").orderBy("active_at_ms", "desc").limit(limit);
}

/**
 * Sessions by exact id, id prefix, last part of a subagent's id, title, title prefix or part of a title: the first of these
 * that finds any; conversations first. A session without a title is named by its first words, as screens show it.
 */
export function sessionsNamed(connection: Connection, name: string, limit: number): readonly SessionRecord[] {
  for (const tier of tiers) {
    const rows = connection.all(tier, { name, limit });
    if (rows.length > 0) return rows.map(recordOf);
  }
  return [];
}
