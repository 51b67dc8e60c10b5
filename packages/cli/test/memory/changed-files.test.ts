import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { countChanged } from "../../src/memory/changed-files.js";
import { NOON, type World, world } from "../world.js";

/** A repository with a commit from long ago, whose files have new times, as after a checkout. */
function checkedOut(here: World, names: readonly string[]): void {
  mkdirSync(here.path("repo"));
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
      cwd: here.path("repo"),
      stdio: "pipe",
      env: { ...process.env, GIT_COMMITTER_DATE: "@1000 +0000" },
    });
  for (const name of names) writeFileSync(here.path(`repo/${name}`), "before");
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "Before");
  for (const name of names) utimesSync(here.path(`repo/${name}`), NOON / 1000, NOON / 1000);
}

const SINCE = NOON - 1000;

const countIn = (here: World, folder: string, files: readonly string[]) =>
  countChanged({ env: { PATH: process.env["PATH"] }, home: here.folder }, files, here.path(folder), SINCE);

describe("the files of a passage that changed since, in a repository", () => {
  test.each(["my file.txt", "größe.txt", "[id].tsx"])("%s counts once its text is another one", async (name) => {
    const here = world();
    checkedOut(here, [name, "same.txt"]);
    expect(await countIn(here, "repo", [name, "same.txt"])).toEqual({ changed: 0, of: 2 });
    writeFileSync(here.path(`repo/${name}`), "after");
    expect(await countIn(here, "repo", [name, "same.txt"])).toEqual({ changed: 1, of: 2 });
  });

  test("are found through a symbolic link to the repository", async () => {
    const here = world();
    checkedOut(here, ["a.txt", "same.txt"]);
    symlinkSync(here.path("repo"), here.path("link"));
    writeFileSync(here.path("repo/a.txt"), "after");
    expect(await countIn(here, "link", ["a.txt", "same.txt"])).toEqual({ changed: 1, of: 2 });
  });

  test("are counted beside one outside of it, which its time alone decides", async () => {
    const here = world();
    checkedOut(here, ["same.txt"]);
    writeFileSync(here.path("notes.txt"), "mine");
    expect(await countIn(here, "repo", ["same.txt", "../notes.txt"])).toEqual({ changed: 1, of: 2 });
  });
});
