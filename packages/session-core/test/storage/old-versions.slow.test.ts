import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { StoreDamagedError } from "../../src/errors/store-errors.js";
import { Connection } from "../../src/sqlite/file/connection.js";
import { MIGRATIONS, migrate, readVersion } from "../../src/sqlite/file/migrate.js";
import { toOpenError } from "../../src/sqlite/file/sqlite-errors.js";
import { readStatistics } from "../../src/sqlite/sessions/session-list.js";
import { openStore } from "../../src/store/open-store.js";
import { entryNamed } from "../world/grow.js";
import { oldStore, READ_BY_OLD_RELEASE, readAll } from "../world/old-stores.js";
import { findingsOf, openedStore, raw, storePath } from "../world/stores.js";

const digest = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");
const SESSIONS = ["tree", "fork", "nasty"] as const;
const VERSIONS = [1, 2, 3, 4] as const;
/** Those whose payloads are a column of the table `entry`. */
const WITH_PAYLOADS = [1, 2, 3] as const;

describe.each(VERSIONS)("a store of version %i", (version) => {
  test.each(SESSIONS)("opened for writing is upgraded, and its session %s reads as the old release read it", async (id) => {
    const path = oldStore(version);
    const store = await openedStore({ path });
    expect(JSON.parse(JSON.stringify(await readAll(store, await store.openSession(id))))).toEqual(READ_BY_OLD_RELEASE[id]);
    expect(await findingsOf(store)).toEqual([]);
    expect(raw(path, readVersion)).toBe(MIGRATIONS.length);
  });

  test.each(SESSIONS)("opened read-only stays as it is, byte for byte, and its session %s reads the same", async (id) => {
    const path = oldStore(version);
    const before = digest(path);
    const store = await openStore({ path, mode: "read-only" });
    expect(JSON.parse(JSON.stringify(await readAll(store, await store.openSession(id))))).toEqual(READ_BY_OLD_RELEASE[id]);
    expect(await findingsOf(store)).toEqual([]);
    await store.close();
    expect([raw(path, readVersion), digest(path)]).toEqual([version, before]);
  });

  test("is searched and walked, upgraded or not", async () => {
    const path = oldStore(version);
    for (const mode of ["read-only", "create"] as const) {
      const store = await openedStore({ path, mode });
      expect((await store.search({ query: "u3", sessionId: "tree" })).hits).toMatchObject([{ entryId: "u3" }]);
      const session = await store.openSession("s");
      expect(await session.tree.commonAncestor("u699", "u999")).toBe("u99");
      expect((await session.scan({ stopAt: "u997" })).items.map(({ id }) => id)).toEqual(["u999", "u998"]);
      expect((await session.context({ leafId: "u699" })).messages).toHaveLength(700);
      expect((await store.listSessions()).items).toHaveLength(4);
    }
  });

  test("continues after its upgrade, each old entry with its waypoint", async () => {
    const path = oldStore(version);
    const store = await openedStore({ path });
    const session = await store.openSession("s");
    await session.append({ type: "context_edit", targetId: "u3", replacement: null });
    expect((await session.context()).entries).not.toContain("u3");
    const count = (sql: string) => raw(path, (file) => file.prepare(sql).pluck().get());
    expect(count("SELECT count(*) FROM entry_waypoint")).toBe(count("SELECT count(*) FROM entry WHERE depth > 0 AND depth % 16 = 0"));
  });

  test("open read-only keeps reading after another process has upgraded it", async () => {
    const path = oldStore(version);
    const reader = await openedStore({ path, mode: "read-only" });
    const session = await reader.openSession("tree");
    const before = await readAll(reader, session);
    const writer = await (await openedStore({ path })).openSession("tree");
    await writer.tokenCounts.save("d", new Map([["u1", 5]]));
    expect(await readAll(reader, session)).toEqual(before);
    expect(await session.tokenCounts.get("d", ["u1"])).toEqual(new Map([["u1", 5]]));
  });

  test("open read-only gives one snapshot, also where another process upgrades it during the read", () => {
    const path = oldStore(version);
    const options = { path, durability: "normal", busyTimeoutMs: 0 } as const;
    const reader = Connection.open({ ...options, mode: "read-only" });
    const totals = readStatistics(reader);
    const read = reader.read(() => {
      Connection.open({ ...options, mode: "create" }).close();
      return readStatistics(reader);
    });
    expect([read, readStatistics(reader)]).toEqual([totals, totals]);
    reader.close();
  });

  test("stays at its version, whole, if a step fails", async () => {
    const path = oldStore(version);
    const failing = { name: "broken", statements: ["CREATE TABLE half (x INTEGER) STRICT", "ALTER TABLE nowhere ADD COLUMN y"] };
    raw(path, (file) => {
      const tables = () => file.prepare("SELECT name, sql FROM sqlite_master ORDER BY name").all();
      const before = tables();
      expect(() => migrate(file, path, [...MIGRATIONS, failing])).toThrow(/nowhere/);
      expect([readVersion(file), tables()]).toEqual([version, before]);
    });
    const store = await openedStore({ path });
    expect(JSON.parse(JSON.stringify(await readAll(store, await store.openSession("tree"))))).toEqual(READ_BY_OLD_RELEASE.tree);
  });

  test.each(["u15", "u16", "u255", "u256", "u500"])("is upgraded with a wrong depth at %s, which verify names", async (id) => {
    for (const depth of [48, 4_096]) {
      const path = oldStore(version);
      raw(path, (file) =>
        file.prepare("UPDATE entry SET depth = ? WHERE id = ? AND session_seq = (SELECT seq FROM session WHERE id = 's')").run(depth, id),
      );
      const store = await openedStore({ path });
      expect((await findingsOf(store)).map(({ rule, entryId }) => `${rule} ${entryId}`)).toContain(`wrong-depth ${id}`);
      const session = await store.openSession("s");
      expect((await session.context({ leafId: "u699" })).messages).toHaveLength(700);
      await session.append(entryNamed("u2000"));
    }
  });

  test("gives the tips, branch points and counts of its tree, also read-only", async () => {
    const path = oldStore(version);
    for (const mode of ["read-only", "create"] as const) {
      const store = await openedStore({ path, mode });
      const session = await store.openSession("s");
      expect((await session.tree.tips()).map(({ id }) => id)).toEqual(["u699", "u999"]);
      expect((await session.tree.branchPoints()).map(({ id }) => id)).toEqual(["u99"]);
      expect((await session.statistics()).byType).toEqual({ message: 1_000 });
    }
  });

  test("gives entries by their custom type, also read-only and where its payloads are packed", async () => {
    const path = oldStore(version);
    for (const mode of ["read-only", "create"] as const) {
      const session = await (await openedStore({ path, mode })).openSession("nasty");
      const custom = (await session.list()).filter((entry) => entry.type === "custom");
      const customType = String(custom[0]?.customType);
      expect(await session.list({ customType })).toEqual(custom);
      expect((await session.tree.outline({ types: ["custom"] })).map((row) => row.customType)).toEqual([customType]);
      expect((await session.scan({ customType })).items).toEqual(custom);
    }
  });

  test("gives sessions by members of their metadata, also read-only", async () => {
    const path = oldStore(version);
    const metadata = JSON.stringify({ owner: 'u"7\n', n: 1, on: true, none: null, list: [1] });
    raw(path, (file) => file.prepare("UPDATE session SET metadata_json = ? WHERE id = 'tree'").run(metadata));
    for (const mode of ["read-only", "create"] as const) {
      const store = await openedStore({ path, mode });
      for (const wanted of [{ owner: 'u"7\n' }, { n: 1 }, { on: true, none: null }]) {
        expect((await store.listSessions({ metadata: wanted })).items.map(({ id }) => id)).toEqual(["tree"]);
      }
      for (const wanted of [{ owner: "u7" }, { n: 1, on: false }, { n: "1" }]) {
        expect((await store.listSessions({ metadata: wanted })).items).toEqual([]);
      }
    }
  });
});

