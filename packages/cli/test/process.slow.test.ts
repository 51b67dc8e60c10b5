import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { hang, startModelServer } from "../../compaction/test/model/model-server.js";
import { longSession, standOf } from "./commands/long-session.js";
import { grow, parserSession, type World, world } from "./world.js";

// The command as it is published: the bundle, in a process of its own. `npm test` builds it first.
const BOUGH = fileURLToPath(new URL("../dist/bough.js", import.meta.url));
const SAMPLE = fileURLToPath(new URL("../demo/sample.jsonl", import.meta.url));

/** Nobody: a user who may write nothing. Whoever runs the tests as root would be allowed everything. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

function env(at: World): NodeJS.ProcessEnv {
  const { NO_COLOR: _no, FORCE_COLOR: _force, ...rest } = process.env;
  return { ...rest, BOUGH_STORE: at.store, HOME: at.folder, LC_ALL: "C.UTF-8" };
}

function bough(at: World, args: readonly string[], options: object = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BOUGH, ...args], {
    env: env(at),
    cwd: at.folder,
    encoding: "utf8",
    ...options,
  });
  return { status, stdout, stderr };
}

async function ended(child: ChildProcess): Promise<{ readonly code: number | null; readonly signal: string | null }> {
  return new Promise((resolve) => child.once("close", (code, signal) => resolve({ code, signal })));
}

describe("the command as a process", () => {
  test("prints without colours where there is no terminal", async () => {
    const here = world();
    await parserSession(here);
    const { status, stdout, stderr } = bough(here, ["tree", "parser"]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toContain("← leaf");
    expect(stdout).not.toContain("\u001b");
    expect(bough(here, ["tree", "parser"], { env: { ...env(here), FORCE_COLOR: "1" } }).stdout).toContain("\u001b[1;32m");
  });

  test("shows the sample that comes with it, and names lines that work", () => {
    const here = world();
    const { status, stdout, stderr } = bough(here, ["demo"], { env: { ...env(here), TMPDIR: here.folder } });
    const [, store = "", next = ""] = /^ {2}export BOUGH_STORE=(\S+)$([\s\S]*)^To clean up: /m.exec(stdout) ?? [];
    expect({ status, isThere: existsSync(store) }, stderr).toEqual({ status: 0, isThere: true });
    expect(stdout.trimEnd().split("\n").at(-1)).toBe(`To clean up: unset BOUGH_STORE; rm -r ${dirname(store)}`);
    expect(stdout).toContain("[two ways]");
    const named = [...next.matchAll(/^ {2}bough (.*)$/gm)].map(([, line = ""]) => line);
    expect(named.length).toBeGreaterThan(5);
    for (const line of named.filter((one) => !one.includes("--interactive"))) {
      const args = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "");
      expect(bough(here, args, { env: { ...env(here), BOUGH_STORE: store } }), line).toMatchObject({ status: 0 });
    }
  });

  // Only root may start a process as a user that the user database does not know.
  test.runIf(process.getuid?.() === 0)("needs no home directory, unless it is to find a store there", async () => {
    const here = world();
    await parserSession(here);
    chmodSync(here.folder, 0o777);
    chmodSync(here.store, 0o666);
    const { HOME: _home, BOUGH_STORE: store, XDG_DATA_HOME: _data, XDG_CONFIG_HOME: _config, ...bare } = env(here);
    const stranger = { uid: 54_321, gid: 54_321, env: bare };
    expect(bough(here, ["--version"], stranger)).toMatchObject({ status: 0, stderr: "" });
    expect(bough(here, ["sessions", "--store", String(store)], stranger)).toMatchObject({ status: 0, stderr: "" });
    expect(bough(here, ["sessions"], stranger)).toMatchObject({ status: 4, stderr: expect.stringMatching(/^bough: .*--store.*\n$/) });
    expect(bough(here, ["sessions"], { env: { ...bare, HOME: "" } })).toMatchObject({ status: 4 });
  });

  test("ends with the code of what went wrong, and one line on stderr", async () => {
    const here = world();
    expect(bough(here, ["sessions"]).status).toBe(4);
    await parserSession(here);
    await here.withStore((store) => grow(store, "parser-session-2", "u1", { title: "Parser again" }));
    expect(bough(here, ["tree", "nothing"])).toEqual({
      status: 4,
      stdout: "",
      stderr: "bough: No session nothing in this store. List sessions with `bough sessions`. (SESSION_NOT_FOUND)\n",
    });
    expect(bough(here, ["show", "parser-session-1", "zzz"]).status).toBe(4);
    const ambiguous = bough(here, ["tree", "parser-session"]);
    expect(ambiguous.status).toBe(4);
    expect(ambiguous.stderr).toMatch(/^1 {2}parser-session-1 {2}Parser {2}/m);
    expect(ambiguous.stderr).toMatch(/^2 {2}parser-session-2 {2}Parser again {2}/m);
    expect(bough(here, ["delete", "parser-session-1"]).status).toBe(10);
    expect(bough(here, ["frobnicate"]).status).toBe(2);
  });

  test("reads and searches a store that it may not write, and changes nothing in it", async () => {
    const here = world();
    await parserSession(here);
    const before = readFileSync(here.store);
    chmodSync(here.store, 0o444);
    chmodSync(here.folder, 0o777);
    expect(bough(here, ["search", "said"], NOBODY)).toMatchObject({ status: 0, stdout: expect.stringContaining("3 matches") });
    expect(bough(here, ["tree", "parser"], NOBODY).status).toBe(0);
    expect(bough(here, ["context", "parser", "--window", "9000"], NOBODY)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("It fits."),
    });
    expect(bough(here, ["checkpoints", "parser"], NOBODY).status).toBe(0);
    expect(bough(here, ["compact", "parser", "--keep", "0"], NOBODY)).toMatchObject({ status: 9, stdout: "" });
    expect(bough(here, ["rename", "parser", "x"], NOBODY)).toMatchObject({ status: 9, stdout: "" });
    expect(readFileSync(here.store).equals(before)).toBe(true);
  });

  describe("denies with one exit code what the rights of a store do not allow", () => {
    /** A world that this user may enter, with a store and a backup of it. */
    async function shared(): Promise<World> {
      const here = world();
      await parserSession(here);
      expect(bough(here, ["backup", here.path("backup.db")]).status).toBe(0);
      for (const path of [here.store, here.path("backup.db")]) chmodSync(path, 0o644);
      chmodSync(here.folder, 0o777);
      return here;
    }
    const denied = { status: 9, stderr: expect.stringContaining("(STORE_DENIED)") };
    const withNewKey = (here: World) => ({ ...NOBODY, env: { ...env(here), BOUGH_NEW_KEY: "a key of some length" } });

    test("restore and lock, of a file that may not be written", async () => {
      const here = await shared();
      chmodSync(here.store, 0o444);
      expect(bough(here, ["restore", here.path("backup.db"), "--yes"], NOBODY)).toMatchObject(denied);
      expect(bough(here, ["lock"], withNewKey(here))).toMatchObject(denied);
      expect(bough(here, ["tree", "parser"], NOBODY).status).toBe(0);
    });

    test("restore into a folder that may not be entered or written, without naming a file that it would make", async () => {
      const here = await shared();
      const inside = here.path("inside");
      mkdirSync(inside);
      renameSync(here.store, `${inside}/s.db`);
      const restore = ["restore", here.path("backup.db"), "--yes", "--store", `${inside}/s.db`];
      for (const mode of [0o700, 0o755]) {
        chmodSync(inside, mode);
        const { status, stderr } = bough(here, restore, NOBODY);
        expect({ status, stderr }).toEqual({ status: 9, stderr: expect.stringContaining(`Cannot open ${inside}/s.db: `) });
      }
      chmodSync(inside, 0o700);
      const output = ["export", "parser", "--store", here.path("backup.db"), "-o", `${inside}/x.md`];
      expect(bough(here, output, NOBODY)).toMatchObject({ status: 9, stderr: expect.stringContaining("(OUTPUT_FAILED)") });
    });

    test("everything that writes, while another user's journal may not be written", async () => {
      const here = await shared();
      chmodSync(here.store, 0o666);
      await here.withStore(async (store) => {
        await store.renameSession("parser-session-1", "Renamed");
        for (const side of ["-wal", "-shm"]) chmodSync(`${here.store}${side}`, 0o600);
        for (const args of [
          ["copy", "--from", here.path("backup.db")],
          ["restore", here.path("backup.db"), "--yes"],
        ])
          expect(bough(here, args, NOBODY), args[0]).toMatchObject(denied);
        const { stderr } = bough(here, ["rename", "parser-session-1", "x"], NOBODY);
        expect(stderr).toContain("(STORE_DENIED)");
        expect(stderr).toContain(`${here.store}-wal may not be`);
        expect(bough(here, ["lock"], withNewKey(here))).toMatchObject(denied);
      });
    });
  });

  test("ends quietly when its reader goes away", async () => {
    const here = world();
    await here.withStore((store) => grow(store, "long-session", Array.from({ length: 3000 }, (_, at) => `u${at}`).join(" ")));
    const child = spawn(process.execPath, [BOUGH, "tree", "long", "--full"], { env: env(here), stdio: ["ignore", "pipe", "pipe"] });
    let err = "";
    child.stderr.on("data", (piece) => {
      err += String(piece);
    });
    child.stdout.once("data", () => child.stdout.destroy());
    expect(await ended(child)).toEqual({ code: 0, signal: null });
    expect(err).toBe("");
  });

  test.runIf(existsSync("/dev/full"))("says that its output cannot be written", async () => {
    const here = world();
    await parserSession(here);
    const full = openSync("/dev/full", "w");
    const { status, stderr } = bough(here, ["tree", "parser"], { stdio: ["ignore", full, "pipe"] });
    closeSync(full);
    expect({ status, stderr }).toEqual({ status: 9, stderr: "bough: Cannot write the output: no space left. (OUTPUT_FAILED)\n" });
  });

  test("does its work if nobody reads what it says beside", async () => {
    const here = world();
    const child = spawn(process.execPath, [BOUGH, "import", SAMPLE], { env: env(here), stdio: ["ignore", "pipe", "pipe"] });
    child.stderr.destroy();
    child.stdout.destroy();
    expect(await ended(child)).toEqual({ code: 0, signal: null });
    expect(bough(here, ["tree", "lexer"]).stdout).toContain("[two ways]");
  });

  test.runIf(existsSync("/dev/full"))("does its work if what it says beside cannot be written", () => {
    const here = world();
    const full = openSync("/dev/full", "w");
    const { status, stdout } = bough(here, ["import", SAMPLE], { stdio: ["ignore", "pipe", full] });
    closeSync(full);
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining("28 new entries") });
  });

  test("cancels what a model is writing on Ctrl+C: nothing is written, and the process ends by itself", async () => {
    const [here, server] = [world(), await startModelServer()];
    await longSession(here);
    server.otherwise(hang());
    const args = [BOUGH, "compact", "long", "--keep", "400", "--model", "m1", "--base-url", server.baseURL];
    const child = spawn(process.execPath, args, { env: env(here), stdio: ["ignore", "pipe", "pipe"] });
    let [out, err] = ["", ""];
    child.stdout.on("data", (piece) => {
      out += String(piece);
    });
    child.stderr.on("data", (piece) => {
      err += String(piece);
    });
    await server.request(0);
    child.kill("SIGINT");
    expect(await ended(child)).toEqual({ code: 130, signal: null });
    expect({ out, err }).toEqual({ out: "", err: "m1 writes the summary\nbough: Cancelled; nothing was written. (CANCELLED)\n" });
    expect(await standOf(here)).toEqual({ leafId: "a10", entries: 40 });
    expect(bough(here, ["verify", "long"]).status).toBe(0);
  });

  test("prints its version and its help", () => {
    const here = world();
    const about = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };
    expect(bough(here, ["--version"]).stdout).toBe(`${about.version}\n`);
    expect(bough(here, ["--help"]).stdout).toContain("Start with: bough import, then");
    expect(bough(here, []).status).toBe(10);
    expect(existsSync(here.store)).toBe(false);
  });
});

describe("the demo", () => {
  test("imports the sample, shows its tree and its context, and leaves the store there", () => {
    const here = world();
    const demo = fileURLToPath(new URL("../demo/demo.mjs", import.meta.url));
    const { stdout, status } = spawnSync(process.execPath, [demo], { env: { ...env(here), TMPDIR: here.folder }, encoding: "utf8" });
    expect(status).toBe(0);
    for (const part of [
      "[branch summary]",
      "[compaction]",
      "[two ways]",
      "← leaf",
      "compaction summary  cmp0z5",
      "tokens in total (estimated)",
    ])
      expect(stdout).toContain(part);
    const [, store = ""] = /Temporary store: (.*)\n/.exec(stdout) ?? [];
    expect(existsSync(store)).toBe(true);
    expect(stdout).toContain(`  export BOUGH_STORE=${store}\n  bough tree demo-lexer-tabs `);
    expect(stdout).toContain(`alias bough="node ${BOUGH}"`);
  });
});
