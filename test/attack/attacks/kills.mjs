import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { exportBough } from "@bough/formats";
import { openStore, userMessage } from "@bough/session-core";
import Database from "better-sqlite3";
import { acknowledgedIn, checkStore, idsIn } from "../check-store.mjs";
import { killed } from "../killed.mjs";

const CHILD = fileURLToPath(new URL("../child.mjs", import.meta.url));
const WORKS = ["append", "batch", "move", "delete", "backup", "import", "compaction", "create", "migrate"];
/** Opening a store, creating it and migrating it are over in less. */
const LONGEST_OPENING_MS = 120;
const OLD_STORE = new URL("../../../packages/session-core/test/fixtures/store-version-3.db.gz", import.meta.url);

/** Kills a working process at a random moment; afterwards everything acknowledged is there and the store is whole. */
export async function kills(attack) {
  const old = oldStore(attack.folder);
  for (let round = 0; attack.hasTime(); round += 1) {
    const work = WORKS[round % WORKS.length];
    const path = join(attack.folder, `${round}.db`);
    if (work === "migrate") writeFileSync(path, old.bytes);
    else if (work !== "create") await prepare(path);
    const opens = work === "create" || work === "migrate";
    const when = opens
      ? { lines: 1, delayMs: attack.random.below(LONGEST_OPENING_MS) }
      : { lines: 2 + attack.random.below(work === "compaction" ? 8 : 25), delayMs: attack.random.pick([0, 0, 3, 10]) };
    const { output } = await killed(CHILD, [opens ? "append" : work, path, "s", `r${round}`], when);
    await checkAfterKill(attack, work, path, [...acknowledgedIn(output), ...(work === "migrate" ? old.ids : [])]);
    for (const name of readdirSync(attack.folder)) rmSync(join(attack.folder, name), { force: true });
  }
}

/** A store as release 0.1 wrote it, with a session `s`, and the ids of its entries. */
function oldStore(folder) {
  const bytes = gunzipSync(readFileSync(OLD_STORE));
  const path = join(folder, "old.db");
  writeFileSync(path, bytes);
  const file = new Database(path);
  const ids = file.prepare("SELECT id FROM entry").pluck().all();
  file.close();
  return { bytes, ids };
}

async function prepare(path) {
  const store = await openStore({ path, durability: "normal" });
  const session = await store.createSession({ id: "s" });
  await session.append(userMessage("start"));
  const source = await store.createSession({ id: "source" });
  await source.write(Array.from({ length: 300 }, (_, at) => ({ kind: "entry", entry: userMessage(`line ${at}`) })));
  let text = "";
  for await (const piece of exportBough(source, { secrets: "keep" })) text += piece;
  await store.deleteSession("source");
  writeFileSync(`${path}.source.jsonl`, text);
  await store.close();
}

async function checkAfterKill(attack, work, path, acknowledged) {
  if (work === "delete") checkSecretsDeleted(attack, path, acknowledged);
  const store = await openStore({ path });
  await checkStore(attack, store, work);
  const ids = await idsIn(store);
  const lost = acknowledged.filter((id) => !ids.has(id));
  if (lost.length > 0) attack.finding(`${work}: acknowledged and not there: ${lost.join(" ")}`);
  if (await store.findSession("s")) await (await store.openSession("s")).context();
  attack.count(`kills of ${work}`);
  attack.count("acknowledgements", acknowledged.length);
  await store.close();
}

/** After an acknowledged deletion no file of the store contains the text of the session. */
function checkSecretsDeleted(attack, path, acknowledged) {
  for (const side of ["", "-wal", "-journal"]) {
    if (!existsSync(`${path}${side}`)) continue;
    const bytes = readFileSync(`${path}${side}`);
    for (const id of acknowledged) {
      if (bytes.includes(`Secret-${id}-`)) attack.finding(`text of the deleted session ${id} is in ${side || "the database"}`);
    }
  }
}
