import { createServer } from "node:net";
import { inspect } from "node:util";
import { openStore, type StoreOptions, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { parseServerUrl } from "../src/address.js";
import { Attempts } from "../src/attempts.js";
import { openPool } from "../src/driver.js";
import { MIGRATIONS } from "../src/migrate.js";
import { openError, ownServer, withUrl } from "./server.js";

const server = ownServer();

/** A store of its own, and the address of its database. */
async function freshStore(options: Partial<StoreOptions> = {}): Promise<string> {
  const url = await server.newDatabase();
  await (await openStore({ url, ...options })).close();
  return url;
}

/** A role that may log in, and nothing else. */
async function newRole(url: string): Promise<string> {
  const name = `role_${new URL(url).pathname.slice(1)}`;
  await server.run(`CREATE ROLE ${name} LOGIN PASSWORD 'of-the-role'`);
  return withUrl(url, { username: name, password: "of-the-role" });
}

describe("a store on a server", () => {
  test("is created where there is none, and opened again", async () => {
    const url = await server.newDatabase();
    const store = await openStore({ url });
    const session = await store.createSession({ title: "First" });
    await session.append(userMessage("Hello"));
    await store.close();
    const again = await openStore({ url, mode: "read-write" });
    expect((await again.openSession(session.id)).leafId).toBe(session.leafId);
    await again.close();
  });

  test("is created once by eight that open it at the same time", async () => {
    const url = await server.newDatabase();
    const stores = await Promise.all(Array.from({ length: 8 }, () => openStore({ url, connections: 1 })));
    await Promise.all(stores.map((store) => store.close()));
    expect(await server.run("SELECT version FROM bough.store_version", url)).toEqual([{ version: MIGRATIONS.length }]);
  });

  test("is in the schema that the url or the option names, the option first", async () => {
    const url = await server.newDatabase();
    await (await openStore({ url: `${url}?schema=one` })).close();
    await (await openStore({ url: `${url}?schema=one`, schema: "two" })).close();
    const schemas = await server.run("SELECT schemaname AS name FROM pg_tables WHERE tablename = 'store_version' ORDER BY 1", url);
    expect(schemas).toEqual([{ name: "one" }, { name: "two" }]);
  });

  test("compresses large texts with lz4 where the server has it, in partitions as well", async () => {
    const url = await freshStore({ partitions: 2 });
    const [has] = await server.run("SELECT 'lz4' = ANY (enumvals) AS lz4 FROM pg_settings WHERE name = 'default_toast_compression'");
    const used = await server.run(
      "SELECT DISTINCT attcompression = 'l' AS lz4 FROM pg_attribute WHERE attname = 'payload' AND attrelid::regclass::text LIKE 'bough.entry%'",
      url,
    );
    expect(used).toEqual([has]);
  });

  test("does not keep a process alive that forgets to close it, nor answers after it was closed", async () => {
    const store = await openStore({ url: await server.newDatabase() });
    await store.close();
    await store.close();
    await expect(store.createSession()).rejects.toMatchObject({ code: "STORE_CLOSED" });
  });
});

describe("what cannot be opened says why in one line", () => {
  test("no server", async () => {
    const free = await new Promise<number>((resolve) => {
      const probe = createServer().listen(0, "127.0.0.1", () => {
        const address = probe.address();
        probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
      });
    });
    const error = await openError({ url: `postgres://ada:hidden@127.0.0.1:${free}/agents` });
    expect(error).toMatchObject({
      code: "SERVER_UNAVAILABLE",
      server: `postgres://ada@127.0.0.1:${free}/agents`,
      message: `Cannot connect to postgres://ada@127.0.0.1:${free}/agents: no server listens there (ECONNREFUSED). Nothing was written.`,
    });
  });

  test("a host that is not known", async () => {
    expect(await openError({ url: "postgres://ada@host.invalid/agents" })).toMatchObject({ code: "SERVER_UNAVAILABLE" });
  });

  test("a server that does not answer", async () => {
    const mute = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => mute.once("listening", resolve));
    const address = mute.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const error = await openError({ url: `postgres://ada@127.0.0.1:${port}/agents`, busyTimeoutMs: 50 });
    mute.close();
    expect(error).toMatchObject({ code: "SERVER_UNAVAILABLE", reason: expect.stringContaining("timeout") });
  });

  test("a server that accepts the login and then does not answer", async () => {
    // AuthenticationOk, ReadyForQuery.
    const welcome = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);
    const silent = createServer((socket) => socket.on("error", () => undefined).once("data", () => socket.write(welcome)));
    silent.listen(0, "127.0.0.1");
    await new Promise((resolve) => silent.once("listening", resolve));
    const address = silent.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const error = await openError({ url: `postgres://ada@127.0.0.1:${port}/agents?sslmode=disable`, busyTimeoutMs: 2000 });
    silent.close();
    expect(error).toMatchObject({
      code: "SERVER_UNAVAILABLE",
      reason: "it accepted the login, and then gave no answer for 2000 ms",
    });
  });

  test("a server without TLS, where the url demands it", async () => {
    const url = await server.newDatabase();
    expect(await openError({ url: `${url}?sslmode=require` })).toMatchObject({
      code: "SERVER_UNAVAILABLE",
      reason: expect.stringContaining("SSL"),
    });
    await (await openStore({ url: `${url}?sslmode=prefer` })).close();
  });

  test("a wrong password, and none", async () => {
    const url = await server.newDatabase();
    const wrong = await openError({ url: withUrl(url, { password: "hidden" }) });
    expect(wrong).toMatchObject({ code: "SERVER_LOGIN", reason: expect.stringContaining("password authentication failed") });
    const none = await openError({ url: withUrl(url, { password: "" }) });
    expect(none).toMatchObject({ code: "SERVER_LOGIN", reason: "it wants a password, and none was given" });
  });

  test("no database", async () => {
    const error = await openError({ url: withUrl(await server.newDatabase(), { pathname: "/nowhere" }) });
    expect(error).toMatchObject({
      code: "DATABASE_NOT_FOUND",
      reason: "the server has no database nowhere",
      hint: "Create it: createdb nowhere",
    });
  });

  test("no store, unless it is to be created", async () => {
    const url = await server.newDatabase();
    expect(await openError({ url, mode: "read-write" })).toMatchObject({ code: "STORE_NOT_FOUND" });
    expect(await openError({ url, mode: "read-only" })).toMatchObject({ code: "STORE_NOT_FOUND" });
    expect(await server.run("SELECT 1 FROM pg_namespace WHERE nspname = 'bough'", url)).toEqual([]);
  });

  test("no right to create the schema; no right on an existing one", async () => {
    const role = await newRole(await server.newDatabase());
    expect(await openError({ url: role })).toMatchObject({ code: "SERVER_RIGHTS", hint: expect.stringContaining("docs/postgres.md") });
    const other = await newRole(await freshStore());
    expect(await openError({ url: other })).toMatchObject({ code: "SERVER_RIGHTS" });
  });

  test("a database that may only be read is opened with the mode read-only, and says so at a write", async () => {
    const url = await freshStore();
    const name = new URL(url).pathname.slice(1);
    await server.run(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    expect(await openError({ url })).toMatchObject({ code: "STORE_READ_ONLY", hint: expect.stringContaining("read-only") });
    const store = await openStore({ url, mode: "read-only" });
    await expect(store.createSession()).rejects.toMatchObject({ code: "STORE_READ_ONLY" });
    await store.close();
  });

  test("a server without a free connection, after the busy timeout", async () => {
    const url = await freshStore();
    const role = await newRole(url);
    const { username } = new URL(role);
    await server.run(
      `ALTER ROLE ${username} CONNECTION LIMIT 1; GRANT CREATE ON DATABASE ${new URL(url).pathname.slice(1)} TO ${username}`,
    );
    const first = await openStore({ url: role, schema: "own" });
    // The time of a connection is its own: it may take longer than the wait for a free one.
    const slow = `${role}?connect_timeout=10`;
    expect(await openError({ url: slow, schema: "own", busyTimeoutMs: 50 })).toMatchObject({ code: "SERVER_FULL" });
    await first.close();
  });

  test("a row that another transaction holds for longer than the busy timeout", async () => {
    const url = await freshStore();
    // Without a time of its own, a connection has the busy timeout.
    const store = await openStore({ url: `${url}?connect_timeout=10`, busyTimeoutMs: 100 });
    const held = await server.hold("LOCK TABLE bough.session", url);
    await expect(store.createSession()).rejects.toMatchObject({ code: "STORE_BUSY", waitedMs: 100 });
    // The lock is gone with the answer to this; the server ends a transaction some time after its client has gone.
    await held.query("ROLLBACK");
    await held.end();
    await store.createSession();
    await store.close();
  });

  test("a pool whose connections are all in use for longer than the busy timeout", async () => {
    const address = parseServerUrl(await freshStore());
    const place = { label: address.label, database: address.database, schema: "bough", connections: 1, waitMs: 2000 };
    const pool = await openPool({ ...place, address, tenant: "", readOnly: false, durable: true });
    const attempts = new Attempts(pool, place);
    const held = await attempts.connect();
    await expect(attempts.connect()).rejects.toMatchObject({ code: "POOL_EXHAUSTED", connections: 1, waitedMs: 2000 });
    held.release();
    (await attempts.connect()).release();
    await attempts.end();
  });

  test("a schema with other tables, which are left as they are", async () => {
    const url = await server.newDatabase();
    await server.run("CREATE SCHEMA bough; CREATE TABLE bough.session (id int)", url);
    expect(await openError({ url })).toMatchObject({ code: "FOREIGN_FILE" });
    expect(await server.run("SELECT count(*)::int AS tables FROM pg_tables WHERE schemaname = 'bough'", url)).toEqual([{ tables: 1 }]);
  });

  test("a database of another encoding", async () => {
    await server.run("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
    const url = withUrl(await server.newDatabase(), { pathname: "/latin" });
    expect(await openError({ url })).toMatchObject({ code: "SERVER_UNSUITABLE", hint: expect.stringContaining("UTF8") });
  });

  test("a schema that is dropped while the store is open", async () => {
    const url = await freshStore();
    const store = await openStore({ url });
    await server.run("DROP SCHEMA bough CASCADE", url);
    await expect(store.createSession()).rejects.toMatchObject({ code: "SERVER_UNSUITABLE" });
    await store.close();
  });
});

describe("a password", () => {
  const SECRET = "Zq7-very-hidden";

  test("is in no error and in no object, however deeply one looks", async () => {
    const url = withUrl(await server.newDatabase(), { password: SECRET });
    const places = [
      url,
      withUrl(url, { port: "1" }),
      `${url}?sslmode=require`,
      url.replace("@", "/@"),
      `${url}?nothing=1`,
      url.replace(":5", ":x"),
    ];
    for (const place of places) {
      const error = await openError({ url: place, busyTimeoutMs: 100 });
      expect(inspect(error, { depth: 12, showHidden: true })).not.toContain(SECRET);
      expect(JSON.stringify(error) + String(error)).not.toContain(SECRET);
    }
    const role = await newRole(await server.newDatabase());
    await server.run(`ALTER ROLE ${new URL(role).username} PASSWORD '${SECRET}'; ALTER ROLE ${new URL(role).username} SUPERUSER`);
    const store = await openStore({ url: withUrl(role, { password: SECRET }) });
    const session = await store.createSession();
    expect(inspect([store, session], { depth: 12, showHidden: true })).not.toContain(SECRET);
    await store.close();
  });
});
