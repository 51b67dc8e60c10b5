import { existsSync } from "node:fs";
import { join } from "node:path";
import { openStore, type Store, userMessage, type Write } from "@bough/session-core";
import { type SessionStorage, storageOf } from "@bough/session-core/engine";
import { beforeEach, describe, expect, test } from "vitest";
import { type Engine, tempFolder } from "../../../.ci/test-engine.js";

type Abilities = SessionStorage["abilities"];

const IN_A_FILE: Abilities = { sharedBy: "machine", backup: true, packing: true, indexesLater: true, numbers: "store" };
const ON_A_SERVER: Abilities = { sharedBy: "network", backup: false, packing: false, indexesLater: false, numbers: "session" };

/** All in which the engines differ: what is not here is the same on each, and tested on each. */
const ENGINES: Readonly<Record<Engine, Abilities>> = {
  memory: { ...IN_A_FILE, sharedBy: "process" },
  file: IN_A_FILE,
  postgres: ON_A_SERVER,
  "postgres-partitioned": ON_A_SERVER,
};

const entry = (id: string): Write => ({ kind: "entry", entry: { ...userMessage(`says ${id}`), id } });

/** What an engine declares that it does and does not do, each shown by what it does. `again`: opens the last store a second time. */
export function abilitiesContract(engine: Engine, open: () => Promise<Store>, again: () => Promise<Store>): void {
  const declared = ENGINES[engine];

  describe(`the abilities of a storage (${engine})`, () => {
    let store: Store;
    let storage: SessionStorage;

    beforeEach(async () => {
      store = await open();
      storage = storageOf(store);
      await storage.createSession({ id: "s" }, [entry("a"), entry("b")]);
    });

    test("are those in the table", () => {
      expect(storage.abilities).toEqual(declared);
    });

    test(`sharedBy: ${declared.sharedBy}`, async () => {
      const found = await storageOf(await again()).findSession("s");
      expect(found?.entryCount).toBe(declared.sharedBy === "process" ? undefined : 2);
    });

    test(`backup: ${declared.backup}`, async () => {
      const path = join(tempFolder(), "backup.db");
      const backup = store.backup(path);
      if (!declared.backup) {
        await expect(backup).rejects.toMatchObject({ code: "UNSUPPORTED_OPERATION", hint: expect.stringContaining("pg_dump") });
        expect(existsSync(path)).toBe(false);
        return;
      }
      await backup;
      const copy = await openStore({ path });
      expect((await copy.findSession("s"))?.entryCount).toBe(2);
      await copy.close();
    });

    test(`packing: ${declared.packing}`, async () => {
      const { entries } = await store.pack({ scope: "all" });
      expect(entries).toBe(declared.packing ? 2 : 0);
      expect((await storage.entry("s", "a")).id).toBe("a");
    });

    test(`indexesLater: ${declared.indexesLater}`, async () => {
      expect(await storage.catchUpSearch(0)).toBe(declared.indexesLater ? 2 : 0);
      expect((await storage.search({ query: "says" })).total).toBe(2);
    });

    test(`numbers: ${declared.numbers}`, async () => {
      await storage.createSession({ id: "t" }, [entry("a")]);
      const { seq } = await storage.entry("t", "a");
      expect(seq).toBe(declared.numbers === "store" ? 3 : 1);
    });
  });
}
