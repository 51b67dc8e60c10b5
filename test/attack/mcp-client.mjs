import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const BOUGH = fileURLToPath(new URL("../../packages/cli/dist/bough.js", import.meta.url));

/** Starts `bough mcp` for a store. `ask` resolves with the line of the answer, `call` with the text that a tool gives a model. */
export async function startMcp(path, home) {
  const server = spawn(process.execPath, [BOUGH, "mcp", "--store", path], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { PATH: process.env.PATH, HOME: home },
  });
  const waiting = new Map();
  let printed = "";
  server.stdout.setEncoding("utf8").on("data", (piece) => {
    const lines = (printed + piece).split("\n");
    printed = lines.pop();
    for (const line of lines) waiting.get(JSON.parse(line).id)?.(line);
  });
  let id = 0;
  const send = (message) => server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const ask = (method, params) =>
    new Promise((resolve) => {
      id += 1;
      waiting.set(id, resolve);
      send({ id, method, params });
    });
  await ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "attack", version: "0" } });
  send({ method: "notifications/initialized" });
  return {
    ask,
    call: async (name, args) => JSON.parse(await ask("tools/call", { name, arguments: args })).result?.content?.[0]?.text ?? "",
    close: async () => {
      server.stdin.end();
      await new Promise((resolve) => server.once("close", resolve));
    },
  };
}
