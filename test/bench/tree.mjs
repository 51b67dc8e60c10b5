import { openBare } from "./baseline.mjs";
import { withBare } from "./context.mjs";
import { alternate, median } from "./measure.mjs";
import { Random } from "./random.mjs";
import { withStore } from "./stores.mjs";
import { messages } from "./world.mjs";

export const title = "tree";

export async function run(bench) {
  for (const durability of ["full", "normal"]) await branching(bench, durability);
  await outline(bench);
  await list(bench);
}

/** Appends under earlier entries of increasing depth, compared with appends at the leaf: the same messages, in one store. */
async function branching({ report, stores, sizes, rounds }, durability) {
  for (const size of sizes) {
    const { path, sessionId } = stores.copy(await stores.ofSize(size));
    const { leaf, moved, ...depths } = await withBare({ path, durability }, async (store, file) => {
      const session = await store.openSession(sessionId);
      return alternate(appenders(session, pathIds(file, sessionId)), {
        rounds: rounds(durability === "full" ? 150 : 400),
        warmUp: 100,
        turnAbout: true,
      });
    });
    for (const [depth, times] of Object.entries(depths)) {
      report.ratio(`starting a branch ${depth}, ${durability}`, size, median(times), median(leaf), 1.1);
    }
    report.ratio(`the same with the move there, one transaction, ${durability}`, size, median(moved), median(leaf), null);
  }
}

function appenders(session, ids) {
  const [script, random] = [messages(31), new Random(32)];
  const between = (from, to) => ids[Math.floor(ids.length * (from + (to - from) * random.next()))];
  let tip = ids.at(-1);
  const texts = {};
  let entry;
  // All of a round append the same message, each as it would arrive: parsed from JSON.
  const arrive = (round, place) => {
    texts[round] ??= JSON.stringify(script.next().value);
    entry = { type: "message", message: JSON.parse(texts[round]) };
    return session.moveLeaf(place);
  };
  const under = (place) => ({ prepare: (round) => arrive(round, place()), run: () => session.append(entry) });
  return {
    leaf: {
      prepare: (round) => arrive(round, tip),
      run: async () => {
        tip = (await session.append(entry)).id;
      },
    },
    "near the first entry": under(() => between(0, 0.1)),
    "in the middle": under(() => between(0.45, 0.55)),
    "near the leaf": under(() => between(0.9, 1)),
    moved: {
      prepare: (round) => arrive(round, tip),
      run: () =>
        session.write([
          { kind: "moveLeaf", to: between(0, 1) },
          { kind: "entry", entry },
        ]),
    },
  };
}

/** The entries from the first down to the main leaf. */
function pathIds(file, sessionId) {
  const up = file.prepare(
    `WITH RECURSIVE up (seq, id, parent_seq) AS (
       SELECT entry.seq, entry.id, entry.parent_seq
       FROM session JOIN leaf ON leaf.session_seq = session.seq AND leaf.name = 'main' JOIN entry ON entry.seq = leaf.entry_seq
       WHERE session.id = ?
       UNION ALL SELECT entry.seq, entry.id, entry.parent_seq FROM up JOIN entry ON entry.seq = up.parent_seq)
     SELECT id FROM up`,
  );
  return up.pluck().all(sessionId).reverse();
}

const PAGE_SQL = `SELECT id, seq, parent_seq, kind, depth, created_at_ms, preview, is_error
  FROM entry WHERE session_seq = 1 AND seq > ? ORDER BY seq LIMIT ?`;

async function outline({ report, stores, sizes, rounds }) {
  for (const size of sizes) {
    const { path, sessionId, entryCount } = await stores.ofSize(size);
    const times = await withBare({ path }, async (store, file) => {
      const [session, rows] = [await store.openSession(sessionId), file.prepare(PAGE_SQL)];
      const first = { first: { run: () => session.tree.outline() }, bareFirst: { run: () => rows.all(0, 1000) } };
      const whole = { whole: { run: () => allPages(session) }, bareWhole: { run: () => rows.all(0, entryCount) } };
      return { ...(await alternate(first, { rounds: rounds(60) })), ...(await alternate(whole, { rounds: rounds(15) })) };
    });
    // The issue sets its limits for 100,000 entries.
    const [pageLimit, wholeLimit] = size === 100_000 ? [20, 120] : [null, null];
    report.absolute("outline, first page of 1,000", size, median(times.first), pageLimit, { baseline: median(times.bareFirst) });
    report.absolute("outline, all pages", size, median(times.whole), wholeLimit, { baseline: median(times.bareWhole) });
  }
}

async function allPages(session) {
  for (let afterSeq = 0; ; ) {
    const page = await session.tree.outline({ afterSeq });
    if (page.length === 0) return;
    afterSeq = page.at(-1).seq;
  }
}

async function list({ report, stores, manySessions, rounds }) {
  const { path, sessions } = await stores.ofSessions(...manySessions);
  const times = await withStore({ path }, async (store) => {
    const file = openBare(path);
    const rows = file.prepare("SELECT * FROM session WHERE kind = 'conversation' AND archived_at_ms IS NULL ORDER BY active_at_ms DESC");
    try {
      return await alternate({ ours: { run: () => store.listSessions() }, baseline: { run: () => rows.all() } }, { rounds: rounds(60) });
    } finally {
      file.close();
    }
  });
  report.absolute("list of sessions", `${sessions} of ${manySessions[1]}`, median(times.ours), 10, { baseline: median(times.baseline) });
}
