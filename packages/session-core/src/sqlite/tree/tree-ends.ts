import type { EntrySeq, SessionSeq } from "../../port/rows.js";
import type { Connection } from "../file/connection.js";
import { query } from "../query.js";

const insertTip = query<{ session: SessionSeq; entry: EntrySeq }>(({ db, p }) =>
  db.insertInto("tip").values({ session_seq: p.session, entry_seq: p.entry }),
);
const moveTip = query<{ session: SessionSeq; entry: EntrySeq; to: EntrySeq }>(({ db, p }) =>
  db.updateTable("tip").set({ entry_seq: p.to }).where("session_seq", "=", p.session).where("entry_seq", "=", p.entry),
);
const deleteTip = query<{ session: SessionSeq; entry: EntrySeq }>(({ db, p }) =>
  db.deleteFrom("tip").where("session_seq", "=", p.session).where("entry_seq", "=", p.entry),
);
const tipAt = query<{ session: SessionSeq; entry: EntrySeq }, { seq: EntrySeq }>(({ db, p }) =>
  db.selectFrom("tip").select("entry_seq as seq").where("session_seq", "=", p.session).where("entry_seq", "=", p.entry),
);

/** True if an entry has no children. Cost: one lookup. */
export function isTip(connection: Connection, session: SessionSeq, entry: EntrySeq): boolean {
  return connection.get(tipAt, { session, entry }) !== undefined;
}

const insertBranchPoint = query<{ session: SessionSeq; entry: EntrySeq }>(({ db, p }) =>
  db
    .insertInto("branch_point")
    .values({ session_seq: p.session, entry_seq: p.entry })
    .onConflict((conflict) => conflict.doNothing()),
);

/**
 * Collects which entries new ones make tips and branch points of their session, so that a run of entries writes one tip. Entries
 * without children are in `tip`, so a parent that is not has another child.
 */
export class TreeEnds {
  readonly #session: SessionSeq;
  /** New entries, each with whether it has children by now. */
  readonly #hasChildren = new Map<EntrySeq, boolean>();
  /** Parents that were written before: 1 child is new, or more. */
  readonly #parents = new Map<EntrySeq, number>();
  readonly #branchPoints = new Set<EntrySeq>();

  constructor(session: SessionSeq) {
    this.#session = session;
  }

  add(seq: EntrySeq, parent: EntrySeq | null): void {
    this.#hasChildren.set(seq, false);
    if (parent === null) return;
    const known = this.#hasChildren.get(parent);
    if (known === undefined) this.#parents.set(parent, (this.#parents.get(parent) ?? 0) + 1);
    else if (known) this.#branchPoints.add(parent);
    else this.#hasChildren.set(parent, true);
  }

  /** The number of entries that are held. */
  get size(): number {
    return this.#hasChildren.size;
  }

  /** Writes the collected changes. Call it inside `write`, after the entries. */
  flush(connection: Connection): void {
    const session = this.#session;
    const tips = [...this.#hasChildren].flatMap(([entry, hasChildren]) => (hasChildren ? [] : [entry]));
    for (const [entry, children] of this.#parents) {
      // Usually a new entry takes the place of its parent: one statement.
      const to = tips.at(-1);
      const wasTip = connection.run(to === undefined ? deleteTip : moveTip, { session, entry, to: to ?? entry }) > 0;
      if (wasTip) tips.pop();
      if (!wasTip || children > 1) this.#branchPoints.add(entry);
    }
    for (const entry of this.#branchPoints) connection.run(insertBranchPoint, { session, entry });
    for (const entry of tips) connection.run(insertTip, { session, entry });
    this.#parents.clear();
    this.#branchPoints.clear();
    this.#hasChildren.clear();
  }
}
