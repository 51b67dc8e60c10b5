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
  ["ALTER TABLE entry RENAME COLUMN preview TO seen", "Table entry has no column preview"],
  ["ALTER TABLE usage_total DROP COLUMN cost_usd", "Table usage_total has no column cost_usd"],
  ["ALTER TABLE label RENAME TO mark", "The file has no table label"],
  ["DROP TABLE value", "The file has no table value"],
  ["DROP INDEX entry_by_origin", "Table entry has no index entry_by_origin"],
])("a check names what a store lacks after %s, and what to do; an addition is no damage", async (statement, what) => {
  const path = storePath();
  const store = await openStore({ path });
  await (await store.createSession()).append(userMessage("word"));
  await store.close();
  raw(path, (file) => file.exec("CREATE INDEX mine ON entry (preview); ALTER TABLE leaf ADD COLUMN mine INTEGER; CREATE TABLE others (a)"));
  expect(await findingsOf(await openedStore({ path }))).toEqual([]);
  raw(path, (file) => file.exec(`DROP INDEX mine; ${statement}`));
  const message = `${what}: another program has changed the schema. Undo that change, or restore a backup; rows were not checked.`;
  expect(await findingsOf(await openedStore({ path, mode: "read-only" }))).toMatchObject([{ rule: "wrong-schema", message }]);
});

/** A store with a session, in the text of whose schema `before` is replaced. */
async function storeWithSchema(before: string, after: string) {
  const path = storePath();
  const store = await openStore({ path });
  const { id } = await store.createSession();
  await store.close();
  raw(path, (file) => {
    file.unsafeMode(true).pragma("writable_schema = ON");
    file.prepare("UPDATE sqlite_schema SET sql = replace(sql, ?, ?)").run(before, after);
  });
  return { damaged: await openedStore({ path }), id };
}

test("an append to a store whose schema lacks a column fails as damaged", async () => {
  const { damaged, id } = await storeWithSchema("is_error", "is_errop");
  const session = await damaged.openSession(id);
  await expect(session.append(userMessage("word"))).rejects.toThrow(StoreDamagedError);
});

// One changed byte in the text of the schema: SQLite notices it when it checks or writes the rows.
test.each([
  ["a foreign key that names no column", "REFERENCES entry (seq)", "REFERENCES entry (sep)"],
  ["a check by a function that does not exist", "json_valid(metadata_json)", "jsom_valid(metadata_json)"],
])("a store whose schema has %s is told to be damaged by its check and by writes", async (_what, before, after) => {
  const { damaged, id } = await storeWithSchema(before, after);
  await expect(findingsOf(damaged)).rejects.toThrow(StoreDamagedError);
  const writes = [
    async () => (await damaged.openSession(id)).append(userMessage("word")),
    async () => damaged.createSession({ metadata: { a: 1 } }),
  ];
  const outcomes = await Promise.allSettled(writes.map((write) => write()));
  const errors = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  expect(errors.filter((error) => !(error instanceof StoreDamagedError))).toEqual([]);
  expect(errors).not.toEqual([]);
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