describe.each(WITH_PAYLOADS)("a store of version %i", (version) => {
  test.each(["{", "17", "{}"])("is upgraded with the payload %s, which verify names", async (json) => {
    const path = oldStore(version);
    raw(path, (file) => {
      file.pragma("ignore_check_constraints = ON");
      file
        .prepare("UPDATE entry SET payload_json = ? WHERE id = 'u3' AND session_seq = (SELECT seq FROM session WHERE id = 'tree')")
        .run(json);
    });
    const store = await openedStore({ path });
    expect((await findingsOf(store)).map(({ rule, entryId }) => [rule, entryId])).toEqual([["invalid-payload", "u3"]]);
  });
});

describe("a damaged store of an older version", () => {
  const damaged = (sql: string) => {
    const path = oldStore(3);
    raw(path, (file) => file.exec(sql));
    return path;
  };

  test.each(["type = 'unknown'", "role = 'unknown'", "role = NULL"])("is upgraded with a row of %s, which verify names", async (set) => {
    const path = damaged(`UPDATE entry SET ${set} WHERE id = 'u3' AND session_seq = (SELECT seq FROM session WHERE id = 'tree')`);
    const store = await openedStore({ path });
    const found = (await findingsOf(store)).map(({ rule, entryId }) => `${rule} ${entryId}`);
    expect(found).toContain("invalid-payload u3");
    expect((await (await store.openSession("s")).context({ leafId: "u699" })).messages).toHaveLength(700);
  });

  test.each(["entry_children", "entry_marks", "file_operation_by_path"])("is upgraded without its index %s", async (index) => {
    const store = await openedStore({ path: damaged(`DROP INDEX ${index}`) });
    expect(await findingsOf(store)).toEqual([]);
  });

  test.each(["TABLE payload (x)", "VIEW entry_before AS SELECT 1", "INDEX entry_before ON label (label)"])(
    "with a %s of somebody else stays as it is",
    async (made) => {
      const path = damaged(`CREATE ${made}`);
      await expect(openStore({ path })).rejects.toThrow(StoreDamagedError);
      expect(raw(path, readVersion)).toBe(3);
    },
  );
});

