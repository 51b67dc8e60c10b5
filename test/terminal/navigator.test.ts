import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { assistantMessage, openStore, userMessage } from "@bough/session-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { TerminalProgram } from "./terminal-program.js";
import { removeFolder } from "./test-home.js";

const BOUGH = fileURLToPath(new URL("../../packages/cli/dist/bough.js", import.meta.url));
const run = promisify(execFile);

const FOOT = /^Enter go /m;
const ENDED = /^ended (\d+)$/m;

/** A folder with a store in it, with a session of two branches; its leaf is at the end of the second one. */
class Place {
  readonly folder = mkdtempSync(join(tmpdir(), "bough-terminal-"));
  readonly store = join(this.folder, "sessions.db");

  get env() {
    return { BOUGH_STORE: this.store, BOUGH, NODE: process.execPath };
  }

  async fill(): Promise<void> {
    const store = await openStore({ path: this.store, durability: "normal" });
    const session = await store.createSession({ id: "parser", title: "Parser", cwd: this.folder });
    await session.append({ ...userMessage("Write a parser"), id: "ask" });
    await session.append({ ...assistantMessage("First the lexer"), id: "plan" });
    await session.append({ ...userMessage("Use descent"), id: "descent" });
    await session.append({ ...assistantMessage("The descent works 日本語"), id: "works" });
    await session.moveLeaf("plan");
    await session.append({ ...userMessage("Use a table"), id: "table" });
    await session.append({ ...assistantMessage("The table is generated"), id: "made" });
    await store.close();
  }

  /** What bough prints without a terminal. */
  async bough(...args: readonly string[]): Promise<string> {
    const { stdout } = await run(process.execPath, [BOUGH, ...args], {
      env: { ...process.env, ...this.env, NO_COLOR: "1" },
      cwd: this.folder,
    });
    return stdout;
  }
}

async function place(): Promise<Place> {
  const made = new Place();
  onTestFinished(() => removeFolder(made.folder));
  await made.fill();
  return made;
}

function terminalAt({ folder, env }: Place, columns = 80, rows = 24): TerminalProgram {
  const terminal = TerminalProgram.start({ columns, rows, cwd: folder, env });
  onTestFinished(() => terminal.end());
  return terminal;
}

/** The navigator, drawn; `before` goes before the command. */
async function opened(at: Place, before = "", columns = 80, rows = 24): Promise<TerminalProgram> {
  const terminal = terminalAt(at, columns, rows);
  await started(terminal, before);
  await terminal.until(/› ?•.*The table is generated/);
  return terminal;
}

/** The shell says the process id into a file first, and afterwards how it ended. */
async function started(terminal: TerminalProgram, before = ""): Promise<void> {
  await terminal.until(/\$/);
  terminal.type(`${before} sh -c 'echo $$ > pid; exec "$NODE" "$BOUGH" tree -i parser'; echo ended $?`);
  terminal.press("Enter");
}

/** The screen after the program, and that the terminal is as it was found. */
async function restored(terminal: TerminalProgram, exit: number): Promise<string> {
  const screen = await terminal.until(ENDED);
  expect(ENDED.exec(screen)?.[1]).toBe(String(exit));
  expect(terminal.modes()).toEqual({ alternateScreen: false, cursorVisible: true, mouse: false });
  terminal.type("echo typed is $((40 + 2))");
  terminal.press("Enter");
  return terminal.until(/^(\$ )?typed is 42$/m);
}

