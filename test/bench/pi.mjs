import { BoughPiStorage } from "@bough/adapters/pi";
import {
  generateStorageBenchmarkSeedTransactions,
  STORAGE_BENCHMARK_DATASETS,
  STORAGE_READ_BENCHMARK_SCENARIOS,
  STORAGE_WRITE_BENCHMARK_SCENARIOS,
} from "@earendil-works/pi-agent-core/harness/session/testing";
import { openBare } from "./baseline.mjs";
import { alternate, median, timed } from "./measure.mjs";
import { withStore } from "./stores.mjs";

export const title = "pi";

/** The most that the newest fifty entries may take, in a session of any size. */
const LATEST_MS = 1;

/** The scenarios that pi-agent-core exports for its storages, through the adapter and through a table made for them. */
export async function run({ report, stores, sizes, rounds }) {
  for (const dataset of STORAGE_BENCHMARK_DATASETS.filter(({ entryCount }) => sizes.includes(entryCount))) {
    await reading(report, stores, dataset, rounds(40));
    stores.clear();
  }
  for (const scenario of STORAGE_WRITE_BENCHMARK_SCENARIOS) await writing(report, stores, scenario, rounds(40));
}

async function reading(report, stores, dataset, rounds) {
  const size = dataset.entryCount;
  await withStore({ path: stores.path("pi"), durability: "normal" }, async (store) => {
    const ours = await BoughPiStorage.open(store, await store.createSession());
    const bare = new BareStorage(stores.path("bare-pi"));
    const seeds = { ours: await seeding(ours, dataset), bare: await seeding(bare, dataset) };
    report.ratio("pi: seed, in commits of 250", size, seeds.ours, seeds.bare, null);
    for (const scenario of STORAGE_READ_BENCHMARK_SCENARIOS) {
      const contest = { ours: reader(scenario, ours, dataset), bare: reader(scenario, bare, dataset) };
      const times = await alternate(contest, { rounds, warmUp: 3 });
      const [took, baseline] = [median(times.ours), median(times.bare)];
      if (scenario.name.includes("latest")) report.absolute(`pi: ${scenario.name}`, size, took, LATEST_MS, { baseline });
      else report.ratio(`pi: ${scenario.name}`, size, took, baseline, null);
    }
    await ours.close();
    await bare.close();
  });
}

function seeding(storage, dataset) {
  return timed(async () => {
    for (const writes of generateStorageBenchmarkSeedTransactions(dataset)) await storage.commit(writes);
  });
}

function reader(scenario, storage, dataset) {
  const run = async () => {
    const given = await scenario.run(storage, dataset);
    if (given !== scenario.expectedResult(dataset)) throw new Error(`${scenario.name}: ${given} results`);
  };
  return { run };
}

async function writing(report, stores, scenario, rounds) {
  await withStore({ path: stores.path("pi"), durability: "normal" }, async (store) => {
    const [ours, bare] = [
      writer(scenario, async () => BoughPiStorage.open(store, await store.createSession())),
      writer(scenario, async () => new BareStorage(stores.path("bare-pi"))),
    ];
    const times = await alternate({ ours, bare }, { rounds, warmUp: 3 });
    report.ratio(`pi: ${scenario.name}, normal`, 1, median(times.ours), median(times.bare), null);
    await Promise.all([ours.close(), bare.close()]);
  });
}

/** Each round writes to a session of its own, as pi's scenarios demand. */
function writer(scenario, open) {
  let storage;
  return {
    prepare: async () => {
      await storage?.close();
      storage = await open();
      await scenario.prepare?.(storage);
    },
    run: () => scenario.run(storage),
    close: () => storage?.close(),
  };
}

/** What somebody would write by hand for these scenarios alone: one table of entries and one of values; nothing is checked. */
class BareStorage {
  #file;
  #statements;
  #transaction;
  #seq = 0;

  constructor(path) {
    this.#file = openBare(path, "normal");
    this.#file.exec(`CREATE TABLE entry (seq INTEGER PRIMARY KEY, id TEXT UNIQUE, parent_id TEXT, type TEXT, at INTEGER, json TEXT);
      CREATE TABLE value (key TEXT PRIMARY KEY, seq INTEGER, json TEXT) WITHOUT ROWID`);
    const prepare = (sql) => this.#file.prepare(sql);
    this.#statements = {
      entry: prepare("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?)"),
      value: prepare("INSERT INTO value VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET seq = excluded.seq, json = excluded.json"),
      byId: prepare("SELECT json FROM entry WHERE id = ?"),
      latest: prepare("SELECT json FROM entry ORDER BY seq DESC LIMIT ?"),
      path: prepare(`WITH RECURSIVE up AS (SELECT id, parent_id, seq, at, type FROM entry WHERE id = ?
        UNION ALL SELECT entry.id, entry.parent_id, entry.seq, entry.at, entry.type FROM up JOIN entry ON entry.id = up.parent_id)
        SELECT * FROM up`),
    };
    this.#transaction = this.#file.transaction((writes) => writes.map((write) => this.#write(write))).immediate;
  }

  async commit(writes) {
    return { seqs: this.#transaction(writes) };
  }

  #write(write) {
    const seq = ++this.#seq;
    if (write.kind === "entry") {
      const { id, parentId, type, ...rest } = write.entry;
      this.#statements.entry.run(seq, id, parentId, type, Date.now(), JSON.stringify(rest));
    } else this.#statements.value.run(write.key ?? write.row.id, seq, JSON.stringify(write.value ?? write.row));
    return seq;
  }

  async getEntries(ids) {
    return new Map(ids.map((id) => [id, JSON.parse(this.#statements.byId.get(id).json)]));
  }

  async scanEntries({ limit }) {
    return this.#statements.latest.all(limit).map(({ json }) => JSON.parse(json));
  }

  async scanBranchStructure({ start }) {
    return this.#statements.path.all(start);
  }

  async close() {
    this.#file.close();
  }
}
