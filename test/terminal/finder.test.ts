import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { assistantMessage, openStore, userMessage } from "@bough/session-core";
import { describe, expect, it } from "vitest";
import { home } from "./test-home.js";

/** A home with a session that speaks of a watcher in two of its replies, and one that does not. */
async function filled() {
  const here = home();
  const store = await openStore({ path: here.store, durability: "normal" });
  const theme = await store.createSession({ id: "theme-1", title: "Themes reload", cwd: here.folder });
  await theme.append({ ...userMessage("Reload the themes"), id: "t1" });
  await theme.append({ ...assistantMessage("With startThemeWatcher() the themes reload."), id: "t2" });
  await theme.append({ ...userMessage("Thanks"), id: "t3" });
  const other = await store.createSession({ id: "lexer-1", title: "Tabs in the lexer", cwd: here.folder });
  await other.append({ ...userMessage("Skip tabs"), id: "l1" });
  await store.close();
  return here;
}

/** Installs a program `tmux` that keeps what it reads; returns the environment with it, and the file. */
function fakeTmux(folder: string) {
  const bin = join(folder, "bin");
  const copied = join(folder, "copied");
  mkdirSync(bin);
  writeFileSync(join(bin, "tmux"), `#!/bin/sh\ncat > '${copied}.new' && mv '${copied}.new' '${copied}'\n`);
  chmodSync(join(bin, "tmux"), 0o755);
  return { copied, env: { TMUX: "/tmp/none,1,0", PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}` } };
}

describe("a search of all sessions on the screen", () => {
  it("leads from typed words to the hit in its tree, copies it, branches there, and says how to go on", async () => {
    const here = await filled();
    const { copied, env } = fakeTmux(here.folder);
    const terminal = await here.terminal("search", { env });
    await terminal.until(/Type words/);
    terminal.type("startTheme");
    await terminal.until(/hit 1 of 1/);
    expect(terminal.modes().alternateScreen).toBe(true);
    terminal.press("Enter");
    await terminal.until(/\/ startTheme +(match 1 of 1 · )?hit 1 of 1/);
    terminal.press("y");
    await terminal.until(/Copied 43 characters to the tmux buffer/);
    expect(existsSync(copied) && readFileSync(copied, "utf8")).toBe("With startThemeWatcher() the themes reload.");
    terminal.press("Enter");
    await terminal.until(/Leaving 1 entry behind/);
    terminal.press("1");
    const screen = await terminal.until(/ended with 0/);
    expect(screen).toContain("leaf: t2");
    expect(screen).toContain("bough --session theme-1");
    await here.withSession("theme-1", async (session) => {
      expect(session.leafId).toBe("t2");
      await session.append({ ...userMessage("Another way"), id: "t4" });
    });
    expect(here.bough("tree", "theme-1")).toContain("Another way");
  });

  it("is as it was after Esc in the tree, and leaves the terminal as it was", async () => {
    const here = await filled();
    const terminal = await here.terminal("search -i startThemeWatcher themes");
    await terminal.until(/hit 1 of 1/);
    terminal.press("Enter");
    await terminal.until(/hit 1 of 1\nEnter go /);
    terminal.press("Escape");
    await terminal.until(/^Search · all sessions/);
    await terminal.until(/^› assistant: /m);
    terminal.press("Escape");
    await terminal.until(/ended with 0/);
    expect(terminal.modes()).toEqual({ alternateScreen: false, cursorVisible: true, mouse: false });
  });
});

describe("bough tree SESSION ENTRY -i", () => {
  it("opens at the entry, by any of its names, and prints a message that returns to the prompt", async () => {
    const here = await filled();
    const terminal = await here.terminal("tree theme-1 @leaf~2 -i");
    await terminal.until(/^›.*user: Reload the themes/m);
    terminal.press("Enter", "1");
    const screen = await terminal.until(/ended with 0/);
    expect(screen).toContain("Your message, to be sent again:");
    expect(screen).toContain("Reload the themes");
  });

  it("needs -i", async () => {
    const here = await filled();
    const terminal = await here.terminal("tree theme-1 t2");
    expect(await terminal.until(/ended with 2/)).toContain("add -i");
  });
});
