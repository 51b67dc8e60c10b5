import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStore, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { type Home, home } from "./test-home.js";

/** A session of this many messages, `line 1`, `line 2` and so on. */
async function long(here: Home, messages = 200): Promise<void> {
  const store = await openStore({ path: here.store, durability: "normal" });
  const session = await store.createSession({ id: "long-1", title: "Long", cwd: here.folder });
  await session.write(Array.from({ length: messages }, (_, at) => ({ kind: "entry", entry: userMessage(`line ${at + 1}`) }) as const));
  await store.close();
}

/** A program for the path of the test that stands for a pager. */
function program(here: Home, name: string, script: string, interpreter = "/bin/sh"): string {
  const path = join(here.folder, name);
  writeFileSync(path, `#!${interpreter}\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

const UNSET = { PAGER: "less -R" };

describe("the pager", () => {
  test("shows the first screen in colours, searches, and quitting it early is no failure", async () => {
    const here = home();
    await long(here, 10_000);
    const terminal = await here.terminal("tree long --full", { rows: 20, env: UNSET });
    const first = await terminal.until(/^:$/m);
    expect(first).toContain("line 17");
    expect(first).not.toContain("line 30");
    expect(terminal.isColoured()).toBe(true);
    terminal.type("/line 9999");
    terminal.press("Enter");
    await terminal.until(/user: line 9999/);
    terminal.press("q");
    await terminal.until(/ended with 0/);
  });

  test("quitting while text is still to come is no failure", async () => {
    const here = home();
    await long(here, 10_000);
    const terminal = await here.terminal("tree long --full --width 100", { rows: 20, env: UNSET });
    await terminal.until(/^:$/m);
    terminal.press("q");
    expect(await terminal.until(/ended with \d+/)).toContain("ended with 0");
  });

  test("is not started for what fits the screen", async () => {
    const here = home();
    await here.parser();
    const terminal = await here.terminal("tree parser", { env: { PAGER: program(here, "loud", "echo started; cat") } });
    expect(await terminal.until(/ended with 0/)).not.toContain("started");
  });

  test("gets Ctrl+C, and the rest of the output after it", async () => {
    const here = home();
    await long(here, 10_000);
    const script = program(
      here,
      "pager.mjs",
      `import { createInterface } from "node:readline";
       let last = "";
       const lines = createInterface({ input: process.stdin });
       lines.once("line", () => { lines.pause(); console.log("reads"); });
       lines.on("line", (line) => { last = line; }).on("close", () => console.log("last: " + last));
       // A paused input alone does not keep the process alive.
       const alive = setInterval(() => undefined, 1_000_000);
       process.on("SIGINT", () => { console.log("told"); clearInterval(alive); lines.resume(); });`,
      process.execPath,
    );
    const terminal = await here.terminal("tree long --full", { rows: 20, env: { PAGER: script } });
    await terminal.until(/^reads$/m);
    terminal.press("C-c");
    const screen = await terminal.until(/ended with \d+/);
    expect(screen).toContain("told");
    expect(screen).toMatch(/^last: 10,000 entries/m);
    expect(screen).toContain("ended with 0");
  });

  test.each([
    ["BOUGH_PAGER before PAGER", { BOUGH_PAGER: "sed s/^/mine:/", PAGER: "sed s/^/other:/" }, "", "mine:"],
    ["the setting before PAGER", { XDG_CONFIG_HOME: "config", PAGER: "sed s/^/other:/" }, "", "configured:"],
    ["a pipeline", { PAGER: "head -3 | sed 's/^/piped: /'" }, "", "piped: "],
    ["BOUGH_PAGER=cat", { BOUGH_PAGER: "cat", PAGER: "sed s/^/other:/" }, "", ""],
    ["an empty BOUGH_PAGER", { BOUGH_PAGER: "", PAGER: "sed s/^/other:/" }, "", ""],
    ["--no-pager", { PAGER: "sed s/^/other:/" }, "--no-pager", ""],
  ] as const)("%s decides", async (_, env, option, prefix) => {
    const here = home();
    await long(here);
    mkdirSync(join(here.folder, "config/bough"), { recursive: true });
    writeFileSync(join(here.folder, "config/bough/config.json"), JSON.stringify({ pager: "sed s/^/configured:/" }));
    const absolute = "XDG_CONFIG_HOME" in env ? { XDG_CONFIG_HOME: join(here.folder, "config") } : {};
    const terminal = await here.terminal(`${option} tree long --full`, { rows: 20, env: { ...env, ...absolute } });
    const screen = await terminal.until(/ended with 0/);
    const rows = screen.split("\n").filter((row) => row.includes("line 19") || row.includes("Long"));
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) expect(row).toMatch(prefix === "" ? /^\w{4,} +• user/ : new RegExp(`^${prefix}`));
  });

  test.each([["no-such-pager -R"], ["no-such-pager 'quoted'"]])("prints without %s, and says so in one line", async (pager) => {
    const here = home();
    await long(here, 30);
    const terminal = await here.terminal("tree long --full 2>messages", { rows: 28, env: { PAGER: pager } });
    const screen = await terminal.until(/ended with 0/);
    for (let line = 10; line <= 30; line += 1) expect(screen).toContain(`line ${line}`);
    const messages = readFileSync(join(here.folder, "messages"), "utf8").split("\n");
    expect(messages.slice(-2)).toEqual([`bough: The pager '${pager}' cannot be started. Set BOUGH_PAGER, or use --no-pager.`, ""]);
  });

  test("keeps the exit code of the command, and shows its message after the output", async () => {
    const here = home();
    await long(here);
    const all = Array.from({ length: 40 }, (_, at) => `~${at}`).join(" ");
    const terminal = await here.terminal(`show long ${all} nothing-such`, { rows: 20, env: UNSET });
    await terminal.until(/bough: .*nothing-such|:$/m);
    terminal.press("q");
    await terminal.until(/ended with 4/);
  });
});
