import { withBare } from "./context.mjs";
import { alternate, median, timed } from "./measure.mjs";
import { messages } from "./world.mjs";

export const title = "writes";

/** How many values the session of the rows about values has, and how many of them a prefix selects. */
const VALUES = 20_000;
const SELECTED = 100;

/** The writes that adapters of agent frameworks are made of. */
export async function run(bench) {
  for (const durability of ["full", "normal"]) await below(bench, durability);
  await openOrCreate(bench);
  await values(bench);
  await forkTree(bench);
}

/** Appends below a given parent, far from the leaf, compared with appends at the leaf: the same messages, in one store. */
async function below({ report, stores, sizes, rounds }, durability) {
  for (const size of sizes) {
    const { path, sessionId } = stores.copy(await stores.ofSize(size));
    const { leaf, parent } = await withBare({ path, durability }, async (store, file) => {
      const session = await store.openSession(sessionId);
      const ids = file.prepare("SELECT id FROM entry ORDER BY seq").pluck().all();
      const script = messages(41);
      let text;
      let message;
      const arrive = (round) => {
        if (text?.round !== round) text = { round, json: JSON.stringify(script.next().value) };
        message = JSON.parse(text.json);
      };
      const at = (round) => ids[Math.floor(ids.length * 0.2) + (Math.abs(round) % 500)];
      return alternate(
        {
          leaf: { prepare: arrive, run: () => session.append({ type: "message", message }) },
          parent: { prepare: arrive, run: (round) => session.append({ type: "message", message }, { parentId: at(round) }) },
        },
        { rounds: rounds(durability === "full" ? 150 : 400), warmUp: 100, turnAbout: true },
      );
    });
    // With `full` nearly all of the time is the sync of the file.
    const limit = durability === "full" ? null : 1.2;
    report.ratio(`append below a parent against an append at the leaf, ${durability}`, size, median(parent), median(leaf), limit);
  }
}

async function openOrCreate({ report, stores, manySessions, rounds }) {
  const made = await stores.ofSessions(...manySessions);
  const { path } = stores.copy(made);
  const times = await withBare({ path, durability: "normal" }, async (store, file) => {
    const { id } = (await store.listSessions({ limit: 1 })).items[0];
    const find = file.prepare(
      "SELECT session.seq, leaf.entry_seq FROM session JOIN leaf ON leaf.session_seq = session.seq AND leaf.name = 'main' WHERE session.id = ?",
    );
    const create = bareCreate(file, find);
    return alternate(
      {
        known: { run: () => store.openOrCreateSession(id) },
        bareKnown: { run: () => find.get(id) },
        created: { run: (round) => store.openOrCreateSession(`ours-${round}`, { metadata: { owner: "u7" } }) },
        bareCreated: { run: (round) => create(`bare-${round}`, JSON.stringify({ owner: "u7" })) },
      },
      { rounds: rounds(400), warmUp: 50 },
    );
  });
  report.absolute("openOrCreateSession, a session that exists", made.sessions, median(times.known), 0.2, {
    baseline: median(times.bareKnown),
  });
  report.ratio("openOrCreateSession, a new session, normal", made.sessions, median(times.created), median(times.bareCreated), null);
}

/** Finds or inserts a session with its leaf and its metadata in one transaction. */
function bareCreate(file, find) {
  const session = file.prepare(
    "INSERT INTO session (id, kind, created_at_ms, active_at_ms, metadata_json) VALUES (?, 'conversation', ?, ?, ?)",
  );
  const leaf = file.prepare("INSERT INTO leaf (session_seq, name, entry_seq) VALUES (?, 'main', NULL)");
  const member = file.prepare("INSERT INTO session_metadata (key, value, session_seq) VALUES ('owner', '\"u7\"', ?)");
  return file.transaction((id, metadata) => {
    if (find.get(id) !== undefined) return;
    const { lastInsertRowid } = session.run(id, Date.now(), Date.now(), metadata);
    leaf.run(lastInsertRowid);
    member.run(lastInsertRowid);
  }).immediate;
}

