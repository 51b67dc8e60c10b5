const ALL = Number.MAX_SAFE_INTEGER - 1;

/** How many rows SQLite is asked for: whole and not below zero, whatever a caller counted with; beyond counting: all. */
export function rowLimit(limit: number): number {
  return Number.isNaN(limit) ? 0 : Math.min(Math.max(0, Math.floor(limit)), ALL);
}
