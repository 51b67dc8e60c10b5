import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { exportBough } from "@bough/formats";
import { openStore, userMessage } from "@bough/session-core";
import Database from "better-sqlite3";
import { acknowledgedIn, checkStore, idsIn } from "../check-store.mjs";
import { killed } from "../killed.mjs";

const CHILD = fileURLToPath(new URL("../child.mjs", import.meta.url));
const WORKS = ["append", "batch", "move", "delete", "backup", "import", "compaction", "create", "migrate 1", "migrate 2"];
/** Opening a store, creating it and migrating it are over in less. */
const LONGEST_OPENING_MS = 120;
const MIGRATED_ENTRIES = 20_000;

/** Kills a working process at a random moment; afterwards everything acknowledged is there and the store is whole. */
export async function kills(attack) {
  const old = await oldStores(attack.folder);
  for (let round = 0; attack.hasTime(); round += 1) {
    const work = WORKS[round % WORKS.length];
    const path = join(attack.folder, `${round}.db`);
    if (Object.hasOwn(old, work)) writeFileSync(path, old[work]);
    else if (work !== "create") await prepare(path);
    const opens = work === "create" || Object.hasOwn(old, work);
    const when = opens
      ? { lines: 1, delayMs: attack.random.below(LONGEST_OPENING_MS) }
      : { lines: 2 + attack.random.below(work === "compaction" ? 8 : 25), delayMs: attack.random.pick([0, 0, 3, 10]) };
    const { output } = await killed(CHILD, [opens ? "append" : work, path, "s", `r${round}`], when);
    await checkAfterKill(attack, work, path, acknowledgedIn(output));
    for (const name of readdirSync(attack.folder)) rmSync(join(attack.folder, name), { force: true });
  }
}

/** The bytes of stores as versions 1 and 2 left them: the newest format without what later migrations added. */
async function oldStores(folder) {
  const path = join(folder, "old.db");
  const store = await openStore({ path, durability: "normal" });
  const session = await store.createSession({ id: "s" });
  const entries = Array.from({ length: MIGRATED_ENTRIES }, (_, at) => ({
    kind: "entry",
    entry: { ...userMessage(`old ${at}`), id: `old${at}` },
  }));
  await session.write(entries);
  await store.close();
  const file = new Database(path);
  file.exec("DROP TABLE entry_waypoint; DROP INDEX session_by_activity; DROP INDEX entry_marks; PRAGMA user_version = 2");
  const version2 = file.serialize();
  file.exec("DROP TABLE entry_token_count; DROP TABLE token_counter; PRAGMA user_version = 1");
  const version1 = file.serialize();
  file.close();
  rmSync(path);
  return { "migrate 1": version1, "migrate 2": version2 };
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
  const old = [...ids].filter((id) => id.startsWith("old")).length;
  if (work.startsWith("migrate") && old !== MIGRATED_ENTRIES) attack.finding(`${work}: ${old} of ${MIGRATED_ENTRIES} entries are there`);
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
