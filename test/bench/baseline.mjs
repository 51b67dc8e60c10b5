// What somebody would write by hand with better-sqlite3 against the same tables: prepared statements, nothing judged,
// nothing looked up that a caller could know. Every figure of ours stands beside one of these.
import { inflateRawSync } from "node:zlib";
import Database from "better-sqlite3";

/** The settings of a store's connection, as `storage/open-database.ts` sets them. */
export function openBare(path, durability = "full") {
  const file = new Database(path);
  file.pragma("foreign_keys = ON");
  file.pragma("cache_size = -16384");
  file.pragma("mmap_size = 0");
  file.pragma("temp_store = MEMORY");
  file.pragma("secure_delete = ON");
  file.pragma("journal_mode = WAL");
  file.pragma(`synchronous = ${durability === "full" ? "FULL" : "NORMAL"}`);
  return file;
}

/** Writes the rows that an append of ours wrote, in one transaction. The payload becomes text here too: any store must. */
export class BareWriter {
  #statements;
  #transaction;

  constructor(file) {
    const columns = file.pragma("table_info(entry)").map(({ name }) => name);
    this.#statements = {
      entry: file.prepare(`INSERT INTO entry (${columns.join(", ")}) VALUES (${columns.map((name) => `@${name}`).join(", ")})`),
      payload: file.prepare("INSERT INTO payload (entry_seq, json) VALUES (?, ?)"),
      leaf: file.prepare("UPDATE leaf SET entry_seq = ? WHERE session_seq = ? AND name = 'main' AND entry_seq IS ?"),
      session: file.prepare(
        `UPDATE session SET entry_count = entry_count + 1, message_count = message_count + ?, payload_bytes = payload_bytes + ?,
         active_at_ms = max(active_at_ms, ?), first_text = coalesce(first_text, ?), row_count = row_count + 1, row_bytes = row_bytes + ?
         WHERE seq = ?`,
      ),
      usage: file.prepare(
        `INSERT INTO usage_total VALUES (?, 0, ?, ?, 1, ?, ?, ?, ?, ?, 1) ON CONFLICT (session_seq, inherited, provider, model) DO UPDATE SET
         replies = replies + 1, input_tokens = input_tokens + excluded.input_tokens, output_tokens = output_tokens + excluded.output_tokens,
         cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens,
         cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens, cost_usd = cost_usd + excluded.cost_usd,
         recorded_replies = recorded_replies + 1`,
      ),
      noTip: file.prepare("DELETE FROM tip WHERE session_seq = ? AND entry_seq = ?"),
      tip: file.prepare("INSERT INTO tip VALUES (?, ?)"),
      branchPoint: file.prepare("INSERT OR IGNORE INTO branch_point VALUES (?, ?)"),
      kind: file.prepare("INSERT INTO kind_count VALUES (?, ?, 1) ON CONFLICT (session_seq, kind) DO UPDATE SET entries = entries + 1"),
      operation: file.prepare("INSERT INTO file_operation VALUES (@entry_seq, @ordinal, @tool_call_id, @kind, @path, @nested)"),
    };
    this.#transaction = file.transaction((rows, message) => this.#write(rows, message)).immediate;
  }

  append(rows, message) {
    this.#transaction(rows, message);
  }

  #write({ entry, operations }, message) {
    const { statements, json } = { statements: this.#statements, json: JSON.stringify({ message }) };
    const session = entry.session_seq;
    const spoken = message.role === "user" || message.role === "assistant";
    const firstText = message.role === "user" ? entry.preview : null;
    const bytes = Buffer.byteLength(json);
    statements.entry.run(entry);
    statements.payload.run(entry.seq, json);
    for (const operation of operations) statements.operation.run(operation);
    statements.leaf.run(entry.seq, session, entry.parent_seq);
    if (entry.parent_seq !== null && statements.noTip.run(session, entry.parent_seq).changes === 0) {
      statements.branchPoint.run(session, entry.parent_seq);
    }
    statements.tip.run(session, entry.seq);
    statements.kind.run(session, entry.kind);
    statements.session.run(spoken ? 1 : 0, bytes, spoken ? entry.created_at_ms : 0, firstText, bytes, session);
    if (message.role !== "assistant") return;
    const { provider, model, usage } = message;
    statements.usage.run(session, provider, model, usage.input, usage.output, usage.cacheRead, usage.cacheWrite, usage.cost.total);
  }
}

