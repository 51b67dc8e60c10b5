import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { BoughError } from "@bough/session-core";
import type { SourceRecord } from "@bough/session-core/engine";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { findingsOf, openedStore, raw, tempFolder } from "../../../session-core/test/world/stores.js";
import { opencodeFormat } from "../../src/opencode/format.js";
import { importPath } from "../../src/transfer/import-path.js";
import { drawing, MUTATIONS, mutated } from "../world/mutations.js";
import { type OpencodeSession, ran, reply, sessionInfo, text, tool, user, writeDatabase, writeFiles } from "./fixture.js";

const RUNS = 60;

const SESSIONS: readonly OpencodeSession[] = [
  {
    info: sessionInfo("ses_1", { revert: { messageID: "msg_6" } }),
    messages: [
      user("msg_1", 0, [text("one"), { type: "file", mime: "image/png", url: "data:image/png;base64,aGk=" }]),
      reply("msg_2", 10, [
        { type: "reasoning", text: "t", metadata: { anthropic: { signature: "s" } } },
        ran("c1", "bash", { command: "ls" }, "o", 12),
      ]),
      reply("msg_3", 20, [
        tool("c2", "task", { status: "completed", input: {}, output: "x", metadata: { sessionId: "ses_2" }, time: { start: 1, end: 2 } }),
      ]),
      user("msg_4", 30, [{ type: "compaction", auto: true, tail_start_id: "msg_3" }]),
      reply("msg_5", 40, [text("summary")], { summary: true, parentID: "msg_4" }),
      user("msg_6", 50, [text("later"), text("injected", { synthetic: true }), text("shown", { ignored: true })]),
      reply("msg_7", 60, [text("Par"), { type: "new-kind", value: 1 }], { error: { name: "MessageAbortedError", data: {} } }),
    ],
  },
  { info: sessionInfo("ses_2", { parentID: "ses_1" }), messages: [user("msg_8", 15, [text("count")]), reply("msg_9", 16, [text("3")])] },
];

const changes = fc.array(fc.record({ name: fc.constantFrom(...MUTATIONS), seed: fc.nat(), at: fc.nat(), other: fc.nat() }), {
  minLength: 1,
  maxLength: 6,
});

/** Every record is an entry, part of one, or reported: the numbers of records that are not reported have no gap. */
function expectNothingLost(path: string, least: number): void {
  for (const session of opencodeFormat.sessions(path)) {
    const records: readonly SourceRecord[] = [...session.records()];
    const lines = new Set(records.flatMap((record) => (record.kind === "entry" || record.kind === "merged" ? [record.line] : [])));
    const reported = records.filter(({ kind }) => kind === "problem").length;
    expect(lines.size + reported).toBeGreaterThanOrEqual(Math.max(least, ...lines));
  }
}

/** Imports twice: errors are typed, the store is sound, and the second import adds nothing. */
async function expectSound(path: string): Promise<void> {
  const store = await openedStore();
  try {
    await importPath(store, path);
  } catch (error) {
    expect(error).toBeInstanceOf(BoughError);
    return;
  }
  expect(await findingsOf(store)).toEqual([]);
  const { sessions } = await store.statistics();
  const again = await importPath(store, path);
  expect([
    again.sessions.map(({ entriesAdded }) => entriesAdded).filter((added) => added > 0),
    (await store.statistics()).sessions,
  ]).toEqual([[], sessions]);
}

/** All JSON files below a folder, in a fixed order. */
function filesBelow(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".json"));
  return names.sort().map((name) => join(folder, name));
}

/** The messages and parts of the session in this file. */
function countRecords(sessionFile: string): number {
  const storage = dirname(dirname(dirname(sessionFile)));
  const namesIn = (folder: string) => filesBelow(folder).map((path) => basename(path, ".json"));
  const messages = namesIn(join(storage, "message", basename(sessionFile, ".json")));
  return messages.length + messages.reduce((sum, message) => sum + namesIn(join(storage, "part", message)).length, 0);
}

test("of a store with any mutated files nothing is lost silently, errors are typed, and a second import adds nothing", async () => {
  await fc.assert(
    fc.asyncProperty(changes, async (given) => {
      const data = tempFolder();
      const sessions = writeFiles(data, SESSIONS);
      const files = filesBelow(data);
      const originals = new Map(files.map((path) => [path, JSON.stringify(JSON.parse(readFileSync(path, "utf8")))]));
      for (const { name, seed, at, other } of given) {
        const [path, second] = [files[at % files.length] ?? "", files[other % files.length] ?? ""];
        // One line, as the mutations of lines expect it.
        const lines = [path, second].map((file) => Buffer.from(originals.get(file) ?? ""));
        writeFileSync(path, mutated(lines[0] ?? Buffer.of(), name, drawing(seed), lines[1] ?? Buffer.of()));
      }
      await expectSound(data);
      for (const path of sessions) expectLossless(path);
    }),
    { numRuns: runs(RUNS) },
  );
});

