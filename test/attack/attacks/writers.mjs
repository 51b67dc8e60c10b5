import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore } from "@bough/session-core";
import { acknowledgedIn, violationsIn } from "../check-store.mjs";

const CHILD = fileURLToPath(new URL("../child.mjs", import.meta.url));

/** Several processes append to one session at once: each acknowledged entry is there, once, and the store is whole. */
export async function writers(attack) {
  for (let round = 0; attack.hasTime(); round += 1) {
    const path = join(attack.folder, `${round}.db`);
    const store = await openStore({ path });
    await store.createSession({ id: "s" });
    const runs = Array.from({ length: 2 + attack.random.below(7) }, (_, at) => `w${round}x${at}`);
    const works = runs.map(() => attack.random.pick(["append", "batch"]));
    const output = (await Promise.all(runs.map((run, at) => finished([works[at], path, "s", run, "40"], attack)))).flat();
    const ids = [];
    for await (const entry of (await store.openSession("s")).entries()) ids.push(entry.id);
    const lost = output.filter((id) => !ids.includes(id));
    if (lost.length > 0) attack.finding(`acknowledged and not there: ${lost.join(" ")}`);
    for (const finding of await violationsIn(store)) attack.finding(finding);
    attack.count("processes", runs.length);
    attack.count("acknowledgements", output.length);
    await store.close();
  }
}

function finished(given, attack) {
  return new Promise((done) => {
    const child = spawn(process.execPath, [CHILD, ...given], { stdio: ["ignore", "pipe", "pipe"] });
    let [out, failure] = ["", ""];
    child.stdout.on("data", (data) => {
      out += data;
    });
    child.stderr.on("data", (data) => {
      failure += data;
    });
    child.on("close", (code) => {
      if (code !== 0) attack.finding(`a writer ended with ${code}: ${failure.slice(0, 500)}`);
      done(acknowledgedIn(out.split("\n").slice(0, -1)));
    });
  });
}
