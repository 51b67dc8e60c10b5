import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Session, Store } from "@bough/session-core";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { findingsOf, openedStore, tempFolder } from "../../../session-core/test/world/stores.js";
import { syncSessions } from "../../src/transfer/sync.js";
import { contextTexts, importedPath, treeLines } from "../world/imported-file.js";
import { only } from "../world/only.js";

const MESSAGES =
  "CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL, token_count INTEGER, finish_reason TEXT, reasoning_content TEXT)";
const SESSIONS =
  "CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, model TEXT, parent_session_id TEXT, started_at REAL, ended_at REAL, end_reason TEXT, title TEXT, input_tokens INTEGER)";

interface Row {
  readonly session?: string;
  readonly role: string;
  readonly content: string | null;
  readonly more?: Readonly<Record<string, unknown>>;
}

const CALLS = JSON.stringify([{ id: "c1", type: "function", function: { name: "terminal", arguments: '{"command":"ls"}' } }]);

const ROWS: readonly Row[] = [
  { role: "user", content: "Fix it" },
  { role: "assistant", content: "I look.", more: { tool_calls: CALLS, reasoning_content: "Hm.", finish_reason: "tool_calls" } },
  { role: "tool", content: '{"error":"no"}', more: { tool_call_id: "c1", tool_name: "terminal" } },
  { role: "assistant", content: "Done.", more: { finish_reason: "stop" } },
  { session: "s2", role: "user", content: "[CONTEXT COMPACTION — REFERENCE ONLY] All done." },
  { session: "s2", role: "user", content: "More" },
];

/** Writes a database of Hermes. `hasSessions`: false for the oldest versions. */
function writeState(path: string, rows = ROWS, hasSessions = true): string {
  mkdirSync(dirname(path), { recursive: true });
  const database = new Database(path);
  database.exec(MESSAGES);
  if (hasSessions) {
    database.exec(SESSIONS);
    const insert = database.prepare("INSERT INTO sessions VALUES (?, 'cli', 'm', ?, ?, NULL, ?, ?, 7)");
    insert.run("s1", null, 1_790_000_000.5, "compression", "A title");
    insert.run("s2", "s1", 1_790_000_100, null, null);
  }
  for (const [at, { session = "s1", role, content, more = {} }] of rows.entries()) {
    const row = { session_id: session, role, content, timestamp: 1_790_000_001 + at, ...more };
    const names = Object.keys(row);
    database.prepare(`INSERT INTO messages (${names.join()}) VALUES (${names.map(() => "?").join()})`).run(...Object.values(row));
  }
  database.close();
  return path;
}

