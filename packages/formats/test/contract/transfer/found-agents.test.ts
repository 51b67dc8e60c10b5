import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { openedStore, tempFolder } from "../../../../session-core/test/world/stores.js";
import { findAgentFolders, syncSessions } from "../../../src/transfer/sync.js";
import { EVERYTHING as ANTIGRAVITY, PATH as ANTIGRAVITY_PATH } from "../../antigravity/antigravity-file.js";
import { EVERYTHING as DROID, PATH as DROID_PATH } from "../../droid/droid-file.js";
import { EVERYTHING as GROK, PATH as GROK_PATH } from "../../grok/grok-file.js";
import { EVERYTHING as KIMI, pathOf } from "../../kimi/kimi-file.js";
import { EVERYTHING as QWEN, PATH as QWEN_PATH } from "../../qwen/qwen-file.js";
import { jsonl } from "../../world/only.js";

const FILES = [
  { path: ANTIGRAVITY_PATH, records: ANTIGRAVITY, agent: "Antigravity CLI", format: "antigravity" },
  { path: DROID_PATH, records: DROID, agent: "Droid", format: "droid" },
  { path: GROK_PATH, records: GROK, agent: "Grok Build", format: "grok" },
  { path: pathOf("main"), records: KIMI, agent: "Kimi Code", format: "kimi" },
  { path: QWEN_PATH, records: QWEN, agent: "Qwen Code", format: "qwen" },
];

test("sessions of each agent are found in its own folder, named after it, and a second sync adds nothing", async () => {
  const home = tempFolder();
  for (const { path, records } of FILES) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), jsonl(records));
  }
  const store = await openedStore();
  const sync = () => syncSessions(store, { environment: { env: {}, home, platform: "linux" } });
  const { agents } = await sync();
  const found = agents.flatMap(({ agent, sessions }) => sessions.map(({ format, problems }) => [agent, format, problems] as const));
  expect(found.toSorted()).toEqual(FILES.map(({ agent, format }) => [agent, format, []]));
  // The last reply of a log may be held back.
  expect((await sync()).agents.flatMap(({ sessions }) => sessions.filter(({ entriesAdded }) => entriesAdded > 0))).toEqual([]);
  const { items } = await store.listSessions({ kind: "all" });
  expect(items.map(({ source }) => source?.format).toSorted()).toEqual(FILES.map(({ format }) => format));
});

test("without a home folder, no agent has one in the working directory", async () => {
  const found = await findAgentFolders({ env: { APPDATA: "", GEMINI_CLI_HOME: "gemini" }, home: "", platform: "linux" });
  expect(found).toEqual([]);
  const chosen = await findAgentFolders({ env: { CLAUDE_CONFIG_DIR: "/data/claude" }, home: "", platform: "linux" });
  expect(chosen.map(({ agent, folder }) => [agent, folder])).toEqual([["Claude Code", "/data/claude/projects"]]);
});
