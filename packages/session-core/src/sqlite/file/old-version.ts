import type { Database } from "better-sqlite3";
import { columnsFrom } from "../migrations/0004-payloads-apart.js";
import { BRANCH_POINTS, KIND_COUNTS, LISTING, TIPS } from "../migrations/0005-reads-by-index.js";
import { readVersion, SUPPORTED_VERSION } from "./migrate.js";
import { CUSTOM_KINDS, customTypeIn, payloadsFrom } from "./old-payloads.js";

// A file of an older version that is open read-only is not migrated. Temporary views with the names of the tables hide the tables
// of the file, so that no query depends on the version. They are in memory; the file does not change.

const SESSION_BEFORE_4 = `SELECT *, entry_count AS row_count, payload_bytes AS row_bytes, ${LISTING} AS listing FROM main.session`;
const customTypeSql = (json: string) =>
  `CASE WHEN json_valid(${json}) AND json_type(${json}, '$.customType') = 'text' THEN ${json} ->> '$.customType' END`;
const ENTRY_BEFORE_4 = `SELECT *, CASE WHEN kind IN (${CUSTOM_KINDS}) THEN
    (SELECT ${customTypeSql("payload_json")} FROM main.entry AS source WHERE source.seq = old.seq) END AS custom_type, NULL AS origin
  FROM (SELECT type, role, ${columnsFrom("main.entry")}) AS old`;
// A payload that an older program has appended since is a row.
const ENTRY_OF_4 = `SELECT *, CASE WHEN kind IN (${CUSTOM_KINDS}) THEN coalesce(
    (SELECT custom_type FROM temp.custom_type_of_entry WHERE entry_seq = entry.seq),
    (SELECT ${customTypeSql("json")} FROM main.payload WHERE entry_seq = entry.seq)) END AS custom_type, NULL AS origin FROM main.entry`;

/** Views for what a version lacks: those of the versions from `from` up to the one before `until`. */
interface OldView {
  readonly from?: number;
  readonly until: number;
  readonly view: string;
  readonly select: string;
}

const VIEWS: readonly OldView[] = [
  { until: 2, view: "token_counter", select: "SELECT 0 AS seq, '' AS name WHERE FALSE" },
  { until: 2, view: "entry_token_count", select: "SELECT 0 AS entry_seq, 0 AS counter_seq, 0 AS tokens WHERE FALSE" },
  // Without waypoints, climbs follow parents.
  { until: 3, view: "entry_waypoint", select: "SELECT 0 AS entry_seq, 0 AS above_seq WHERE FALSE" },
  { until: 4, view: "entry", select: ENTRY_BEFORE_4 },
  { until: 4, view: "payload", select: "SELECT seq AS entry_seq, payload_json AS json FROM main.entry" },
  {
    until: 4,
    view: "payload_block",
    select: `SELECT 0 AS seq, 0 AS session_seq, 0 AS first_seq, 0 AS last_seq, 0 AS entries, 0 AS payload_bytes, 0 AS codec, 0 AS checksum,
      x'' AS data WHERE FALSE`,
  },
  { until: 4, view: "session", select: SESSION_BEFORE_4 },
  { from: 4, until: 5, view: "session", select: `SELECT *, ${LISTING} AS listing FROM main.session` },
  { from: 4, until: 5, view: "entry", select: ENTRY_OF_4 },
  // Which commands are private is not known without their payloads: all of them count as private.
  { until: 5, view: "private_entry", select: "SELECT seq AS entry_seq FROM entry WHERE role = 'bashExecution'" },
  { until: 5, view: "tip", select: TIPS },
  { until: 5, view: "branch_point", select: BRANCH_POINTS },
  { until: 5, view: "kind_count", select: KIND_COUNTS },
  {
    until: 5,
    view: "session_metadata",
    select: `SELECT member.key, session.metadata_json -> member.fullkey AS value, session.seq AS session_seq
      FROM main.session, json_each(session.metadata_json) AS member WHERE member.type NOT IN ('object', 'array')`,
  },
  { until: 5, view: "value", select: "SELECT *, NULL AS large_bytes FROM main.value" },
  { until: 5, view: "large_value", select: "SELECT 0 AS seq, 0 AS session_seq, '' AS key, '' AS json WHERE FALSE" },
  { from: 5, until: 9, view: "entry", select: "SELECT *, NULL AS origin FROM main.entry" },
  {
    until: 9,
    view: "usage_total",
    select: `SELECT *, CASE WHEN input_tokens + output_tokens + cache_read_tokens + cache_write_tokens + cost_usd <> 0 THEN replies ELSE 0 END
      AS recorded_replies FROM main.usage_total`,
  },
  { until: 8, view: "source_file", select: "SELECT '' AS path, '' AS stamp, '' AS format WHERE FALSE" },
  {
    until: 8,
    view: "source_session",
    select: `SELECT '' AS path, '' AS source_id, 0 AS session_seq, '' AS revision, '' AS leaf_id, '' AS title, '' AS position_json,
      0 AS gone_at_ms, 0 AS held_until_ms WHERE FALSE`,
  },
  { from: 8, until: 10, view: "source_session", select: "SELECT *, NULL AS held_until_ms FROM main.source_session" },
];

