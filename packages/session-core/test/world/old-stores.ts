import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Statistics } from "../../src/port/records.js";
import type { Session } from "../../src/session/session.js";
import { MIGRATIONS, migrate } from "../../src/sqlite/file/migrate.js";
import type { Store } from "../../src/store/store.js";
import { treeNames } from "./grow.js";
import { raw, storePath } from "./stores.js";

// fixtures/store-version-3.db.gz was written by release 0.1, the last one with this format, and store-version-3.json is what that
// release read from it: the sessions `tree` (a compaction, an edit, a label, a value, an undone move), `fork` (of `tree`), `nasty`
// (escapes, a call, its failed result) and `s` (a path of 700 entries with a branch of 300 at the hundredth).
const FIXTURES = join(import.meta.dirname, "..", "fixtures");

/** What release 0.1 read from the sessions of the fixture, by session. */
export const READ_BY_OLD_RELEASE: Readonly<Record<"tree" | "fork" | "nasty", Record<string, unknown>>> = JSON.parse(
  readFileSync(join(FIXTURES, "store-version-3.json"), "utf8"),
);

const TABLES = ["session", "entry", "leaf", "leaf_move", "label", "value", "file_operation", "usage_total"];
const TOKEN_TABLES = ["token_counter", "entry_token_count"];

/**
 * A store of an older version, with the sessions of the fixture. Versions 1 and 2 are the rows of version 3 in their own tables; version
 * 4, which packs all payloads, is version 3 upgraded.
 */
export function oldStore(version: 1 | 2 | 3 | 4): string {
  const whole = storePath();
  writeFileSync(whole, gunzipSync(readFileSync(join(FIXTURES, "store-version-3.db.gz"))));
  if (version === 4) raw(whole, (file) => migrate(file, whole, MIGRATIONS.slice(0, version)));
  if (version >= 3) return whole;
  const path = storePath();
  raw(path, (file) => {
    migrate(file, path, MIGRATIONS.slice(0, version));
    file.pragma("journal_mode = WAL");
    file.pragma("foreign_keys = OFF");
    file.prepare("ATTACH ? AS whole").run(whole);
    for (const table of version === 1 ? TABLES : [...TABLES, ...TOKEN_TABLES]) {
      file.exec(`INSERT INTO main.${table} SELECT * FROM whole.${table}`);
    }
  });
  return path;
}

const ADDED_SINCE_9 = [
  "DROP INDEX entry_by_origin",
  "DROP INDEX entry_inherited",
  "ALTER TABLE entry DROP COLUMN origin",
  "ALTER TABLE usage_total DROP COLUMN recorded_replies",
  "ALTER TABLE session DROP COLUMN parent_found",
];
const ADDED_SINCE_7 = ["word", "entry_text_word", "session_text_word", "source_file", "source_session"];
const ADDED_BY_5 = ["tip", "branch_point", "kind_count", "session_metadata", "large_value", "private_entry"];

/** Makes a closed store one of version 5, as release 0.1 wrote it. */
export function takeBackTo5(path: string): void {
  raw(path, (file) => {
    for (const statement of ADDED_SINCE_9) file.exec(statement);
    for (const table of ADDED_SINCE_7) file.exec(`DROP TABLE ${table}`);
    file.pragma("user_version = 5");
  });
}

/** Makes a closed store one of version 4, packed or not, whose session list has no index. */
export function takeBackTo4(path: string): void {
  takeBackTo5(path);
  raw(path, (file) => {
    file.exec("DROP INDEX entry_custom_type; ALTER TABLE entry DROP COLUMN custom_type; ALTER TABLE value DROP COLUMN large_bytes");
    for (const index of ["activity", "cwd", "parent"]) file.exec(`DROP INDEX session_by_${index}`);
    file.exec("ALTER TABLE session DROP COLUMN listing");
    for (const table of ADDED_BY_5) file.exec(`DROP TABLE ${table}`);
    file.pragma("user_version = 4");
  });
}

/** The old release did not count the replies that report their usage, nor the copies. */
function withoutRecorded({ usage, inheritedUsage, inheritedEntries: _copies, ...statistics }: Statistics) {
  const asBefore = (used: Statistics["usage"]) => used.map(({ recordedReplies: _, ...before }) => before);
  return { ...statistics, usage: asBefore(usage), inheritedUsage: asBefore(inheritedUsage) };
}

/** Everything that the fixture's JSON says about a session, read by this version. */
export async function readAll(store: Store, session: Session) {
  const { title, entryCount, activeAtMs, payloadBytes } = await session.record();
  return {
    record: { title, entryCount, activeAtMs, payloadBytes },
    tree: await treeNames(session),
    context: await session.context(),
    labels: await session.labels.list(),
    values: await session.values.list(),
    moves: await session.leafMoves(),
    // The old release had no custom type in its rows.
    outline: (await session.tree.outline()).map(({ customType: _, ...row }) => row),
    entries: await session.list(),
    statistics: withoutRecorded(await store.storage.statistics(session.id)),
  };
}