function expectLossless(sessionFile: string): void {
  try {
    expectNothingLost(sessionFile, countRecords(sessionFile));
  } catch (error) {
    if (!(error instanceof BoughError)) throw error;
  }
}

test("of a database with any mutated records nothing is lost silently, and a second import adds nothing", async () => {
  await fc.assert(
    fc.asyncProperty(changes, async (given) => {
      const path = writeDatabase(join(tempFolder(), "opencode.db"), SESSIONS);
      raw(path, (file) => {
        const rows = ["message", "part"].flatMap((table) =>
          file
            .prepare<[], { id: string; data: string }>(`SELECT id, data FROM ${table} ORDER BY id`)
            .all()
            .map((row) => ({ table, ...row })),
        );
        for (const { name, seed, at, other } of given) {
          const [row, second] = [rows[at % rows.length], rows[other % rows.length]];
          const data = mutated(Buffer.from(row?.data ?? ""), name, drawing(seed), Buffer.from(second?.data ?? ""));
          file.prepare(`UPDATE ${row?.table} SET data = ? WHERE id = ?`).run(data.toString("utf8"), row?.id);
        }
      });
      await expectSound(path);
      expectNothingLost(path, 0);
    }),
    { numRuns: runs(RUNS) },
  );
});

test.each([
  ["the type of a part", "part", "prt_msg_1_000", (deep: string) => `{"type":${deep},"text":"one"}`],
  [
    "the state of a call",
    "part",
    "prt_msg_2_001",
    (deep: string) => `{"type":"tool","tool":"bash","callID":"c1","state":{"status":${deep}}}`,
  ],
  ["the role of a message", "message", "msg_1", (deep: string) => `{"role":${deep},"time":{"created":1}}`],
])("%s that is nested too deeply costs no other record and no other session", async (_what, table, id, damaged) => {
  const path = writeDatabase(join(tempFolder(), "opencode.db"), SESSIONS);
  const deep = "[".repeat(20_000) + "]".repeat(20_000);
  raw(path, (file) => file.prepare(`UPDATE ${table} SET data = ? WHERE id = ?`).run(damaged(deep), id));
  const store = await openedStore();
  const { sessions } = await importPath(store, path);
  expect(sessions.map(({ sessionId }) => sessionId).sort()).toEqual(["ses_1", "ses_2"]);
  const context = await (await store.openSession("ses_1")).context();
  expect(JSON.stringify(context.messages)).toContain("summary");
  expect(await findingsOf(store)).toEqual([]);
});

test("of a database with any damaged bytes errors are typed and the store stays sound", async () => {
  const bytes = fc.array(fc.record({ at: fc.nat(), value: fc.nat(255) }), { minLength: 1, maxLength: 200 });
  const whole = readFileSync(writeDatabase(join(tempFolder(), "opencode.db"), SESSIONS));
  await fc.assert(
    fc.asyncProperty(bytes, fc.option(fc.nat()), async (damage, end) => {
      const folder = tempFolder();
      const path = join(folder, "opencode.db");
      const file = Buffer.from(whole);
      for (const { at, value } of damage) file[16 + (at % (file.length - 16))] = value;
      writeFileSync(path, end === null ? file : file.subarray(0, 100 + (end % file.length)));
      const store = await openedStore();
      try {
        await importPath(store, path);
      } catch (error) {
        expect(error).toBeInstanceOf(BoughError);
      }
      expect(await findingsOf(store)).toEqual([]);
      rmSync(folder, { recursive: true });
    }),
    { numRuns: runs(RUNS) },
  );
});

test("an id that leads out of the store is not followed", async () => {
  const data = tempFolder();
  const outside = join(data, "secret");
  writeFiles(outside, [{ info: sessionInfo("ses_x"), messages: [user("msg_x", 0, [text("secret words")])] }]);
  const messages = [user("msg_1", 0, [text("one")])];
  writeFiles(join(data, "opencode"), [{ info: sessionInfo("ses_1", { parentID: "../../secret" }), messages }]);
  const file = join(data, "opencode", "storage", "message", "ses_1", "msg_1.json");
  rmSync(join(data, "opencode", "storage", "part"), { recursive: true });
  writeFileSync(file, readFileSync(file, "utf8").replace('"id": "msg_1"', '"id": "../../../secret/storage/part/msg_x"'));
  const store = await openedStore();
  await importPath(store, join(data, "opencode"));
  const { entries } = await store.statistics();
  expect(entries).toBe(0);
});
