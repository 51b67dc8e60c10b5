import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parserSession, type World, world } from "../world.js";

describe("bough diff", () => {
  test("prints the common part and what each branch has", async () => {
    const here = world();
    await parserSession(here);
    const { out, exit } = await here.run(["diff", "parser", "asst2", "@leaf"]);
    expect(exit).toBe(0);
    expect(out).toContain("2 entries in common, the last one asst1");
    expect(out).toMatch(
      /^--- asst2 {2}Parser: 2 entries\n- user2 .*said in user2\n- asst2 .*replied in asst2\n\n\+\+\+ @leaf {2}Parser: 4 entries\n\+ user3 /m,
    );
    expect(out).toContain("The first message of the user on each:\n-said in user2\n+said in user3\n");
    const both = await here.json("diff", "parser", "asst2");
    expect(both).toMatchObject({ commonAncestorId: "asst1", sharedEntries: 2, left: { entryId: "asst3" }, right: { entryId: "asst2" } });
  });

  test("compares a session and its fork, and entries of the newest session of the directory", async () => {
    const here = world();
    await parserSession(here);
    expect((await here.run(["diff", "user2", "user3"])).out).toContain("--- user2");
    await here.run(["fork", "parser", "--at", "asst1", "--title", "Other way"]);
    expect(await here.json("diff", "parser-session-1", "Other way")).toMatchObject({ commonAncestorId: "asst1", right: { entries: [] } });
    expect((await here.run(["diff", "parser-session-1", "nothing-such"])).exit).toBe(11);
  });
});

/** An editor that copies what it was given, and how it may be read. */
function editor(at: World, script = ""): Record<string, string> {
  const path = at.path("my editor");
  writeFileSync(
    path,
    `#!/bin/sh\necho "$#:$1" > '${at.path("args")}'\nfor last; do :; done\necho "$last" >> '${at.path("args")}'\nls -ld "$last" "$(dirname "$last")" | cut -c1-10 >> '${at.path("args")}'\ncat "$last" > '${at.path("seen")}'\n${script}`,
  );
  chmodSync(path, 0o755);
  return { EDITOR: `'${path}' --wait` };
}

describe("bough edit", () => {
  test("gives the editor a private copy with its arguments, and removes it", async () => {
    const here = world();
    await parserSession(here);
    await here.run(["rename", "parser", "It's $(touch x) `ways`"]);
    const { exit, err } = await here.run(["edit", "parser-session-1"], { env: editor(here) });
    expect({ exit, err }).toEqual({ exit: 0, err: "This is a copy: entries never change, so changes in the editor are not stored.\n" });
    const [given, file = "", ...modes] = readFileSync(here.path("args"), "utf8").trim().split("\n");
    expect(given).toBe("2:--wait");
    expect(modes.sort()).toEqual(["-r--------", "drwx------"]);
    expect(existsSync(file)).toBe(false);
    expect(readFileSync(here.path("seen"), "utf8")).toContain("replied in asst3");
    expect(existsSync(here.path("x"))).toBe(false);
  });

  test("opens one entry, or another branch", async () => {
    const here = world();
    await parserSession(here);
    await here.run(["edit", "parser", "asst1"], { env: editor(here) });
    const entry = readFileSync(here.path("seen"), "utf8");
    expect(entry).toContain("replied in asst1");
    expect(entry).not.toContain("said in user1");
    await here.run(["edit", "parser", "--branch", "asst2"], { env: editor(here) });
    expect(readFileSync(here.path("seen"), "utf8")).toContain("said in user2");
  });

  test("says that the editor failed, and leaves nothing behind", async () => {
    const here = world();
    await parserSession(here);
    const { exit, err } = await here.run(["edit", "parser"], { env: editor(here, "exit 3\n") });
    expect(exit).toBe(75);
    expect(err).toContain("ended with 3. Set VISUAL or EDITOR");
    expect(existsSync(readFileSync(here.path("args"), "utf8").split("\n")[1] ?? "")).toBe(false);
    expect((await here.run(["edit", "parser"], { env: { EDITOR: "no-such-editor", PATH: process.env["PATH"] ?? "" } })).exit).toBe(75);
  });
});