describe("the sessions of Hermes", () => {
  test("become prompts, replies with thinking and calls, and results; a compression goes on in a session of its own", async () => {
    const { store, sessions } = await importedPath(writeState(join(tempFolder(), "state.db")));
    expect(await Promise.all(sessions.map(treeLines))).toEqual([
      [
        "message-1 < -: user Fix it",
        "message-2 < message-1: assistant (Hm.) I look. [terminal c1]",
        'message-3 < message-2: error c1 {"error":"no"}',
        "message-4 < message-3: assistant Done.",
      ],
      ['message-5 < -: compaction "All done." keeps nothing', "message-6 < message-5: user More"],
    ]);
    const { items } = await store.listSessions({});
    expect(items.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toMatchObject([
      { id: "s1", title: "A title", createdAtMs: 1_790_000_000_500, source: { format: "hermes" } },
      { id: "s2", kind: "conversation", parent: { sessionId: "s1" } },
    ]);
    expect(await contextTexts(sessions[1] ?? only(sessions))).toEqual(["All done.", "More"]);
  });

  test("are read without their prompts of the system, which all rows together have in memory", async () => {
    const path = writeState(join(tempFolder(), "state.db"));
    const database = new Database(path);
    // Whoever reads it gets an error.
    database.exec("ALTER TABLE sessions ADD COLUMN system_prompt TEXT GENERATED ALWAYS AS (json('no JSON')) VIRTUAL");
    database.close();
    const { sessions } = await importedPath(path);
    expect((await Promise.all(sessions.map((session) => session.record()))).map(({ title }) => title)).toEqual(["A title", null]);
  });

  test("have what a rewind took back as a branch, also at their end, which a sync finds", async () => {
    const home = tempFolder();
    const path = writeState(join(home, ".hermes/state.db"), ROWS.slice(0, 4));
    const database = new Database(path);
    database.exec("ALTER TABLE messages ADD COLUMN active INTEGER NOT NULL DEFAULT 1");
    database.exec("ALTER TABLE messages ADD COLUMN compacted INTEGER NOT NULL DEFAULT 0");
    database.exec("ALTER TABLE sessions ADD COLUMN rewind_count INTEGER NOT NULL DEFAULT 0");
    const say = database.prepare("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s1', 'user', ?, 1790000900)");
    say.run("No");
    database.exec("UPDATE messages SET active = 0 WHERE id = 5");
    say.run("Yes");
    const store = await openedStore();
    const sync = async () => only((await syncSessions(store, { environment: { env: {}, home, platform: "linux" } })).agents);
    await sync();
    const session = await store.openSession("s1");
    expect((await treeLines(session)).slice(3)).toEqual([
      "message-4 < message-3: assistant Done.",
      "message-5 < message-4: user No",
      "message-6 < message-4: user Yes",
    ]);
    expect((await contextTexts(session)).slice(3)).toEqual(["Done.", "Yes"]);
    database.exec("UPDATE messages SET active = 0 WHERE id = 6");
    database.exec("UPDATE sessions SET rewind_count = 2 WHERE id = 's1'");
    await sync();
    expect((await contextTexts(await store.openSession("s1"))).slice(3)).toEqual(["Done."]);
    // A compression in the same session replaces all that was in use by its summary.
    database.exec("UPDATE messages SET active = 0, compacted = 1 WHERE active = 1 AND session_id = 's1'");
    say.run("[CONTEXT COMPACTION — REFERENCE ONLY] All done.");
    say.run("More");
    database.close();
    await sync();
    expect((await treeLines(await store.openSession("s1"))).slice(6)).toEqual([
      'message-7 < message-4: compaction "All done." keeps nothing',
      "message-8 < message-7: user More",
    ]);
  });

  describe("that a newer version compressed", () => {
    const START = "[CONTEXT COMPACTION — REFERENCE ONLY] All done.\n\n";
    const END = "--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---";

    /** A database with these rows of the session `s1`, and functions that add rows and run statements. */
    function newest(home: string, rows: readonly Row[]) {
      const database = new Database(writeState(join(home, ".hermes/state.db"), []));
      onTestFinished(() => void database.close());
      for (const name of [
        "active INTEGER NOT NULL DEFAULT 1",
        "compacted INTEGER NOT NULL DEFAULT 0",
        "_compressed_summary INTEGER DEFAULT 0",
      ])
        database.exec(`ALTER TABLE messages ADD COLUMN ${name}`);
      const add = ({ role, content, more = {} }: Row, timestamp: number) => {
        const row = { session_id: "s1", role, content, timestamp, ...more };
        const names = Object.keys(row);
        database.prepare(`INSERT INTO messages (${names.join()}) VALUES (${names.map(() => "?").join()})`).run(...Object.values(row));
      };
      for (const [at, row] of rows.entries()) add(row, at + 1);
      return { add, run: (sql: string) => database.exec(sql) };
    }

    /** The session `s1` after a sync. */
    async function synced(store: Store, home: string): Promise<Session> {
      await syncSessions(store, { environment: { env: {}, home, platform: "linux" } });
      return store.openSession("s1");
    }

    const say = (...words: readonly string[]): readonly Row[] =>
      words.map((content) => ({ role: content.startsWith("u") ? "user" : "assistant", content }));
    const marked = { _compressed_summary: 1 };

    test("have a compaction that keeps what was copied, in front of the summary and behind it, once", async () => {
      const home = tempFolder();
      const rows = say("u1", "a1", "u2", "a2", "u3", "a3");
      const { add, run } = newest(home, rows);
      const store = await openedStore();
      await synced(store, home);
      run("UPDATE messages SET active = 0, compacted = id <= 4");
      for (const at of [0, -1, 4, 5])
        add(rows[at] ?? { role: "assistant", content: `${START}${END}`, more: marked }, at === -1 ? 7 : at + 1);
      const session = await synced(store, home);
      expect((await treeLines(session)).slice(5)).toEqual([
        "message-6 < message-5: assistant a3",
        'message-8 < message-6: compaction "All done." keeps message-1',
      ]);
      expect(await contextTexts(session)).toEqual(["u1", "All done.", "u3", "a3"]);
      // A rewind of a copy, and another compression, whose summary is put into the message that it keeps.
      run("UPDATE messages SET active = 0 WHERE id = 10");
      add({ role: "assistant", content: "a4" }, 11);
      run("UPDATE messages SET active = 0, compacted = 1 WHERE active = 1");
      const prior = "[PRIOR CONTEXT — for reference only; not a new message]\na4\n\n[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]\n\n";
      add({ role: "assistant", content: `${prior}${START.replace("All", "More")}${END}`, more: marked }, 11);
      const again = await openedStore();
      for (const one of [store, again]) expect(await contextTexts(await synced(one, home))).toEqual(["More done.", "a4"]);
      expect((await treeLines(await again.openSession("s1"))).slice(6)).toEqual([
        'message-8 < message-6: compaction "All done." keeps message-1',
        "message-11 < message-8: assistant a4",
        'message-12 < message-11: compaction "More done." keeps message-11',
      ]);
      expect([await findingsOf(store), await findingsOf(again)]).toEqual([[], []]);
    });

    test("keep what a session that continues another one has in front of its summary, whoever says it", async () => {
      const home = tempFolder();
      newest(home, [...say("u1", "a1"), { role: "user", content: "Whatever it says", more: marked }, ...say("a2")]);
      const session = await synced(await openedStore(), home);
      expect(await contextTexts(session)).toEqual(["u1", "a1", "Whatever it says", "a2"]);
      expect((await treeLines(session))[2]).toBe('message-3 < message-2: compaction "Whatever it says" keeps message-1');
    });

    test("have the request behind a summary, and images beside it, as a message", async () => {
      const home = tempFolder();
      const text = `${START}${END}\n\nGo on`;
      const parts = `\0json:${JSON.stringify([
        { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
        { type: "text", text },
      ])}`;
      newest(home, [
        { role: "user", content: text },
        { role: "user", content: parts, more: marked },
      ]);
      const session = await synced(await openedStore(), home);
      expect(await treeLines(session)).toEqual([
        'message-1 < -: compaction "All done." keeps nothing',
        expect.stringMatching(/^\S+ < message-1: user Go on$/),
        expect.stringMatching(/^message-2 < \S+: compaction "All done." keeps nothing$/),
        expect.stringMatching(/^\S+ < message-2: user .*Go on$/),
      ]);
    });

    test("are a branch from the start where messages were only shortened", async () => {
      const home = tempFolder();
      const rows = say("u1", "a1 long", "u2", "a2");
      const { add, run } = newest(home, rows);
      const store = await openedStore();
      await synced(store, home);
      run("UPDATE messages SET active = 0, compacted = 1");
      for (const [at, row] of rows.entries()) add(at === 1 ? { ...row, content: "a1" } : row, at + 1);
      add({ role: "user", content: "u3" }, 9);
      for (const one of [store, await openedStore()]) {
        expect(await contextTexts(await synced(one, home))).toEqual(["u1", "a1", "u2", "a2", "u3"]);
        expect(await findingsOf(one)).toEqual([]);
      }
    });
  });

  test("of a database without a table of sessions are those of its messages", async () => {
    const { sessions } = await importedPath(writeState(join(tempFolder(), "state.db"), ROWS.slice(0, 2), false));
    expect(only(sessions).id).toBe("s1");
  });

  test("are found in its home and in profiles; a sync adds what is new, and skips what is not, and a session without messages", async () => {
    const home = tempFolder();
    writeState(join(home, ".hermes/state.db"), ROWS.slice(0, 4));
    writeState(join(home, ".hermes/profiles/work/state.db"), [{ session: "p1", role: "user", content: "Hi" }], false);
    const store = await openedStore();
    const sync = async () => only((await syncSessions(store, { environment: { env: {}, home, platform: "linux" } })).agents);
    expect((await sync()).sessions.map(({ sessionId, entriesAdded }) => [sessionId, entriesAdded])).toEqual([
      ["p1", 1],
      ["s1", 4],
    ]);
    const database = new Database(join(home, ".hermes/state.db"));
    database.prepare("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s1', 'user', 'Again', 1790000900)").run();
    database.close();
    expect((await sync()).sessions.map(({ sessionId, entriesAdded }) => [sessionId, entriesAdded])).toEqual([["s1", 1]]);
    expect((await sync()).sessions).toEqual([]);
  });

  test("with values of any kind are read or reported, and a second import adds nothing", async () => {
    const odd: readonly Row[] = [null, "", "{", "[{", '[{"type":"text","text":"a"}]', "[1]"].flatMap((content) =>
      ["user", "assistant", "tool", "system", "session_meta"].map((role) => ({ role, content, more: { tool_calls: content } })),
    );
    const path = writeState(join(tempFolder(), "state.db"), odd);
    const { store, sessions } = await importedPath(path);
    expect((await treeLines(sessions[0] ?? only(sessions))).length).toBe(odd.length);
    const again = await importedPath(path, store);
    expect(await Promise.all(again.sessions.map(async (session) => (await treeLines(session)).length))).toContain(odd.length);
  });
});
