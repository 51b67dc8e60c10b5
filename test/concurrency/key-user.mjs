// One of several processes that use a store while its key is changed. Arguments: what to do, store, name, how often. Says as JSON what was
// acknowledged, how often the key was changed, and the codes of the errors that are no answer to a change of the key.
import { setTimeout } from "node:timers/promises";
import { changeStoreKey, openStore, userMessage } from "@bough/session-core";
import { KEYS } from "../crash/keys.mjs";

const [what, path, name, count] = process.argv.slice(2);
const said = { acknowledged: new Set(), changes: 0, errors: [] };

/** What tells that the key is another one. */
const OTHER_KEY = ["STORE_LOCKED", "STORE_NOT_LOCKED", "WRONG_KEY"];
/** What tells that another process has the store open, or has replaced it at this moment; nothing was written. */
const LATER = ["STORE_BUSY", "STORE_IN_USE", "STORE_UNAVAILABLE"];

/** Runs `work` with one key after the other until it has succeeded. Pauses between, as a person does: the others get their turn. */
async function withKey(work) {
  for (let at = 0; ; at = (at + 1) % KEYS.length) {
    try {
      return await work(at);
    } catch (error) {
      if (!OTHER_KEY.includes(error.code)) await setTimeout(Math.random() * 10);
      if (![...OTHER_KEY, ...LATER].includes(error.code)) return said.errors.push(error.code ?? String(error));
    }
  }
}

async function append() {
  for (let at = 0; at < Number(count); at += 1) {
    const id = `${name}-${at}`;
    await withKey(async (key) => {
      const store = await openStore({ path, key: KEYS[key] });
      try {
        const session = await store.openSession("shared");
        await session.append({ ...userMessage(`text ${id}`), id }, { onConflict: "follow" });
        said.acknowledged.add(id);
      } finally {
        await store.close();
      }
    });
    await setTimeout(Math.random() * 30);
  }
}

async function read() {
  for (let at = 0; at < Number(count); at += 1) {
    await withKey(async (key) => {
      const store = await openStore({ path, key: KEYS[key], mode: "read-only" });
      try {
        await (await store.openSession("shared")).context();
        for await (const { message } of store.verify()) throw new Error(message);
      } finally {
        await store.close();
      }
    });
    await setTimeout(Math.random() * 30);
  }
}

async function change() {
  for (; said.changes < Number(count); said.changes += 1)
    await withKey((key) => changeStoreKey({ path, key: KEYS[key], newKey: KEYS[(key + 1) % KEYS.length] }));
}

await { append, read, change }[what]();
process.stdout.write(JSON.stringify({ ...said, acknowledged: [...said.acknowledged] }));
