// A client of `bough mcp`: finds what was said in earlier sessions, and reads the entry. Agents start the server by their own config:
// `bough mcp --install claude`.
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { assistantMessage, openStore, userMessage } from "@bough/session-core";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";

const folder = mkdtempSync(join(tmpdir(), "bough-mcp-example-"));
const path = join(folder, "sessions.db");
const store = await openStore({ path });
const session = await store.createSession({ id: "tabs", title: "Tabs in the parser" });
await session.append({ ...userMessage("Why does the parser fail on tabs?"), id: "question" });
await session.append({ ...assistantMessage("The lexer counts a tab as one column. Use 8 - (column % 8)."), id: "answer" });
await store.close();

const bough = join(dirname(createRequire(import.meta.url).resolve("@bough/cli/package.json")), "dist/bough.js");
const client = new Client({ name: "example", version: "1" });
await client.connect(new StdioClientTransport({ command: process.execPath, args: [bough, "mcp", "--store", path] }));

async function ask(name: string, args: Record<string, unknown>): Promise<string> {
  const { content } = CallToolResultSchema.parse(await client.callTool({ name, arguments: args }));
  return content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}
const withoutTimes = (text: string) => text.replace(/\d{4}-\d\d-\d\d \d\d:\d\d/g, "(time)");

console.log((await client.listTools()).tools.map(({ name }) => name).join(", "));
console.log(withoutTimes(await ask("search_sessions", { query: "tab column" })));
console.log(withoutTimes(await ask("read_entries", { session: "tabs", entries: ["answer"] })));

await client.close();
rmSync(folder, { recursive: true, force: true });