async function values({ report, stores, quick, rounds }) {
  const count = quick ? VALUES / 10 : VALUES;
  const { path, sessionId } = stores.copy(await stores.ofSize(1_000));
  const times = await withBare({ path, durability: "normal" }, async (store, file) => {
    const session = await store.openSession(sessionId);
    const key = (at) => `run/${String(Math.floor(at / SELECTED)).padStart(4, "0")}/${at}`;
    await session.write(Array.from({ length: count }, (_, at) => ({ kind: "value", key: key(at), value: { at, state: "done" } })));
    await session.write(["set", "count", "update"].map((one) => ({ kind: "value", key: one, value: 0 })));
    const seq = file.prepare("SELECT seq FROM session WHERE id = ?").pluck().get(sessionId);
    const bare = bareValues(file, seq);
    let counted = 0;
    const contestants = {
      set: { run: (round) => session.values.set("set", round) },
      conditional: { run: () => session.values.set("count", counted + 1, { ifEquals: counted++ }) },
      update: { run: () => session.values.update("update", (present) => present + 1) },
      bareSet: { run: (round) => bare.set("bare", round) },
      bareConditional: { run: (round) => bare.compareAndSet("bare", round, round + 1) },
      range: { run: () => session.values.list({ prefix: "run/0007/" }) },
      bareRange: { run: () => bare.range("run/0007/", "run/00070") },
    };
    return alternate(contestants, { rounds: rounds(400), warmUp: 50 });
  });
  report.ratio("value, written, normal", count, median(times.set), median(times.bareSet), null);
  report.ratio("value, conditional write, normal", count, median(times.conditional), median(times.bareConditional), null);
  report.ratio("value, conditional write against a plain one, normal", count, median(times.conditional), median(times.set), 1.2);
  report.absolute("value, updated from its present one, normal", count, median(times.update), 0.5, {
    baseline: median(times.bareConditional),
  });
  report.absolute(`values, ${SELECTED} of a prefix`, count, median(times.range), 0.5, { baseline: median(times.bareRange) });
}

function bareValues(file, session) {
  const get = file.prepare("SELECT value_json FROM value WHERE session_seq = ? AND key = ?").pluck();
  const put = file.prepare(
    `INSERT INTO value (session_seq, key, value_json, updated_at_ms) VALUES (?, ?, ?, ?)
     ON CONFLICT (session_seq, key) DO UPDATE SET value_json = excluded.value_json, updated_at_ms = excluded.updated_at_ms`,
  );
  const range = file.prepare(
    "SELECT key, value_json, updated_at_ms FROM value WHERE session_seq = ? AND key >= ? AND key < ? ORDER BY key",
  );
  const set = file.transaction((key, value) => put.run(session, key, JSON.stringify(value), Date.now())).immediate;
  const compareAndSet = file.transaction((key, expected, value) => {
    if (get.get(session, key) !== JSON.stringify(expected)) throw new Error(`${key} is not ${expected}`);
    put.run(session, key, JSON.stringify(value), Date.now());
  }).immediate;
  return {
    set,
    compareAndSet,
    range: (from, to) => range.all(session, from, to).map((row) => ({ ...row, value: JSON.parse(row.value_json) })),
  };
}

/** A fork of all branches, compared with statements that copy only the entries and their payloads. */
async function forkTree({ report, stores, sizes }) {
  for (const size of sizes.filter((one) => one <= 10_000)) {
    const [own, bare] = [stores.copy(await stores.ofSize(size)), stores.copy(await stores.ofSize(size))];
    const [ours, path] = await withBare({ path: own.path, durability: "normal" }, async (store) => [
      await timed(() => store.forkSession(own.sessionId, { tree: true })),
      await timed(() => store.forkSession(own.sessionId)),
    ]);
    const baseline = await withBare({ path: bare.path, durability: "normal" }, async (_, file) =>
      timed(() => bareFork(file, bare.sessionId)),
    );
    report.absolute("fork of a whole tree, normal", size, ours, size === 10_000 ? 1000 : null, { baseline });
    report.absolute("the same of its path alone, normal", size, path, null);
  }
}

function bareFork(file, id) {
  const columns = file.pragma("table_info(entry)").map(({ name }) => name);
  const shifted = new Set(["seq", "parent_seq", "compaction_seq", "target_seq", "model_seq", "thinking_seq", "system_seq"]);
  const copied = columns.map((name) => (name === "session_seq" ? "@to" : shifted.has(name) ? `${name} + @by` : name));
  file
    .transaction(() => {
      const from = file.prepare("SELECT seq FROM session WHERE id = ?").pluck().get(id);
      const to = file
        .prepare("INSERT INTO session (id, kind, created_at_ms, active_at_ms) VALUES ('bare', 'conversation', 0, 0)")
        .run().lastInsertRowid;
      const by = file.prepare("SELECT max(seq) - (SELECT min(seq) FROM entry WHERE session_seq = ?) + 1 FROM entry").pluck().get(from);
      const run = (sql) => file.prepare(sql).run({ from, to, by });
      run(`INSERT INTO entry (${columns.join(", ")}) SELECT ${copied.join(", ")} FROM entry WHERE session_seq = @from AND @to AND @by`);
      run(
        "INSERT INTO payload SELECT entry_seq + @by, json FROM payload JOIN entry ON entry.seq = entry_seq WHERE session_seq = @from AND @to",
      );
      run(`INSERT INTO payload_block (session_seq, first_seq, last_seq, entries, payload_bytes, codec, checksum, data)
        SELECT @to, first_seq + @by, last_seq + @by, entries, payload_bytes, codec, checksum, data FROM payload_block WHERE session_seq = @from`);
    })
    .immediate();
}
