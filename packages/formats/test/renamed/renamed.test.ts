import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { openedStore, tempFolder } from "../../../session-core/test/world/stores.js";
import { syncSessions } from "../../src/transfer/sync.js";
import { reply as claudeReply, text as claudeText, user as claudeUser, SESSION } from "../claude/claude-file.js";
import { reply, sessionInfo, text, user, writeDatabase } from "../opencode/fixture.js";
import { importedFile, treeLines } from "../world/imported-file.js";

/** Writes files below a new home folder and syncs it. */
async function syncedHome(files: Readonly<Record<string, readonly object[] | ((path: string) => void)>>) {
  const home = tempFolder();
  for (const [name, content] of Object.entries(files)) {
    const path = join(home, name);
    mkdirSync(dirname(path), { recursive: true });
    if (typeof content === "function") content(path);
    else writeFileSync(path, content.map((record) => `${JSON.stringify(record)}\n`).join(""));
  }
  const store = await openedStore();
  const { agents } = await syncSessions(store, { environment: { env: {}, home, platform: "linux" } });
  return { store, agents };
}

const claude = [claudeUser("u1", null, "Fix it"), claudeReply("a1", "u1", "m1", [claudeText("Done.")])];
const pi = (id: string) => [
  { type: "session", id, version: 3, timestamp: "2026-02-24T09:00:00Z", cwd: "/work" },
  { type: "model_change", id: "mc", parentId: id, provider: "p", modelId: "m", timestamp: "2026-02-24T09:00:01Z" },
  { type: "message", id: "u1", parentId: id, timestamp: "2026-02-24T09:00:02Z", message: { role: "user", content: "List files" } },
];
const TAU = [
  {
    type: "session_info",
    id: "i",
    parent_id: null,
    timestamp: 1_790_000_000.25,
    created_at: 1_790_000_000,
    cwd: "/work",
    title: "A title",
  },
  { type: "model_change", id: "m", parent_id: "i", timestamp: 1_790_000_001, model: "gpt" },
  { type: "message", id: "u1", parent_id: "m", timestamp: 1_790_000_002, message: { role: "user", content: "one" } },
  { type: "message", id: "u2", parent_id: "u1", timestamp: 1_790_000_003, message: { role: "user", content: "two" } },
  { type: "leaf", id: "l", parent_id: "u2", timestamp: 1_790_000_004, entry_id: "u1" },
];

const FILES = {
  ".config/Claude/local-agent-mode-sessions/o/w/local_1/.claude/projects/-work/11111111-2222-4333-8444-555555555555.jsonl": claude,
  ".config/Claude/local-agent-mode-sessions/o/w/local_1/uploads/notes.jsonl": [{ some: "upload" }],
  [`.openclaude/projects/-work/${SESSION.replace(/^1/, "2")}.jsonl`]: claude.map((line) => ({
    ...line,
    sessionId: SESSION.replace(/^1/, "2"),
  })),
  ".local/share/kilo/kilo.db": (path: string) =>
    writeDatabase(path, [{ info: sessionInfo("ses_1"), messages: [user("msg_1", 0, [text("go")]), reply("msg_2", 10, [text("Done.")])] }]),
  ".openclaw/agents/main/sessions/claw.jsonl": pi("claw"),
  ".prime/agent/sessions/p/prime.jsonl": pi("prime"),
  ".tau/sessions/work-1a2b/tau-1.jsonl": TAU,
};

test("agents that write the format of another one are found in their folders and named as themselves", async () => {
  const { store, agents } = await syncedHome(FILES);
  expect(agents.map(({ agent, format, sessions, failed }) => [agent, format, sessions.length, failed.length])).toEqual([
    ["OpenClaw", "openclaw", 1, 0],
    ["Prime Agent", "prime-agent", 1, 0],
    ["Tau", "tau", 1, 0],
    ["Claude Cowork", "claude-cowork", 1, 0],
    ["OpenClaude", "openclaude", 1, 0],
    ["Kilo", "kilo", 1, 0],
  ]);
  for (const { format, sessions } of agents) {
    const { items } = await store.listSessions({ agent: format });
    expect(items.map(({ id, source }) => [id, source?.format])).toEqual([[sessions[0]?.sessionId, format]]);
  }
  expect(agents.flatMap(({ sessions }) => sessions).flatMap(({ problems }) => problems)).toEqual([]);
});

test("a first parent that is the id of the session is the start: settings before the first message are on its path", async () => {
  const { sessions } = await importedFile("agents/main/sessions/claw.jsonl", [...pi("claw"), { ...pi("claw")[2], id: "u2" }]);
  const lines = await Promise.all(sessions.map(treeLines));
  expect(lines.flat()).toEqual(["mc < -: model_change", "u1 < mc: user List files", "u2 < -: user List files"]);
});

test("Tau's leaf entries place the leaf, and records that are no entries are left out of the tree", async () => {
  const { sessions } = await importedFile("tau-1.jsonl", TAU);
  const [session] = sessions;
  expect(session && (await treeLines(session))).toEqual(["m < -: model_change", "u1 < m: user one", "u2 < u1: user two"]);
  expect(session?.leafId).toBe("u1");
  expect(await session?.record()).toMatchObject({ title: "A title", cwd: "/work", createdAtMs: 1_790_000_000_000 });
});
