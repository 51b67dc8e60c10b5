import fs, { writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { importPath } from "../../src/transfer/import-path.js";
import { openedStore, tempFolder } from "../world/stores.js";

/** What is asked of the file system from here to the end of the test, by path. */
function counted(): { readonly opened: string[]; readonly listed: string[] } {
  const { openSync, readdirSync } = fs;
  const calls = { opened: [] as string[], listed: [] as string[] };
  const through = <F extends (...args: never[]) => unknown>(real: F, into: string[]) =>
    new Proxy(real, {
      apply: (call, self, args) => {
        into.push(String(args[0]));
        return Reflect.apply(call, self, args);
      },
    });
  fs.openSync = through(openSync, calls.opened);
  fs.readdirSync = through(readdirSync, calls.listed);
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fs, { openSync, readdirSync });
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

test("an agent's file is opened as often whether its name comes before its session's or after it", async () => {
  const folder = claudeFolder(16);
  const store = await openedStore();
  const { opened } = counted();
  await importPath(store, folder);
  const times = new Map<string, number>();
  for (const path of opened) if (path.includes("agent-")) times.set(path, (times.get(path) ?? 0) + 1);
  expect([times.size, new Set(times.values()).size]).toEqual([16, 1]);
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
