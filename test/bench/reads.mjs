import { openBare } from "./baseline.mjs";
import { withBare } from "./context.mjs";
import { alternate, median } from "./measure.mjs";
import { withStore } from "./stores.mjs";
import { messages } from "./world.mjs";

export const title = "reads";

const FORKS = 20;
const NOTES = 50;
const LATEST = 50;
const LARGE = 100_000;

/** Reads that cost what they return, however large the session or the store is. */
export async function run(bench) {
  for (const size of bench.sizes) await ofSession(bench, size);
  await ofManySessions(bench);
}

/** A copy of a store of one session, with some branches, entries of a custom type, and labels. */
async function branched(stores, size) {
  const made = stores.copy(await stores.ofSize(size));
  return withStore({ path: made.path, durability: "normal" }, async (store) => {
    const session = await store.openSession(made.sessionId);
    const script = messages(51);
    const ids = [];
    for (let after = 0; ids.length < FORKS; after = Math.floor(((ids.length + 1) * size) / (FORKS + 2))) {
      const [row] = await session.tree.outline({ afterSeq: after, limit: 1 });
      ids.push(row.id);
      await session.append({ type: "message", message: script.next().value }, { parentId: row.id });
    }
    for (let at = 0; at < NOTES; at++) {
      await session.append({ type: "custom", customType: "note", data: { at } }, { parentId: ids[at % FORKS] });
    }
    for (const id of ids) await session.labels.set(id, `label of ${id}`);
    return { ...made, ids };
  });
}

const ROW = "id, seq, parent_seq, kind, depth, created_at_ms, preview, is_error, payload_bytes, custom_type";
const WITH_PAYLOAD = "SELECT entry.id, entry.seq, payload.json FROM entry LEFT JOIN payload ON payload.entry_seq = entry.seq";

/** Each read as ours and by hand, and its limit in milliseconds for 100,000 entries. The payloads of the newest entries are rows. */
function readsOf(session, file, { ids }) {
  const statement = (sql) => file.prepare(sql);
  const [fork] = ids;
  const seqOf = statement("SELECT seq FROM entry WHERE session_seq = 1 AND id = ?").pluck();
  const seq = seqOf.get(fork);
  const leafSeq = seqOf.get(session.leafId);
  const children = statement(`SELECT ${ROW} FROM entry WHERE session_seq = 1 AND parent_seq IS ? ORDER BY +seq`);
  const parentOf = statement("SELECT parent_seq FROM entry WHERE session_seq = 1 AND id = ?").pluck();
  const newestRows = statement(`SELECT ${ROW} FROM entry WHERE session_seq = 1 ORDER BY seq DESC LIMIT ?`);
  const newest = statement(`${WITH_PAYLOAD} WHERE session_seq = 1 ORDER BY seq DESC LIMIT ?`);
  const byId = statement(`${WITH_PAYLOAD} WHERE session_seq = 1 AND id = ?`);
  const notes = statement(`${WITH_PAYLOAD} WHERE session_seq = 1 AND +custom_type = 'note' AND entry.seq > ?`);
  const tips = statement(`SELECT ${ROW} FROM tip JOIN entry ON entry.seq = entry_seq WHERE tip.session_seq = 1`);
  const points = statement(`SELECT ${ROW} FROM branch_point JOIN entry ON entry.seq = entry_seq WHERE branch_point.session_seq = 1`);
  const path = statement(
    `WITH RECURSIVE up (seq) AS (SELECT ? UNION ALL SELECT parent_seq FROM up JOIN entry USING (seq) WHERE parent_seq IS NOT NULL)
     SELECT ${ROW} FROM up CROSS JOIN entry USING (seq) LIMIT ?`,
  );
  const labels = statement("SELECT id, label, label.created_at_ms FROM label JOIN entry ON seq = entry_seq WHERE label.session_seq = 1");
  const leaves = statement("SELECT name, id FROM leaf LEFT JOIN entry ON seq = entry_seq WHERE leaf.session_seq = 1");
  const prefixed = statement("SELECT id FROM entry WHERE session_seq = 1 AND id >= ? AND id < ? LIMIT 2");
  const counts = statement("SELECT kind, entries FROM kind_count WHERE session_seq = 1");
  const first = fork.slice(0, -1);
  return {
    "children of an entry": [() => session.tree.children(fork), () => children.all(seq), 0.1],
    "siblings of an entry": [() => session.tree.siblings(fork), () => children.all(parentOf.get(fork)), 0.1],
    tips: [() => session.tree.tips(), () => tips.all(), 1],
    "branch points": [() => session.tree.branchPoints(), () => points.all(), 1],
    "tip below an entry": [() => session.tree.tipBelow(ids.at(-1)), () => tips.all(), 1],
    "latest 50, as rows": [() => session.tree.outline({ order: "newest", limit: LATEST }), () => newestRows.all(LATEST), 1],
    "latest 50 entries": [() => session.list({ order: "newest", limit: LATEST }), () => newest.all(LATEST).map(parsed), 1],
    "latest 50 of the path, as rows": [() => session.tree.path(session.leafId, LATEST), () => path.all(leafSeq, LATEST), 1],
    "50 entries of a custom type": [() => session.list({ customType: "note" }), () => notes.all(leafSeq).map(parsed), 1],
    "20 entries by id": [() => session.entriesById(ids), () => ids.map((id) => byId.get(id)), null],
    "20 labels": [() => session.labels.list(), () => labels.all(), 1],
    "leaves of a session": [() => session.leaves(), () => leaves.all(), 0.1],
    "statistics of a session": [() => session.statistics(), () => counts.all(), 1],
    "an entry by the start of its id": [() => session.resolve(first), () => prefixed.all(first, `${first}\u{10ffff}`), 0.2],
    "file operations of the last entries": [() => session.fileOperations({ fromId: session.leafId }), () => path.all(leafSeq, 1), 0.2],
  };
}

