import { createRequire } from "node:module";
import { buildSessionContext, copySessions } from "@bough/session-core";
import { startPostgres } from "../../.ci/postgres-server.mjs";
import { alternate, median, timed } from "./measure.mjs";
import { withStore } from "./stores.mjs";
import { messages } from "./world.mjs";

// A store on a PostgreSQL server of this machine, over loopback. Commits wait for the disk, as on a real server. `--postgres` measures only this.
export const title = "postgres";

/** The driver, as the library has it. */
const pg = createRequire(new URL("../../packages/postgres/package.json", import.meta.url))("pg");

const WRITERS = [1, 2, 4, 8, 16, 32, 64];

export async function run(bench) {
  const server = await startPostgres({ durable: true, settings: ["shared_buffers=512MB", "max_wal_size=4GB"] });
  const admin = new pg.Pool({ connectionString: server.url, max: 2, options: "-c search_path=bough" });
  try {
    for (const group of [appends, contexts, manyWriters, oneSession, pages, sizes]) await group(bench, server.url, admin);
    bench.report.server = (await admin.query("SHOW server_version")).rows[0].server_version;
  } finally {
    await admin.end();
    await server.stop();
  }
}

/** An append with all that it writes, against the same rows handed to one statement by hand. */
async function appends({ report, rounds }, url, admin) {
  await withStore({ url, tenant: "append" }, async (store) => {
    const [session, other] = [
      await store.createSession({ cwd: "/home/dev/project" }),
      await store.createSession({ cwd: "/home/dev/project" }),
    ];
    const script = messages(7);
    for (const own of [session, other]) await own.append({ type: "message", message: { role: "user", content: "Fix the parser" } });
    const bare = new BareAppend(admin, "append", other.id);
    let [message, id] = [undefined, undefined];
    const contestants = {
      ours: {
        prepare: () => {
          message = JSON.parse(JSON.stringify(script.next().value));
        },
        run: async () => {
          id = (await session.append({ type: "message", message })).id;
        },
      },
      baseline: { prepare: () => bare.take(session.id, id), run: () => bare.append() },
    };
    const { ours, baseline } = await alternate(contestants, { rounds: rounds(400), warmUp: 100 });
    report.ratio("PostgreSQL: append, p50", "one session", median(ours), median(baseline), 1.3, BareAppend.note);
    await bare.close();
  });
}

/**
 * The rows of an append, written by hand: an entry, the leaf, the session's counters, the usage of a reply, and the words that the store
 * lists for the first time, in one statement.
 */
class BareAppend {
  static note = "The baseline hands the finished rows to one statement with the same tables: nothing is judged, derived or compared.";
  #admin;
  #client;
  #keys;
  #row;
  #seq = 1;
  #listed = new Set();

  constructor(admin, tenant, sessionId) {
    this.#admin = admin;
    this.#keys = [tenant, sessionId];
  }

  async take(from, id) {
    this.#client ??= await this.#admin.connect();
    const { rows } = await this.#admin.query(
      "SELECT *, words::text AS words FROM entry WHERE tenant = $1 AND session_id = $2 AND id = $3",
      [this.#keys[0], from, id],
    );
    const usage = JSON.parse(rows[0].payload).message?.usage;
    this.#seq += 1;
    this.#row = { ...rows[0], seq: this.#seq, parent_seq: this.#seq - 1, usage, listed: await this.#newWords() };
  }

  /** The words that were listed since the last call. */
  async #newWords() {
    const { rows } = await this.#admin.query("SELECT DISTINCT word FROM word WHERE tenant = $1", [this.#keys[0]]);
    const found = rows.map(({ word }) => word).filter((word) => !this.#listed.has(word));
    for (const word of found) this.#listed.add(word);
    return found;
  }

  async append() {
    const { usage, listed, ...row } = this.#row;
    const values = COLUMNS.map((column) => row[column]);
    const [name, text] = usage === undefined ? ["bare", BARE] : ["bare_reply", BARE_REPLY];
    const used = usage === undefined ? [] : [usage.input, usage.output, usage.cacheRead, usage.cacheWrite, usage.cost.total];
    await this.#client.query({ name, text, values: [...this.#keys, ...values, listed, ...used] });
  }

  async close() {
    this.#client?.release();
  }
}

