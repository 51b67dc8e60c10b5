import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore, userMessage } from "@bough/session-core";
import { acknowledgedIn, checkStore, idsIn } from "../check-store.mjs";
import { cutFiles, operationsIn, saidBefore } from "../cut/replay.mjs";

const CHILD = fileURLToPath(new URL("../child.mjs", import.meta.url));
const SOURCE = fileURLToPath(new URL("../cut/log-writes.c", import.meta.url));
const CUTS_A_LOG = 40;

/** Power cuts: logs what a writing process writes and syncs, and opens what a cut at a random moment may leave of it. */
export async function cuts(attack) {
  const library = join(attack.folder, "log-writes.so");
  const built =
    process.platform === "linux" ? spawnSync("cc", ["-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl", "-lpthread"]) : {};
  if (built.status !== 0) {
    process.stdout.write(`cuts: NOT RUN. It needs Linux and a C compiler named cc.\n${built.stderr ?? ""}`);
    return;
  }
  for (let round = 0; attack.hasTime(); round += 1) {
    const durability = attack.random.pick(["full", "full", "normal"]);
    const operations = logged(attack, library, `r${round}`, durability);
    const created = operations.findIndex(({ operation, data }) => operation === "A" && data.includes("ready"));
    for (let times = 0; times < CUTS_A_LOG && attack.hasTime(); times += 1) {
      const inCreation = attack.random.chance(0.25);
      const cut = inCreation ? attack.random.below(created) : created + attack.random.below(operations.length - created);
      const path = join(attack.folder, "cut.db");
      cutFiles(operations, cut, path, attack.random);
      await checkAfterKill(attack, path, saidBefore(operations, cut), durability, `round ${round}, ${durability}, operation ${cut}`);
      attack.count(inCreation ? "cuts in creation" : `cuts with ${durability}`);
    }
  }
}

function logged(attack, library, run, durability) {
  const [path, log] = [join(attack.folder, "live.db"), join(attack.folder, "log")];
  for (const name of [path, `${path}-wal`, `${path}-shm`, log]) rmSync(name, { force: true });
  const env = { ...process.env, LD_PRELOAD: library, CUT_FILE: path, CUT_LOG: log };
  const writes = String(20 + attack.random.below(60));
  const { status, stderr } = spawnSync(process.execPath, [CHILD, "mixed", path, "s", run, writes, durability], { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`the writing process ended with ${status}: ${stderr}`);
  const operations = operationsIn(log);
  if (!operations.some(({ operation }) => operation === "S")) throw new Error("no sync was logged: the library does not see SQLite");
  return operations;
}

async function checkAfterKill(attack, path, output, durability, moment) {
  try {
    const store = await openStore({ path });
    await checkStore(attack, store, moment);
    const ids = await idsIn(store);
    const acknowledged = acknowledgedIn(output);
    if (durability === "full") {
      const lost = acknowledged.filter((id) => !ids.has(id));
      if (lost.length > 0) attack.finding(`${moment}: acknowledged and not there: ${lost.join(" ")}`);
      for (const id of acknowledged) if (await store.findSession(`gone-${id}`)) attack.finding(`${moment}: deleted session ${id} is there`);
    } else {
      const kept = acknowledged.map((id) => ids.has(id));
      if (kept.includes(false) && kept.lastIndexOf(true) > kept.indexOf(false)) attack.finding(`${moment}: a hole`);
    }
    const session = (await store.findSession("s")) ? await store.openSession("s") : await store.createSession({ id: "s" });
    if (output.length > 1 && durability === "full" && acknowledged.length > 0 && session.leafId === null)
      attack.finding(`${moment}: no leaf`);
    await session.append(userMessage("after the cut"));
    await store.close();
  } catch (error) {
    attack.finding(`${moment}: ${error.stack}`);
  }
}
