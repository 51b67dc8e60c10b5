import { readFileSync, rmSync } from "node:fs";
import { importPath } from "@bough/formats";
import { openStore } from "@bough/session-core";
import { loadValidation, prepareRecord, toRecord } from "@bough/session-core/engine";
import { writeCodexFile } from "./agent-files.mjs";
import { median } from "./measure.mjs";
import { writeClaudeFile, writePiFile } from "./session-files.mjs";

export const title = "entry-costs";

const FORMATS = [
  ["pi", writePiFile],
  ["Claude Code", writeClaudeFile],
  ["Codex", writeCodexFile],
];

/** The steps of an import, in their order. */
export const STEPS = ["parse", "map", "judge", "preview", "insert", "index"];

/** What each step of an import costs an entry, in microseconds of processor time: a step is measured by itself, on the result of the one before. */
export async function run({ report, stores, quick, rounds }) {
  const bytes = quick ? 2e6 : 20e6;
  for (const [format, write] of FORMATS) {
    const path = stores.path("session.jsonl");
    write(path, bytes);
    const costs = [];
    // The first round compiles the code.
    for (let round = -1; round < rounds(2); round += 1) {
      const measured = await costsOf(path, stores);
      if (round >= 0) costs.push(measured);
    }
    for (const step of STEPS)
      report.absolute(`an entry of ${format}: ${step}`, `${bytes / 1e6} MB`, median(costs.map((one) => one[step])), null, { unit: "µs" });
    rmSync(path);
  }
}

async function costsOf(path, stores) {
  const validate = await loadValidation();
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  const parse = await processorMs(() => lines.forEach((line) => void JSON.parse(line)));
  const mapped = await processorMs(() => read(path, (records) => drop(records)));
  const source = await read(path, (records) => [...records]);
  const entries = source.records.filter(({ kind }) => kind === "entry");
  const judge = await processorMs(() => entries.forEach(({ payload }) => void validate(payload)));
  const cwd = source.header.cwd ?? null;
  const prepare = await processorMs(() => source.records.map((record) => prepareRecord(record, validate, { directory: cwd })));
  const prepared = prepare.result.map((one) => toRecord(one, cwd));
  const file = stores.path("import.db");
  const store = await openStore({ path: file });
  const session = { header: source.header, records: () => prepared };
  const insert = await processorMs(() => store.importSession(session, { format: "bench", path }));
  const index = await processorMs(() => store.catchUpSearch());
  await store.close();
  rmSync(file);
  const ms = {
    parse: parse.ms,
    map: mapped.ms - parse.ms,
    judge: judge.ms,
    preview: prepare.ms - judge.ms,
    insert: insert.ms,
    index: index.ms,
  };
  return Object.fromEntries(Object.entries(ms).map(([step, took]) => [step, (took * 1000) / entries.length]));
}

/** Reads the session of a file as an import does; `take` gets its records. */
async function read(path, take) {
  let found;
  const store = {
    openSession() {},
    whileOpen: (work) => work(),
    sources: { files: [] },
    async importSession({ header, records }) {
      found = { header, records: take(records()) };
      return { sessionId: header.sessionId, outcome: "created", heldUntilMs: null };
    },
  };
  await importPath(store, path, { threads: false });
  return found;
}

function drop(records) {
  for (const _ of records);
}

/** The time of the processor that `work` takes, in all threads, so that other programs of the machine do not count. */
async function processorMs(work) {
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return { ms: (user + system) / 1000, result };
}
