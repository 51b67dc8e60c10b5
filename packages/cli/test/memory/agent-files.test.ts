import { findAgentFolders } from "@bough/formats";
import { expect, test } from "vitest";
import { MCP_CLIENTS } from "../../src/mcp/clients.js";
import { HOOK_AGENTS } from "../../src/memory/hook-agents.js";

const VARIABLES = ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR", "XDG_CONFIG_HOME"];

test.each(["", "relative"])("files and folders of agents are below the home folder if their variables are %j", async (value) => {
  const place = { env: Object.fromEntries(VARIABLES.map((name) => [name, value])), home: "/home/ada", platform: "linux" as const };
  const files = [...HOOK_AGENTS, ...MCP_CLIENTS].map(({ file }) => file(place));
  const folders = (await findAgentFolders(place)).map(({ folder }) => folder);
  for (const path of [...files, ...folders]) expect(path).toMatch(/^\/home\/ada\//);
});
