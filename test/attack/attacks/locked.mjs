import { mkdirSync, readdirSync, readFileSync, rmSync, watch } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { changeStoreKey, openStore, restoreStore, userMessage } from "@bough/session-core";

const KNOWN = "known-text-of-a-locked-store";

/**
 * Looks for known text in every file that a locked store makes, while it is used and after: the file, its journal, its index, backups, what
 * a change of the key leaves, and temporary files, of which there may be none. Random work; what was written must be there in the end.
 */
export async function locked(attack) {
  const temporary = join(attack.folder, "temporary");
  mkdirSync(temporary);
  process.env.SQLITE_TMPDIR = temporary;
  const seen = [];
  const watcher = watch(temporary, (_event, name) => seen.push(name));
  try {
    for (let round = 0; attack.hasTime(); round += 1) await useStore(attack, join(attack.folder, `r${round}`), round);
    await setImmediate();
    for (const name of new Set(seen)) attack.finding(`SQLite made the temporary file ${name}`);
  } finally {
    watcher.close();
    delete process.env.SQLITE_TMPDIR;
  }
}

async function useStore(attack, folder, round) {
  mkdirSync(folder);
  const { random } = attack;
  const path = join(folder, "store.db");
  let key = `key of round ${round}`;
  let store = await openStore({ path, key, durability: "normal" });
  let session = await store.createSession({ id: "s", title: KNOWN });
  let written = 0;
  const reopen = async () => {
    store = await openStore({ path, key, durability: "normal" });
    session = await store.openSession("s");
  };
  const work = {
    append: async () => {
      for (let at = random.below(40); at >= 0; at -= 1, written += 1)
        await session.append(userMessage(`${KNOWN} ${written} ${"word ".repeat(random.below(800))}`));
    },
    search: async () => {
      await store.catchUpSearch();
      if ((await store.search({ query: KNOWN, limit: 1 })).total < written) attack.finding(`round ${round}: a search missed entries`);
    },
    remove: async () => {
      const other = await store.createSession({});
      for (let at = 0; at < 50; at += 1) await other.append(userMessage(`${KNOWN} ${"gone ".repeat(500)}`));
      await store.deleteSession(other.id);
    },
    pack: () => store.pack(),
    verify: async () => {
      for await (const { message } of store.verify()) attack.finding(`round ${round}: ${message}`);
    },
    backup: async () => {
      const backup = join(folder, `backup-${written}-${random.below(1e9)}.db`);
      await store.backup(backup);
      await store.close();
      if (random.chance(0.5)) await restoreStore({ backup, path, key });
      await reopen();
    },
    rekey: async () => {
      await store.close();
      const newKey = `${key}+`;
      await changeStoreKey({ path, key, newKey });
      key = newKey;
      for (const name of readdirSync(folder)) if (name !== "store.db") rmSync(join(folder, name));
      await reopen();
    },
  };
  for (let step = 0; step < 12 && attack.hasTime(); step += 1) {
    const name = random.pick(Object.keys(work));
    await work[name]();
    attack.count(`times ${name}`);
    lookForText(attack, folder, `round ${round}, after ${name}`);
  }
  const { entryCount } = await session.record();
  if (entryCount !== written) attack.finding(`round ${round}: ${entryCount} entries instead of ${written}`);
  await store.close();
  lookForText(attack, folder, `round ${round}, at the end`);
  await refused(attack, path, round);
  rmSync(folder, { recursive: true });
}

function lookForText(attack, folder, moment) {
  for (const name of readdirSync(folder)) {
    const bytes = readFileSync(join(folder, name));
    attack.count("files read");
    for (const text of [KNOWN, "SQLite format 3", "CREATE TABLE"])
      if (bytes.includes(text)) attack.finding(`${moment}: ${name} contains ${text}`);
  }
}

async function refused(attack, path, round) {
  for (const key of [undefined, "wrong"]) {
    const error = await openStore({ path, key }).catch((thrown) => thrown);
    if (!["STORE_LOCKED", "WRONG_KEY"].includes(error.code)) attack.finding(`round ${round}: opened with the key ${key}: ${error}`);
  }
}
