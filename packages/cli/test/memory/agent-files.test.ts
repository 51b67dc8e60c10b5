import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { findAgentFolders } from "@bough/formats";
import { expect, test } from "vitest";
import { MCP_CLIENTS } from "../../src/mcp/clients.js";
import { prepareInstallation } from "../../src/mcp/install.js";
import { HOOK_AGENTS } from "../../src/memory/hook-agents.js";
import { prepareHook, prepareRemoval } from "../../src/memory/install-hook.js";
import { quietIo } from "../quiet-io.js";
import { world } from "../world.js";

const VARIABLES = ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR", "XDG_CONFIG_HOME"];

test.each(["", "relative"])("files and folders of agents are below the home folder if their variables are %j", async (value) => {
  const place = { env: Object.fromEntries(VARIABLES.map((name) => [name, value])), home: "/home/ada", platform: "linux" as const };
  const files = [...HOOK_AGENTS, ...MCP_CLIENTS].map(({ file }) => file(place));
  const folders = (await findAgentFolders(place)).map(({ folder }) => folder);
  for (const path of [...files, ...folders]) expect(path).toMatch(/^\/home\/ada\//);
});

test("what an agent has written since the question is kept when its settings are changed", async () => {
  const here = world();
  const io = quietIo(here.folder, {}, {});
  const settings = here.path(".gemini/settings.json");
  mkdirSync(here.path(".gemini"));
  const agent = HOOK_AGENTS.find(({ name }) => name === "gemini");
  const client = MCP_CLIENTS.find(({ name }) => name === "gemini");
  if (agent === undefined || client === undefined) throw new TypeError("no Gemini CLI");
  const changes = [
    () => prepareHook(io, agent, ["hook", "run", "gemini"]),
    () => prepareInstallation(io, client, ["mcp"]),
    () => prepareRemoval(io, agent),
  ];
  writeFileSync(settings, "{}");
  for (const [at, prepare] of changes.entries()) {
    const { write } = await prepare();
    writeFileSync(settings, JSON.stringify({ ...JSON.parse(readFileSync(settings, "utf8")), [`theme${at}`]: at }));
    await write();
  }
  expect(JSON.parse(readFileSync(settings, "utf8"))).toMatchObject({ theme0: 0, theme1: 1, theme2: 2, mcpServers: { bough: {} } });
});
