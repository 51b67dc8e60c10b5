import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parserSession, world } from "../world.js";

describe("bough export", () => {
  test.skipIf(process.platform === "win32")(
    "writes files that only their owner can read, as a store is; a file that is replaced keeps its permissions",
    async () => {
      const here = world();
      await parserSession(here);
      const mode = (name: string) => statSync(here.path(name)).mode & 0o777;
      await here.run(["export", "parser", "-o", here.path("a.md")]);
      await here.run(["export", "parser", "--html", here.path("a.html")]);
      expect([mode("a.md"), mode("a.html")]).toEqual([0o600, 0o600]);
      chmodSync(here.path("a.md"), 0o644);
      await here.run(["export", "parser", "-o", here.path("a.md"), "--force"]);
      expect(mode("a.md")).toBe(0o644);
    },
  );

  test("prints Markdown of the leaf's branch", async () => {
    const here = world();
    await parserSession(here);
    const { out, exit } = await here.run(["export", "parser"]);
    expect(exit).toBe(0);
    expect(out).toMatch(/^# Parser\n/);
    expect(out).toContain("said in user3");
    expect(out).not.toContain("said in user2");
  });

  test("prints another branch, and a part of it", async () => {
    const here = world();
    await parserSession(here);
    const { out } = await here.run(["export", "parser", "--branch", "asst2", "--from", "user2"]);
    expect(out).toContain("said in user2");
    expect(out).not.toContain("said in user1");
  });

  test("reports a reversed range as such, not as a missing entry", async () => {
    const here = world();
    await parserSession(here);
    const { exit, err } = await here.run(["export", "parser", "--branch", "asst2", "--from", "asst2", "--to", "user1"]);
    expect(exit).toBe(2);
    expect(err).toContain("is not on the path of");
  });

  test("writes Bough's own JSONL, which another store imports as the same tree", async () => {
    const here = world();
    await parserSession(here);
    const file = here.path("parser.jsonl");
    expect(await here.run(["export", "parser", "--format", "bough", "-o", file])).toMatchObject({ exit: 0, out: "" });
    const there = world();
    await there.run(["import", file]);
    const [a, b] = [await here.run(["tree", "parser", "--all"]), await there.run(["tree", "parser", "--all"])];
    expect(b.out).toBe(a.out);
  });

  test.each([
    ["parser.html", [], /^<!doctype html>/],
    ["parser.HTM", [], /^<!doctype html>/],
    ["parser.jsonl", [], /^\{"type":"bough-session"/],
    ["parser.pi.jsonl", [], /^\{"type":"session","version":3/],
    ["parser.md", [], /^# /],
    ["parser.txt", [], /^# /],
    ["jsonl", [], /^# /],
    ["parser.html", ["--format", "markdown"], /^# /],
  ])("writes %s with %j in the format of its name, unless another one is given", async (name, format, start) => {
    const here = world();
    await parserSession(here);
    expect(await here.run(["export", "parser", ...format, "-o", here.path(name)])).toMatchObject({ exit: 0, out: "" });
    expect(readFileSync(here.path(name), "utf8")).toMatch(start);
  });

  test("writes a session for pi", async () => {
    const here = world();
    await parserSession(here);
    const { out } = await here.run(["export", "parser", "--format", "pi"]);
    expect(JSON.parse(out.split("\n")[0] ?? "")).toMatchObject({ type: "session", version: 3 });
  });

  test("writes a branch for Claude Code, which another store imports as the same branch", async () => {
    const here = world();
    await parserSession(here);
    const file = here.path("parser.jsonl");
    expect(await here.run(["export", "parser", "--format", "claude", "--branch", "asst2", "-o", file])).toMatchObject({ exit: 0, out: "" });
    const there = world();
    await there.run(["import", file]);
    const messages = ({ out }: { out: string }) => JSON.parse(out).messages;
    const before = await here.run(["context", "parser", "--at", "asst2", "--format", "anthropic"]);
    expect(messages(await there.run(["context", "parser", "--format", "anthropic"]))).toEqual(messages(before));
  });

  test("does not change an existing file without --force, and leaves no partial file", async () => {
    const here = world();
    await parserSession(here);
    const file = here.path("out.md");
    writeFileSync(file, "mine");
    expect(await here.run(["export", "parser", "-o", file])).toMatchObject({ exit: 5, code: "TARGET_EXISTS", out: "" });
    expect(readFileSync(file, "utf8")).toBe("mine");
    expect((await here.run(["export", "parser", "-o", file, "--force"])).exit).toBe(0);
    expect(readFileSync(file, "utf8")).toContain("# Parser");
    expect(readdirSync(here.folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  test("reports that a file cannot be written", async () => {
    const here = world();
    await parserSession(here);
    mkdirSync(here.path("folder"));
    const missing = await here.run(["export", "parser", "-o", here.path("nowhere/out.md")]);
    expect(missing).toMatchObject({ exit: 9, code: "OUTPUT_FAILED", err: expect.stringContaining("its folder does not exist") });
    expect(await here.run(["export", "parser", "-o", here.path("folder")])).toMatchObject({
      exit: 9,
      code: "OUTPUT_FAILED",
      err: expect.stringContaining("is a directory"),
    });
  });

  test.each([
    [["--format", "pi", "--thinking"]],
    [["--format", "bough", "--branch", "asst2"]],
    [["--force"]],
    [["--format", "word"]],
    [["--html", "page.html", "--output", "other.html"]],
    [["clipboard", "now"]],
  ])("refuses %j", async (args) => {
    const here = world();
    await parserSession(here);
    expect(await here.run(["export", "parser", ...args])).toMatchObject({ exit: 2, out: "" });
  });

  test("escapes in JSONL what a terminal obeys, on a terminal only", async () => {
    const here = world();
    await parserSession(here);
    await here.run(["rename", "parser", "a\u202eb"]);
    const shown = (await here.run(["export", "parser-session-1", "--format", "bough"], { isTerminal: true })).out;
    const piped = (await here.run(["export", "parser-session-1", "--format", "bough"])).out;
    expect(shown).not.toContain("\u202e");
    expect(piped).toContain("\u202e");
    expect(JSON.parse(shown.split("\n")[0] ?? "")).toEqual(JSON.parse(piped.split("\n")[0] ?? ""));
  });
});

describe("bough verify", () => {
  test("reports that there are no violations", async () => {
    const here = world();
    await parserSession(here);
    await here.run(["search", "said"]);
    expect(await here.run(["verify"])).toMatchObject({ exit: 0, out: `No integrity violations in ${here.store}.\n` });
    expect(await here.json("verify", "parser")).toEqual({ findings: [] });
  });
});

describe("bough backup", () => {
  test("copies the store into a new file and never over an old one", async () => {
    const here = world();
    await parserSession(here);
    const file = here.path("copy.db");
    expect((await here.run(["backup", file])).exit).toBe(0);
    expect((await here.run(["tree", "parser", "--store", file])).exit).toBe(0);
    expect(await here.run(["backup", file])).toMatchObject({
      exit: 5,
      code: "TARGET_EXISTS",
      out: "",
      err: expect.stringMatching(/^bough: /),
    });
  });
});

describe("bough backup that is interrupted", () => {
  test("ends with 130 and leaves nothing", async () => {
    const here = world();
    await parserSession(here);
    const { exit, err } = await here.run(["backup", here.path("copy.db")], { interruptedAt: Promise.resolve() });
    expect([exit, err.replace(/^copying\n/, "")]).toEqual([130, "bough: Cancelled. No backup was written.\n"]);
    expect(readdirSync(here.folder)).toEqual(["sessions.db"]);
  });
});

describe("bough restore", () => {
  /** A backup of a store that has another session since. */
  async function backedUp() {
    const here = world();
    await parserSession(here);
    const backup = here.path("copy.db");
    await here.run(["backup", backup]);
    await here.withStore((store) => store.createSession({ title: "later" }));
    const sessions = () => here.withStore(async (store) => (await store.statistics()).sessions);
    return { here, backup, sessions };
  }

  test("asks, replaces the store by the backup, and prints where the old store is kept", async () => {
    const { here, backup, sessions } = await backedUp();
    const { exit, out, asked } = await here.run(["restore", backup], { answer: "y" });
    expect(exit).toBe(0);
    expect(asked).toEqual([expect.stringMatching(/^Replace .*sessions\.db by .*copy\.db, 1 session with \d+ entries\? .*kept/)]);
    const kept = /the old store is now (.*)\n/.exec(out)?.[1] ?? "";
    expect(await sessions()).toBe(1);
    expect((await here.run(["verify", "--store", kept])).exit).toBe(0);
  });

  test("prints as JSON where the old store is kept", async () => {
    const { here, backup } = await backedUp();
    const { keptAt } = (await here.json("restore", backup, "--yes")) as { keptAt: string };
    expect(existsSync(keptAt)).toBe(true);
  });

  test.each<[string, string, readonly string[], { answer?: string }]>([
    ["nobody can be asked", "CONFIRMATION_NEEDED", [], {}],
    ["the answer is no", "DECLINED", [], { answer: "n" }],
  ])("replaces nothing where %s", async (_what, code, more, around) => {
    const { here, backup, sessions } = await backedUp();
    expect((await here.run(["restore", backup, ...more], around)).code).toBe(code);
    expect(await sessions()).toBe(2);
  });

  test("refuses what is no whole backup before it asks, and a store that is in use", async () => {
    const { here, backup, sessions } = await backedUp();
    writeFileSync(here.path("text.db"), "a text");
    expect(await here.run(["restore", here.path("text.db")], { answer: "y" })).toMatchObject({ exit: 8, code: "FOREIGN_FILE", asked: [] });
    expect(await here.run(["restore", here.path("none.db"), "--yes"])).toMatchObject({
      exit: 4,
      code: "STORE_NOT_FOUND",
      err: `bough: There is no backup at ${here.path("none.db")}: the file is missing or empty. Check the path.\n`,
    });
    const inUse = await here.withStore(() => here.run(["restore", backup, "--yes"]));
    expect(inUse).toMatchObject({ exit: 6, code: "STORE_IN_USE", err: expect.stringContaining("is in use by another program") });
    writeFileSync(backup, readFileSync(backup).subarray(0, 40_960));
    expect((await here.run(["restore", backup, "--yes"])).code).toBe("BACKUP_DAMAGED");
    expect(await sessions()).toBe(2);
  });
});

describe("the store that is used", () => {
  test("is never created by a command that reads; the message explains how to create one", async () => {
    const here = world();
    const { exit, err } = await here.run(["sessions"], { env: { BOUGH_STORE: "" } });
    expect(exit).toBe(4);
    expect(err).toBe(
      `bough: There is no store yet at ${here.path(".local/share/bough/sessions.db")}. Import sessions to create it: bough import.\n`,
    );
    expect(existsSync(here.path(".local"))).toBe(false);
    expect(await here.run(["rename", "x", "y", "--store", "typo.db"])).toMatchObject({
      code: "STORE_NOT_FOUND",
      err: `bough: There is no store at ${here.path("typo.db")}. Check its name, or import sessions to create it: bough import.\n`,
    });
  });

  test("is --store before BOUGH_STORE before the XDG data directory", async () => {
    const here = world();
    await parserSession(here);
    const xdg = { XDG_DATA_HOME: here.path("data"), BOUGH_STORE: "" };
    expect((await here.run(["sessions"], { env: xdg })).err).toContain(here.path("data/bough/sessions.db"));
    expect((await here.run(["sessions"], { env: { ...xdg, XDG_DATA_HOME: "relative" } })).err).toContain(here.path(".local/share/bough"));
    expect((await here.run(["sessions", "--store", here.store], { env: { BOUGH_STORE: "/nowhere.db" } })).exit).toBe(0);
    expect((await here.run(["--store", here.store, "sessions"], { env: { BOUGH_STORE: "/nowhere.db" } })).exit).toBe(0);
  });

  test("is refused, unchanged, when it is another program's file", async () => {
    const here = world();
    writeFileSync(here.store, "not a database, but somebody's notes");
    expect((await here.run(["import", here.path("x")])).code).toBe("FOREIGN_FILE");
    expect((await here.run(["sessions"])).code).toBe("FOREIGN_FILE");
    expect(readFileSync(here.store, "utf8")).toBe("not a database, but somebody's notes");
  });
});
