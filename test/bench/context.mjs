import { buildSessionContext } from "@bough/session-core";
import { BareContext, BareMover, openBare } from "./baseline.mjs";
import { alternate, median } from "./measure.mjs";
import { withStore } from "./stores.mjs";
import { messages } from "./world.mjs";

export const title = "context";

const BRANCH_LENGTH = 500;

export async function run(bench) {
  await compacted(bench);
  await afterAppend(bench);
  for (const durability of ["normal", "full"]) await otherBranch(bench, durability);
}

/** The context of a compacted session by a new handle without cached entries. */
async function compacted({ report, stores, sizes, rounds }) {
  const figures = [];
  for (const size of sizes) {
    const { path, sessionId } = await stores.ofSize(size);
    const { ours, baseline } = await withBare({ path }, (store, file) => {
      const bare = new BareContext(file);
      return alternate(
        {
          ours: { run: async () => buildSessionContext(await store.openSession(sessionId)) },
          baseline: { run: () => bare.read(sessionId) },
        },
        { rounds: rounds(400), warmUp: 100 },
      );
    });
    report.ratio("context of a compacted session, nothing in memory", size, median(ours), median(baseline), 1.5);
    figures.push({ size, value: median(ours) });
  }
  report.flat("the same, growing with the session", figures, 1.3);
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
