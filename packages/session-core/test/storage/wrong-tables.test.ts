import { expect, test } from "vitest";
import { StoreDamagedError } from "../../src/errors/store-errors.js";
import { openStore } from "../../src/store/open-store.js";
import { openedStore, raw, storePath } from "../world/stores.js";

test.each([
  ["whose version says that it has no tables yet", "PRAGMA user_version = 0"],
  ["that has lost a table", "DROP TABLE label"],
])("a store %s is told to be damaged", async (_what, statement) => {
  const path = storePath();
  const store = await openStore({ path });
  const { id } = await store.createSession();
  await store.close();
  raw(path, (file) => file.exec(statement));
  const use = async () => (await (await openedStore({ path })).openSession(id)).labels();
  await expect(use()).rejects.toThrow(StoreDamagedError);
});
