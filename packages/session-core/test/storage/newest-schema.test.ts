import Database from "better-sqlite3";
import { expect, onTestFinished, test, vi } from "vitest";
import { MIGRATIONS, migrate } from "../../src/sqlite/file/migrate.js";

/** An empty store in memory that these steps made. */
function made(steps?: typeof MIGRATIONS): Database.Database {
  const file = new Database(":memory:");
  onTestFinished(() => void file.close());
  migrate(file, ":memory:", steps);
  return file;
}

/** The statements of all tables, indexes and triggers in their order, and all rows, those of the search index among them. */
function content(file: Database.Database) {
  const schema = file
    .prepare<[], { type: string; name: string; sql: string | null }>("SELECT type, name, tbl_name, sql FROM sqlite_master")
    .all();
  const tables = schema.filter(({ type }) => type === "table").map(({ name }) => name);
  return {
    schema,
    version: file.pragma("user_version"),
    rows: tables.map((name) => [name, file.prepare(`SELECT * FROM "${name}"`).all()]),
  };
}

test("a file with a table of another program leaves none of it in the new stores after it", async () => {
  // A module that has made no store yet.
  vi.resetModules();
  const fresh = await import("../../src/sqlite/file/migrate.js");
  const [first, second] = [new Database(":memory:"), new Database(":memory:")];
  onTestFinished(() => {
    first.close();
    second.close();
  });
  first.exec("CREATE TABLE foo (bar)");
  first.pragma(`application_id = ${made().pragma("application_id", { simple: true })}`);
  for (const file of [first, second]) fresh.migrate(file, ":memory:");
  expect(content(second)).toEqual(content(made()));
});

test("every new store of a process is what all steps make, also those that do not take them", () => {
  // Another list of the same steps is taken step by step.
  const byAllSteps = content(made([...MIGRATIONS]));
  expect(content(made())).toEqual(byAllSteps);
  expect(content(made())).toEqual(byAllSteps);
  expect(byAllSteps.rows).toContainEqual(["entry_text_config", expect.arrayContaining([{ k: "automerge", v: 16 }])]);
});
