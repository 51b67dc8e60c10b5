// Works on a store until it is killed or has done its number of writes, and says each id that was acknowledged.
// Arguments: work, store, session, name of this run, number of writes.
import { writeSync } from "node:fs";
import { importPath, openStore, userMessage } from "@bough/session-core";

const [work, path, sessionId, run, times = "1000000"] = process.argv.slice(2);
const store = await openStore({ path });
const say = (line) => writeSync(1, `${line}\n`);
const entry = (id) => ({ ...userMessage(`${id} ${"text ".repeat(id.length % 9)}`), id });

const WORK = {
  append: async (session, id) => session.append(entry(id), { onConflict: "follow" }),
  batch: async (session, id) =>
    session.write(
      [0, 1, 2].map((part) => ({ kind: "entry", entry: entry(part === 2 ? id : `${id}.${part}`) })),
      { onConflict: "follow" },
    ),
  move: async (session, id) => {
    await session.append(entry(id), { onConflict: "follow" });
    await session.moveLeaf(id);
    await session.undoMove();
    await session.redoMove();
  },
  delete: async (session, id) => {
    await session.append(entry(id), { onConflict: "follow" });
    const other = await store.forkSession(session.id, { at: id });
    await store.deleteSession(other.id);
  },
  backup: async (session, id) => {
    await session.append(entry(id), { onConflict: "follow" });
    await store.backup(`${path}.${id}.backup`);
  },
  import: async (session, id) => {
    await importPath(store, `${path}.source.jsonl`);
    await session.append(entry(id), { onConflict: "follow" });
  },
};

const session = work === "create" ? await store.createSession({}) : await store.openSession(sessionId);
say("ready");
for (let at = 0; at < Number(times); at += 1) {
  const id = `${run}-${at}`;
  await WORK[work === "create" ? "append" : work](session, id);
  say(id);
}
await store.close();
