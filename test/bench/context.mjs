import { buildSessionContext, openStore } from "@bough/session-core";
import { BareContext, BareMover, openBare } from "./baseline.mjs";
import { alternate, median } from "./measure.mjs";
import { withStore } from "./stores.mjs";
import { messages, sessionWrites } from "./world.mjs";

export const title = "context";

const BRANCH_LENGTH = 500;

export async function run(bench) {
  await compacted(bench);
  await afterAppend(bench);
  for (const durability of ["normal", "full"]) await otherBranch(bench, durability);
}

/**
 * The context of a compacted session whose window lies in rows, and in blocks. Each round opens the files again, so that nothing of the
 * session is in memory; another session is read first, so that statements are prepared. The baseline reads raw rows in both cases.
 */
async function compacted({ report, stores, sizes, rounds }) {
  const figures = [];
  for (const size of sizes) {
    const inRows = stores.copy(await stores.ofSize(size));
    const other = await withStore({ path: inRows.path, durability: "normal" }, async (store) => {
      const session = await store.createSession();
      await session.write([...sessionWrites(61, 200)]);
      return session.id;
    });
    const inBlocks = stores.copy(inRows);
    await withStore({ path: inBlocks.path, durability: "normal" }, (store) => store.pack());
    const contestants = {
      rows: freshReader(inRows, other),
      blocks: freshReader(inBlocks, other),
      baseline: freshBare(inRows, other),
    };
    const times = await alternate(contestants, { rounds: rounds(120), warmUp: 80, turnAbout: true });
    const [rows, blocks, baseline] = [times.rows, times.blocks, times.baseline].map(median);
    report.ratio("context of a compacted session, window in rows", size, rows, baseline, 1.5);
    report.ratio("context of a compacted session, window in blocks", size, blocks, baseline, 2.5);
    figures.push({ size, value: rows });
  }
  report.flat("context, window in rows, growing with the session", figures, 1.3);
}

function freshReader({ path, sessionId }, other) {
  let store;
  return {
    prepare: async () => {
      await store?.close();
      store = await openStore({ path, mode: "read-only" });
      await buildSessionContext(await store.openSession(other));
    },
    run: async () => buildSessionContext(await store.openSession(sessionId)),
  };
}

function freshBare({ path, sessionId }, other) {
  let file;
  let bare;
  return {
    prepare: () => {
      file?.close();
      file = openBare(path);
      bare = new BareContext(file);
      bare.read(other);
    },
    run: () => bare.read(sessionId),
  };
}

/** The context by a handle that built it before, and appended one entry since. */
async function afterAppend({ report, stores, sizes, rounds }) {
  for (const size of sizes) {
    const { path, sessionId } = stores.copy(await stores.ofSize(size));
    const script = messages(11);
    const { ours, baseline } = await withBare({ path, durability: "normal" }, async (store, file) => {
      const [session, bare] = [await store.openSession(sessionId), new BareContext(file)];
      const prepare = () => session.append({ type: "message", message: script.next().value });
      return alternate(
        { ours: { prepare, run: () => session.context() }, baseline: { run: () => bare.read(sessionId) } },
        { rounds: rounds(200) },
      );
    });
    report.absolute("context again after an append, living handle", size, median(ours), 0.5, { baseline: median(baseline) });
  }
}

/** Two branches of 500 entries: the leaf goes from the end of one to the end of the other, and the context is built. */
async function otherBranch({ report, stores, sizes, rounds }, durability) {
  for (const size of sizes) {
    const own = await forked(stores, size);
    const { ours, baseline } = await withBare({ path: own.path, durability, barePath: stores.copy(own).path }, async (store, file) => {
      const session = await store.openSession(own.sessionId);
      return alternate(movers(session, file, own), { rounds: rounds(durability === "full" ? 60 : 120) });
    });
    report.ratio(`move to a branch ${BRANCH_LENGTH} entries away + context, ${durability}`, size, median(ours), median(baseline), 1.5);
  }
}

function movers(session, file, { sessionId, ends }) {
  const [mover, bare] = [new BareMover(file), new BareContext(file)];
  const sessionSeq = file.prepare("SELECT seq FROM session WHERE id = ?").pluck().get(sessionId);
  const target = (round) => ends[Math.abs(round) % 2];
  return {
    ours: {
      run: async (round) => {
        await session.moveLeaf(target(round).id);
        await session.context();
      },
    },
    baseline: {
      run: (round) => {
        mover.move(sessionSeq, target(round + 1).seq, target(round).seq);
        bare.read(sessionId);
      },
    },
  };
}

async function forked(stores, size) {
  const made = stores.copy(await stores.ofSize(size));
  return withStore({ path: made.path, durability: "normal" }, async (store) => {
    const session = await store.openSession(made.sessionId);
    const fork = session.leafId;
    const ends = [];
    for (const seed of [21, 22]) {
      await session.moveLeaf(fork);
      const script = messages(seed);
      const writes = Array.from({ length: BRANCH_LENGTH }, () => ({
        kind: "entry",
        entry: { type: "message", message: script.next().value },
      }));
      ends.push((await session.write(writes)).at(-1));
    }
    return { ...made, ends };
  });
}

/** A store and a bare connection to the same file, or to `barePath`. */
export async function withBare({ path, durability = "full", barePath = path }, work) {
  return withStore({ path, durability }, async (store) => {
    const file = openBare(barePath, durability);
    try {
      return await work(store, file);
    } finally {
      file.close();
    }
  });
}
