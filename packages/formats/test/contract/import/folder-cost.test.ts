import fs, { writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { copiesLeft, openedStore, raw, tempFolder } from "../../../../session-core/test/world/stores.js";
import { readHead } from "../../../src/source/json-lines.js";
import { closeDetected, openDetected, tablesOf } from "../../../src/source/source-database.js";
import { SourceFolders } from "../../../src/source/source-folders.js";
import { importPath } from "../../../src/transfer/import-path.js";

/** What is asked of the file system from here to the end of the test, by path. */
function counted(): { readonly opened: string[]; readonly listed: string[]; readonly made: string[] } {
  const { openSync, readdirSync, mkdtempSync } = fs;
  const calls = { opened: [] as string[], listed: [] as string[], made: [] as string[] };
  const through = <F extends (...args: never[]) => unknown>(real: F, into: string[]) =>
    new Proxy(real, {
      apply: (call, self, args) => {
        into.push(String(args[0]));
        return Reflect.apply(call, self, args);
      },
    });
  fs.openSync = through(openSync, calls.opened);
  fs.readdirSync = through(readdirSync, calls.listed);
  fs.mkdtempSync = through(mkdtempSync, calls.made);
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fs, { openSync, readdirSync, mkdtempSync });
    syncBuiltinESMExports();
  });
  return calls;
}

const id = (letter: string, at: number) => `${letter}0000000-0000-4000-8000-${String(at).padStart(12, "0")}`;

function claudeLine(uuid: string, sessionId: string, rest: object): string {
  const common = { type: "user", uuid, parentUuid: null, sessionId, timestamp: "2025-01-01T00:00:00Z" };
  return `${JSON.stringify({ ...common, message: { role: "user", content: `said in ${uuid}` }, ...rest })}\n`;
}

/** As many sessions of Claude Code in one folder, each with an agent beside it, whose names come before and after it. */
function claudeFolder(sessions: number): string {
  const folder = tempFolder();
  for (let at = 0; at < sessions; at++) {
    const letter = at % 2 === 0 ? "a" : "b";
    const agentId = at.toString(16).padStart(8, "0");
    writeFileSync(join(folder, `${id(letter, at)}.jsonl`), claudeLine(id("c", at), id(letter, at), { isSidechain: false }));
    const agent = claudeLine(id("d", at), id(letter, at), { isSidechain: true, agentId });
    writeFileSync(join(folder, `agent-${agentId}.jsonl`), agent);
  }
  return folder;
}

/** As many pi sessions, each with a folder of one agent, which has one too. */
function piFolder(sessions: number): string {
  const folder = tempFolder();
  for (let at = 0; at < sessions; at++) {
    for (const [name, own] of [
      ["", "s"],
      ["/explore", "e"],
      ["/explore/deeper", "d"],
    ]) {
      fs.mkdirSync(join(folder, `s${at}${name}`), { recursive: true });
      const header = { type: "session", version: 3, id: `${own}${at}`, timestamp: "2025-01-01T00:00:00Z" };
      const entry = { type: "message", id: "m", parentId: null, message: { role: "user", content: "hi" } };
      writeFileSync(join(folder, `s${at}${name}.jsonl`), `${JSON.stringify(header)}\n${JSON.stringify(entry)}\n`);
    }
  }
  return folder;
}

async function callsFor(folder: string, sessions: number) {
  const store = await openedStore();
  const calls = counted();
  const report = await importPath(store, folder);
  expect([report.sessions.length, report.failed]).toEqual([sessions, []]);
  return {
    opened: calls.opened.filter((path) => path.startsWith(folder)).length,
    listed: calls.listed.filter((path) => path.startsWith(folder)),
  };
}

test("an agent's file is opened twice where it is read with its session, four times where its name comes first", async () => {
  const folder = claudeFolder(16);
  const store = await openedStore();
  const { opened } = counted();
  await importPath(store, folder);
  const times = new Map<string, number>();
  for (const path of opened) if (path.includes("agent-")) times.set(path, (times.get(path) ?? 0) + 1);
  // For the id of its session and, held, for all of it; by itself also for its format and its header.
  expect([times.size, [...times.values()].filter((count) => count === 2).length]).toEqual([16, 8]);
  expect(new Set(times.values())).toEqual(new Set([2, 4]));
});

test("the file of a session is opened once by an import of its folder", async () => {
  const folder = piFolder(16);
  const store = await openedStore();
  const { opened } = counted();
  await importPath(store, folder);
  const files = opened.filter((path) => path.startsWith(folder) && !path.includes("explore"));
  expect([files.length, new Set(files).size]).toEqual([16, 16]);
});

