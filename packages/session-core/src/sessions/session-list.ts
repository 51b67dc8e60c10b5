import type { SelectQueryBuilder } from "kysely";
import type { Page, SessionFilter, SessionRecord } from "../port/records.js";
import type { Connection } from "../storage/connection.js";
import { onceQuery } from "../storage/query.js";
import { rowLimit } from "../storage/row-limit.js";
import type { SessionTable, Tables } from "../storage/schema.js";
import { recordOf } from "./session-rows.js";

const DEFAULT_LIMIT = 1000;

type Sessions = SelectQueryBuilder<Tables, "session", SessionTable>;

/** Sessions that fit `filter`, newest activity first. Reads session rows only: no entry, whatever the store's size. */
export function listSessions(connection: Connection, filter: SessionFilter): Page<SessionRecord> {
  const limit = rowLimit(filter.limit ?? DEFAULT_LIMIT);
  const rows = connection.all(
    onceQuery<SessionTable>(({ db }) =>
      after(narrowed(db.selectFrom("session").selectAll(), filter), filter.cursor)
        .orderBy("active_at_ms", "desc")
        .orderBy("seq", "desc")
        .limit(limit + 1),
    ),
    {},
  );
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return { items: rows.slice(0, limit).map(recordOf), next: last === undefined ? null : `${last.active_at_ms}.${last.seq}` };
}

function narrowed(sessions: Sessions, filter: SessionFilter): Sessions {
  const { cwd, kind = "conversation", archived = false, empty = false, parentId } = filter;
  let narrow = sessions;
  if (cwd !== undefined) narrow = narrow.where("cwd", "=", cwd);
  if (kind !== "all") narrow = narrow.where("kind", "=", kind);
  if (archived !== "all") narrow = narrow.where("archived_at_ms", archived ? "is not" : "is", null);
  if (!empty) narrow = narrow.where("entry_count", ">", 0);
  if (parentId !== undefined) narrow = narrow.where("parent_session_id", "=", parentId);
  return narrow;
}

function after(sessions: Sessions, cursor: string | undefined): Sessions {
  const [activeAt, seq] = (cursor ?? "").split(".").map(Number);
  if (activeAt === undefined || seq === undefined) return sessions;
  // The first condition bounds the index; the second tells apart those that were active in the same millisecond.
  return sessions
    .where("active_at_ms", "<=", activeAt)
    .where((where) => where.or([where("active_at_ms", "<", activeAt), where("seq", "<", seq as SessionTable["seq"])]));
}
