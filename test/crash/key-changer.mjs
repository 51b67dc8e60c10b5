// A process that changes the key of a store again and again, appends in between, says what was acknowledged, and is killed. Arguments: store,
// name of this run, the number of the key that the store has now.
import { writeSync } from "node:fs";
import { changeStoreKey, openStore, userMessage } from "@bough/session-core";
import { KEYS } from "./keys.mjs";

const [path, run, first] = process.argv.slice(2);
const say = (line) => writeSync(1, `${line}\n`);

say("starting");
for (let round = 0, at = Number(first); ; round += 1) {
  const store = await openStore({ path, key: KEYS[at] });
  const session = await store.openSession("one");
  await session.write([{ kind: "entry", entry: { ...userMessage(`known-text ${run}-${round}`), id: `${run}-${round}` } }]);
  say(`id ${run}-${round}`);
  await store.close();
  const next = (at + 1) % KEYS.length;
  say("changing");
  await changeStoreKey({ path, key: KEYS[at], newKey: KEYS[next] });
  at = next;
}
