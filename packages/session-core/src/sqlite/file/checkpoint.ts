/** A connection, or a database that is being opened. */
interface Pragmas {
  pragma(text: string): unknown;
}

const SMALLEST_PAGE = 512;
const USUAL_BYTES = 4 * 1024 * 1024;
const BULK_BYTES = 64 * 1024 * 1024;

/** Sets the size of the WAL after which a commit also checkpoints it: SQLite's default, in bytes instead of pages. */
export function checkpointUsually(connection: Pragmas): void {
  checkpointAfter(connection, USUAL_BYTES);
}

/**
 * The same for work that writes a lot at once. A checkpoint copies all pages of the WAL into the file while the caller waits. After the
 * work, the next write behind it does that, usually one of the maintenance. Return to `checkpointUsually` in any case.
 */
export function checkpointRarely(connection: Pragmas): void {
  checkpointAfter(connection, BULK_BYTES);
}

function checkpointAfter(connection: Pragmas, bytes: number): void {
  const rows: unknown = connection.pragma("page_size");
  const [{ page_size: pageBytes = SMALLEST_PAGE } = {}] = Array.isArray(rows) ? rows : [];
  connection.pragma(`wal_autocheckpoint = ${Math.ceil(bytes / Number(pageBytes))}`);
}
