import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { exportBough, importPath } from "@bough/session-core";
import { withStore } from "./stores.mjs";

export const title = "size";

const REAL = join(dirname(fileURLToPath(import.meta.url)), "../../../shared/sessions/pi/large-session.jsonl");

export async function run({ report, stores, sizes, manySessions }) {
  for (const size of sizes.filter((one) => one <= 100_000)) {
    await compare(report, "one session", size, stores.copy(await stores.ofSize(size)).path);
  }
  const many = await stores.ofSessions(...manySessions);
  await compare(report, "many sessions", `${many.sessions} of ${manySessions[1]}`, many.path);
  if (existsSync(REAL)) await compare(report, "a real session of pi", "", stores.path("real.db"), REAL);
  else report.skipped("store with its search index: a real session of pi", "../shared/sessions is not beside this repository");
}

/** The size of the file after a checkpoint of its journal, compared with the JSONL export of every session in it. */
async function compare(report, what, size, path, source) {
  const jsonlBytes = await withStore({ path, durability: "normal" }, async (store) => {
    if (source !== undefined) await importPath(store, source);
    await store.catchUpSearch();
    return exportedBytes(store);
  });
  // Closing the last connection has folded the journal into the file.
  const bytes = statSync(path).size;
  report.quotient(`store with its search index against JSONL: ${what}`, size, bytes / 1e6, jsonlBytes / 1e6, 1.4, "MB");
}

async function exportedBytes(store) {
  let bytes = 0;
  for (const { id } of (await store.listSessions()).items) {
    for await (const piece of exportBough(await store.openSession(id))) bytes += Buffer.byteLength(piece);
  }
  return bytes;
}
