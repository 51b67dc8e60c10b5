// Works on a store until it is killed or has done its number of writes, and prints each id that was acknowledged.
// Arguments: work, store, session, name of this run, number of writes, durability.
import { writeSync } from "node:fs";
import { createCompactor } from "@bough/compaction";
import { importPath } from "@bough/formats";
import { assistantMessage, openStore, userMessage } from "@bough/session-core";

const [work, path, sessionId, run, times = "1000000", durability = "full"] = process.argv.slice(2);
const say = (line) => writeSync(1, `${line}\n`);
say("opening");
const store = await openStore({ path, durability });
const entry = (id) => ({ ...userMessage(`${id} ${"text ".repeat(id.length % 9)}`), id });
const long = "word ".repeat(150);
let compactor;

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
  /** A session with a unique text, which must be gone after an acknowledged deletion. */
  delete: async (session, id) => {
    const gone = await store.createSession({ id: `gone-${id}`, title: `Secret-${id}-title` });
    await gone.write([0, 1, 2, 3, 4].map((at) => ({ kind: "entry", entry: userMessage(`Secret-${id}-text ${at} ${long}`) })));
    if (id.length % 2 === 0) await store.catchUpSearch();
    await store.deleteSession(gone.id);
    await session.append(entry(id), { onConflict: "follow" });
  },
  backup: async (session, id) => {
    await session.append(entry(id), { onConflict: "follow" });
    await store.backup(`${path}.${id}.backup`);
  },
  import: async (session, id) => {
    await importPath(store, `${path}.source.jsonl`);
    await session.append(entry(id), { onConflict: "follow" });
  },
  /** Some questions and answers, a compaction of them, and at times its undo, or a move back with a summary. */
  compaction: async (session, id) => {
    compactor ??= createCompactor({ session, contextWindow: 20_000, settings: { keep: { recentTokens: 500 } } });
    for (const part of [0, 1, 2, 3, 4, 5]) {
      await session.append({ ...userMessage(`${id} asks ${long}`), id: `${id}q${part}` });
      await session.append({ ...assistantMessage(`${id} answers ${long}`), id: `${id}a${part}` });
    }
    const done = await compactor.compact();
    if (done.kind === "compacted") say(done.entryId);
    if (id.length % 3 === 0) await compactor.undoCompaction();
    else if (id.length % 3 === 1) await compactor.navigate(`${id}a2`, { summarize: true });
    await session.append(entry(id));
  },
};
const MIXED = ["append", "batch", "move", "append", "delete", "batch"];

const found = await store.findSession(sessionId);
const session = found === undefined ? await store.createSession({ id: sessionId }) : await store.openSession(sessionId);
say("ready");
for (let at = 0; at < Number(times); at += 1) {
  const id = `${run}-${at}`;
  await WORK[work === "mixed" ? MIXED[at % MIXED.length] : work](session, id);
  say(id);
}
await store.close();
