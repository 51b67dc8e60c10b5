import { mkdirSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildSessionContext, type Session } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { collected, findingsOf, openedStore, tempFolder } from "../../../session-core/test/world/stores.js";
import { codexFormat } from "../../src/codex/format.js";
import { SourceFolders } from "../../src/source/source-folders.js";
import { importPath } from "../../src/transfer/import-path.js";
import { syncSessions } from "../../src/transfer/sync.js";
import { fileOf } from "../world/sources.js";
import { call, entriesIn, event, line, message, meta, output, THREAD } from "./rollout.js";

const CHILD = "0199a0f1-2222-7000-8000-000000000002";

/** A rollout at its usual place in the folder of Codex. */
function rolloutIn(home: string, id: string, lines: readonly object[], folder = "sessions/2026/01/02"): string {
  const path = join(home, folder, `rollout-2026-01-02T00-00-00-${id}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  return fileOf([...lines, ""], `rollout-2026-01-02T00-00-00-${id}.jsonl`, dirname(path));
}

function sessionAt(path: string) {
  const [session] = [...codexFormat.sessions(path, new SourceFolders())];
  if (session === undefined) throw new RangeError("no session");
  return session;
}

const bytesOf = (lines: readonly object[]) => Buffer.byteLength(lines.map((record) => `${JSON.stringify(record)}\n`).join(""));

describe("a fork that continues the file of its source", () => {
  const source = [meta(), message("user", "u1"), message("assistant", "a1"), message("user", "u2"), message("assistant", "a2")];
  const base = { thread_id: THREAD, end_ordinal_exclusive: 3, end_byte_offset: bytesOf(source.slice(0, 3)) };
  const fork = [meta({ id: CHILD, forked_from_id: THREAD, history_base: base }), message("user", "u3"), message("assistant", "a3")];

  test("has the entries of its source up to there, with their ids, and is linked to it", async () => {
    const home = tempFolder();
    const [first, second] = [rolloutIn(home, THREAD, source, "sessions/2026/01/01"), rolloutIn(home, CHILD, fork)];
    const [ofSource, ofFork] = [first, second].map((path) => entriesIn([...sessionAt(path).records()]));
    expect(ofFork?.slice(0, 3).map(({ id }) => id)).toEqual(ofSource?.slice(0, 3).map(({ id }) => id));
    expect(ofFork).toHaveLength(5);
    expect(sessionAt(second).header).toMatchObject({ sessionId: CHILD, kind: "conversation", parent: { sessionId: THREAD } });
    const store = await openedStore();
    await importPath(store, home);
    const { messages } = await buildSessionContext(await store.openSession(CHILD));
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(await findingsOf(store)).toEqual([]);
  });

  test("reports that the file of its source is missing, and has its own entries", () => {
    const records = [...sessionAt(rolloutIn(tempFolder(), CHILD, fork)).records()];
    expect(records.filter(({ kind }) => kind === "problem")).toMatchObject([{ problem: { code: "unreadable-file", line: 1 } }]);
    expect(entriesIn(records)).toHaveLength(3);
  });

  test("is read on without its source", () => {
    const home = tempFolder();
    rolloutIn(home, THREAD, source, "sessions/2026/01/01");
    const session = sessionAt(rolloutIn(home, CHILD, fork));
    for (const _ of session.records());
    const position = session.position?.();
    const grown = sessionAt(rolloutIn(home, CHILD, [...fork, message("user", "u4")]));
    const rest = entriesIn([...grown.records(position)]);
    expect(rest.at(-1)).toMatchObject({ parentId: rest.at(-2)?.id, payload: { message: { role: "user" } } });
    expect(rest).toHaveLength(2);
  });
});

describe("the session of an agent", () => {
  const spawned = { subagent: { thread_spawn: { parent_thread_id: THREAD, depth: 1, agent_nickname: "Euclid", agent_role: "explorer" } } };
  const agent = [meta({ id: CHILD, source: spawned }), message("user", "find it"), message("assistant", "found")];

  test.each([
    ["the output of the call", [output("c1", JSON.stringify({ agent_id: CHILD }))]],
    ["an event with both", [event("collab_agent_spawn_end", { call_id: "c1", new_thread_id: CHILD })]],
    ["the activity of the agent", [event("sub_agent_activity", { event_id: "c1", agent_thread_id: CHILD })]],
  ])("is linked to the call that started it by %s", async (_, evidence) => {
    const home = tempFolder();
    rolloutIn(home, THREAD, [meta(), message("user", "go"), call("c1", "spawn_agent", { message: "find it" }), ...evidence]);
    rolloutIn(home, CHILD, agent);
    const store = await openedStore();
    await importPath(store, home);
    const record = await (await store.openSession(CHILD)).record();
    expect([record.kind, record.parent?.sessionId, record.parent?.toolCallId]).toEqual(["subagent", THREAD, "c1"]);
  });

  test("without the file of its starter is linked to the session, and without a known starter to none", () => {
    expect(sessionAt(rolloutIn(tempFolder(), CHILD, agent)).header).toMatchObject({ kind: "subagent", parent: { sessionId: THREAD } });
    const review = sessionAt(
      rolloutIn(tempFolder(), CHILD, [meta({ id: CHILD, source: { subagent: "review" } }), message("user", "look")]),
    );
    expect(review.header).toMatchObject({ kind: "subagent", parent: undefined });
  });
});

describe("the folder of Codex", () => {
  test("has names of sessions in an index, the last one counts, and archived sessions", async () => {
    const home = tempFolder();
    const names = ["First", "Second"].map((thread_name) => ({ id: THREAD, thread_name, updated_at: "2026-01-01T00:00:00Z" }));
    fileOf([...names, "{torn"], "session_index.jsonl", home);
    fileOf([{ session_id: THREAD, ts: 1, text: "a prompt" }, ""], "history.jsonl", home);
    rolloutIn(home, THREAD, [meta(), message("user", "u")]);
    rolloutIn(home, CHILD, [meta({ id: CHILD }), message("user", "u"), line("compacted", {})], "archived_sessions");
    const store = await openedStore();
    const { failed } = await importPath(store, home);
    const [named, archived] = [await store.openSession(THREAD), await store.openSession(CHILD)];
    expect([failed, (await named.record()).title, (await named.record()).titleSource]).toEqual([[], "Second", "user"]);
    expect((await archived.record()).metadata).toMatchObject({ archived: true });
    expect((await collected(archived.entries())).at(-1)).toMatchObject({ type: "foreign", originalType: "compacted" });
  });

  test("has a name that changes after the last sync: of its files, only that of the session is read", async () => {
    const home = tempFolder();
    const codex = join(home, ".codex");
    for (const id of [THREAD, CHILD]) utimesSync(rolloutIn(codex, id, [meta({ id }), message("user", "u")]), 1_700_000_000, 1_700_000_000);
    const store = await openedStore();
    const sync = async (names: readonly string[]) => {
      fileOf([...names.map((thread_name) => ({ id: THREAD, thread_name })), ""], "session_index.jsonl", codex);
      const [synced] = (await syncSessions(store, { environment: { env: {}, home, platform: "linux" } })).agents;
      return [synced?.newFiles, synced?.changedFiles, (await (await store.openSession(THREAD)).record()).title];
    };
    expect(await sync([])).toEqual([2, 0, null]);
    expect(await sync(["First"])).toEqual([0, 1, "First"]);
    expect(await sync(["First", "Second"])).toEqual([0, 1, "Second"]);
    expect(await sync(["First", "Second"])).toEqual([0, 0, "Second"]);
    await store.renameSession(THREAD, "Mine");
    expect(await sync(["First", "Second", "Third"])).toEqual([0, 1, "Mine"]);
  });

  test("is the one that CODEX_HOME names, else the one in the home folder", () => {
    const [agent] = codexFormat.agents ?? [];
    const folders = (env: Record<string, string>) => agent?.folders({ env, home: "/home/ada", platform: "linux" });
    expect(folders({})).toEqual([join("/home/ada", ".codex", "sessions"), join("/home/ada", ".codex", "archived_sessions")]);
    expect(folders({ CODEX_HOME: "/data/codex" })?.[0]).toBe(join("/data/codex", "sessions"));
    expect(folders({ CODEX_HOME: "relative" })?.[0]).toBe(join("/home/ada", ".codex", "sessions"));
  });
});

describe("a session that was reverted, which goes on in another file", () => {
  const numbered = (from: number, lines: readonly object[]) => lines.map((record, at) => ({ ordinal: from + at, ...record }));
  const first = numbered(0, [meta(), message("user", "u1"), message("assistant", "a1"), message("user", "u2"), message("assistant", "a2")]);
  const base = { thread_id: THREAD, end_ordinal_exclusive: 3, end_byte_offset: bytesOf(first.slice(0, 3)) };
  const second = numbered(3, [meta({ history_base: base }), message("user", "u3"), message("assistant", "a3")]);
  const again = { thread_id: THREAD, end_ordinal_exclusive: 5, end_byte_offset: bytesOf(second.slice(0, 2)) };
  const third = numbered(6, [meta({ history_base: again }), message("user", "u4"), message("assistant", "a4")]);
  const OWN = ["01a20a71-c39e-7d50-889e-89609d7c27c0", "01a20a72-c39e-7d50-889e-89609d7c27c0"] as const;

  function filesIn(home: string): readonly string[] {
    return [
      rolloutIn(home, THREAD, first),
      rolloutIn(home, `${THREAD}_${OWN[0]}`, second),
      rolloutIn(home, `${THREAD}_${OWN[1]}`, third, "sessions/2026/01/03"),
    ];
  }

  const textsOf = async (session: Session) => (await session.context()).messages.map((entry) => JSON.stringify(entry).match(/[ua]\d/)?.[0]);

  test("has the turns that were taken back as branches, and the newest file's end as its leaf", async () => {
    const home = tempFolder();
    filesIn(home);
    const store = await openedStore();
    const { sessions } = await importPath(store, home);
    expect(sessions.flatMap(({ problems }) => problems)).toEqual([]);
    const session = await store.openSession(THREAD);
    expect(await textsOf(session)).toEqual(["u1", "a1", "u3", "u4", "a4"]);
    const texts = (await collected(session.entries())).flatMap((entry) => JSON.stringify(entry).match(/(?<=")[ua]\d(?=")/) ?? []);
    expect(texts.sort()).toEqual(["a1", "a2", "a3", "a4", "u1", "u2", "u3", "u4"]);
    expect((await importPath(store, home)).sessions.map(({ entriesAdded }) => entriesAdded)).toEqual([0]);
    expect(await findingsOf(store)).toEqual([]);
  });

  test("is the same session whether its files are imported one after the other or together", async () => {
    const home = tempFolder();
    const [together, oneByOne] = [await openedStore(), await openedStore()];
    for (const path of filesIn(home)) await importPath(oneByOne, path);
    await importPath(together, home);
    const [left, right] = await Promise.all([together, oneByOne].map((store) => store.openSession(THREAD)));
    expect(await textsOf(left as Session)).toEqual(await textsOf(right as Session));
  });
});
