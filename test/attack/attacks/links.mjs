import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { syncSessions } from "@bough/formats";
import { openStore } from "@bough/session-core";

/** A session of pi with one message. */
const sessionOf = (id) =>
  [
    { type: "session", version: 3, id, timestamp: "2025-11-21T12:00:00.000Z", cwd: "/" },
    { type: "message", id: "u1", parentId: null, timestamp: "2025-11-21T12:00:01.000Z", message: { role: "user", content: id } },
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");

/** Links of all kinds in the folder of an agent: a sync reads what is in it and what links name beside it, and never the disk. */
export async function links(attack) {
  for (let round = 0; attack.hasTime(); round += 1) {
    const home = join(realpathSync(attack.folder), String(round));
    const folder = join(home, ".pi/agent/sessions");
    const beside = join(home, "beside");
    mkdirSync(join(folder, "deep/er"), { recursive: true });
    mkdirSync(beside, { recursive: true });
    writeFileSync(join(folder, "own.jsonl"), sessionOf(`own-${round}`));
    writeFileSync(join(beside, "other.jsonl"), sessionOf(`other-${round}`));
    writeFileSync(join(home, "above.jsonl"), sessionOf(`above-${round}`));
    const wide = [
      "/",
      home,
      join(home, ".."),
      "/proc",
      `/proc/${process.pid}`,

      "/sys",
      "/dev",
      join(home, ".pi"),
    ];
    const harmless = [folder, join(folder, "deep"), beside, join(home, "nothing")];
    const targets = [...wide, ...harmless];
    const where = [folder, join(folder, "deep"), join(folder, "deep/er"), beside];
    const made = attack.random.below(8) + 1;
    for (let at = 0; at < made; at += 1) symlinkSync(attack.random.pick(targets), join(attack.random.pick(where), `link${at}`));
    const store = await openStore({ path: ":memory:" });
    const { agents } = await syncSessions(store, { environment: { env: {}, home, platform: process.platform } });
    const ids = agents.flatMap(({ sessions }) => sessions.map(({ sessionId }) => sessionId));
    const wanted = new Set([`own-${round}`, `other-${round}`]);
    const files = agents.reduce((sum, agent) => sum + agent.files, 0);
    if (!ids.includes(`own-${round}`)) attack.finding(`round ${round}: the session of the folder was not read`);
    if (ids.some((id) => !wanted.has(id))) attack.finding(`round ${round}: sessions that no link names: ${ids.join(", ")}`);
    if (files > 2) attack.finding(`round ${round}: ${files} files were found`);
    attack.count("syncs");
    attack.count("links", made);
    await store.close();
  }
}