/** Looks up the rows that an append of ours wrote, for the baseline to write the same. */
export class RowReader {
  constructor(file) {
    this.entry = file.prepare("SELECT * FROM entry WHERE seq = ?");
    this.operations = file.prepare("SELECT * FROM file_operation WHERE entry_seq = ? ORDER BY ordinal");
  }

  rows(seq) {
    return { entry: this.entry.get(seq), operations: this.operations.all(seq) };
  }
}

/** Reads the main leaf and the start of its context, then parses every payload from there on, out of rows and blocks. */
export class BareContext {
  constructor(file) {
    this.leaf = file.prepare(
      `SELECT leaf.entry_seq AS leaf, coalesce(compaction.target_seq, tip.compaction_seq, 0) AS start, session.seq AS session
       FROM session JOIN leaf ON leaf.session_seq = session.seq JOIN entry AS tip ON tip.seq = leaf.entry_seq
         LEFT JOIN entry AS compaction ON compaction.seq = tip.compaction_seq
       WHERE session.id = ? AND leaf.name = 'main'`,
    );
    this.walk = file.prepare(
      `WITH RECURSIVE up (seq, id, type, parent_seq) AS (
         SELECT seq, id, type, parent_seq FROM entry WHERE seq = ?
         UNION ALL
         SELECT entry.seq, entry.id, entry.type, entry.parent_seq FROM up JOIN entry ON entry.seq = up.parent_seq WHERE up.seq > ?)
       SELECT seq, id, type, payload.json FROM up LEFT JOIN payload ON payload.entry_seq = up.seq`,
    );
    this.block = file.prepare(
      "SELECT first_seq, data FROM payload_block WHERE session_seq = ? AND last_seq >= ? ORDER BY last_seq LIMIT 1",
    );
  }

  read(sessionId) {
    const { leaf, start, session } = this.leaf.get(sessionId);
    const opened = new Map();
    const rows = this.walk.all(leaf, start);
    return rows.map(({ seq, id, type, json }) => ({ id, type, ...JSON.parse(json ?? this.#inBlock(session, seq, opened)) })).reverse();
  }

  #inBlock(session, seq, opened) {
    if (!opened.has(seq)) for (const [entry, json] of textsIn(this.block.get(session, seq))) opened.set(entry, json);
    return opened.get(seq);
  }
}

/** The row numbers and JSON texts of a block. */
function textsIn({ first_seq, data }) {
  const raw = inflateRawSync(data);
  const head = raw.indexOf("\n");
  const numbers = JSON.parse(raw.toString("latin1", 0, head));
  const texts = [];
  for (let at = 0, seq = first_seq, from = head + 1; at < numbers.length; at += 2) {
    seq += numbers[at];
    texts.push([seq, raw.toString("utf8", from, from + numbers[at + 1])]);
    from += numbers[at + 1];
  }
  return texts;
}

/** Makes a row of every payload again. */
export function unpack(path) {
  const file = openBare(path, "normal");
  const insert = file.prepare("INSERT INTO payload (entry_seq, json) VALUES (?, ?)");
  const blocks = file.prepare("SELECT first_seq, data FROM payload_block ORDER BY first_seq").all();
  file.transaction(() => {
    file.exec("DELETE FROM payload_block");
    for (const [seq, json] of blocks.flatMap(textsIn)) insert.run(seq, json);
    file.exec(`UPDATE session SET (row_count, row_bytes) =
      (SELECT count(*), coalesce(sum(payload_bytes), 0) FROM entry WHERE session_seq = session.seq)`);
  })();
  file.close();
}

/** Moves the main leaf and remembers from where, as a move of ours does, in one transaction. */
export class BareMover {
  constructor(file) {
    const drop = file.prepare("UPDATE leaf_move SET state = 'dropped' WHERE session_seq = ? AND leaf_name = 'main' AND state = 'undone'");
    const log = file.prepare(
      "INSERT INTO leaf_move (session_seq, leaf_name, from_seq, to_seq, moved_at_ms, state) VALUES (?, 'main', ?, ?, ?, 'done')",
    );
    const leaf = file.prepare("UPDATE leaf SET entry_seq = ? WHERE session_seq = ? AND name = 'main'");
    this.move = file.transaction((session, from, to) => {
      drop.run(session);
      log.run(session, from, to, Date.now());
      leaf.run(to, session);
    }).immediate;
  }
}
