// A process that packs, closes or upgrades a store, says what was acknowledged, and is killed or gets no space. Arguments: what to do,
// store, name of this run, the key of a locked store. Every entry says its own id, so that a payload that was lost or mixed up is noticed.
import { writeSync } from "node:fs";
import { openStore, userMessage } from "@bough/session-core";

const [what, path, run, key] = process.argv.slice(2);
const say = (line) => writeSync(1, `${line}\n`);
const SESSIONS = ["one", "two", "three"];
const DAY_MS = 24 * 60 * 60 * 1000;

function writesOf(first, count) {
  return Array.from({ length: count }, (_, at) => {
    const id = `${run}-${first + at}`;
    return {
      kind: "entry",
      entry: { ...userMessage(`${id} ${"text ".repeat((first + at) % 50)}`), id, createdAtMs: Date.now() - 2 * DAY_MS },
    };
  });
}

async function append(sessions, round) {
  const writes = writesOf(round * 50, 50);
  await sessions[round % sessions.length].write(writes);
  for (const { entry } of writes) say(`id ${entry.id}`);
}

/** Packs without end while it appends. */
async function pack() {
  const store = await openStore({ path, key });
  const sessions = await Promise.all(SESSIONS.map((id) => store.openSession(id)));
  for (let round = 0; ; round += 1) {
    const packing = store.pack({ onProgress: () => say("packed") });
    await append(sessions, round);
    await packing;
  }
}

/** Leaves work to `close`: sessions of yesterday that are neither indexed nor packed. */
async function close() {
  const store = await openStore({ path, key });
  const sessions = await Promise.all(SESSIONS.map((id) => store.openSession(id)));
  for (let round = 0; round < 12; round += 1) await append(sessions, round);
  say("closing");
  await store.close();
  say("closed");
}

async function upgrade() {
  const store = await openStore({ path, key, onUpgrade: (done) => say(`upgraded ${done}`) });
  say("open");
  await store.close();
}

/** Packs everything once. */
async function packOnce() {
  const store = await openStore({ path, key });
  await store.pack({ onProgress: () => say("packed") });
  say("done");
  await store.close();
}

say("starting");
try {
  await { pack, packOnce, close, upgrade }[what]();
} catch (error) {
  say(`error ${error.code ?? error}`);
}
