// pi numbers every write of a session: entries, usage, values and elements of lists. Bough numbers entries only, over all
// sessions of a store. The number of an entry in pi is its row number times `STEP`; the writes after it take the numbers up to
// the next entry. So an entry that another program appended, or that was imported, has a number too, in the right order.

/** The most writes without an entry between two entries. Row numbers up to 2^31 fit into a safe integer. */
const STEP = 2 ** 22;

/**
 * The number of a write. A write after an entry of the same transaction is stored as that entry's id and the distance to it,
 * because the row number of the entry is not known before the transaction has finished.
 */
export type Stamp = number | readonly [entryId: string, distance: number];

export function isStamp(value: unknown): value is Stamp {
  if (typeof value === "number") return true;
  return Array.isArray(value) && value.length === 2 && typeof value[0] === "string" && typeof value[1] === "number";
}

/** Converts row numbers. `shift` is added to each row number: a session that was copied into another store starts lower there. */
export class Sequence {
  readonly shift: number;

  constructor(shift: number) {
    this.shift = shift;
  }

  ofRow(rowSeq: number): number {
    return (rowSeq + this.shift) * STEP;
  }

  /** The number of a write. `rows`: row numbers of entries by id. */
  ofStamp(stamp: Stamp, rows: ReadonlyMap<string, number>): number {
    return typeof stamp === "number" ? stamp : this.ofRow(rows.get(stamp[0]) ?? 0) + stamp[1];
  }

  /** The last row number whose entry has a number up to `seq`. */
  rowUpTo(seq: number): number {
    return Math.min(Math.floor(seq / STEP) - this.shift, Number.MAX_SAFE_INTEGER);
  }

  /** The first row number whose entry has a number from `seq` on. */
  rowFrom(seq: number): number {
    return Math.max(Math.ceil(seq / STEP) - this.shift, 0);
  }
}

/** The shift with which every later entry gets a number above `last`. */
export function shiftFor(last: number, newestRow: number): number {
  return Math.max(0, Math.floor(last / STEP) - newestRow);
}
