import type { Connection } from "../storage/connection.js";
import { query } from "../storage/query.js";
import type { SessionSeq } from "../storage/schema.js";
import { searchableForm } from "./terms.js";

const removeTitle = query<{ seq: SessionSeq }>(({ db, p }) => db.deleteFrom("session_text").where("rowid", "=", p.seq));
const insertTitle = query<{ seq: SessionSeq; title: string }>(({ db, p }) =>
  db.insertInto("session_text").values({ rowid: p.seq, title: p.title }),
);

/** Makes a session found by this title and no other; null: by none. Call it inside `write`. */
export function indexTitle(connection: Connection, seq: SessionSeq, title: string | null): void {
  connection.run(removeTitle, { seq });
  if (title !== null) connection.run(insertTitle, { seq, title: searchableForm(title) });
}
