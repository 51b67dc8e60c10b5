import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { importPath } from "@bough/formats";
import { realSession } from "../../.ci/real-sessions.mjs";
import { unpack } from "./baseline.mjs";
import { writeBoughFiles } from "./session-files.mjs";
import { withStore } from "./stores.mjs";

export const title = "size";

const PI = realSession("pi/large-session.jsonl");
const CLAUDE = realSession("claude");

/** At most, against the JSONL: of real sessions, and of generated ones, whose words are drawn at random and compress less. */
const PACKED = { real: 0.6, generated: 0.9 };
const UNPACKED = 1.5;

export async function run(bench) {
  const { stores, sizes, manySessions } = bench;
  for (const size of sizes.filter((one) => one <= 100_000)) {
    await compare(bench, "one session", size, [await exported(stores, await stores.ofSize(size))], PACKED.generated);
  }
  const many = await stores.ofSessions(...manySessions);
  await compare(bench, "many sessions", `${many.sessions} of ${manySessions[1]}`, [await exported(stores, many)], PACKED.generated);
  await real(bench);
}

async function real(bench) {
  if (!existsSync(PI))
    return bench.report.skipped("store against JSONL: real sessions", "there are none (BOUGH_SESSIONS names their folder)");
  await compare(bench, "a real session of pi", "", [PI], PACKED.real);
  await compare(bench, "real sessions of Claude Code", "", [CLAUDE], PACKED.real);
  await compare(bench, "both together", "", [PI, CLAUDE], PACKED.real);
}

/** Imports files into a new store and packs it. Its size then, and with every payload as a row, against that of the files. */
async function compare({ report, stores }, what, size, sources, limit) {
  const path = stores.path("size.db");
  await withStore({ path, durability: "normal" }, async (store) => {
    for (const source of sources) await importPath(store, source);
    await store.catchUpSearch();
    await store.pack();
  });
  // Closing the last connection folds the journal into the file.
  const packed = statSync(path).size / 1e6;
  unpack(path);
  const unpacked = statSync(path).size / 1e6;
  const jsonl = sources.reduce((sum, source) => sum + jsonlBytes(source), 0) / 1e6;
  report.quotient(`store against JSONL, packed: ${what}`, size, packed, jsonl, limit, "MB");
  report.quotient(`store against JSONL, before packing: ${what}`, size, unpacked, jsonl, UNPACKED, "MB");
}

async function exported(stores, { path }) {
  const folder = stores.folderFor("exported");
  await writeBoughFiles(path, folder);
  return folder;
}

function jsonlBytes(path) {
  if (!statSync(path).isDirectory()) return path.endsWith(".jsonl") ? statSync(path).size : 0;
  return readdirSync(path).reduce((sum, name) => sum + jsonlBytes(join(path, name)), 0);
}