describe("the token counts", () => {
  test("of version 1 are missing, of version 2 and 3 are kept, also read-only", async () => {
    for (const version of VERSIONS) {
      for (const mode of ["read-only", "create"] as const) {
        const session = await (await openedStore({ path: oldStore(version), mode })).openSession("s");
        expect(await session.tokenCounts.get("c", ["u1", "u2"])).toEqual(new Map(version === 1 ? [] : [["u1", 7]]));
      }
    }
  });
});

test("each version makes the tables that it has always made", () => {
  const names = VERSIONS.map((version) =>
    raw(storePath(), (file) => {
      migrate(file, "x", MIGRATIONS.slice(0, version));
      return file
        .prepare(
          "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '*_text*' AND name NOT GLOB 'sqlite_*' ORDER BY name",
        )
        .pluck()
        .all();
    }),
  );
  const first = ["session", "entry", "leaf", "leaf_move", "label", "value", "file_operation", "usage_total", "store_state"];
  const second = [...first, "token_counter", "entry_token_count"];
  const third = [...second, "entry_waypoint"];
  expect(names).toEqual([first, second, third, [...third, "payload", "payload_block"]].map((list) => list.toSorted()));
});

test("a constraint that a migration violates is reported as damage of the file", () => {
  const path = oldStore(2);
  const repeatsAnId = { name: "repeats-an-id", statements: ["INSERT INTO session SELECT * FROM session"] };
  const failure = raw(path, (file) => {
    try {
      return migrate(file, path, [...MIGRATIONS.slice(0, 2), repeatsAnId]);
    } catch (error) {
      return toOpenError(error, path, 0);
    }
  });
  expect(failure).toBeInstanceOf(StoreDamagedError);
  expect(raw(path, readVersion)).toBe(2);
});
