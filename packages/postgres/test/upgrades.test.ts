import { grants } from "@bough/postgres";
import { assistantMessage, openStore, Store, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { imported, sourceOf } from "../../formats/test/world/sources.js";
import { MIGRATIONS, type Migration } from "../src/migrate.js";
import { openWithSteps, type PostgresOptions } from "../src/open.js";
import { ownServer, withUrl } from "./server.js";

const server = ownServer();

/** The version of the schema of this program. */
const NOW = MIGRATIONS.length;

/** A program of a later version, with these steps beyond those of this one. */
async function openedBy(steps: readonly Migration[], url: string, mode: PostgresOptions["mode"] = "create"): Promise<Store> {
  const options = { url, mode, durability: "full", busyTimeoutMs: 5000, fileTools: {} } as const;
  return new Store(await openWithSteps(options, [...MIGRATIONS, ...steps]));
}

const column = (name: string, minReader: number, minWriter: number): Migration => ({
  statements: () => [`ALTER TABLE session ADD COLUMN ${name} text`],
  minReader,
  minWriter,
});

/** A step that older programs do not notice, one that they may not write after, and one that they cannot read after. */
const ADDED = column("added", 1, NOW);
const WRITTEN = column("written", 1, NOW + 1);
const CHANGED = column("changed", NOW + 1, NOW + 1);

async function versionOf(url: string): Promise<unknown> {
  return (await server.run("SELECT version FROM bough.store_version", url))[0]?.["version"];
}

describe("a rolling upgrade", () => {
  test("adds the steps that are missing, once, although eight processes start at the same time", async () => {
    const url = await server.newDatabase();
    await (await openedBy([], url)).close();
    const stores = await Promise.all(Array.from({ length: 8 }, () => openedBy([ADDED], url)));
    await Promise.all(stores.map((store) => store.close()));
    expect(await versionOf(url)).toBe(NOW + 1);
  });

  test("an older program keeps reading and writing, before and after it is started again, if the newer schema allows it", async () => {
    const url = await server.newDatabase();
    const older = await openedBy([], url);
    const session = await older.createSession();
    const newer = await openedBy([ADDED], url);
    await session.append(userMessage("after the upgrade"));
    expect((await (await newer.openSession(session.id)).context()).messages).toHaveLength(1);
    const again = await openedBy([], url);
    await (await again.openSession(session.id)).append(userMessage("started again"));
    expect(await versionOf(url)).toBe(NOW + 1);
    for (const store of [older, newer, again]) await store.close();
  });

  test("an older program may still read where it must not write", async () => {
    const url = await server.newDatabase();
    await (await openedBy([WRITTEN], url)).close();
    await expect(openedBy([], url)).rejects.toMatchObject({
      code: "NEWER_STORE",
      version: NOW + 1,
      supported: NOW,
      hint: "Update Bough, or open the store with the mode read-only.",
    });
    const reader = await openedBy([], url, "read-only");
    expect(await reader.findSession("none")).toBeUndefined();
    await reader.close();
  });

  test("an older program is refused where it cannot read", async () => {
    const url = await server.newDatabase();
    await (await openedBy([CHANGED], url)).close();
    await expect(openedBy([], url, "read-only")).rejects.toMatchObject({ code: "NEWER_STORE", hint: "Update Bough." });
  });

  test("a running older program says why it cannot go on when its statements fail after an upgrade", async () => {
    const url = await server.newDatabase();
    const older = await openedBy([], url);
    const dropped: Migration = {
      statements: () => ["ALTER TABLE session DROP COLUMN seq CASCADE"],
      minReader: NOW + 1,
      minWriter: NOW + 1,
    };
    await (await openedBy([dropped], url)).close();
    await expect(older.createSession()).rejects.toMatchObject({ code: "NEWER_STORE", version: NOW + 1 });
    await older.close();
  });

  test("a running older program stops before it writes anything, although its statements would fit the newer schema", async () => {
    const url = await server.newDatabase();
    const older = await openedBy([], url);
    const session = await older.createSession({ id: "s" });
    const { id } = await session.append(userMessage("before"));
    const meaning: Migration = { statements: () => ["SELECT 1"], minReader: 1, minWriter: NOW + 1 };
    await (await openedBy([meaning], url)).close();
    const writes: readonly (() => Promise<unknown>)[] = [
      () => session.append(userMessage("after")),
      () => session.write([{ kind: "value", key: "k", value: 1 }]),
      () => session.labels.set(id, "label"),
      () => session.moveLeaf(null),
      () => older.renameSession("s", "title"),
      () => session.tokenCounts.save("words", new Map([[id, 1]])),
      () => older.createSession({ id: "new" }),
      () => older.forkSession("s", { id: "fork" }),
      () => older.archiveSession("s"),
      () => older.deleteSession("s"),
      () => older.storage.setSourceFiles([{ path: "/home/ada/x", stamp: "1", format: null }]),
    ];
    for (const write of writes) await expect(write(), String(write)).rejects.toMatchObject({ code: "NEWER_STORE", version: NOW + 1 });
    expect((await session.context()).messages).toHaveLength(1);
    expect((await older.listSessions()).items).toHaveLength(1);
    await older.close();
  });

  test("waits for the transactions that have begun to write, and lets none write while it runs", async () => {
    const url = await server.newDatabase();
    const older = await openedBy([], url);
    const session = await older.createSession({ id: "s" });
    const entries = Array.from({ length: 40 }, (_, at) => userMessage(`entry ${at}`));
    const writing = Promise.allSettled(entries.map((entry) => session.append(entry)));
    const counted: Migration = {
      statements: () => ["CREATE TABLE counted AS SELECT count(*)::int AS entries FROM entry"],
      minReader: 1,
      minWriter: NOW + 1,
    };
    await (await openedBy([counted], url)).close();
    await writing;
    const [before] = await server.run("SELECT entries FROM bough.counted", url);
    expect(await server.run("SELECT count(*)::int AS entries FROM bough.entry", url)).toEqual([before]);
    await older.close();
  });

  test("a store of version 1 is upgraded with what it has, and its function no longer has the path of its creator", async () => {
    const url = await server.newDatabase();
    const options = { url, mode: "create", durability: "full", busyTimeoutMs: 5000, fileTools: {} } as const;
    await (await openWithSteps(options, MIGRATIONS.slice(0, 1))).close();
    await server.run("INSERT INTO bough.usage_total SELECT 1, 1, 1, 1, 0, 1, false, '', 's', 'p', 'm'", url);
    const store = await openedBy([], url);
    await (await store.createSession({ id: "s" })).append(userMessage("Hello"));
    expect((await store.search({ query: "hello" })).total).toBe(1);
    expect(await server.run("SELECT proconfig AS set FROM pg_proc WHERE proname = 'entries_with'", url)).toEqual([
      { set: ["search_path=pg_catalog, pg_temp"] },
    ]);
    await store.close();
  });

  test("what an upgrade adds belongs to the owner of the store, for the roles that use it, whoever upgraded", async () => {
    const url = await server.newDatabase();
    const name = new URL(url).pathname.slice(1);
    const [owner, app] = [`owner "of" ${name}`, `app_${name}`];
    const roles = [`"${owner.replaceAll('"', '""')}"`, app];
    for (const role of roles) await server.run(`CREATE ROLE ${role} LOGIN PASSWORD 'of-the-role'`);
    await server.run(`GRANT CREATE ON DATABASE ${name} TO ${roles[0]}`);
    const of = (username: string) => withUrl(url, { username: encodeURIComponent(username), password: "of-the-role" });
    const options = { mode: "create", durability: "full", busyTimeoutMs: 5000, fileTools: {} } as const;
    await (await openWithSteps({ ...options, url: of(owner) }, MIGRATIONS.slice(0, 1))).close();
    for (const statement of grants({ role: app }))
      await server.run(statement.replace(/, bough\.announcement_channel|bough\.announcement_channel, /, ""), of(owner));
    await (await openedBy([], `${url}?owner=${encodeURIComponent(owner)}`)).close();
    const owned =
      "SELECT DISTINCT relowner::regrole::text AS owner, relacl::text AS rights FROM pg_class WHERE relname IN ('value', 'announcement_channel')";
    expect(await server.run(owned, url)).toEqual([{ owner: roles[0]?.replaceAll("\\", ""), rights: expect.stringContaining(app) }]);
    const store = await openStore({ url: `${of(app)}?owner=${encodeURIComponent(owner)}` });
    const told = new Promise((resolve) => store.onChange(resolve));
    const writer = await openStore({ url: `${of(app)}?owner=${encodeURIComponent(owner)}` });
    await (await writer.createSession({ id: "s" })).append(userMessage("Hello"));
    expect(await told).toMatchObject({ sessionIds: ["s"] });
    for (const opened of [store, writer]) await opened.close();
  });

  test.each([0, 2])("an upgraded store can be replicated by a publication of its tables (%i partitions)", async (partitions) => {
    const url = await server.newDatabase();
    const options = { url, mode: "create", durability: "full", busyTimeoutMs: 5000, fileTools: {}, partitions } as const;
    await (await openWithSteps(options, MIGRATIONS.slice(0, 1))).close();
    await server.run("INSERT INTO bough.usage_total SELECT 1, 1, 1, 1, 0, 1, false, '', 's', 'p', 'm'", url);
    await server.run("CREATE PUBLICATION everything FOR ALL TABLES", url);
    const store = await openedBy([], url);
    const session = await store.createSession({ id: "s" });
    for (const text of ["One", "Two"]) await session.append(assistantMessage(text, { provider: "p", model: "m", usage: { output: 1 } }));
    expect((await session.statistics()).usage).toMatchObject([{ provider: "p", model: "m", replies: 3 }]);
    await store.deleteSession("s");
    await store.close();
  });

  test("a running older program says why it cannot go on when the key of its statement is gone", async () => {
    const url = await server.newDatabase();
    const older = await openedBy([], url);
    const session = await older.createSession({ id: "s" });
    const dropped: Migration = {
      statements: () => ["ALTER TABLE usage_total DROP CONSTRAINT usage_total_pkey"],
      minReader: 1,
      minWriter: NOW + 1,
    };
    await (await openedBy([dropped], url)).close();
    await expect(session.append(assistantMessage("One", { usage: { output: 1 } }))).rejects.toMatchObject({ code: "NEWER_STORE" });
    await older.close();
  });

  test("a store of version 2 is given the origins of its copies, for each tenant, and counts them once", async () => {
    const url = await server.newDatabase();
    const open = async (steps: readonly Migration[], tenant: string) =>
      new Store(await openWithSteps({ url, mode: "create", durability: "full", busyTimeoutMs: 5000, fileTools: {}, tenant }, steps));
    for (const tenant of ["ada", "bob"]) {
      const store = await open(MIGRATIONS, tenant);
      await imported(store, sourceOf("u1 a1 u2", [], { sessionId: "original" }));
      await imported(store, sourceOf("u1 a1 u3", [], { sessionId: "copy" }));
      await store.forkSession("original", { id: "fork" });
      await store.close();
    }
    for (const statement of [
      "ALTER TABLE source_session DROP COLUMN held_until_ms",
      "ALTER TABLE session DROP COLUMN parent_found",
      "ALTER TABLE entry DROP COLUMN origin",
      "DROP INDEX entry_inherited",
      "ALTER TABLE usage_total DROP COLUMN recorded_replies",
      "UPDATE entry SET inherited = session_id = 'fork'",
      "UPDATE session SET parent_session_id = NULL WHERE session_id = 'copy'",
      "UPDATE store_version SET version = 2",
    ])
      await server.run(`SET search_path = bough, public; ${statement}`, url);
    for (const tenant of ["ada", "bob"]) {
      const store = await open(MIGRATIONS, tenant);
      expect(await store.search({ query: "u1", types: ["message"] })).toMatchObject({
        total: 1,
        hits: [{ sessionId: "original", copies: expect.arrayContaining([{ sessionId: "copy", entryId: "u1" }]) }],
      });
      expect((await store.findSession("copy"))?.parent).toMatchObject({ sessionId: "original", entryId: "a1" });
      await store.close();
    }
  });

  test("a step that fails leaves the schema as it was", async () => {
    const url = await server.newDatabase();
    await (await openedBy([], url)).close();
    const broken: Migration = {
      statements: () => ["ALTER TABLE session ADD COLUMN half text", "SELECT 1 / 0"],
      minReader: NOW + 1,
      minWriter: NOW + 1,
    };
    await expect(openedBy([broken], url)).rejects.toThrow("division by zero");
    expect(await versionOf(url)).toBe(NOW);
    expect(await server.run("SELECT 1 FROM pg_attribute WHERE attname = 'half'", url)).toEqual([]);
  });

  test("an old schema is not upgraded by a program that only reads, nor by a user without the rights", async () => {
    const url = await server.newDatabase();
    await (await openedBy([], url)).close();
    await expect(openedBy([ADDED], url, "read-only")).rejects.toMatchObject({ code: "SERVER_UNSUITABLE" });
    expect(await versionOf(url)).toBe(NOW);
  });
});
