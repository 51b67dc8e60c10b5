import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { MCP_CLIENTS } from "../../src/mcp/clients.js";
import { prepareInstallation } from "../../src/mcp/install.js";
import { HOOK_AGENTS } from "../../src/memory/hook-agents.js";
import { logMemory, readHookLog } from "../../src/memory/hook-log.js";
import { prepareHook, prepareRemoval } from "../../src/memory/install-hook.js";
import type { Io } from "../../src/terminal/io.js";
import { quietIo } from "../quiet-io.js";

// Without a home directory a path below it would lead into the working directory, which is that of a project.

const homeless = (env: Io["env"] = {}): Io => quietIo("/nowhere", {}, { home: "", env });

test.each(MCP_CLIENTS.map((client) => [client.name, client] as const))("without a home, %s gets no entry", async (_, client) => {
  await expect(prepareInstallation(homeless(), client, ["mcp"])).rejects.toMatchObject({ code: "NO_HOME" });
});

test.each(HOOK_AGENTS.map((agent) => [agent.name, agent] as const))("without a home, %s gets no hook and loses none", async (_, agent) => {
  await expect(prepareHook(homeless(), agent, [])).rejects.toMatchObject({ code: "NO_HOME" });
  await expect(prepareRemoval(homeless(), agent)).rejects.toMatchObject({ code: "NO_HOME" });
});

test("a folder that the environment names needs no home", async () => {
  const [claude] = MCP_CLIENTS;
  if (claude === undefined) throw new Error("no clients");
  expect((await prepareInstallation(homeless({ CLAUDE_CONFIG_DIR: "/named" }), claude, ["mcp"])).file).toBe("/named/.claude.json");
});

test("without a home there is no log of the hook", async () => {
  const given = { atMs: 1, agent: "claude", event: "e", cwd: "/", sessionId: null, prompt: "", entries: [], text: "t" };
  await logMemory(homeless(), given);
  expect(existsSync("bough/hook.jsonl")).toBe(false);
  expect(await readHookLog(homeless())).toEqual([]);
});
