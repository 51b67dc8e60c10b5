// One of several processes that write sessions of pi in one store. Arguments: store, session, name, how many turns.
// Each turn is one commit: a message, its usage, an element of a list, and the branch moved to the message.
import { BoughPiStorage } from "@bough/adapters/pi";
import { openStore } from "@bough/session-core";
import { appendList, branchTip, insertEntry, insertUsage, list, setValue } from "@earendil-works/pi-agent-core/harness/session";

const [path, sessionId, name, turns] = process.argv.slice(2);
const usage = {
  input: 1,
  output: 1,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 2,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

const store = await openStore({ path });
const storage = await BoughPiStorage.open(store, await store.openOrCreateSession(sessionId));
process.stdout.write("open\n");
let parentId = (await storage.getValue(branchTip(name)))?.value ?? null;
for (let turn = 0; turn < Number(turns); turn += 1) {
  const id = `${name}-${turn}`;
  const message = { role: "user", content: [{ type: "text", text: id }], timestamp: 1 };
  await storage.commit([
    insertEntry({ id, parentId, type: "message", message }),
    insertUsage({ id: `usage-${id}`, entryId: id, adjustment: false, usage }),
    appendList(list("app.turns"), id),
    setValue(branchTip(name), id),
  ]);
  parentId = id;
  process.stdout.write(`${id}\n`);
}
await storage.close();
await store.close();
