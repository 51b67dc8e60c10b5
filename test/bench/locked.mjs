import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { importPath } from "@bough/formats";
import { changeStoreKey, openStore } from "@bough/session-core";
import { alternate, median, timed } from "./measure.mjs";
import { writeBoughFiles } from "./session-files.mjs";
import { QUERIES } from "./words.mjs";
import { messages } from "./world.mjs";

export const title = "lock";

const KEY = "the key of the benchmark";
const NOTE = "The baseline is the same work on the same store without a lock.";

/** What a lock costs: opening, appends, reads and an import, with a key and without one. */
export async function run(bench) {
  for (const size of bench.sizes) await onOneStore(bench, size);
  await searches(bench);
  await imports(bench);
}

/** Two copies of a store, one of them locked, as options of `openStore`. */
async function lockedAndPlain(stores, made) {
  const [locked, plain] = [stores.copy(made), stores.copy(made)];
  await changeStoreKey({ path: locked.path, newKey: KEY });
  return { ours: { path: locked.path, key: KEY }, baseline: { path: plain.path } };
}

async function onOneStore({ report, stores, rounds }, size) {
  const made = await stores.ofSize(size);
  const places = await lockedAndPlain(stores, made);
  const opened = await alternate(
    mapped(places, (place) => ({ run: async () => (await openStore(place)).close() })),
    { rounds: rounds(40) },
  );
  report.extra(
    "open and close a locked store",
    size,
    median(opened.ours),
    median(opened.baseline),
    null,
    `${NOTE} The key is derived once a process.`,
  );
  for (const durability of ["full", "normal"]) {
    const open = await bothOpen(places, durability, made.sessionId);
    const times = await alternate(mapped(open, appending), { rounds: rounds(durability === "full" ? 150 : 400), turnAbout: true });
    report.ratio(`append to a locked store, ${durability}`, size, median(times.ours), median(times.baseline), null);
    if (durability === "normal") {
      const contexts = await alternate(mapped(places, reading(made.sessionId)), { rounds: rounds(30) });
      report.ratio("open a locked store and read the context", size, median(contexts.ours), median(contexts.baseline), null);
    }
    for (const { store } of Object.values(open)) await store.close();
  }
}

function mapped(places, make) {
  return Object.fromEntries(Object.entries(places).map(([name, place]) => [name, make(place)]));
}

async function bothOpen(places, durability, sessionId) {
  const open = {};
  for (const [name, place] of Object.entries(places)) {
    const store = await openStore({ ...place, durability });
    open[name] = { store, session: await store.openSession(sessionId) };
  }
  return open;
}

function appending({ session }) {
  const script = messages(11);
  return { run: () => session.append({ type: "message", message: script.next().value }) };
}

const reading = (sessionId) => (place) => ({
  run: async () => {
    const store = await openStore({ ...place, mode: "read-only" });
    await (await store.openSession(sessionId)).context();
    await store.close();
  },
});

async function searches({ report, stores, rounds, manySessions }) {
  const made = await stores.ofSessions(...manySessions);
  const opened = {};
  for (const [name, place] of Object.entries(await lockedAndPlain(stores, made))) opened[name] = await openStore(place);
  const times = { ours: [], baseline: [] };
  for (const query of QUERIES.usual) {
    const asked = await alternate(mapped(opened, searching(query)), { rounds: rounds(20) });
    for (const name of Object.keys(times)) times[name].push(...asked[name]);
  }
  report.ratio(
    "search of a locked store, index warm",
    `${made.sessions} of ${manySessions[1]}`,
    median(times.ours),
    median(times.baseline),
    null,
  );
  for (const store of Object.values(opened)) await store.close();
}

const searching = (query) => (store) => ({ run: () => store.search({ query }) });

async function imports({ report, stores, manySessions }) {
  const made = await stores.ofSessions(...manySessions);
  const folder = join(stores.folder, "lock-files");
  mkdirSync(folder);
  await writeBoughFiles(made.path, folder);
  const times = { ours: [], baseline: [] };
  for (let round = 0; round < 3; round += 1)
    for (const [name, key] of [
      ["baseline", undefined],
      ["ours", KEY],
    ]) {
      const store = await openStore({ path: join(stores.folder, `lock-${name}-${round}.db`), key });
      times[name].push(await timed(() => importPath(store, folder)));
      await store.close();
    }
  report.ratio("import into a locked store", `${made.sessions} of ${manySessions[1]}`, median(times.ours), median(times.baseline), null);
}
