import { getEventListeners } from "node:events";
import { openStore, type Store, type StoreChange, type StoreOptions, userMessage } from "@bough/session-core";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { newPlace } from "../../session-core/test/world/stores.js";
import { ownServer } from "./server.js";

const server = ownServer();

async function opened(options: StoreOptions): Promise<Store> {
  const store = await openStore(options);
  onTestFinished(() => store.close());
  return store;
}

/** The changes that a store is told of. */
class Heard {
  readonly changes: StoreChange[] = [];
  readonly end: () => void;
  #wake = () => undefined as void;

  constructor(store: Store) {
    this.end = store.onChange((change) => {
      this.changes.push(change);
      this.#wake();
    });
  }

  /** Waits for a change that fits. */
  async until(fits: (change: StoreChange) => boolean): Promise<void> {
    while (!this.changes.some(fits)) await new Promise<void>((resolve) => (this.#wake = resolve));
  }
}

const of = (id: string) => (change: StoreChange) => change.sessionIds?.includes(id) === true;

/** Two stores at one place; the first listens, once it is known to. */
async function listening(place: StoreOptions = newPlace()) {
  const [reader, writer] = [await opened(place), await opened(place)];
  const heard = new Heard(reader);
  for (let at = 0; heard.changes.length === 0; at++) {
    await writer.createSession({ id: `first${at}` });
    await Promise.race([heard.until(() => true), new Promise((resolve) => setTimeout(resolve, 50))]);
  }
  return { reader, writer, heard };
}

describe("a store is told what others write", () => {
  test("appends, values, names, moves, forks and deletions, with the session's id", async () => {
    const { writer, heard } = await listening();
    const session = await writer.createSession({ id: "one" });
    const told = async (id: string, work: Promise<unknown>) => {
      heard.changes.length = 0;
      await work;
      await heard.until(of(id));
    };
    await told("one", session.append(userMessage("Hello")));
    await told("one", session.values.set("key", 1));
    await told("one", writer.renameSession("one", "Title"));
    await told("one", session.moveLeaf(null));
    await told("one", session.undoMove());
    await told("two", writer.forkSession("one", { id: "two" }));
    await told("one", writer.deleteSession("one"));
  });

  test("not what it writes itself, nor what another tenant writes", async () => {
    const place = newPlace();
    const { reader, writer, heard } = await listening(place);
    const other = await opened({ ...place, tenant: "another" });
    heard.changes.length = 0;
    await (await reader.createSession({ id: "own" })).append(userMessage("mine"));
    await other.createSession({ id: "theirs" });
    // Announcements arrive in the order of their commits, and this one is the last.
    await writer.createSession({ id: "last" });
    await heard.until(of("last"));
    expect(heard.changes.flatMap(({ sessionIds }) => sessionIds)).toEqual(["last"]);
  });

  test("of one session only, by a handle on it", async () => {
    const { reader, writer } = await listening();
    const session = await reader.createSession({ id: "one" });
    let calls = 0;
    const called = new Promise<void>((resolve) => {
      session.onChange(() => {
        calls++;
        resolve();
      });
    });
    await writer.createSession({ id: "two" });
    await (await writer.openSession("one")).append(userMessage("Hello"));
    await called;
    expect(calls).toBeGreaterThan(0);
    await session.refresh();
    expect(session.leafId).not.toBeNull();
  });

  test("of very many sessions at once without their names", async () => {
    const { writer, heard } = await listening();
    heard.changes.length = 0;
    await Promise.all(Array.from({ length: 300 }, (_, at) => writer.createSession({ id: `session-with-a-long-name-${at}` })));
    await writer.close();
    await heard.until(({ sessionIds }) => sessionIds === null || sessionIds.length > 0);
  });

  test("not after it has ended the calls", async () => {
    const { writer, heard, reader } = await listening();
    heard.end();
    const again = new Heard(reader);
    heard.changes.length = 0;
    for (let at = 0; again.changes.length === 0; at++) {
      await writer.createSession({ id: `more${at}` });
      await Promise.race([again.until(() => true), new Promise((resolve) => setTimeout(resolve, 50))]);
    }
    expect(heard.changes).toEqual([]);
  });
});

test("a store whose connection breaks listens again, and is told that anything may have changed", async () => {
  const url = await server.newDatabase();
  const { writer, heard } = await listening({ url });
  heard.changes.length = 0;
  await server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'", url);
  await heard.until(({ sessionIds }) => sessionIds === null);
  await writer.createSession({ id: "after" });
  await heard.until(of("after"));
});

test("a store that listens again and again keeps nothing of the connections before", async () => {
  const signals = new Set<EventTarget>();
  const spy = vi.spyOn(EventTarget.prototype, "addEventListener");
  onTestFinished(() => spy.mockRestore());
  const url = await server.newDatabase();
  const { heard } = await listening({ url });
  for (let times = 0; times < 4; times++) {
    heard.changes.length = 0;
    await server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'", url);
    await heard.until(({ sessionIds }) => sessionIds === null);
  }
  for (const context of spy.mock.contexts) if (context instanceof AbortSignal) signals.add(context);
  // One of the connection, and one of the pause between two looks.
  for (const signal of signals) expect(getEventListeners(signal, "abort").length).toBeLessThanOrEqual(2);
  expect(signals.size).toBeGreaterThan(0);
});

test("entries of which a crashed process announced nothing are found by a look", async () => {
  const url = await server.newDatabase();
  const { writer, heard } = await listening({ url });
  const session = await writer.createSession({ id: "silent" });
  await heard.until(of("silent"));
  heard.changes.length = 0;
  // What its last statement did, without an announcement.
  await server.run(`UPDATE bough.session SET last_seq = 1, active_at_ms = ${Date.now()} WHERE session_id = '${session.id}'`, url);
  await heard.until(of("silent"));
});
