/** All rows: `LIMIT` of both engines takes it, also when one is added to it. */
const ALL = Number.MAX_SAFE_INTEGER - 1;

/** Converts a caller's limit to a LIMIT that SQLite takes: an integer from 0 up. NaN becomes 0, Infinity becomes all rows. */
export function rowLimit(limit: number): number {
  return Number.isNaN(limit) ? 0 : Math.min(Math.max(0, Math.floor(limit)), ALL);
}