const COLUMNS = [
  ...["created_at_ms", "seq", "parent_seq", "depth", "compaction_seq", "target_seq", "model_seq", "thinking_seq", "system_seq"],
  ...["payload_bytes", "kind", "is_error", "omits", "inherited", "is_private", "id", "call_id", "custom_type", "preview"],
  ...["file_operations", "words", "payload"],
];
const at = (column) => COLUMNS.indexOf(column) + 3;
const LISTED = COLUMNS.length + 3;
const BARE = `
  WITH listed AS (INSERT INTO word (tenant, word) SELECT $1 || ' by hand', unnest($${LISTED}::text[])),
    leaf_moved AS (UPDATE leaf SET entry_seq = $${at("seq")} WHERE tenant = $1 AND session_id = $2 AND name = 'main'),
    counted AS (
      UPDATE session SET last_seq = $${at("seq")}, entry_count = entry_count + 1, message_count = message_count + 1,
        payload_bytes = payload_bytes + $${at("payload_bytes")}, active_at_ms = $${at("created_at_ms")}
      WHERE tenant = $1 AND session_id = $2)
  INSERT INTO entry (tenant, session_id, ${COLUMNS.join(", ")}) VALUES ($1, $2, ${COLUMNS.map((_, index) => `$${index + 3}`).join(", ")})`;
const BARE_REPLY = BARE.replace(
  "WITH listed",
  `WITH used AS (
    INSERT INTO usage_total AS total (tenant, session_id, inherited, provider, model, model_key, replies, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd)
    VALUES ($1, $2, false, 'anthropic', 'claude-sonnet-4-5', sha256('anthropic claude-sonnet-4-5'), 1, $${LISTED + 1}, $${LISTED + 2}, $${LISTED + 3}, $${LISTED + 4}, $${LISTED + 5})
    ON CONFLICT (tenant, session_id, inherited, model_key) DO UPDATE SET replies = total.replies + 1, input_tokens = total.input_tokens + excluded.input_tokens,
      output_tokens = total.output_tokens + excluded.output_tokens, cache_read_tokens = total.cache_read_tokens + excluded.cache_read_tokens,
      cache_write_tokens = total.cache_write_tokens + excluded.cache_write_tokens, cost_usd = total.cost_usd + excluded.cost_usd),
    listed`,
);

/** The context of a compacted session by a new handle, against the range of its payloads by hand. */
async function contexts({ report, stores, sizes, rounds }, url, admin) {
  const figures = [];
  for (const size of sizes) {
    const made = await stores.ofSize(size);
    await copied(made.path, url, `context-${size}`);
    await withStore({ url, tenant: `context-${size}`, connections: 1 }, async (store) => {
      await buildSessionContext(await store.openSession(made.sessionId));
      const bare = await bareWindow(admin, `context-${size}`, made.sessionId);
      let session;
      const contestants = {
        ours: {
          prepare: async () => {
            session = await store.openSession(made.sessionId);
          },
          run: () => session.context(),
        },
        baseline: { run: bare },
      };
      const { ours, baseline } = await alternate(contestants, { rounds: rounds(120), warmUp: 20, turnAbout: true });
      report.ratio("PostgreSQL: context of a compacted session", size, median(ours), median(baseline), 1.5);
      report.absolute("PostgreSQL: statements for a context", size, await statements(() => session.context()), 1, { unit: "statements" });
      figures.push({ size, value: median(ours) });
    });
  }
  report.flat("PostgreSQL: context, growing with the session", figures, 1.2);
}

/** The window of the session's leaf, whose bounds are known: the payloads, parsed. */
async function bareWindow(admin, tenant, sessionId) {
  const { rows } = await admin.query(
    `SELECT leaf.entry_seq AS last, coalesce(compaction.target_seq, compaction.seq) AS first FROM leaf
      JOIN entry AS tip ON (tip.tenant, tip.session_id, tip.seq) = (leaf.tenant, leaf.session_id, leaf.entry_seq)
      JOIN entry AS compaction ON (compaction.tenant, compaction.session_id, compaction.seq) = (tip.tenant, tip.session_id, tip.compaction_seq)
      WHERE leaf.tenant = $1 AND leaf.session_id = $2 AND leaf.name = 'main'`,
    [tenant, sessionId],
  );
  const client = await admin.connect();
  client.release();
  return async () => {
    const found = await admin.query({
      name: "bare_window",
      text: "SELECT id, seq, kind, payload FROM entry WHERE tenant = $1 AND session_id = $2 AND seq BETWEEN $3 AND $4 ORDER BY seq",
      values: [tenant, sessionId, rows[0].first, rows[0].last],
    });
    return found.rows.map(({ payload }) => JSON.parse(payload));
  };
}

/** How many statements `work` sends. */
async function statements(work) {
  const { query } = pg.Client.prototype;
  let sent = 0;
  pg.Client.prototype.query = function counted(...given) {
    sent += 1;
    return query.apply(this, given);
  };
  try {
    await work();
  } finally {
    pg.Client.prototype.query = query;
  }
  return sent;
}

