import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type World, world } from "../world.js";

const HEADER = { type: "session", version: 3, id: "pi-session-1", timestamp: "2025-11-21T10:00:00.000Z", cwd: "/home/ada/p" };

function message(id: string, parentId: string | null, text: string) {
  const body = { role: "user", content: [{ type: "text", text }], timestamp: 1763719200000 };
  return { type: "message", id, parentId, timestamp: "2025-11-21T10:00:01.000Z", message: body };
}

/** A session file of pi, with lines as they stand where they are texts. */
function piFile(at: World, name: string, ...lines: readonly (object | string)[]): string {
  const path = at.path(name);
  writeFileSync(path, `${[HEADER, ...lines].map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n")}\n`);
  return path;
}

/** Resolves once another reader of the store sees a session in it. */
async function firstSessionIn(at: World): Promise<void> {
  for (let sessions = 0; sessions === 0; await setImmediate()) {
    if (!existsSync(at.store)) continue;
    sessions = await at.withStore(async (store) => (await store.statistics()).sessions);
  }
}

describe("bough import", () => {
  test("makes the store, private to the user, and tells what was taken and what to type next", async () => {
    const here = world();
    const path = piFile(here, "one.jsonl", message("aaaa1111", null, "Hello there"));
    const { exit, out, err } = await here.run(["import", path]);
    expect(exit).toBe(0);
    expect(out).toMatch(/Hello there +pi +created +\+1 +0 +0/);
    expect(out).toContain(`1 session, 1 new entry in ${here.store}`);
    expect(out).toContain("Next: bough sessions");
    expect(err).toContain("importing");
    expect(statSync(here.store).mode & 0o077).toBe(0);
  });

  test("imports each of several paths, and lists at the end those without sessions", async () => {
    const here = world();
    const good = piFile(here, "b.jsonl", message("aaaa1111", null, "Hello there"));
    writeFileSync(here.path("a.md"), "# no session\n");
    const { exit, out } = await here.run(["import", here.path("a.md"), good, here.path("nowhere")]);
    expect(exit).toBe(3);
    expect(out).toContain("1 session, 1 new entry");
    expect(out).toContain(here.path("a.md"));
    expect(out).toContain(here.path("nowhere"));
    expect((await here.run(["tree", "hello there"])).exit).toBe(0);
  });

  test("leaves the leaf where a person placed it, says so, and names the command that goes to the new end", async () => {
    const here = world();
    const lines = ["aaaa1111", "bbbb2222", "cccc3333"].map((id, at, all) => message(id, all[at - 1] ?? null, `Message ${at}`));
    await here.run(["import", piFile(here, "one.jsonl", ...lines)]);
    await here.run(["go", "pi-session-1", "aaaa"]);
    const { out } = await here.run(["import", piFile(here, "one.jsonl", ...lines, message("dddd4444", "cccc3333", "Message 3"))]);
    expect(out).toContain("The leaf stays at aaaa, where you placed it. New end: bough go pi-s dddd\n");
    expect((await here.run(["undo", "pi-session-1"])).out).toContain("leaf: cccc ");
    expect((await here.run(["undo", "pi-session-1", "--redo"])).out).toContain("leaf: aaaa ");
    expect((await here.run(["go", "pi-session-1", "dddd"])).out).toContain("leaf: dddd ");
    const { out: again } = await here.run(["import", piFile(here, "one.jsonl", ...lines, message("dddd4444", "cccc3333", "Message 3"))]);
    expect(again).not.toContain("The leaf stays");
  });

  test.each([[["import", ""]], [["tree", ""]], [["backup", ""]]])("of an empty name is a mistake of the command line: %s", async (args) => {
    const here = world();
    await here.run(["import", piFile(here, "one.jsonl", message("aaaa1111", null, "Hello"))]);
    expect((await here.run(args)).exit).toBe(2);
  });

  test("that is interrupted tells how many sessions are in, and importing again brings the rest", async () => {
    const here = world();
    mkdirSync(here.path("in"));
    const files = Array.from({ length: 400 }, (_, at) => `s${at}`);
    for (const id of files) {
      const lines = [{ ...HEADER, id }, message("aaaa1111", null, `Hello ${id}`)];
      writeFileSync(here.path(`in/${id}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    }
    const { exit, err } = await here.run(["import", here.path("in")], { interruptedAt: firstSessionIn(here) });
    const stored = await here.withStore(async (store) => (await store.statistics()).sessions);
    expect(stored).toBeGreaterThan(0);
    expect(stored).toBeLessThan(files.length);
    expect({ exit, said: err.trimEnd().split("\n").at(-1) }).toEqual({
      exit: 130,
      said: `bough: Interrupted; ${stored === 1 ? "1 session was" : `${stored} sessions were`} imported. Run the import again for the others.`,
    });
    expect((await here.run(["import", here.path("in")])).out).toContain(`${files.length} sessions, ${files.length - stored} new`);
  });

  test("adds only what is new the second time, and never changes the source", async () => {
    const here = world();
    const path = piFile(here, "one.jsonl", message("aaaa1111", null, "Hello"));
    await here.run(["import", path]);
    piFile(here, "one.jsonl", message("aaaa1111", null, "Hello"), message("bbbb2222", "aaaa1111", "More"));
    const before = readFileSync(path, "utf8");
    expect((await here.run(["import", path])).out).toMatch(/extended +\+1/);
    expect((await here.run(["import", path])).out).toMatch(/unchanged +0/);
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  test("finds what it imported at once", async () => {
    const here = world();
    await here.run(["import", piFile(here, "one.jsonl", message("aaaa1111", null, "a peculiar wombat"))]);
    expect((await here.run(["search", "wombat"])).out).toContain("1 match");
  });

  test("reports a second session with the id of the first", async () => {
    const here = world();
    await here.run(["import", piFile(here, "one.jsonl", message("aaaa1111", null, "One"))]);
    const { out, exit } = await here.run(["import", piFile(here, "two.jsonl", message("aaaa1111", null, "Two"))]);
    expect(exit).toBe(0);
    expect(out).toContain("has the id pi-session-1 of a different session in the store");
  });

  test("lists lines that are no JSON with file and number, imports the rest, and ends with 34", async () => {
    const here = world();
    const path = piFile(here, "one.jsonl", message("aaaa1111", null, "One"), "{ not json", message("bbbb2222", "aaaa1111", "Two"));
    const { exit, out, err } = await here.run(["import", path]);
    expect(exit).toBe(3);
    expect(out).toContain(`malformed-line  ${path}:3:`);
    expect(out).toContain("2 new entries");
    expect(err).toContain("1 line could not be parsed and were skipped");
  });

  test("keeps records that fit no schema as foreign entries, and ends with 35", async () => {
    const here = world();
    const broken = { ...message("bbbb2222", "aaaa1111", ""), message: { role: "toolResult", content: 7 } };
    const { exit, out } = await here.run(["import", piFile(here, "one.jsonl", message("aaaa1111", null, "One"), broken)]);
    expect(exit).toBe(3);
    expect(out).toContain("invalid-record");
  });

  test("names the files of a folder that it skips, and why, with --verbose", async () => {
    const here = world();
    piFile(here, "one.jsonl", message("aaaa1111", null, "Hello there"));
    writeFileSync(here.path("odd.jsonl"), '{"prompt":"hi"}\n');
    expect((await here.run(["import", here.path(".")])).out).toContain("1 other file skipped; --verbose names them.");
    const { out } = await here.run(["import", here.path("."), "--verbose"]);
    expect(out).toContain(`skipped  ${here.path("odd.jsonl")}: no known format has a first record with prompt\n`);
    const { skipped } = JSON.parse((await here.run(["import", here.path("."), "--json"])).out);
    expect(skipped).toEqual([{ path: here.path("odd.jsonl"), reason: "no known format has a first record with prompt" }]);
  });

  test("prints one line for each file and kind of problem before the table, and every problem with --verbose", async () => {
    const here = world();
    const orphan = message("cccc3333", "nowhere", "Three");
    const path = piFile(here, "one.jsonl", message("aaaa1111", null, "One"), ...Array<string>(25).fill("{ not json"), orphan);
    const short = await here.run(["import", path]);
    const lines = short.out.split("\n");
    expect(lines.slice(0, 3)).toEqual([
      expect.stringMatching(/^malformed-line {2}.*one\.jsonl: 25 times, the first at line 3: /),
      expect.stringMatching(/^missing-parent {2}.*one\.jsonl:28: /),
      "--verbose lists each problem",
    ]);
    expect(lines[3]).toMatch(/^session +title/);
    expect((await here.run(["import", path, "--verbose"])).out.match(/malformed-line/g)).toHaveLength(25);
  });

  test("counts all broken lines, also beyond the listed problems; with --verbose prints the number of omitted ones", async () => {
    const here = world();
    const lost = Array.from({ length: 1_100 }, (_, at) => message(`lost${at}`, "nowhere", "x"));
    const path = piFile(here, "one.jsonl", message("aaaa1111", null, "One"), ...lost, ...Array<string>(50).fill("{ not json"));
    const { exit, out: short, err } = await here.run(["import", path]);
    expect(exit).toBe(3);
    expect(err).toContain("50 lines could not be parsed");
    expect(short).toMatch(/missing-parent {2}.*: 1,100 times, the first at line 3: /);
    const { out } = await here.run(["import", path, "--verbose"]);
    expect(out.match(/malformed-line/g)).toHaveLength(50);
    expect(out).toContain("and 100 more problems\n");
  });

  test("prints twenty lines of problems at most, and the number of those behind them", async () => {
    const here = world();
    const files = Array.from({ length: 23 }, (_, at) => piFile(here, `${at}.jsonl`, message("aaaa1111", null, `${at}`), "{ no", "{ no"));
    const { out } = await here.run(["import", ...files]);
    expect(out.match(/^malformed-line/gm)).toHaveLength(20);
    expect(out).toContain("and 6 more problems; --verbose lists them");
  });

  test("ends with 4 where an agent of a session could not be read, and names its file", async () => {
    const here = world();
    mkdirSync(here.path("one"));
    writeFileSync(here.path("one/agent.jsonl"), "no session\n");
    const { exit, out, err } = await here.run(["import", piFile(here, "one.jsonl", message("aaaa1111", null, "One"))]);
    expect(exit).toBe(3);
    expect(out).toContain(`unreadable-file  ${here.path("one/agent.jsonl")}: the subagent's session was left out`);
    expect(err).toContain("1 file could not be imported");
  });

  test("imports each of several paths although one is invalid, and finds the imported text", async () => {
    const here = world();
    const odd = piFile(here, "odd.jsonl", message("aaaa1111", null, "Odd"));
    writeFileSync(odd, `${JSON.stringify({ type: "bough-session", version: 1, id: "two words" })}\n`);
    const good = piFile(here, "zz.jsonl", message("aaaa1111", null, "a peculiar wombat"));
    const { exit, out } = await here.run(["import", odd, good]);
    expect(exit).toBe(3);
    expect(out).toContain(odd);
    expect((await here.run(["search", "wombat"])).out).toContain("1 match");
  });

  test("imports what it can of a folder and names the files that failed, ending with 3", async () => {
    const here = world();
    mkdirSync(here.path("folder"));
    piFile(here, "folder/good.jsonl", message("aaaa1111", null, "Good"));
    writeFileSync(here.path("folder/newer.jsonl"), `${JSON.stringify({ ...HEADER, version: 99 })}\n`);
    const { exit, out } = await here.run(["import", here.path("folder")]);
    expect(exit).toBe(3);
    expect(out).toMatch(/failed +.*newer\.jsonl.*version 99/);
    expect(out).toContain("1 session, 1 new entry");
  });

  test.each([
    ["a path where nothing is", "SOURCE_NOT_FOUND", () => undefined],
    ["a folder without sessions", "NO_SESSIONS_FOUND", (path: string) => mkdirSync(path)],
    ["a file of another program", "UNKNOWN_FORMAT", (path: string) => writeFileSync(path, "hello\n")],
    [
      "a file of a newer version",
      "UNKNOWN_FORMAT_VERSION",
      (path: string) => writeFileSync(path, `${JSON.stringify({ ...HEADER, version: 99 })}\n`),
    ],
  ])("refuses %s with %s and one line", async (_, expected, make) => {
    const here = world();
    make(here.path("source"));
    const { code, out, err } = await here.run(["import", here.path("source")]);
    expect({ code, out }).toEqual({ code: expected, out: "" });
    expect(err.split("\n").filter((line) => line.startsWith("bough: "))).toHaveLength(1);
  });

  test("skips a file that has no conversation yet, one of several", async () => {
    const here = world();
    const good = piFile(here, "good.jsonl", message("aaaa1111", null, "Good"));
    const { exit, out } = await here.run(["import", piFile(here, "draft.jsonl"), good, "--verbose"]);
    expect(exit).toBe(0);
    expect(out).toMatch(/skipped +.*draft\.jsonl: it contains no conversation yet/);
    expect(out).toContain("1 session, 1 new entry");
    expect(out).toContain("1 other file skipped.");
  });

  test("creates no store for a name that was mistyped, also one of several, and changes no store for it", async () => {
    const here = world();
    mkdirSync(here.path("empty"));
    writeFileSync(here.path("notes.txt"), "hello\n");
    piFile(here, "draft.jsonl");
    for (const names of [["misssing"], ["empty"], ["notes.txt"], ["draft.jsonl"], ["misssing", "empty"]]) {
      const { exit } = await here.run(["import", ...names.map((name) => here.path(name))]);
      expect([names, exit === 0, existsSync(here.store)]).toEqual([names, false, false]);
    }
    const good = piFile(here, "one.jsonl", message("aaaa1111", null, "One"));
    expect(await here.run(["import", here.path("misssing"), good])).toMatchObject({
      exit: 3,
      out: expect.stringContaining("1 session, 1 new entry"),
    });
    expect(await here.run(["import", here.path("misssing")])).toMatchObject({ code: "SOURCE_NOT_FOUND" });
    expect((await here.run(["sessions"])).out).toContain("One");
  });

  test("prints one JSON document and nothing else on stdout", async () => {
    const here = world();
    expect(await here.json("import", piFile(here, "one.jsonl", message("aaaa1111", null, "One")))).toMatchObject({
      store: here.store,
      sessions: [{ sessionId: "pi-session-1", outcome: "created", entriesAdded: 1, format: "pi" }],
      failed: [],
    });
  });
});
