import { spawn } from "node:child_process";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { exportBough, openStore, userMessage } from "@bough/session-core";
import { findingsOf } from "../look.mjs";

const CHILD = fileURLToPath(new URL("../child.mjs", import.meta.url));
const WORKS = ["append", "batch", "move", "delete", "backup", "import", "create"];

/** Kills a working process after some acknowledgements; afterwards everything acknowledged is there and the store is whole. */
export async function kills(room) {
  for (let round = 0; room.goesOn(); round += 1) {
    const work = WORKS[round % WORKS.length];
    const path = join(room.folder, `${round}.db`);
    if (work !== "create") await prepare(path);
    const said = await killed([work, path, "s", `r${round}`], room.random.below(work === "create" ? 2 : 25));
    await look(room, work, path, said);
    for (const name of readdirSync(room.folder)) rmSync(join(room.folder, name), { force: true });
  }
}

async function prepare(path) {
  const store = await openStore({ path, durability: "normal" });
  const session = await store.createSession({ id: "s" });
  await session.append(userMessage("start"));
  const source = await store.createSession({ id: "source" });
  await source.write(Array.from({ length: 300 }, (_, at) => ({ kind: "entry", entry: userMessage(`line ${at}`) })));
  let text = "";
  for await (const piece of exportBough(source)) text += piece;
  await store.deleteSession("source");
  writeFileSync(`${path}.source.jsonl`, text);
  await store.close();
}

/** The ids that the process said before it was killed, which is when it has said `after` of them. */
function killed(given, after) {
  return new Promise((done) => {
    const child = spawn(process.execPath, [CHILD, ...given], { stdio: ["ignore", "pipe", "inherit"] });
    let out = "";
    child.stdout.on("data", (data) => {
      out += data;
      if (out.split("\n").length - 1 > after) child.kill("SIGKILL");
    });
    child.on("close", () => done(out.split("\n").slice(0, -1)));
  });
}

async function look(room, work, path, said) {
  const store = await openStore({ path });
  for (const finding of await findingsOf(store)) room.finding(`${work}: ${finding}`);
  const ids = new Set();
  for (const { id } of (await store.listSessions({ empty: true })).items) {
    for await (const entry of (await store.openSession(id)).entries()) ids.add(entry.id);
  }
  const acknowledged = said.filter((line) => line !== "ready");
  const lost = acknowledged.filter((id) => !ids.has(id));
  if (lost.length > 0) room.finding(`${work}: acknowledged and not there: ${lost.join(" ")}`);
  const torn = [...ids].filter((id) => /\.[01]$/.test(id) && !ids.has(id.slice(0, -2)));
  if (torn.length > 0) room.finding(`${work}: a part of a batch: ${torn.join(" ")}`);
  room.count("kills");
  room.count("acknowledgements", acknowledged.length);
  await store.close();
}