/** Writers of one process, each with a session of its own: appends a second. */
async function manyWriters({ report, rounds }, url) {
  const each = rounds(160);
  let alone;
  for (const writers of WRITERS) {
    await withStore({ url, tenant: `writers-${writers}`, connections: writers }, async (store) => {
      const sessions = await Promise.all(Array.from({ length: writers }, () => store.createSession()));
      const write = async (session, seed, count) => {
        const script = messages(seed);
        for (let done = 0; done < count; done++) await session.append({ type: "message", message: script.next().value });
      };
      await Promise.all(sessions.map((session, seed) => write(session, seed, 5)));
      const took = await timed(() => Promise.all(sessions.map((session, seed) => write(session, 100 + seed, each))));
      const rate = (writers * each) / (took / 1000);
      alone ??= rate;
      report.absolute("PostgreSQL: appends a second, a session each", `${writers} writers`, rate, null, { unit: "/s", baseline: alone });
    });
  }
}

/** 32 handles on one session, each following the leaf that the others move. */
async function oneSession({ report, rounds }, url) {
  const [writers, each] = [32, rounds(40)];
  await withStore({ url, tenant: "one-session", connections: 32 }, async (store) => {
    const { id } = await store.createSession();
    const handles = await Promise.all(Array.from({ length: writers }, () => store.openSession(id)));
    const write = async (handle, seed) => {
      const script = messages(seed);
      for (let done = 0; done < each; done++)
        await handle.append({ type: "message", message: script.next().value }, { onConflict: "follow" });
    };
    const took = await timed(() => Promise.all(handles.map(write)));
    const { entryCount } = await store.findSession(id);
    const lost = writers * each - entryCount;
    report.absolute("PostgreSQL: 32 writers on one session, entries lost", writers * each, lost, 0, { unit: "entries" });
    report.absolute("PostgreSQL: 32 writers on one session, appends a second", writers * each, (writers * each) / (took / 1000), null, {
      unit: "/s",
    });
  });
}

/** Pages of a store with many sessions. */
async function pages({ report, stores, quick, rounds }, url, admin) {
  const [count, each] = quick ? [200, 10] : [10_000, 10];
  const made = await stores.ofSessions(count, each);
  await copied(made.path, url, "pages");
  const large = await stores.ofSize(quick ? 10_000 : 100_000);
  await copied(large.path, url, "pages-large");
  await admin.query("ANALYZE");
  const size = `${count.toLocaleString("en-US")} of ${each}`;
  const measured = async (run) => median((await alternate({ ours: { run } }, { rounds: rounds(40), warmUp: 5 })).ours);
  await withStore({ url, tenant: "pages" }, async (store) => {
    report.absolute("PostgreSQL: list of sessions, a page of 50", size, await measured(() => store.listSessions({ limit: 50 })), 50);
    report.absolute("PostgreSQL: search, a page of hits", size, await measured(() => store.search({ query: "parser token" })), 50);
    report.absolute("PostgreSQL: search for the most common word", size, await measured(() => store.search({ query: "the" })), 50);
  });
  await withStore({ url, tenant: "pages-large" }, async (store) => {
    const session = await store.openSession(large.sessionId);
    const outline = await measured(() => session.tree.outline({ order: "newest", limit: 1000 }));
    report.absolute("PostgreSQL: outline, a page of 1,000", large.entryCount, outline, 50);
    report.absolute(
      "PostgreSQL: search in one session",
      large.entryCount,
      await measured(() => session.search({ query: "parser token" })),
      50,
    );
  });
}

async function copied(path, url, tenant) {
  await withStore({ path, mode: "read-only" }, (from) => withStore({ url, tenant, durability: "normal" }, (to) => copySessions(from, to)));
}

/** What an entry takes on the disk: its row, what is moved out of it, and each index. */
async function sizes({ report }, _url, admin) {
  await admin.query("VACUUM ANALYZE");
  const entries = (await admin.query("SELECT count(*)::integer AS count FROM entry")).rows[0].count;
  const { rows } = await admin.query(
    `SELECT 'table' AS name, pg_relation_size('entry')::float8 AS bytes
     UNION ALL SELECT 'moved out (TOAST)', pg_total_relation_size(reltoastrelid)::float8 FROM pg_class WHERE oid = 'entry'::regclass
     UNION ALL SELECT indexrelid::regclass::text, pg_relation_size(indexrelid)::float8 FROM pg_index WHERE indrelid = 'entry'::regclass`,
  );
  for (const { name, bytes } of rows)
    report.absolute(`PostgreSQL: bytes of an entry, ${name}`, entries, bytes / entries, null, { unit: "B" });
}