/** The words of the search index of a file before version 7: FTS5's own list, which reads the whole index. */
const WORDS_BEFORE_7 = [
  "CREATE VIRTUAL TABLE temp.entry_text_word USING fts5vocab (main, entry_text, row)",
  "CREATE VIRTUAL TABLE temp.session_text_word USING fts5vocab (main, session_text, row)",
  `CREATE TEMP VIEW word AS SELECT term AS word FROM temp.entry_text_word UNION SELECT term FROM temp.session_text_word`,
];

/** Makes the tables of an old file readable as those of the current version. */
export class OldVersionViews {
  readonly #file: Database;
  /** The version of the file. */
  readonly version: number;

  private constructor(file: Database, version: number) {
    this.#file = file;
    this.version = version;
    if (version === 4) collectCustomTypes(file);
    for (const { view, select } of viewsFor(version)) file.exec(`CREATE TEMP VIEW ${view} AS ${select}`);
    if (version < 7) for (const statement of WORDS_BEFORE_7) file.exec(statement);
  }

  /** Creates the views that an older file needs; undefined: the file has the current version. */
  static create(file: Database): OldVersionViews | undefined {
    const version = readVersion(file);
    return version < SUPPORTED_VERSION ? new OldVersionViews(file, version) : undefined;
  }

  /** True if another process has migrated the file since. Cost: one pragma. */
  get areOutdated(): boolean {
    return readVersion(this.#file) !== this.version;
  }

  remove(): void {
    for (const { view } of viewsFor(this.version)) this.#file.exec(`DROP VIEW temp.${view}`);
    if (this.version < 7) this.#file.exec("DROP VIEW temp.word; DROP TABLE temp.entry_text_word; DROP TABLE temp.session_text_word");
    this.#file.exec("DROP TABLE IF EXISTS temp.custom_type_of_entry");
  }
}

function viewsFor(version: number): readonly OldView[] {
  return VIEWS.filter(({ from = 0, until }) => from <= version && version < until);
}

// SQL cannot read payloads that are compressed in blocks.
function collectCustomTypes(file: Database): void {
  file.exec("CREATE TEMP TABLE custom_type_of_entry (entry_seq INTEGER PRIMARY KEY, custom_type TEXT NOT NULL)");
  const insert = file.prepare("INSERT INTO temp.custom_type_of_entry VALUES (?, ?)");
  for (const { seq, json } of payloadsFrom(file, CUSTOM_KINDS)) {
    const customType = customTypeIn(json);
    if (customType !== null) insert.run(seq, customType);
  }
}
