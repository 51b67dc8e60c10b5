import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { syncSessions } from "@bough/formats";
import { openStore } from "@bough/session-core";
import { median, timed } from "./measure.mjs";
import { writePiFile } from "./session-files.mjs";

export const title = "sync";

/** A file that was changed this short a time ago is read again by the next sync. */
const SETTLED_AFTER_MS = 2000;

const FOLDERS = 50;

/** A sync of files that did not change: nothing but their names, sizes and times is looked at. */
export async function run({ report, stores, quick, rounds }) {
  const files = quick ? 1_000 : 10_000;
  const home = stores.folderFor("home");
  for (let at = 0; at < files; at++) {
    const folder = join(home, ".pi/agent/sessions", `--home-dev-project-${at % FOLDERS}--`);
    mkdirSync(folder, { recursive: true });
    writePiFile(join(folder, `${at}.jsonl`), 1, at);
  }
  await setTimeout(SETTLED_AFTER_MS);
  const store = await openStore({ path: stores.path("sync.db"), durability: "normal" });
  const sync = () => syncSessions(store, { environment: { env: {}, home, platform: "linux" } });
  const first = await timed(async () => expect(await sync(), files, files));
  const times = [];
  for (let round = 0; round < rounds(5); round++) times.push(await timed(async () => expect(await sync(), files, 0)));
  await store.close();
  report.absolute("sync of unchanged session files", files, median(times), files === 10_000 ? 500 : 100);
  report.absolute("the first sync of these files, a session each", files, first, files === 10_000 ? 3000 : null);
}

function expect({ agents: [pi] }, files, read) {
  if (pi.files !== files || pi.newFiles + pi.changedFiles !== read)
    throw new Error(`${pi.newFiles} new and ${pi.changedFiles} changed files`);
}
