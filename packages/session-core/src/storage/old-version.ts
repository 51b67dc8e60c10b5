import type { Database } from "better-sqlite3";
import { readVersion } from "./migrate.js";
import { columnsFrom } from "./migrations/0004-payloads-apart.js";

// A file of an older version that is open read-only is not migrated. Temporary views with the names of the tables hide the tables
// of the file, so that no query depends on the version. They are in memory; the file does not change.

/** The views for what a version lacks, by the first version that has it. */
const VIEWS: readonly (readonly [since: number, view: string, select: string])[] = [
  [2, "token_counter", "SELECT 0 AS seq, '' AS name WHERE FALSE"],
  [2, "entry_token_count", "SELECT 0 AS entry_seq, 0 AS counter_seq, 0 AS tokens WHERE FALSE"],
  // Without waypoints, climbs follow parents.
  [3, "entry_waypoint", "SELECT 0 AS entry_seq, 0 AS above_seq WHERE FALSE"],
  [4, "entry", `SELECT type, role, ${columnsFrom("main.entry")}`],
  [4, "payload", "SELECT seq AS entry_seq, payload_json AS json FROM main.entry"],
  [
    4,
    "payload_block",
    `SELECT 0 AS seq, 0 AS session_seq, 0 AS first_seq, 0 AS last_seq, 0 AS entries, 0 AS payload_bytes, 0 AS codec, 0 AS checksum,
      x'' AS data WHERE FALSE`,
  ],
  [4, "session", "SELECT *, entry_count AS row_count, payload_bytes AS row_bytes FROM main.session"],
];

/** Makes the tables of an old file readable as those of the current version. */
export class OldVersionViews {
  readonly #file: Database;
  /** The version of the file. */
  readonly version: number;

  private constructor(file: Database, version: number) {
    this.#file = file;
    this.version = version;
    for (const [, view, select] of viewsFor(version)) file.exec(`CREATE TEMP VIEW ${view} AS ${select}`);
  }

  /** Creates the views if the file needs them. */
  static create(file: Database): OldVersionViews | undefined {
    const version = readVersion(file);
    return viewsFor(version).length > 0 ? new OldVersionViews(file, version) : undefined;
  }

  /** Whether another process has migrated the file since. Cost: one pragma. */
  get areOutdated(): boolean {
    return readVersion(this.#file) !== this.version;
  }

  remove(): void {
    for (const [, view] of viewsFor(this.version)) this.#file.exec(`DROP VIEW temp.${view}`);
  }
}

function viewsFor(version: number) {
  return VIEWS.filter(([since]) => version < since);
}
