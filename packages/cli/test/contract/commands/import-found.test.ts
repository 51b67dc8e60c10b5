import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { type World, world } from "../../world.js";

const SAMPLE = fileURLToPath(new URL("../../../demo/sample.jsonl", import.meta.url));

function session(at: World, path: string): void {
  mkdirSync(dirname(at.path(path)), { recursive: true });
  copyFileSync(SAMPLE, at.path(path));
}

describe("bough import without a path", () => {
  test("lists the sessions of known agents and, without a terminal, names the commands that import them", async () => {
    const here = world();
    session(here, ".pi/agent/sessions/--a--/one.jsonl");
    session(here, ".claude/projects/a/two.jsonl");
    writeFileSync(here.path(".claude/projects/a/notes.txt"), "no session");
    const { exit, out, err } = await here.run(["import"]);
    expect({ exit, out }).toEqual({ exit: 10, out: "" });
    const folders = [".pi/agent/sessions", ".claude/projects"];
    expect(err.split("\n")).toEqual([
      "pi: 1 file in ~/.pi/agent/sessions",
      "Claude Code: 1 file in ~/.claude/projects",
      `bough: Choose what to import: ${folders.map((folder) => `bough import ${here.path(folder)}`).join(", ")}; or all of it: bough import --yes.`,
      "",
    ]);
  });

  test("asks on a terminal, and imports after yes or with --yes", async () => {
    const here = world();
    session(here, ".pi/agent/sessions/one.jsonl");
    expect(await here.run(["import"], { answer: "n" })).toMatchObject({ exit: 10, code: "DECLINED" });
    const { exit, asked, out } = await here.run(["import"], { answer: "y" });
    expect({ exit, asked }).toEqual({ exit: 0, asked: ["Import pi? [y/N] "] });
    expect(out).toContain("1 session, ");
    expect(await here.run(["import", "--yes"])).toMatchObject({ exit: 0, out: expect.stringMatching(/^Everything was up to date/) });
    expect((await here.run(["sync"])).out).toContain("Everything was up to date");
  });

  test("looks where the variables of the agents point", async () => {
    const here = world();
    session(here, "elsewhere/projects/a/one.jsonl");
    session(here, ".claude/projects/b/two.jsonl");
    const { err } = await here.run(["import"], { env: { CLAUDE_CONFIG_DIR: here.path("elsewhere") } });
    expect(err).toContain(`Claude Code: 1 file in ~/elsewhere/projects\n`);
  });

  test("says that nothing was found", async () => {
    const here = world();
    expect(await here.run(["import"])).toMatchObject({
      exit: 4,
      code: "AGENTS_NOT_FOUND",
      err: expect.stringContaining("bough import PATH"),
    });
  });
});

describe("bough import of a folder", () => {
  test("says once that it imports, however many paths there are", async () => {
    const here = world();
    const paths = ["a", "b", "c"].map((name) => join(here.folder, `${name}.jsonl`));
    for (const name of ["a", "b", "c"]) session(here, `${name}.jsonl`);
    const { err } = await here.run(["import", ...paths]);
    expect(err.match(/^importing$/gm)).toHaveLength(1);
  });
});