describe("The navigator in a terminal", () => {
  it("opens on the alternate screen at the leaf, and leaves the terminal as it was", async () => {
    const terminal = await opened(await place());
    expect(terminal.modes()).toEqual({ alternateScreen: true, cursorVisible: false, mouse: true });
    expect(terminal.screen()[0]).toMatch(/^Parser +6\/6 \[default\]$/);
    terminal.press("q");
    expect(await restored(terminal, 0)).not.toContain("First the lexer");
  });

  it("uses the mouse: a click selects, a click on the sign folds, a double click goes there", async () => {
    const terminal = await opened(await place());
    terminal.pointAt(30, 1);
    await terminal.until(/^›•.*Write a parser/m);
    terminal.pointAt(4, 3);
    await terminal.until(/▸ user: Use descent \(\+1\)/);
    terminal.pointAt(4, 3);
    await terminal.until(/▾ user: Use descent/);
    terminal.pointAt(30, 4);
    terminal.pointAt(30, 4);
    await terminal.until(/Leaving 2 entries behind/);
    terminal.press("Escape");
    await terminal.until(FOOT);
    terminal.press("q");
    await restored(terminal, 0);
  });

  it("leaves the mouse to the terminal if the config file says so", async () => {
    const at = await place();
    mkdirSync(join(at.folder, "bough"));
    writeFileSync(join(at.folder, "bough", "config.json"), '{ "mouse": false }');
    const terminal = await opened(at, `XDG_CONFIG_HOME='${at.folder}'`);
    expect(terminal.modes().mouse).toBe(false);
    terminal.press("q");
    await restored(terminal, 0);
  });

  it("searches: letters type in the field, and act again behind Enter", async () => {
    const terminal = await opened(await place());
    terminal.type("/descent");
    await terminal.until(/\/ descent.* hit \d of 2/);
    expect(terminal.modes().cursorVisible).toBe(true);
    terminal.press("Enter");
    await terminal.until(FOOT);
    terminal.press("g");
    await terminal.until(/^›.*Use descent/m);
    terminal.press("n");
    await terminal.until(/^›.*The descent works/m);
    terminal.press("Escape");
    await terminal.until((screen) => !screen.includes("/ descent"));
    terminal.type("/qqq");
    await terminal.until(/No hits/);
    // Esc and a letter in one go are Alt and that letter.
    terminal.press("Escape");
    await terminal.until((screen) => !screen.includes("/ qqq"));
    terminal.press("q");
    await restored(terminal, 0);
  });

  it("folds and unfolds, and shows an entry in full", async () => {
    const terminal = await opened(await place());
    terminal.press("g", "Space");
    await terminal.until(/▸ user: Write a parser \(\+5\)/);
    terminal.press("Space");
    await terminal.until(/Use descent/);
    terminal.press("v");
    await terminal.until(/^─{80}$/m);
    terminal.press("g", "j", "j", "j");
    await terminal.until((screen) => /The descent works 日本語/.test(screen.split(/^─{80}$/m)[1] ?? ""));
    terminal.press("v");
    await terminal.until((screen) => !/^─{80}$/m.test(screen));
    terminal.press("C-c");
    await restored(terminal, 0);
  });

  it("shows on the screen that the summary model is unusable, and closes without an error", async () => {
    const terminal = await opened(await place(), "BOUGH_MODEL=llama");
    terminal.press("g", "Enter");
    await terminal.until(/Leaving/);
    terminal.press("Enter");
    await terminal.until(/URL of the model is missing/);
    terminal.press("q");
    await restored(terminal, 0);
  });

  it("labels an entry for good", async () => {
    const at = await place();
    const terminal = await opened(at);
    terminal.press("k", "k", "l");
    await terminal.until(/^Label:/m);
    terminal.type("quite good");
    terminal.press("Enter");
    await terminal.until(/\[quite good\]/);
    expect(await at.bough("label", "parser", "works")).toContain("quite good");
    terminal.press("q");
    await restored(terminal, 0);
  });

  it("takes what is pasted into a field as text, and elsewhere for nothing", async () => {
    const terminal = await opened(await place());
    terminal.paste("qqq");
    terminal.press("l");
    await terminal.until(/^Label:/m);
    terminal.paste("one\ntwo");
    await terminal.until(/^Label: one two$/m);
    terminal.press("Escape");
    await terminal.until((screen) => !screen.includes("Label:"));
    terminal.press("q");
    await restored(terminal, 0);
  });

  it("goes to another branch with a summary of the one that is left", async () => {
    const at = await place();
    const terminal = await opened(at);
    terminal.press("k", "k", "Enter");
    await terminal.until(/Leaving 2 entries behind/);
    terminal.press("2");
    expect(await restored(terminal, 0)).toMatch(/^leaf: /m);
    expect(await at.bough("tree", "parser")).toMatch(/\[branch summary\].*leaf/);
  });

  it("says again what a message of the user said", async () => {
    const at = await place();
    const terminal = await opened(at);
    terminal.press("k", "k", "k", "Enter");
    await terminal.until(/Leaving 2 entries behind/);
    terminal.press("Enter");
    const screen = await restored(terminal, 0);
    expect(screen).toContain("Your message, to be sent again:");
    expect(screen).toMatch(/^Use descent$/m);
  });

  it("comes back to the same row with Esc at the question, and moves nothing", async () => {
    const at = await place();
    const terminal = await opened(at);
    terminal.press("k", "k", "Enter");
    await terminal.until(/Leaving 2 entries behind/);
    terminal.press("Escape");
    await terminal.until((screen) => !screen.includes("Leaving") && /^›.*The descent works/m.test(screen));
    terminal.press("q");
    await restored(terminal, 0);
    expect(await at.bough("tree", "parser")).toMatch(/The table is generated.*leaf/);
  });

  it("shows what another process writes", async () => {
    const at = await place();
    const terminal = await opened(at);
    await at.bough("label", "parser", "ask", "from elsewhere");
    await terminal.until(/\[from elsewhere\]/);
    terminal.press("q");
    await restored(terminal, 0);
  });

  it("is drawn anew at any size", async () => {
    const terminal = await opened(await place());
    terminal.resize(40, 10);
    await terminal.until((screen) => /^Enter go {2}\? all keys {2}Esc close$/m.test(screen) && /^›/m.test(screen));
    expect(terminal.screen().length).toBeLessThanOrEqual(11);
    terminal.resize(200, 50);
    await terminal.until((screen) => /^Enter go .*Esc close$/m.test(screen) && (screen.match(/^Parser/gm) ?? []).length === 1);
    terminal.press("v");
    await terminal.until(/│.*The table is generated/);
    terminal.press("q");
    // As less and vim leave it: what was on the screen before is there again.
    expect(await restored(terminal, 0)).toContain("tree -i parser");
  });

  it("is suspended by Ctrl-Z and drawn again in the foreground", async () => {
    const terminal = await opened(await place());
    terminal.press("C-z");
    await terminal.until(/Stopped/);
    expect(terminal.modes()).toEqual({ alternateScreen: false, cursorVisible: true, mouse: false });
    terminal.type("fg; echo foreground ended $?");
    terminal.press("Enter");
    await terminal.until((screen) => /› ?•.*The table is generated/.test(screen) && FOOT.test(screen));
    terminal.press("Up");
    await terminal.until(/^›(?!.*The table is generated)/m);
    terminal.press("q");
    expect(await terminal.until(/^foreground ended 0$/m)).not.toContain("First the lexer");
    expect(terminal.modes()).toEqual({ alternateScreen: false, cursorVisible: true, mouse: false });
  });

  it("is drawn in the size that the terminal got while it was suspended", async () => {
    const terminal = await opened(await place());
    terminal.press("C-z");
    await terminal.until(/Stopped/);
    terminal.resize(50, 12);
    terminal.type("fg");
    terminal.press("Enter");
    await terminal.until((screen) => FOOT.test(screen) && /^Parser +6\/6 \[default\]$/m.test(screen));
  });

  it("goes on after Ctrl-Z where no shell can continue it", async () => {
    const terminal = terminalAt(await place());
    terminal.type('exec "$NODE" "$BOUGH" tree -i parser');
    terminal.press("Enter");
    await terminal.until(FOOT);
    terminal.press("C-z", "Up");
    await terminal.until(/^›(?!.*The table is generated)/m);
  });

  it("leaves the terminal as it was when it is ended by a signal", async () => {
    const at = await place();
    const terminal = await opened(at);
    process.kill(Number(readFileSync(join(at.folder, "pid"), "utf8")), "SIGTERM");
    await restored(terminal, 143);
  });

  it("draws without colours where that is asked for, and with them elsewhere", async () => {
    const at = await place();
    const plain = await opened(at, "NO_COLOR=1");
    expect(plain.isColoured()).toBe(false);
    const coloured = await opened(at);
    expect(coloured.isColoured()).toBe(true);
  });

  it("draws in ASCII where that is asked for", async () => {
    const terminal = terminalAt(await place());
    await started(terminal, "BOUGH_ASCII=1");
    const screen = await terminal.until(/^>\*.*The table is generated/m);
    expect(screen.replace("日本語", "")).toMatch(/^[\x20-\x7e\n]*$/);
  });
});

describe("The navigator without a terminal that can be drawn on", () => {
  it("says so in one line, with an exit code of its own", async () => {
    const at = await place();
    const failed = await run(process.execPath, [BOUGH, "tree", "-i", "parser"], { env: { ...process.env, ...at.env } }).catch(
      (error: unknown) => error,
    );
    expect(failed).toMatchObject({ code: 10, stdout: "" });
    expect(failed).toHaveProperty("stderr", expect.stringMatching(/^[^\n]*needs a terminal[^\n]*\n$/));
  });

  it("says the same in a dumb terminal", async () => {
    const at = await place();
    const terminal = terminalAt(at);
    await started(terminal, "TERM=dumb");
    const screen = await terminal.until(ENDED);
    expect(screen).toMatch(/^ended 10$/m);
    expect(screen).toContain("needs a terminal");
    expect(terminal.modes().alternateScreen).toBe(false);
  });

  it("has the program that is tested", () => expect(existsSync(BOUGH)).toBe(true));
});
