import { expect, test } from "vitest";
import { userMessage } from "../../src/entry/builders.js";
import { StoreDamagedError } from "../../src/errors/store-errors.js";
import { openStore } from "../../src/store/open-store.js";
import { findingsOf, openedStore, raw, storePath } from "../world/stores.js";

test.each([
  ["whose version says that it has no tables yet", "PRAGMA user_version = 0"],
  ["that has lost a table", "DROP TABLE label"],
])("a store %s is told to be damaged", async (_what, statement) => {
  const path = storePath();
  const store = await openStore({ path });
  const { id } = await store.createSession();
  await store.close();
  raw(path, (file) => file.exec(statement));
  const use = async () => (await (await openedStore({ path })).openSession(id)).labels.list();
  await expect(use()).rejects.toThrow(StoreDamagedError);
});

test.each([
  ["has another version", "UPDATE session_text_config SET v = 0"],
  ["has lost its settings", "DELETE FROM entry_text_config"],
  ["holds bytes that mean nothing", "UPDATE entry_text_data SET block = x'ffff'"],
])(
  "a store whose search index %s tells in a search, its check and its catching up that it is damaged, or works",
  async (_what, statement) => {
    const path = storePath();
    const store = await openStore({ path });
    const session = await store.createSession({ title: "word" });
    await session.append(userMessage("word one"));
    await store.catchUpSearch();
    await session.append(userMessage("word two"));
    await store.close();
    raw(path, (file) => file.unsafeMode(true).exec(statement));
    const damaged = await openedStore({ path });
    const uses = [() => damaged.search({ query: "word" }), () => findingsOf(damaged), () => damaged.catchUpSearch()];
    const outcomes = [];
    for (const use of uses)
      outcomes.push(
        await use().then(
          () => "works",
          (error: unknown) => error,
        ),
      );
    expect(outcomes.filter((outcome) => outcome !== "works" && !(outcome instanceof StoreDamagedError))).toEqual([]);
    expect(outcomes).toContainEqual(expect.any(StoreDamagedError));
  },
);
