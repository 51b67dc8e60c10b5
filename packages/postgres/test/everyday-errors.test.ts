import { assistantMessage, BoughError, copySessions, openStore, userMessage } from "@bough/session-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { findingsOf } from "../../session-core/test/world/stores.js";
import { ownServer, withUrl } from "./server.js";

// Errors that servers of others report every day, because of settings that their administrators chose. They are errors of the store, with a code and
// with what was written.

const server = ownServer();

/** A store of a role with a setting, which the role gets when the tables exist. */
async function storeWith(setting: string, busyTimeoutMs = 2000) {
  const url = await server.newDatabase();
  await (await openStore({ url })).close();
  await server.run(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET ${setting}`, url);
  const store = await openStore({ url, busyTimeoutMs });
  onTestFinished(() => store.close());
  return { url, store };
}

// The limits are longer than a statement takes on a busy machine; a lock that another client holds makes one take longer.

test("a statement that takes longer than the server allows", async () => {
  const { url, store } = await storeWith("statement_timeout = '1s'", 30_000);
  const session = await store.createSession({ id: "s" });
  const blocker = await server.hold("SELECT 1 FROM bough.session FOR UPDATE", url);
  await expect(session.append(userMessage("waits"))).rejects.toMatchObject({
    code: "SERVER_TIMEOUT",
    message: expect.stringMatching(/canceling statement due to statement timeout\. Nothing was written\.$/),
  });
  await blocker.end();
  await session.append(userMessage("later"));
  expect((await session.context()).messages).toHaveLength(1);
});

test("a statement that somebody cancels", async () => {
  const { url, store } = await storeWith("work_mem = '4MB'");
  const session = await store.createSession({ id: "s" });
  const blocker = await server.hold("SELECT 1 FROM bough.session FOR UPDATE", url);
  const appended = session.append(userMessage("waits")).catch((error: unknown) => error);
  const cancel =
    "SELECT count(pg_cancel_backend(pid))::int AS n FROM pg_stat_activity WHERE application_name = 'bough' AND wait_event_type = 'Lock'";
  while ((await server.run(cancel, url))[0]?.["n"] === 0);
  expect(await appended).toMatchObject({ code: "SERVER_TIMEOUT", reason: "canceling statement due to user request" });
  await blocker.end();
  expect((await session.context()).messages).toHaveLength(0);
});

test("a transaction that takes longer than the server allows is a lost connection, and the next operation has another", async () => {
  const { url, store } = await storeWith("transaction_timeout = '2s'", 5000);
  const session = await store.createSession({ id: "s" });
  const blocker = await server.hold(
    "SELECT 1 FROM bough.session FOR UPDATE",
    withUrl(url, { search: "?options=-c%20transaction_timeout%3D0" }),
  );
  const error = await session.append(userMessage("waits")).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "CONNECTION_LOST", written: "nothing" });
  await blocker.end();
  await session.append(userMessage("later"));
  expect((await session.context()).messages).toHaveLength(1);
  expect(await findingsOf(store)).toEqual([]);
});

describe("a value that the server refuses", () => {
  test("is an error of the store that names its SQLSTATE", async () => {
    const { url, store } = await storeWith("work_mem = '4MB'");
    await server.run("ALTER TABLE bough.value ADD COLUMN small smallint GENERATED ALWAYS AS ((bytes * 10000)::smallint) STORED", url);
    const session = await store.createSession({ id: "s" });
    const error = await session.values.set("k", "a value of some length").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BoughError);
    expect(error).toMatchObject({ code: "SERVER_REFUSED", message: expect.stringMatching(/\(22003\)\. Nothing was written\.$/) });
  });

  test("is none of the numbers that a file takes: tokens that add up to more than the largest number", async () => {
    const { store } = await storeWith("work_mem = '4MB'");
    const session = await store.createSession({ id: "s" });
    const usage = { input: 1.7e308, output: 1e308, cost: { total: 1.7e308 } };
    for (const text of ["one", "two"]) await session.append(assistantMessage(text, { model: "m", provider: "p", usage }));
    expect((await store.totalsOf(["s"])).get("s")?.usage[0]?.replies).toBe(2);
  });
});

test("settings of a role change neither numbers nor lists", async () => {
  for (const setting of ["extra_float_digits = -15", "array_nulls = off"]) {
    const { store } = await storeWith(setting);
    const session = await store.createSession({ id: "s" });
    const usage = { input: 1, output: 2, cost: { total: 0.123456789012345 } };
    await session.append(assistantMessage("x", { model: "m", provider: "p", usage }));
    expect((await store.totalsOf(["s"])).get("s")?.usage[0]?.costUsd).toBe(0.123456789012345);
  }
});

test("a session that a server does not take is reported by a copy with its reason, and the others are copied", async () => {
  const { url, store } = await storeWith("work_mem = '4MB'");
  await server.run("ALTER TABLE bough.session ADD CHECK (session_id <> 'b')", url);
  const from = await openStore({ path: ":memory:" });
  onTestFinished(() => from.close());
  for (const id of ["a", "b", "c"]) await (await from.createSession({ id })).append(userMessage(id));
  const { sessions } = await copySessions(from, store);
  expect(sessions.map(({ sessionId, outcome, error }) => [sessionId, outcome, error?.code]).toSorted()).toEqual([
    ["a", "copied", undefined],
    ["b", "failed", "SERVER_REFUSED"],
    ["c", "copied", undefined],
  ]);
});