// What is in a block has no row.
function parsed(row) {
  return { ...row, payload: row.json === null ? null : JSON.parse(row.json) };
}

async function ofSession({ report, stores, rounds }, size) {
  const made = await branched(stores, size);
  await withBare({ path: made.path }, async (store, file) => {
    const session = await store.openSession(made.sessionId);
    for (const [work, [ours, baseline, limit]] of Object.entries(readsOf(session, file, made))) {
      const times = await alternate({ ours: { run: ours }, baseline: { run: baseline } }, { rounds: rounds(80) });
      report.absolute(work, size, median(times.ours), size === LARGE ? limit : null, { baseline: median(times.baseline) });
    }
  });
}

/** The sessions of one store: most of them of a person, one in twenty of this directory, one in 500 of one owner. */
async function ofManySessions({ report, stores, quick, rounds }) {
  const path = stores.path("many-sessions");
  const many = quick ? 5_000 : 50_000;
  await withStore({ path, durability: "normal" }, async (store) => {
    const session = await store.createSession({ id: "first", metadata: { owner: "o0", app: "x" } });
    await session.append({ type: "message", message: { role: "user", content: "Hello" } });
    await session.values.set("summary", "short");
  });
  fillSessions(path, many);
  await withStore({ path }, async (store) => {
    const file = openBare(path);
    try {
      for (const [work, [ours, baseline, limit]] of Object.entries(sessionReads(store, file, many))) {
        const times = await alternate({ ours: { run: ours }, baseline: { run: baseline } }, { rounds: rounds(80) });
        report.absolute(work, many, median(times.ours), quick ? null : limit, { baseline: median(times.baseline) });
      }
    } finally {
      file.close();
    }
  });
}

function sessionReads(store, file, many) {
  const prefix = `made${many - 1}`;
  const page = (where) => file.prepare(`SELECT * FROM session WHERE ${where} ORDER BY active_at_ms DESC, seq DESC LIMIT 21`);
  const [all, ofCwd, archived] = [page("listing = 0"), page("listing = 0 AND cwd = '/project-7'"), page("listing = 2")];
  const ofOwner = file.prepare(
    `SELECT session.* FROM session_metadata JOIN session ON seq = session_seq WHERE key = 'owner' AND value = '"o7"' ORDER BY active_at_ms DESC LIMIT 21`,
  );
  const named = file.prepare("SELECT * FROM session WHERE id >= ? AND id < ?");
  const value = file.prepare("SELECT value_json FROM value JOIN session ON seq = session_seq WHERE session.id = ? AND key = 'summary'");
  const ids = file.prepare("SELECT id FROM session ORDER BY seq LIMIT 20").pluck().all();
  const limit = 20;
  return {
    "page of 20 sessions": [() => store.listSessions({ limit }), () => all.all(), 2],
    "page of 20 sessions of a directory": [() => store.listSessions({ limit, cwd: "/project-7" }), () => ofCwd.all(), 2],
    "page of 20 archived sessions": [() => store.listSessions({ limit, archived: true }), () => archived.all(), 2],
    "page of 20 sessions of any kind": [() => store.listSessions({ limit, kind: "all", archived: "all", empty: true }), () => all.all(), 3],
    "page of 20 sessions of an owner": [() => store.listSessions({ limit, metadata: { owner: "o7" } }), () => ofOwner.all(), 2],
    "page of 20 sessions of an app that most have": [() => store.listSessions({ limit, metadata: { app: "x" } }), () => all.all(), 3],
    "one value of 20 sessions": [() => store.valuesOf("summary", ids), () => ids.map((id) => value.get(id)), 1],
    "a session by the start of its id": [() => store.resolveSession(prefix), () => named.all(prefix, `${prefix}~`), 0.5],
  };
}

function fillSessions(path, many) {
  const file = openBare(path);
  file.exec(`
    WITH RECURSIVE made (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM made WHERE n < ${many - 1})
      INSERT INTO session (id, kind, cwd, title, created_at_ms, active_at_ms, archived_at_ms, entry_count, message_count, metadata_json)
      SELECT 'made' || n, iif(n % 4 = 0, 'subagent', 'conversation'), '/project-' || (n % 20), 'Session ' || n, n, n,
        iif(n % 100 = 1, n, NULL), iif(n % 3 = 0, 0, 50), 20, json_object('owner', 'o' || (n % 500), 'app', 'x') FROM made;
    INSERT INTO session_metadata SELECT 'owner', metadata_json -> '$.owner', seq FROM session WHERE id <> 'first';
    INSERT INTO session_metadata SELECT 'app', metadata_json -> '$.app', seq FROM session WHERE id <> 'first';
    INSERT INTO leaf SELECT seq, 'main', NULL FROM session WHERE id <> 'first'`);
  file.close();
}
