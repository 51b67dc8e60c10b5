import { openStore, type Store, type StoreOptions, userMessage } from "@bough/session-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { findingsOf } from "../../session-core/test/world/stores.js";
import { distribution, grants } from "../src/open.js";
import { TABLE_KEYS } from "../src/schema.js";
import { ownServer, withUrl } from "./server.js";

const server = ownServer();

async function opened(options: StoreOptions): Promise<Store> {
  const store = await openStore(options);
  onTestFinished(() => store.close());
  return store;
}

/** A store of an owner, and the address of a role that may use it and owns nothing. */
async function sharedStore(partitions = 0, access: "read" | "write" = "write") {
  const url = await server.newDatabase();
  await (await openStore({ url, partitions })).close();
  const role = `app_${new URL(url).pathname.slice(1)}`;
  await server.run(`CREATE ROLE ${role} LOGIN PASSWORD 'of-the-app'`);
  for (const statement of grants({ role, access })) await server.run(statement, url);
  return { url, app: withUrl(url, { username: role, password: "of-the-app" }) };
}

/** Writes to every table of a tenant. */
async function fill(store: Store, text: string) {
  const session = await store.createSession({ id: "one", title: text, metadata: { owner: text } });
  const { id } = await session.append(userMessage(text));
  await session.labels.set(id, text);
  await session.values.set("key", text);
  await session.tokenCounts.save("words", new Map([[id, 1]]));
  await session.moveLeaf(null);
  await store.storage.setSourceFiles([{ path: `/home/ada/${text}`, stamp: "1", format: null }]);
  return session;
}

const titles = async (store: Store) => (await store.listSessions()).items.map(({ title }) => title);

describe.each([0, 3])("tenants of one store in %i partitions", (partitions) => {
  test("have sessions of the same ids and do not see each other's", async () => {
    const { app } = await sharedStore(partitions);
    const [anna, bert] = [await opened({ url: app, tenant: "anna" }), await opened({ url: `${app}?tenant=bert` })];
    await fill(anna, "apples");
    await fill(bert, "bananas");
    expect([await titles(anna), await titles(bert)]).toEqual([["apples"], ["bananas"]]);
    expect((await anna.search({ query: "bananas" })).hits).toEqual([]);
    expect((await anna.search({ query: "apples" })).hits.length).toBeGreaterThan(0);
    expect((await bert.statistics()).entries).toBe(1);
    expect([await findingsOf(anna), await findingsOf(bert)]).toEqual([[], []]);
    await anna.deleteSession("one");
    expect(await titles(bert)).toEqual(["bananas"]);
  });

  test("do not see each other's rows in any table by any statement of their role", async () => {
    const { url, app } = await sharedStore(partitions);
    await fill(await opened({ url: app, tenant: "bert" }), "bananas");
    const asAnna = `${app}?options=${encodeURIComponent("-c bough.tenant=anna -c search_path=bough")}`;
    for (const [table] of TABLE_KEYS) {
      expect(await server.run(`SELECT * FROM ${table}`, asAnna), table).toEqual([]);
      expect(await server.run(`WITH gone AS (DELETE FROM ${table} RETURNING 1) SELECT * FROM gone`, asAnna), table).toEqual([]);
      expect(await server.run(`SELECT * FROM ${table}`, app.replace(/$/, "?options=-c%20search_path%3Dbough")), table).toEqual([]);
    }
    await expect(server.run("INSERT INTO commit_mark (tenant, mark, committed) VALUES ('bert', 'x', true)", asAnna)).rejects.toThrow(
      "row-level security",
    );
    const parts = await server.run(
      "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'bough.entry'::regclass",
      url,
    );
    expect(parts).toHaveLength(partitions);
    for (const { name } of parts) await expect(server.run(`SELECT * FROM ${name}`, asAnna)).rejects.toThrow("permission denied");
    const filled = await server.run("SELECT count(*)::int AS entries FROM bough.entry WHERE tenant = 'bert'", url);
    expect(filled).toEqual([{ entries: 1 }]);
  });
});

test("a role that may only read opens the store for reading", async () => {
  const { url, app } = await sharedStore(0, "read");
  await fill(await opened({ url, tenant: "anna" }), "apples");
  const reader = await opened({ url: app, tenant: "anna", mode: "read-only" });
  expect(await titles(reader)).toEqual(["apples"]);
  const writer = await opened({ url: app, tenant: "anna" });
  await expect(writer.createSession()).rejects.toMatchObject({ code: "SERVER_RIGHTS" });
});

test("a tenant may have any name", async () => {
  const { app } = await sharedStore();
  for (const tenant of ["", "a b", 'it\'s \\ "quoted"', "π\n", "nul\0", "$1"]) {
    const store = await opened({ url: app, tenant });
    await (await store.createSession({ title: `of ${tenant.length}` })).append(userMessage("Hello"));
    expect(await titles(store)).toEqual([`of ${tenant.length}`]);
  }
});

test("each table is distributed by one call, those of sessions together", () => {
  const calls = distribution({ schema: "agents" });
  expect(calls).toHaveLength(TABLE_KEYS.length + 1);
  expect(calls[0]).toBe("SELECT create_distributed_table('agents.session', 'session_id', colocate_with => 'none')");
  expect(calls).toContain("SELECT create_distributed_table('agents.entry', 'session_id', colocate_with => 'agents.session')");
});

test("every key and every unique index has the column by which its table is distributed", async () => {
  const url = await server.newDatabase();
  await (await openStore({ url })).close();
  for (const [table, key] of TABLE_KEYS) {
    const unique = await server.run(
      `SELECT array_agg(attname::text) AS columns FROM pg_index JOIN pg_attribute ON attrelid = indexrelid
       WHERE indrelid = 'bough.${table}'::regclass AND indisunique GROUP BY indexrelid`,
      url,
    );
    for (const { columns } of unique) expect(columns, table).toContain(key);
  }
  expect(await server.run("SELECT conname FROM pg_constraint WHERE contype = 'f' AND connamespace = 'bough'::regnamespace", url)).toEqual(
    [],
  );
  expect(await server.run("SELECT 1 FROM pg_sequences WHERE schemaname = 'bough'", url)).toEqual([]);
});
