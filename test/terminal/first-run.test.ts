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
    expect(screen).toContain("To import them: `bough import` at your prompt, or /import FOLDER here");
  });

  test("says nothing of it once the store has a session", async () => {
    const here = home();
    mkdirSync(join(here.folder, ".claude/projects/-a"), { recursive: true });
    copyFileSync(SAMPLE, join(here.folder, ".claude/projects/-a/one.jsonl"));
    here.bough("import", SAMPLE);
    const terminal = await here.terminal("");
    expect(await terminal.until(/›/)).not.toContain("The store is empty");
  });
});
