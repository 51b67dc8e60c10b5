import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assistantMessage, exportBough, openStore, userMessage } from "@bough/session-core";
import { findingsOf, typed } from "../look.mjs";

/** Changes bytes of the file or its journal. Every operation must then succeed or throw a BoughError, and none may hang. */
export async function damage(room) {
  const whole = join(room.folder, "whole.db");
  const open = await grown(whole);
  for (const side of ["", "-wal"]) copyFileSync(`${whole}${side}`, join(room.folder, `saved.db${side}`));
  await open.close();
  const path = join(room.folder, "damaged.db");
  while (room.goesOn()) {
    for (const side of ["", "-wal", "-shm", "-journal"]) rmSync(`${path}${side}`, { force: true });
    for (const side of ["", "-wal"]) copyFileSync(join(room.folder, `saved.db${side}`), `${path}${side}`);
    const file = room.random.chance(0.3) && existsSync(`${path}-wal`) ? `${path}-wal` : path;
    writeFileSync(file, broken(room.random, readFileSync(file)));
    await use(room, path);
    room.count("damaged files");
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

async function use(room, path) {
  const store = await typed(room, "open", () => openStore({ path }));
  if (store === undefined) return;
  const session = await typed(room, "openSession", () => store.openSession("s"));
  const uses = {
    list: () => store.listSessions(),
    search: () => store.search({ query: "word" }),
    verify: () => findingsOf(store),
    context: () => session?.context(),
    outline: () => session?.tree.outline(),
    append: () => session?.append(userMessage("more")),
    export: async () => {
      if (session !== undefined) for await (const _ of exportBough(session));
    },
  };
  for (const [what, body] of Object.entries(uses)) await typed(room, what, body);
  await typed(room, "close", () => store.close());
}