test.each([
  ["Claude Code sessions with agents beside them", claudeFolder, 2],
  ["pi sessions with agents that started agents", piFolder, 3],
])("a folder of %s is listed once, and each session costs the same number of opened files", async (_what, make, each) => {
  const costs = [];
  for (const sessions of [8, 16, 32]) costs.push(await callsFor(make(sessions), sessions * each));
  const [few, more, many] = costs.map(({ opened, listed }) => ({ opened, listed: listed.length }));
  expect(few?.opened).toBeGreaterThanOrEqual(8 * each);
  for (const { listed } of costs) expect(new Set(listed).size).toBe(listed.length);
  expect(many).toEqual({ opened: (more?.opened ?? 0) * 2, listed: expect.any(Number) });
  expect(more).toEqual({ opened: (few?.opened ?? 0) * 2, listed: expect.any(Number) });
});

/** The tables that a format is detected by, and a session of it. */
const DATABASES = {
  opencode: `CREATE TABLE session (id TEXT, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT, time_created INT, time_updated INT);
    CREATE TABLE message (id TEXT, session_id TEXT, time_created INT, time_updated INT, data TEXT);
    CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, time_created INT, time_updated INT, data TEXT);
    INSERT INTO session VALUES ('ses_1', 'p', NULL, '/home/ada', 'Parser', 1, 1);
    INSERT INTO message VALUES ('msg_1', 'ses_1', 1, 1, '{"role":"user","time":{"created":1}}');
    INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', 1, 1, '{"type":"text","text":"hello"}');`,
  "Cursor's editor": `CREATE TABLE ItemTable (key TEXT, value TEXT); CREATE TABLE cursorDiskKV (key TEXT, value TEXT);
    INSERT INTO cursorDiskKV VALUES ('bubbleId:c1:b1', '{"bubbleId":"b1","type":1,"text":"hello"}'),
      ('composerData:c1', '{"composerId":"c1","createdAt":1,"fullConversationHeadersOnly":[{"bubbleId":"b1","type":1}]}');`,
  Hermes: `CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL);
    INSERT INTO messages VALUES (1, 's1', 'user', 'hello', NULL, NULL, NULL, 1), (2, 's2', 'user', 'hello', NULL, NULL, NULL, 2);`,
  "another program": "CREATE TABLE note (text TEXT)",
} as const;

/** A database that its program closed in write-ahead mode: SQLite cannot read it where it is without creating a file. */
function closedDatabase(folder: string, kind: keyof typeof DATABASES): string {
  const path = join(folder, `${kind.length}.db`);
  raw(path, (file) => {
    file.pragma("journal_mode = WAL");
    file.exec(DATABASES[kind]);
  });
  return path;
}

const copiesIn = (made: readonly string[]) => made.filter((path) => path.includes("bough-source-")).length;

test.each([
  ["opencode", 1],
  ["Cursor's editor", 1],
  ["Hermes", 2],
  ["another program", 0],
] as const)(
  "a closed database of %s is copied once, for its detection and its sessions, %i, and the copy is removed",
  async (kind, sessions) => {
    const folder = tempFolder();
    closedDatabase(folder, kind);
    const [timestamp, message] = ["2025-01-01T00:00:00Z", { role: "user", content: "Hi", timestamp: 1 }];
    const records = [
      { type: "session", version: 3, id: "pi", timestamp },
      { type: "message", id: "u", parentId: null, timestamp, message },
    ];
    writeFileSync(join(folder, "pi.jsonl"), records.map((record) => `${JSON.stringify(record)}\n`).join(""));
    const [store, copies, { made }] = [await openedStore(), copiesLeft(), counted()];
    const report = await importPath(store, folder);
    expect([report.failed, report.sessions.filter(({ format }) => format !== "pi").length]).toEqual([[], sessions]);
    expect(copiesIn(made)).toBe(1);
    expect(copies()).toEqual([]);
  },
);

test("an import that ends between the detection and the session of a database leaves it closed", async () => {
  const folder = tempFolder();
  const head = readHead(closedDatabase(folder, "opencode"));
  const folders = new SourceFolders();
  const { made } = counted();
  expect(tablesOf(head, folders)).toContain("session");
  const kept = openDetected(head.path, folders);
  expect(copiesIn(made)).toBe(1);
  expect(kept.all("SELECT title FROM session")).toEqual([{ title: "Parser" }]);
  kept.close();
  expect(tablesOf(readHead(head.path), folders)).toContain("session");
  closeDetected(folders);
  const again = openDetected(head.path, folders);
  expect(copiesIn(made)).toBe(3);
  again.close();
});
