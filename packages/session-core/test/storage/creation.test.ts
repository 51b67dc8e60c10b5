import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open-store.js";
import { contextNames, grow } from "../world/grow.js";
import { openedStore, storePath } from "../world/stores.js";

/** A database and its journal as they are on the disk in the middle of the transaction that creates it. */
function interruptedCreation(setUp = ""): string {
  const path = storePath();
  const creating = new Database(path);
  onTestFinished(() => void creating.close());
  creating.pragma("cache_size = 1");
  if (setUp !== "") creating.exec(setUp);
  creating.exec("BEGIN; CREATE TABLE a (x); CREATE TABLE b (x)");
  const insert = creating.prepare("INSERT INTO a VALUES (randomblob(3000))");
  for (let row = 0; row < 50; row += 1) insert.run();
  const copy = storePath();
  for (const side of ["", "-journal"]) copyFileSync(`${path}${side}`, `${copy}${side}`);
  // The first sector did not reach the disk.
  writeFileSync(copy, readFileSync(copy).fill(0, 0, 512));
  return copy;
}

test("a file whose creation a power cut interrupted is created again", async () => {
  const { session } = await grow("u1", { store: await openedStore({ path: interruptedCreation() }) });
  expect(await contextNames(session)).toBe("u1");
});

test("a file that held something before the interrupted transaction is another program's, and is left as it is", async () => {
  const path = interruptedCreation("CREATE TABLE before (x)");
  const before = readFileSync(path);
  await expect(openStore({ path })).rejects.toMatchObject({ code: "FOREIGN_FILE" });
  expect(readFileSync(path).equals(before)).toBe(true);
});
