import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmodSync, copyFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { copiesLeft, raw, tempFolder } from "../../../session-core/test/world/stores.js";
import { SourceUnreadableError, UnknownFormatError } from "../../src/errors.js";
import { SourceDatabase } from "../../src/source/source-database.js";

/** Each transaction moves an amount between `moved` rows of `rows`, so the sum of a consistent state is 0. */
const WRITER = `
  const Database = require(${JSON.stringify(createRequire(import.meta.url).resolve("better-sqlite3"))});
  const [path, mode, rows, moved] = process.argv.slice(1).map((value) => (Number.isNaN(Number(value)) ? value : Number(value)));
  const database = new Database(path);
  database.pragma("journal_mode = " + mode);
  database.pragma("synchronous = off");
  database.pragma("cache_size = 5");
  database.pragma("wal_autocheckpoint = 50");
  database.exec("CREATE TABLE account (id INTEGER PRIMARY KEY, amount INTEGER, filling TEXT)");
  const insert = database.prepare("INSERT INTO account VALUES (?, 0, ?)");
  database.transaction(() => { for (let id = 0; id < rows; id += 1) insert.run(id, "x".repeat(3000)); })();
  const add = database.prepare("UPDATE account SET amount = amount + ?, filling = ? WHERE id = ?");
  const move = database.transaction((turn) => {
    for (let at = 0; at < moved; at += 1) add.run(at % 2 === 0 ? turn : -turn, String(turn % 10).repeat(3000), (turn * 7 + at * 331) % rows);
  });
  process.send("ready");
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let turn = 1; ; turn += 1) {
    move(turn);
    Atomics.wait(pause, 0, 0, 2);
  }
`;

const MODES = ["wal", "delete", "truncate", "persist"] as const;

/** A process that writes all the time, until the test ends or kills it. */
async function writer(path: string, mode: string, rows: number, moved: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, ["-e", WRITER, path, mode, String(rows), String(moved)], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child, "message");
  return child;
}

