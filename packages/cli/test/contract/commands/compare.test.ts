import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { assistantMessage, type Session, toolResult, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { parserSession, type World, world } from "../../world.js";

describe("bough diff", () => {
  test("prints the common part and what each branch has", async () => {
    const here = world();
    await parserSession(here);
    const { out, exit } = await here.run(["diff", "parser", "asst2", "@leaf"]);
    expect(exit).toBe(0);
    expect(out).toContain("2 entries in common, the last one asst1");
    expect(out).toMatch(
      /^--- asst2 {2}Parser: 2 entries\n- user2 .*said in user2\n- asst2 .*replied in asst2\n\n\+\+\+ @leaf {2}Parser: 4 entries, \d of them hidden\n\+ user3 /m,
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
    expect(await here.json("diff", "parser-session-1", "Other way")).toMatchObject({
      commonAncestorId: "asst1",
      left: { entryId: "asst3" },
      right: { entryId: "asst1", entries: [] },
    });
    expect((await here.run(["diff", "parser-session-1", "nothing-such"])).code).toBe("ENTRY_NOT_FOUND");
    expect(await here.run(["diff", "nothing-such", "user1"])).toMatchObject({
      code: "ENTRY_NOT_FOUND",
      err: expect.stringContaining("That is the newest session: name another one first, bough diff SESSION A B."),
    });
  });

  test("takes a label for one, although the titles of several sessions have the word", async () => {
    const here = world();
    await parserSession(here);
    for (const title of ["Try one", "Try two"]) await here.run(["fork", "parser-session-1", "--title", title]);
    await here.run(["label", "parser-session-1", "asst2", "try"]);
    expect(await here.json("diff", "parser-session-1", "try")).toMatchObject({ commonAncestorId: "asst1", right: { entryId: "asst2" } });
    await here.run(["label", "parser-session-1", "asst2", "--remove"]);
    expect(await here.run(["diff", "parser-session-1", "try"])).toMatchObject({ code: "AMBIGUOUS_NAME" });
  });
});

/** Entries that call `tool` on a file, and its result. */
async function callTool(session: Session, id: string, name: string, args: Record<string, string>, output = "done"): Promise<void> {
  await session.append({ ...assistantMessage([{ type: "toolCall", id, name, arguments: args }]), id });
  await session.append({ ...toolResult(id, output), id: `${id}-res` });
}

/** Two branches after `ask`: the left one at `left-end`, the leaf at the end of the right one. */
async function fileBranches(at: World): Promise<void> {
  await at.withStore(async (store) => {
    const session = await store.createSession({ id: "files-session-1", title: "Files", cwd: at.folder });
    await session.append({ ...userMessage("Go."), id: "ask" });
    await callTool(session, "base", "write", { path: "src/both.ts", content: "one\ntwo\nthree" });
    await callTool(session, "l-both", "edit", { path: "src/both.ts", oldText: "two", newText: "left" });
    await callTool(session, "l-only", "write", { path: "src/left.ts", content: "a" });
    await callTool(session, "l-blind", "edit", { path: "src/blind.ts", oldText: "x = 1", newText: "x = 2" });
    await session.append({ ...assistantMessage("Three\nlines\nleft."), id: "left-end" });
    await session.moveLeaf("base-res");
    await callTool(session, "r-both", "edit", { path: "src/both.ts", oldText: "two", newText: "right" });
    await callTool(session, "r-only", "write", { path: "src/right.ts", content: "b" });
    await callTool(session, "r-blind", "edit", { path: "src/blind.ts", oldText: "x = 1", newText: "x = 3" });
    await session.append({ ...assistantMessage("Three\nlines\nright."), id: "right-end" });
  });
}

describe("bough diff of what the branches did", () => {
  test("tells the files changed on one side and on both, and the difference of their last known texts", async () => {
    const here = world();
    await fileBranches(here);
    const { out } = await here.run(["diff", "files", "left-end", "@leaf"]);
    // The results of the calls.
    expect(out).toContain("--- left-end  Files: 7 entries, 3 of them hidden\n");
    expect(out).toContain("\nFiles changed only on left-end:\n  src/left.ts\n");
    expect(out).toContain("\nFiles changed only on @leaf:\n  src/right.ts\n");
    expect(out).toContain("\nFiles changed on both:\n  src/blind.ts\n  src/both.ts\n");
    expect(out).toContain("\nsrc/both.ts  as the tool calls left it\n one\n-left\n+right\n three\n");
    expect(await here.json("diff", "files", "left-end", "@leaf")).toMatchObject({
      filesChanged: { onlyLeft: ["src/left.ts"], onlyRight: ["src/right.ts"], both: ["src/blind.ts", "src/both.ts"] },
    });
  });

  test("prints the edits of a file of which no call shows the whole text", async () => {
    const here = world();
    await fileBranches(here);
    expect((await here.run(["diff", "files", "left-end", "@leaf"])).out).toContain(
      "src/blind.ts  its whole text is not known; the edits:\n--- left-end\n-x = 1\n+x = 2\n+++ @leaf\n-x = 1\n+x = 3\n",
    );
  });

  test("compares the full texts of two entries of one kind that are named, also on one path", async () => {
    const here = world();
    await fileBranches(here);
    expect((await here.run(["diff", "files", "left-end", "right-end"])).out).toMatch(
      /The texts of left-end and right-end:\n(?:.*\n)* Three\n lines\n-left\.\n\+right\.\n/,
    );
    const { out } = await here.run(["diff", "files", "base-res", "left-end"]);
    expect(out).toContain("--- base-res  Files: 0 entries\n");
    expect(out).not.toContain("The texts of");
    expect((await here.run(["diff", "files", "l-both-res", "r-both-res"])).out).toContain("The texts of l-both-res and r-both-res:");
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
    expect(exit).toBe(7);
    expect(err).toContain("ended with 3. Set VISUAL or EDITOR");
    expect(existsSync(readFileSync(here.path("args"), "utf8").split("\n")[1] ?? "")).toBe(false);
    expect((await here.run(["edit", "parser"], { env: { EDITOR: "no-such-editor", PATH: process.env["PATH"] ?? "" } })).code).toBe(
      "EDITOR_FAILED",
    );
  });
});
