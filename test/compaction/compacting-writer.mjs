// An agent in a process of its own: appends to a session that others append to as well, and compacts it before each call.

import { createCompactor } from "@bough/compaction";
import { assistantMessage, LeafMovedError, openStore, userMessage } from "@bough/session-core";

const [path, sessionId, name, count] = process.argv.slice(2);
const store = await openStore({ path, durability: "normal" });
const session = await store.openSession(sessionId);
const settings = { trigger: { reserveTokens: 200, reserveShare: 0 }, keep: { recentTokens: 300 }, prune: { enabled: false } };
const compactor = createCompactor({ session, contextWindow: 2_000, settings });

/** Appends, looking anew as often as somebody else was faster; tells what was acknowledged. */
async function append(entry) {
  for (;;) {
    try {
      const { id } = await session.append(entry);
      process.stdout.write(`${id}\n`);
      return;
    } catch (error) {
      if (!(error instanceof LeafMovedError)) throw error;
      await session.refresh();
    }
  }
}

for (let at = 0; at < Number(count); at++) {
  await append({ ...userMessage(`${name} asks ${at}: ${"some words ".repeat(20)}`), id: `${name}-u${at}` });
  const { fits } = await compactor.prepareRequest();
  if (!fits) throw new Error("the request does not fit");
  await append({ ...assistantMessage(`an answer for ${name} ${at}: ${"more words ".repeat(20)}`), id: `${name}-a${at}` });
}
await compactor.close();
await store.close();
