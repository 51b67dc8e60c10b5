import { appendFileSync, existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { type World, world } from "../world.js";

const PI = ".pi/agent/sessions/--home-ada-app--/one.jsonl";

const line = (record: object) => `${JSON.stringify({ timestamp: "2025-11-21T12:00:00Z", ...record })}\n`;
const prompt = (id: string, parentId: string | null) =>
  line({ type: "message", id, parentId, message: { role: "user", content: `text of ${id}` } });

/** A session of pi that was written long ago. */
function piSession(at: World): string {
  const path = at.path(PI);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, line({ type: "session", version: 3, id: "s", cwd: "/home/ada/app" }) + prompt("u1", null) + prompt("u2", "u1"));
  utimesSync(path, 1_700_000_000, 1_700_000_000);
  return path;
}

/** The rows of the printed table, each as its words. */
const rows = (out: string) =>
  out
    .split("\n")
    .slice(1)
    .filter((line) => /^\S+ +\d/.test(line))
    .map((line) => line.trim().split(/ {2,}/));

describe("bough sync", () => {
  test("imports what is new, with a summary by agent", async () => {
    const here = world();
    const path = piSession(here);
    const first = await here.run(["sync"]);
    expect(first).toMatchObject({ exit: 0, out: expect.stringMatching(/\d+ new entries in .*sessions\.db\.\n$/) });
    expect(rows(first.out)).toEqual([["pi", "1", "1", "0", "0", "1 new", expect.stringMatching(/^\+\d+$/)]]);
    const second = await here.run(["sync"]);
    expect(rows(second.out)).toEqual([["pi", "1", "0", "0", "0", "unchanged", "0"]]);
    expect(second.out).toContain("Everything was up to date in ");
    appendFileSync(path, prompt("u3", "u2"));
    expect(rows((await here.run(["sync"])).out)).toEqual([["pi", "1", "0", "1", "0", "1 updated", "+1"]]);
  });

  test("prints a table that fits a terminal of 40 columns", async () => {
    const here = world();
    piSession(here);
    const [heading = "", row = ""] = (await here.run(["sync"], { columns: 40 })).out.split("\n");
    expect(heading.split(/ +/)).toEqual(["agent", "files", "new", "sessions", "entries"]);
    expect(Math.max(heading.length, row.length)).toBeLessThanOrEqual(40);
  });

  test("says that a reply is still being written, and imports it when its file was left", async () => {
    const here = world();
    const path = here.path(".claude/projects/-home-ada/11111111-2222-4333-8444-555555555550.jsonl");
    const common = { isSidechain: false, sessionId: "11111111-2222-4333-8444-555555555550", cwd: "/home/ada/app", version: "2.0.0" };
    const reply = { id: "m", role: "assistant", model: "claude-x", content: [{ type: "text", text: "Hello, " }], stop_reason: null };
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(
      path,
      line({ type: "user", uuid: "u1", parentUuid: null, message: { role: "user", content: "hello" }, ...common }) +
        line({ type: "assistant", uuid: "a1", parentUuid: "u1", message: reply, ...common }),
    );
    // Young for as long as the test runs; another machine's clock may be ahead so much.
    const ahead = Date.now() / 1000 + 1800;
    utimesSync(path, ahead, ahead);
    const writing = await here.run(["sync"]);
    expect(writing.out).toContain("A reply is still being written; a sync takes what is complete, or what has not changed for a while.\n");
    expect(writing.out).toMatch(/^Claude Code .* 1 new +\+1$/m);
    utimesSync(path, 1_700_000_000, 1_700_000_000);
    const left = await here.run(["sync"]);
    expect(left.out).not.toContain("being written");
    expect(left.out).toMatch(/^Claude Code .* 1 updated +\+1$/m);
  });

  test("--dry-run counts and writes nothing, not even a store", async () => {
    const here = world();
    piSession(here);
    const { exit, out } = await here.run(["sync", "--dry-run"]);
    expect({ exit, rows: rows(out) }).toEqual({ exit: 0, rows: [["pi", "1", "1", "0", "0"]] });
    expect(out).toContain("1 file would be read. Nothing was written.\n");
    expect(existsSync(here.store)).toBe(false);
  });

  test("--agent takes names and formats, and names the agents for another", async () => {
    const here = world();
    piSession(here);
    mkdirSync(here.path(".claude/projects"), { recursive: true });
    expect(rows((await here.run(["sync", "--agent", "claude"])).out)).toEqual([]);
    expect((await here.run(["sync", "--agent", "PI", "--agent", "Claude Code"])).out).toContain("1 new");
    expect(await here.run(["sync", "--agent", "nobody"])).toMatchObject({
      exit: 2,
      err: expect.stringMatching(/No agent is named nobody\. Agents: .*pi.*Claude Code/),
    });
  });

  test("--json prints the report", async () => {
    const here = world();
    piSession(here);
    expect(await here.json("sync")).toMatchObject({
      store: here.store,
      dryRun: false,
      agents: [{ agent: "pi", files: 1, newFiles: 1, changedFiles: 0, goneFiles: 0, sessions: [{ outcome: "created" }], failed: [] }],
    });
  });

  test("a machine without agents, and a file that cannot be read, have their exit codes", async () => {
    const here = world();
    expect(await here.run(["sync"])).toMatchObject({
      exit: 4,
      code: "AGENTS_NOT_FOUND",
      err: expect.stringContaining("bough import PATH"),
    });
    piSession(here);
    appendFileSync(here.path(`${PI}.jsonl`), '{"type":"session","version":9,"id":"n"}\n');
    const { exit, out } = await here.run(["sync"]);
    expect({ exit, out }).toEqual({ exit: 3, out: expect.stringContaining("1 new") });
    expect(out).toContain("version 9");
  });
});

describe("bough sessions --orphaned", () => {
  test("lists the sessions whose source the agent removed", async () => {
    const here = world();
    const path = piSession(here);
    await here.run(["sync"]);
    expect((await here.run(["sessions", "--orphaned"])).out).toBe(
      "The source of every session that matches is still there, or it never had one.\n",
    );
    rmSync(path);
    expect(rows((await here.run(["sync"])).out)).toEqual([["pi", "0", "0", "0", "1", "unchanged", "0"]]);
    const [all, orphaned] = [await here.run(["sessions"]), await here.run(["sessions", "--orphaned"])];
    expect(orphaned.out).toBe(all.out);
  });
});
