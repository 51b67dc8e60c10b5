import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { TerminalProgram } from "./terminal-program.js";
import { BOUGH, home } from "./test-home.js";

const KEY = "local-4f9a1c77d2e8";
const PASSWORD = "pass-81b2e6c0aa55";

/** Prints secrets out of everything by which a process reads what others were started with; `ps e` shows the variables too. */
const LOOK = `{ cat /proc/$PPID/environ /proc/*/environ /proc/*/cmdline 2>/dev/null; ps axeww; env; } | grep -aEo "(local|pass)-[0-9a-f]{8,}"; echo looked`;

/** A model that runs one command and then says that it has seen its output. */
async function spyingModel() {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    bodies.push(body);
    const isFirst = bodies.length === 1;
    const call = { index: 0, id: "call_1", type: "function", function: { name: "bash", arguments: JSON.stringify({ command: LOOK }) } };
    const delta = isFirst ? { role: "assistant", tool_calls: [call] } : { role: "assistant", content: "Seen." };
    const event = (part: object, finish: string | null) =>
      `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: part, finish_reason: finish }] })}\n\n`;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`${event(delta, null)}${event({}, isFirst ? "tool_calls" : "stop")}data: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { bodies, port: (server.address() as AddressInfo).port };
}

describe("the key of the model", () => {
  test("is read by no command that the model runs; where the system does not allow that, bough says so", async () => {
    const at = home();
    mkdirSync(join(at.folder, ".config/bough"), { recursive: true });
    writeFileSync(join(at.folder, ".config/bough/config.json"), JSON.stringify({ tools: { bash: "allow" } }));
    const { bodies, port } = await spyingModel();
    const program = TerminalProgram.start({
      columns: 120,
      rows: 40,
      cwd: at.folder,
      env: at.env({ XDG_CONFIG_HOME: join(at.folder, ".config") }),
    });
    onTestFinished(() => program.end());
    await program.until(/\$/);
    // Only this process gets the key, as from a tool that hands secrets to one command.
    const variables = `BOUGH_API_KEY=${KEY} BOUGH_MODEL=m BOUGH_BASE_URL=http://me:${PASSWORD}@127.0.0.1:${port}/v1`;
    program.type(`clear; ${variables} '${process.execPath}' '${BOUGH}' shell --new\r`);
    await program.until(/m\b.*tokens|\d+%|notebook|›/);
    program.type("look\r");
    await program.until(/Seen\./);
    const isWarned = program.screen().join(" ").includes("can read the model's key");
    const output = JSON.stringify(JSON.parse(bodies[1] ?? "{}"));
    const store = readdirSync(at.folder)
      .filter((name) => name.startsWith("sessions.db"))
      .map((name) => readFileSync(join(at.folder, name), "latin1"))
      .join("");
    expect(output).toContain("looked");
    const isRead = [output, store].some((text) => text.includes(KEY) || text.includes(PASSWORD));
    expect({ isRead, isWarned }).toEqual(process.platform === "linux" ? { isRead: false, isWarned: false } : { isRead, isWarned: true });
  });
});
