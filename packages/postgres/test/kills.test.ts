import { kill } from "node:process";
import { openStore, type Store, userMessage } from "@bough/session-core";
import { expect, test } from "vitest";
import { findingsOf } from "../../session-core/test/world/stores.js";
import { ownServer } from "./server.js";

const KILLS = 50;

// Its own user is the one of this process, or the tests run as root: both may kill it. `restart_after_crash` is on: after a process of
// the server was killed, it ends all connections, and recovers from its log.
const server = ownServer(["synchronous_commit=on", "restart_after_crash=on"]);

/** Appends to a session, and sets a value now and then, until it is told to stop. Returns what was acknowledged. */
async function writeUntil(store: Store, id: string, isOver: () => boolean) {
  const session = await store.openOrCreateSession(id);
  const acknowledged: string[] = [];
  let values = 0;
  for (let at = 0; !isOver(); at++) {
    acknowledged.push((await session.append(userMessage(`${id} ${at}`))).id);
    if (at % 5 === 0) await session.values.update("count", (count) => Number(count ?? 0) + 1);
    if (at % 5 === 0) values++;
  }
  return { id, acknowledged, values };
}

/** Kills the process of the server that serves one of the store's connections. */
async function killOne(url: string): Promise<void> {
  const [row] = await server.run(
    "SELECT pid FROM pg_stat_activity WHERE application_name = 'bough' AND datname = current_database() ORDER BY state = 'active' DESC, random() LIMIT 1",
    url,
  );
  if (typeof row?.["pid"] === "number") kill(row["pid"], "SIGKILL");
}

async function untilBack(url: string): Promise<void> {
  for (;;) {
    try {
      await server.run("SELECT 1", url);
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

test(`a server that is killed ${KILLS} times under writers: what was acknowledged is there, once, in order`, async () => {
  const url = await server.newDatabase();
  const stores = await Promise.all(Array.from({ length: 4 }, () => openStore({ url, connections: 2, busyTimeoutMs: 60_000 })));
  let isOver = false;
  const writers = stores.map((store, at) => writeUntil(store, `session${at}`, () => isOver));
  for (let at = 0; at < KILLS; at++) {
    await untilBack(url);
    // At another moment of the writers' work each time.
    await new Promise((resolve) => setTimeout(resolve, (at * 60) / KILLS));
    await killOne(url).catch(() => undefined);
  }
  isOver = true;
  const results = await Promise.all(writers);
  await untilBack(url);
  const reader = await openStore({ url });
  for (const { id, acknowledged, values } of results) {
    const session = await reader.openSession(id);
    expect((await session.path()).map((entry) => entry.id)).toEqual(acknowledged);
    expect(await session.values.get("count")).toBe(values);
  }
  expect(await findingsOf(reader)).toEqual([]);
  await Promise.all([...stores, reader].map((store) => store.close()));
});