async function killed(child: ChildProcess): Promise<void> {
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

/** What a reader finds: the sum, and the damage that SQLite sees. */
function readSum(path: string, mostCopiedBytes?: number): object {
  const database = new SourceDatabase(path, mostCopiedBytes === undefined ? {} : { mostCopiedBytes });
  try {
    const sum = [...database.rows("SELECT amount FROM account")].reduce((total, { amount }) => total + Number(amount), 0);
    return { sum, damage: database.all("PRAGMA integrity_check") };
  } finally {
    database.close();
  }
}

/** The same, or the message that a program without a write-ahead log wrote all the time. */
function readSumOrBusy(path: string, mode: string, mostCopiedBytes?: number): object {
  try {
    return readSum(path, mostCopiedBytes);
  } catch (error) {
    if (mode === "wal" || !(error instanceof SourceUnreadableError)) throw error;
    expect(error.reason).toMatch(/^another program writes it all the time or locks it; try again/);
    return CONSISTENT;
  }
}

const CONSISTENT = { sum: 0, damage: [{ integrity_check: "ok" }] };

/** Name, size, time of change and content of each file of a folder. */
function stateOf(folder: string): readonly string[] {
  return readdirSync(folder).map((name) => {
    const { size, mtimeNs, ctimeNs, mode } = statSync(join(folder, name), { bigint: true });
    const content = createHash("sha256")
      .update(readFileSync(join(folder, name)))
      .digest("hex");
    return [name, size, mtimeNs, ctimeNs, mode, content].join(" ");
  });
}

/** Transactions that write all of a small database, and short ones in a database that takes many of them to copy. */
const WRITERS = MODES.flatMap((mode) => [
  { mode, rows: 40, moved: 40 },
  { mode, rows: 1500, moved: 2 },
]);

test.each(WRITERS)(
  "while another process writes $moved of $rows rows in mode $mode, a reading is of one moment",
  async ({ mode, rows, moved }) => {
    const folder = tempFolder();
    const path = join(folder, "live.db");
    const child = await writer(path, mode, rows, moved);
    for (let reading = 0; reading < 10; reading += 1) expect(readSumOrBusy(path, mode)).toEqual(CONSISTENT);
    expect(child.exitCode).toBeNull();
    expect(readdirSync(folder).filter((name) => !/^live\.db(-wal|-shm|-journal)?$/.test(name))).toEqual([]);
  },
);

test.each(MODES)("a database in use that is too long for a copy is read where it is, in mode %s", async (mode) => {
  const path = join(tempFolder(), "live.db");
  await writer(path, mode, 40, 40);
  for (let reading = 0; reading < 20; reading += 1) expect(readSumOrBusy(path, mode, 0)).toEqual(CONSISTENT);
});

test.each(MODES)("after its writer was killed in mode %s, the last whole transaction is read and no file is touched", async (mode) => {
  for (let run = 0; run < 3; run += 1) {
    const folder = tempFolder();
    const path = join(folder, "killed.db");
    await killed(await writer(path, mode, 20 + 2 * run, 20 + 2 * run));
    const before = stateOf(folder);
    expect(readSum(path)).toEqual(CONSISTENT);
    expect(stateOf(folder)).toEqual(before);
  }
});

/** A database in this folder with a write-ahead log that was not written back; its writer is gone. */
function walDatabase(folder: string): string {
  const path = join(folder, "left.db");
  const live = join(tempFolder(), "live.db");
  raw(live, (file) => {
    file.pragma("journal_mode = WAL");
    file.exec("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO note (text) VALUES ('in the log')");
    for (const suffix of ["", "-wal"]) copyFileSync(live + suffix, path + suffix);
  });
  return path;
}

function notesOf(path: string): readonly unknown[] {
  const database = new SourceDatabase(path);
  try {
    return database.all("SELECT text FROM note ORDER BY id").map(({ text }) => text);
  } finally {
    database.close();
  }
}

test("a write-ahead log without its index is read, and no index is created", () => {
  const folder = tempFolder();
  const path = walDatabase(folder);
  const before = stateOf(folder);
  expect(notesOf(path)).toEqual(["in the log"]);
  expect(stateOf(folder)).toEqual(before);
});

test("a database in write-ahead mode that was closed is read, and no log is created", () => {
  const folder = tempFolder();
  const path = walDatabase(folder);
  raw(path, (file) => file.pragma("wal_checkpoint(TRUNCATE)"));
  rmSync(`${path}-wal`, { force: true });
  rmSync(`${path}-shm`, { force: true });
  expect(readdirSync(folder)).toEqual(["left.db"]);
  const before = stateOf(folder);
  expect(notesOf(path)).toEqual(["in the log"]);
  expect(stateOf(folder)).toEqual(before);
});

test("a database in a folder without permission to write is read", () => {
  const folder = tempFolder();
  const path = walDatabase(folder);
  chmodSync(path, 0o400);
  chmodSync(`${path}-wal`, 0o400);
  chmodSync(folder, 0o500);
  onTestFinished(() => chmodSync(folder, 0o700));
  const before = stateOf(folder);
  expect(notesOf(path)).toEqual(["in the log"]);
  expect(stateOf(folder)).toEqual(before);
});

test("a program may write while its database is read, and is not delayed by an open reading", () => {
  const path = join(tempFolder(), "used.db");
  raw(path, (file) => {
    file.exec("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO note (text) VALUES ('one'), ('two')");
    const database = new SourceDatabase(path);
    const rows = database.rows("SELECT text FROM note ORDER BY id");
    expect(rows.next().value).toEqual({ text: "one" });
    file.pragma("busy_timeout = 0");
    file.exec("INSERT INTO note (text) VALUES ('three')");
    expect([...rows]).toEqual([{ text: "two" }]);
    database.close();
  });
  expect(notesOf(path)).toEqual(["one", "two", "three"]);
});

test("an iteration that was left early does not keep the database open, and a query may run inside another one", () => {
  const copies = copiesLeft();
  const path = walDatabase(tempFolder());
  raw(path, (file) => file.exec("INSERT INTO note (text) VALUES ('b'), ('c')"));
  const database = new SourceDatabase(path);
  for (const { text } of database.rows("SELECT text FROM note ORDER BY id")) {
    expect(database.all("SELECT count(*) AS notes FROM note")).toEqual([{ notes: 3 }]);
    expect([...database.rows("SELECT id FROM note ORDER BY id LIMIT 1")]).toEqual([{ id: 1 }]);
    if (text === "b") break;
  }
  expect(database.tables()).toEqual(new Set(["note"]));
  expect(database.columns("note")).toEqual(new Set(["id", "text"]));
  expect(database.columns("none")).toEqual(new Set());
  expect(() => database.all("DELETE FROM note RETURNING id")).toThrow(SourceUnreadableError);
  database.close();
  expect(copies()).toEqual([]);
});

test("damage, a foreign file, a missing file and a folder are one typed error each, and no copy is left", () => {
  const copies = copiesLeft();
  const folder = tempFolder();
  const path = join(folder, "long.db");
  raw(path, (file) => {
    file.exec("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT)");
    for (let id = 0; id < 50; id += 1) file.prepare("INSERT INTO note (text) VALUES (?)").run("x".repeat(3000));
  });
  truncateSync(path, 4096 * 20);
  expect(() => notesOf(path)).toThrow("long.db cannot be read: the database is damaged.");
  writeFileSync(join(folder, "text.db"), "SQLite format 4\0 and then nothing that SQLite knows".padEnd(5000, "x"));
  expect(() => notesOf(join(folder, "text.db"))).toThrow(UnknownFormatError);
  expect(() => notesOf(join(folder, "none.db"))).toThrow("There is no file and no folder at");
  expect(() => notesOf(folder)).toThrow("it is a folder, not a file");
  expect(copies()).toEqual([]);
});

test("a database that is locked for itself by another program is read from its copy", () => {
  const path = join(tempFolder(), "locked.db");
  raw(path, (file) => file.exec("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO note (text) VALUES ('one')"));
  raw(path, (file: Database.Database) => {
    file.pragma("locking_mode = EXCLUSIVE");
    file.exec("BEGIN EXCLUSIVE");
    expect(notesOf(path)).toEqual(["one"]);
    expect(existsSync(`${path}-shm`)).toBe(false);
  });
});
