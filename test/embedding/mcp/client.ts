import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";

/** The command, as it is built. */
export const bough = join(import.meta.dirname, "../../../packages/cli/dist/bough.js");

/** Starts a server and connects a client to it. */
export async function connectTo(start: { readonly command: string; readonly args: string[] }, home: string): Promise<Client> {
  const client = new Client({ name: "test", version: "0" });
  await client.connect(new StdioClientTransport({ ...start, env: environment(home), stderr: "pipe" }));
  return client;
}

/** An environment in which nothing of this machine's user is found. */
export function environment(home: string): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "", HOME: home, XDG_CACHE_HOME: home };
}

/** The text of an answer; for an error "error: " and its text. */
export async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<string> {
  const { content, isError } = CallToolResultSchema.parse(await client.callTool({ name, arguments: args }));
  const [block] = content;
  const text = block?.type === "text" ? block.text : "";
  return isError === true ? `error: ${text}` : text;
}
