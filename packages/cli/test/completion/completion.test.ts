import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { quoteForBash, splitLine } from "../../src/completion/answer.js";
import { SCRIPTS, SHELLS } from "../../src/completion/scripts.js";
import { grow, parserSession, type World, world } from "../world.js";

/** What a shell is answered for the words behind `bough`; the last one is at the cursor. */
async function answers(at: World, ...words: readonly string[]): Promise<readonly string[]> {
  const { out, err, exit } = await at.run(["__complete", "--shell", "fish", "--", ...words]);
  expect({ err, exit }).toEqual({ err: "", exit: 0 });
  return out.split("\n").filter((line) => line !== "");
}

async function values(at: World, ...words: readonly string[]): Promise<readonly string[]> {
  return (await answers(at, ...words)).map((line) => line.split("\t")[0] ?? "");
}

describe("completion", () => {
  test("has commands, options and the values of options", async () => {
    const here = world();
    expect(await values(here, "sess")).toEqual(["sessions"]);
    expect(await values(here, "--no-pager", "--store", "x.db", "exp")).toEqual(["export"]);
    expect(await values(here, "export", "--for")).toEqual(["--format", "--force"]);
    expect(await values(here, "export", "--format", "")).toEqual(["markdown", "html", "bough", "pi", "claude", "codex", "opencode"]);
    expect(await values(here, "export", "--format=p")).toEqual(["--format=pi"]);
    expect(await values(here, "help", "na")).toEqual(["names"]);
    expect(await values(here, "sessions", "--agent", "cl")).toEqual(["claude", "claude-cowork"]);
    expect((await answers(here, "compl"))[0]).toMatch(/^completion\tPrint the script/);
    expect(await values(here, "")).not.toContain("__complete");
  });

  test("has files where files are named", async () => {
    const here = world();
    for (const words of [
      ["import", ""],
      ["--store", ""],
      ["export", "-o", ""],
    ])
      expect(await answers(here, ...words)).toEqual([":files"]);
  });

  test("has sessions by id and by title, and ids only where a title is not one session's", async () => {
    const here = world();
    await here.withStore(async (store) => {
      await grow(store, "parser-one-session", "u1", { title: "Fix the parser" });
      await grow(store, "same-1-aaaaaaa", "u1", { title: "Same" });
      await grow(store, "same-2-bbbbbbb", "u1", { title: "Same" });
    });
    expect(await answers(here, "tree", "pars")).toEqual(["pars\tFix the parser"]);
    expect(await values(here, "tree", "fix")).toEqual(["Fix the parser"]);
    expect(await values(here, "tree", "Sam")).toEqual([expect.stringMatching(/^same-[12]/), expect.stringMatching(/^same-[12]/)]);
    expect(await values(here, "tree", "")).toHaveLength(3);
    expect(await values(here, "shell", "--session", "fix")).toEqual(["Fix the parser"]);
  });

  test("has labels, leaves and entries of the session that the line names", async () => {
    const here = world();
    await parserSession(here);
    await here.run(["label", "parser", "user2", "two", "ways"]);
    expect(await values(here, "show", "Parser", "two")).toEqual(["two ways"]);
    expect(await values(here, "show", "Parser", "@")).toEqual(["@leaf", "@root"]);
    expect(await values(here, "go", "Parser", "asst")).toEqual(["asst3", "asst2", "asst1"]);
    expect(await values(here, "export", "Parser", "--branch", "user")).toEqual(["user3", "user2", "user1"]);
    expect(await values(here, "show", "Parser", "user1", "user2", "asst")).toHaveLength(3);
  });

  test("offers the words of an argument that has a few only", async () => {
    const here = world();
    expect(await values(here, "hook", "")).toEqual(["install", "uninstall", "status", "run", "log"]);
    expect(await values(here, "hook", "install", "c")).toEqual(["claude", "codex"]);
  });

  test("says nothing where it knows nothing: without a store, with a damaged one, behind an unknown command", async () => {
    const here = world();
    expect(await answers(here, "tree", "")).toEqual([]);
    expect(await answers(here, "--store", "/dev/null", "tree", "")).toEqual([]);
    expect(await answers(here, "tree", "no-such-session", "x")).toEqual([]);
    expect(await answers(here, "nothing", "x")).toEqual([]);
  });

  test("prints a script for each shell, and refuses others", async () => {
    const here = world();
    for (const shell of SHELLS) expect((await here.run(["completion", shell])).out).toBe(SCRIPTS[shell]);
    expect(await here.run(["completion", "tcsh"])).toMatchObject({ exit: 2, err: expect.stringContaining("bash, zsh, fish") });
  });
});

describe("a line of bash", () => {
  test.each([
    ["bough tree ", [], ""],
    ["bough tree pa", [], "pa"],
    ["bough tree 'Tabs in", [], "Tabs in"],
    ['bough show "a b" c\\ d', ["a b"], "c d"],
    ["bough show it\\'s x", ["it's"], "x"],
  ])("%s is divided as bash does", (line, more, current) => {
    const { before, current: found } = splitLine(line);
    expect({ more: before.slice(2), found }).toEqual({ more, found: current });
  });

  test.each(["Tabs in the lexer", 'it\'s $HOME `x` "y" \\', "日本語 (x) & *", "~x #1 !! a|b;c<d>"])(
    "%s comes back from each way to quote it",
    (text) => {
      for (const quote of ["", "'", '"'] as const) {
        const { current } = splitLine(`bough tree ${quote}${quoteForBash(text, quote)}`);
        expect(current).toBe(text);
      }
    },
  );
});

/** The completions of the real bash for a line whose last word is `word`, with the answer of the command. */
async function inBash(here: World, line: string, word: string): Promise<readonly string[]> {
  writeFileSync(here.path("answer"), (await here.run(["__complete", "--shell", "bash", "--line", line])).out);
  const script = `${SCRIPTS.bash}
bough() { cat answer; }
COMP_LINE=$1 COMP_POINT=\${#1}
_bough bough "$2"
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const printed = execFileSync("bash", ["--norc", "-c", script, "bash", line, word], { cwd: here.folder, encoding: "utf8" });
  return printed.split("\n").slice(0, -1);
}

describe.skipIf(process.platform === "win32")("the script of bash", () => {
  test("offers every candidate for an empty word", async () => {
    const formats = ["markdown", "html", "bough", "pi", "claude", "codex", "opencode"];
    expect(await inBash(world(), "bough export --format ", "")).toEqual(formats);
  });

  test("takes no title for a pattern of file names", async () => {
    const here = world();
    await here.withStore((store) => grow(store, "star-session-1", "user1", { title: "* star" }));
    writeFileSync(here.path("a star"), "");
    expect(await inBash(here, "bough tree '*", "*")).toEqual(["* star"]);
  });

  test("offers files, also those with a star in their names", async () => {
    const here = world();
    for (const name of ["ab", "a*"]) writeFileSync(here.path(name), "");
    expect((await inBash(here, "bough import a", "a")).toSorted()).toEqual(["a*", "ab", "answer"]);
  });
});
