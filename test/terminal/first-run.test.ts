import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { home } from "./test-home.js";

const SAMPLE = fileURLToPath(new URL("../../packages/cli/demo/sample.jsonl", import.meta.url));

describe("bough in an empty store", () => {
  test("says which sessions of other agents are on this machine, and what to type", async () => {
    const here = home();
    mkdirSync(join(here.folder, ".claude/projects/-a"), { recursive: true });
    copyFileSync(SAMPLE, join(here.folder, ".claude/projects/-a/one.jsonl"));
    const terminal = await here.terminal("");
    const screen = await terminal.until(/To import them/);
    expect(screen).toContain("The store is empty. Sessions of other agents are on this machine:");
    expect(screen).toContain("Claude Code: 1 file in ~/.claude/projects");
    expect(screen).toContain("To import them: /import here, or `bough import` at your prompt");
    terminal.type("/import\r");
    expect(await terminal.until(/1 session, /)).not.toContain("Import from where?");
  });

  test("opens the list of all sessions where this directory has none", async () => {
    const here = home();
    here.bough("import", SAMPLE);
    const terminal = await here.terminal("");
    const list = await terminal.until(/Sessions · all directories/);
    expect(list).toContain("Tabs in the lexer");
    expect(list).not.toContain("The store is empty");
    terminal.type("\r");
    await terminal.until(/›/);
  });
});
