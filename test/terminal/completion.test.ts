import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { TerminalProgram } from "./terminal-program.js";
import { BOUGH, type Home, home } from "./test-home.js";

function exists(program: string): boolean {
  return spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0;
}

/** An interactive bash without files of the user, with the command `bough` and its completion. */
async function bash(here: Home): Promise<TerminalProgram> {
  const command = join(here.folder, "bough");
  writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${BOUGH}' "$@"\n`);
  chmodSync(command, 0o755);
  const env = here.env({ PATH: `${here.folder}:${process.env["PATH"] ?? ""}`, INPUTRC: "/dev/null" });
  const terminal = TerminalProgram.start({ columns: 100, rows: 30, cwd: here.folder, env });
  onTestFinished(() => terminal.end());
  await terminal.until(/\$/);
  terminal.type("exec bash --norc --noprofile");
  terminal.press("Enter");
  terminal.type('PS1="bash> "; eval "$(bough completion bash)"; clear; echo ready');
  terminal.press("Enter");
  await terminal.until(/^ready\nbash>/m);
  return terminal;
}

/** Types the beginning of a line and Tab; resolves when the line is as expected. */
async function completes(terminal: TerminalProgram, typed: string, line: string): Promise<void> {
  terminal.type(typed);
  terminal.press("Tab");
  await terminal.until((screen) => screen.split("\n").some((row) => row.trimEnd() === `bash> ${line}`));
  terminal.press("C-u");
  await terminal.until((screen) => screen.trimEnd().endsWith("bash>"));
}

describe("completion in bash", () => {
  test("completes commands, options, quoted titles, labels and leaves in place", async () => {
    const here = home();
    await here.parser();
    await here.withSession("parser-1", (session) => session.labels.set("a2", "two ways"));
    here.bough("fork", "parser", "--title", "Tabs in the lexer");
    const terminal = await bash(here);
    await completes(terminal, "bough sess", "bough sessions");
    await completes(terminal, "bough tree --inter", "bough tree --interactive");
    await completes(terminal, "bough export --format=mark", "bough export --format=markdown");
    await completes(terminal, "bough tree Tabs", "bough tree Tabs\\ in\\ the\\ lexer");
    await completes(terminal, 'bough tree "Tabs', 'bough tree "Tabs in the lexer"');
    await completes(terminal, "bough show parser-1 two", "bough show parser-1 two\\ ways");
    await completes(terminal, "bough show parser-1 @le", "bough show parser-1 @leaf");
    await completes(terminal, "bough import sessions.d", "bough import sessions.db");
  });

  test("runs the completed line", async () => {
    const here = home();
    await here.parser();
    here.bough("rename", "parser", "It's (two) ways");
    const terminal = await bash(here);
    terminal.type("bough tree It");
    terminal.press("Tab", "Enter");
    await terminal.until(/replied in a4/);
  });
});

describe("the scripts", () => {
  test.each([
    ["bash", ["-n"]],
    ["zsh", ["-n"]],
    ["fish", ["--no-execute"]],
  ])("of %s is accepted by the shell, where the machine has it", (shell, check) => {
    const here = home();
    const script = join(here.folder, "script");
    writeFileSync(script, here.bough("completion", shell));
    if (exists(shell)) execFileSync(shell, [...check, script]);
    expect(here.bough("completion", shell)).toContain("bough __complete --shell");
  });
});
