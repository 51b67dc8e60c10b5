import { mkdirSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { BoughPiStorage } from "@bough/adapters/pi";
import { importPath } from "@bough/formats";
import { openStore } from "@bough/session-core";
import { BACKGROUND_CONTEXT as HERE } from "@earendil-works/pi-agent-core/harness/context";
import { NodeExecutionEnv } from "@earendil-works/pi-agent-core/harness/env/nodejs";
import { JsonlSessionRepo } from "@earendil-works/pi-agent-core/harness/session";
import {
  generateStorageBenchmarkSeedTransactions,
  STORAGE_BENCHMARK_DATASETS,
  STORAGE_READ_BENCHMARK_SCENARIOS,
  STORAGE_WRITE_BENCHMARK_SCENARIOS,
} from "@earendil-works/pi-agent-core/harness/session/testing";
import { openBare } from "./baseline.mjs";
import { alternate, median, timed } from "./measure.mjs";
import { CWD, writeCompactedPiFile } from "./session-files.mjs";
import { withStore } from "./stores.mjs";

export const title = "pi";

/** The most that the newest fifty entries may take, in a session of any size. */
const LATEST_MS = 1;

const OPENING = "pi: open a compacted session and build its context";

/** pi reads a whole file into memory. */
const MOST_OPENED = 100_000;

/** The scenarios that pi-agent-core exports for its storages, through the adapter and through a table made for them. */
export async function run({ report, stores, sizes, rounds }) {
  for (const size of sizes.filter((entries) => entries <= MOST_OPENED)) {
    await opening(report, stores, size, rounds(10));
    stores.clear();
  }
  for (const dataset of STORAGE_BENCHMARK_DATASETS.filter(({ entryCount }) => sizes.includes(entryCount))) {
    await reading(report, stores, dataset, rounds(40));
    stores.clear();
  }
  for (const scenario of STORAGE_WRITE_BENCHMARK_SCENARIOS) await writing(report, stores, scenario, rounds(40));
}

/** Opens a compacted session, builds the context that a model gets, and closes it again: pi with its file, Bough with its store. */
async function opening(report, stores, size, rounds) {
  const [sessionsRoot, path] = [stores.path("pi-sessions"), stores.path("opened.db")];
  const repo = () => new JsonlSessionRepo({ fileSystem: new NodeExecutionEnv({ cwd: sessionsRoot }), sessionsRoot });
  const { metadata, file } = await seedPiFile(repo(), sessionsRoot, size);
  const store = await openStore({ path });
  const imported = await importPath(store, file);
  await store.close();
  const sessionId = imported.sessions[0].sessionId;
  const ours = () => openBoughContext(path, sessionId);
  const baseline = () => openPiContext(repo(), metadata);
  const counts = [await ours(), await baseline()];
  // Bough adds a result to a call that has none yet.
  if (counts[1] < 200 || Math.abs(counts[0] - counts[1]) > 1) throw new Error(`contexts of ${counts.join(" and ")} messages`);
  const times = await alternate({ ours: { run: ours }, baseline: { run: baseline } }, { rounds, warmUp: 1 });
  report.ratio(OPENING, size, median(times.ours), median(times.baseline), null, "the baseline is JsonlSessionRepo of pi-agent-core 0.87");
}

async function seedPiFile(repo, sessionsRoot, size) {
  mkdirSync(sessionsRoot);
  await (await repo.create({ cwd: CWD }, HERE)).close(HERE);
  const [directory] = readdirSync(sessionsRoot);
  const file = join(sessionsRoot, directory, "session.jsonl");
  const sessionId = writeCompactedPiFile(file, size);
  const named = join(sessionsRoot, directory, `2026-01-05T00-00-00-000Z_${sessionId}.jsonl`);
  renameSync(file, named);
  const metadata = (await repo.list({ cwd: CWD }, HERE)).find(({ id }) => id === sessionId);
  return { metadata, file: named };
}

async function openBoughContext(path, sessionId) {
  const store = await openStore({ path });
  const { messages } = await (await store.openSession(sessionId)).context();
  await store.close();
  return messages.length;
}

async function openPiContext(repo, metadata) {
  const session = await repo.open(metadata, HERE);
  const start = await (await session.branch("main", HERE)).getTipId(HERE);
  // As pi's runtime does, whose function is not exported: the summary, the messages that it retains, and all that come after.
  const [compaction, ...later] = (await session.scanBranch({ start, stopAtType: "compaction", order: "newestFirst" }, HERE)).reverse();
  await session.close(HERE);
  return 1 + compaction.retainedTail.length + later.length;
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
