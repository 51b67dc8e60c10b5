import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { exportBough } from "@bough/formats";
import { assistantMessage, openStore, userMessage } from "@bough/session-core";
import Database from "better-sqlite3";
import { typed, violationsIn } from "../check-store.mjs";

/** Changes bytes of the file or its journal. Every operation must then succeed or throw a BoughError, and none may hang. */
export async function damage(attack) {
  const whole = join(attack.folder, "whole.db");
  const open = await grown(whole);
  for (const side of ["", "-wal"]) copyFileSync(`${whole}${side}`, join(attack.folder, `saved.db${side}`));
  await open.close();
  const path = join(attack.folder, "damaged.db");
  while (attack.hasTime()) {
    for (const side of ["", "-wal", "-shm", "-journal"]) rmSync(`${path}${side}`, { force: true });
    for (const side of ["", "-wal"]) copyFileSync(join(attack.folder, `saved.db${side}`), `${path}${side}`);
    const file = attack.random.chance(0.3) && existsSync(`${path}-wal`) ? `${path}-wal` : path;
    if (attack.random.chance(0.1)) reshape(attack.random, path);
    else writeFileSync(file, broken(attack.random, readFileSync(file)));
    await use(attack, path);
    attack.count("damaged files");
  }
}

async function grown(path) {
  const store = await openStore({ path });
  const session = await store.createSession({ id: "s", title: "Whole" });
  for (let at = 0; at < 60; at += 1) {
    await session.append({ ...userMessage(`question ${at} ${"word ".repeat(at)}`), id: `u${at}` });
    await session.append({ ...assistantMessage(`answer ${at}`), id: `a${at}` });
  }
  await session.labels.set("u3", "start");
  await store.catchUpSearch();
  return store;
}

function broken(random, bytes) {
  if (random.chance(0.15)) return bytes.subarray(0, random.below(bytes.length));
  const from = random.chance(0.3) ? random.below(100) : random.below(bytes.length);
  if (random.chance(0.2)) return bytes.fill(0, from, Math.min(bytes.length, from + random.below(4096)));
  for (let times = 1 + random.below(20); times > 0; times -= 1) bytes[(from + random.below(2000)) % bytes.length] = random.below(256);
  return bytes;
}

/** JSON that is no entry. */
const SHAPES = [
  "{}",
  "[]",
  "null",
  "1",
  '{"message":null}',
  '{"message":{}}',
  '{"message":{"role":"user"}}',
  '{"message":{"role":"assistant","content":[null]}}',
];

/** Puts other JSON in the place of some payloads. */
function reshape(random, path) {
  const database = new Database(path);
  const seqs = database.prepare("SELECT entry_seq FROM payload").pluck().all();
  const change = database.prepare("UPDATE payload SET json = ? WHERE entry_seq = ?");
  for (let times = 1 + random.below(5); times > 0; times -= 1) change.run(random.pick(SHAPES), random.pick(seqs));
  database.close();
}

async function use(attack, path) {
  const store = await typed(attack, "open", () => openStore({ path }));
  if (store === undefined) return;
  const session = await typed(attack, "openSession", () => store.openSession("s"));
  const uses = {
    list: () => store.listSessions(),
    search: () => store.search({ query: "word" }),
    verify: () => violationsIn(store),
    context: () => session?.context(),
    outline: () => session?.tree.outline(),
    append: () => session?.append(userMessage("more")),
    export: async () => {
      if (session !== undefined) for await (const _ of exportBough(session));
    },
  };
  for (const [what, body] of Object.entries(uses)) await typed(attack, what, body);
  await typed(attack, "close", () => store.close());
}
