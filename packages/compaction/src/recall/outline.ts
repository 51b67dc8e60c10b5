import type { EntryId, OutlineRow, Session } from "@bough/session-core";

/** Rows that are read at once: enough that pages cost nothing, few enough that none is large. */
const PAGE = 5_000;

/** The tree of a session without its bodies. */
export class Outline {
  readonly #bySeq = new Map<number, OutlineRow>();
  readonly #byId = new Map<EntryId, OutlineRow>();
  #last: OutlineRow | undefined;

  /** The row that arrived last. */
  get last(): OutlineRow | undefined {
    return this.#last;
  }

  /** Adds rows in order of arrival; those that are there already change nothing. */
  add(rows: readonly OutlineRow[]): void {
    for (const row of rows) {
      this.#bySeq.set(row.seq, row);
      this.#byId.set(row.id, row);
      if (this.#last === undefined || row.seq > this.#last.seq) this.#last = row;
    }
  }

  /** Whether the session has an entry of this id. */
  has(id: EntryId): boolean {
    return this.#byId.has(id);
  }

  /** The rows from the first entry down to `id`; none where there is no such entry. */
  pathTo(id: EntryId | null): readonly OutlineRow[] {
    const path: OutlineRow[] = [];
    for (let row = id === null ? undefined : this.#byId.get(id); row !== undefined; row = this.#parentOf(row)) path.push(row);
    return path.reverse();
  }

  #parentOf({ parentSeq }: OutlineRow): OutlineRow | undefined {
    return parentSeq === null ? undefined : this.#bySeq.get(parentSeq);
  }
}

/** What was read of each session; rows never change, and go only with their session. */
const outlines = new WeakMap<Session, Outline>();

/**
 * Reads the outline. Cost: a row for each entry of the session at first (a tenth of a second for 50,000), no bodies; after
 * that the rows that are new. It is kept as long as the handle.
 */
export async function readOutline(session: Session): Promise<Outline> {
  const outline = outlines.get(session) ?? new Outline();
  outlines.set(session, outline);
  for (;;) {
    const page = await session.outline({ afterSeq: outline.last?.seq ?? 0, limit: PAGE });
    outline.add(page);
    if (page.length < PAGE) return outline;
  }
}

/** What `branch` has below the point where it parts from `path`: the end of it that is on no other. */
export function below(path: readonly OutlineRow[], branch: readonly OutlineRow[]): readonly OutlineRow[] {
  const parted = branch.findIndex(({ id }, at) => path[at]?.id !== id);
  return parted === -1 ? [] : branch.slice(parted);
}
