import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";

// The command as it is published: the bundle, in a process of its own, with a locked store.
const BOUGH = fileURLToPath(new URL("../dist/bough.js", import.meta.url));
const KEY = 'the key\'s "text" with ü and $HOME';
const OTHER = "another long key";
const SECRET = "no-byte-of-this-is-on-the-disk";

interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

class Place {
  readonly folder = mkdtempSync(join(tmpdir(), "bough-locked-"));
  readonly home = join(this.folder, "home");
  readonly stores = join(this.folder, "stores");
  readonly store = join(this.stores, "sessions.db");
  readonly transcript = join(this.home, ".claude", "projects", "-p", "11111111-1111-4111-8111-111111111111.jsonl");

  constructor() {
    onTestFinished(() => rmSync(this.folder, { recursive: true, force: true }));
    for (const folder of [this.stores, join(this.home, ".claude", "projects", "-p")]) mkdirSync(folder, { recursive: true });
    writeFileSync(this.transcript, `${line("a", null, SECRET)}\n`);
  }

  env(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
    return { PATH: process.env["PATH"], HOME: this.home, BOUGH_STORE: this.store, LC_ALL: "C.UTF-8", ...more };
  }

  run(args: readonly string[], more: Readonly<Record<string, string>> = {}, input = ""): Ran {
    const { status, stdout, stderr } = spawnSync(process.execPath, [BOUGH, ...args], {
      env: this.env(more),
      cwd: this.home,
      encoding: "utf8",
      input,
      timeout: 60_000,
    });
    for (const key of [KEY, OTHER]) expect(`${stdout}${stderr}`).not.toContain(key);
    return { status, stdout, stderr };
  }

  /** Files of the stores in which the text of the sessions can be read. */
  readable(): readonly string[] {
    return readdirSync(this.stores).filter((name) => readFileSync(join(this.stores, name)).includes(SECRET));
  }
}

/** A line of a session of Claude Code. */
function line(id: string, parent: string | null, text: string): string {
  const uuid = `${id.repeat(8)}-1111-4111-8111-111111111111`;
  const parentUuid = parent === null ? null : `${parent.repeat(8)}-1111-4111-8111-111111111111`;
  return JSON.stringify({
    type: "user",
    uuid,
    parentUuid,
    sessionId: "11111111-1111-4111-8111-111111111111",
    cwd: "/p",
    version: "2.0.0",
    timestamp: "2025-11-21T12:00:00.000Z",
    message: { role: "user", content: text },
  });
}

const failed = (status: number, code: string) => ({
  status,
  stdout: "",
  stderr: expect.stringMatching(new RegExp(`^bough: [^\\n]*\\(${code}\\)\\n$`)),
});
const done = (text: string) => ({ status: 0, stdout: expect.stringContaining(text), stderr: expect.not.stringMatching(/bough:/) });

/** The ways in which a key is given: the text, and a command that prints it. */
const WAYS = [
  ["BOUGH_KEY", (_at: Place, key: string) => ({ BOUGH_KEY: key })],
  [
    "BOUGH_KEY_COMMAND",
    (at: Place, key: string) => {
      const file = join(at.folder, `${key.length}.key`);
      writeFileSync(file, `${key}\n`);
      return { BOUGH_KEY_COMMAND: `cat '${file}'` };
    },
  ],
] as const;

describe.each(WAYS)("with the key in %s", (_way, keyed) => {
  test("a store is created, filled, read, checked, packed, saved and restored, and nothing of it is readable on the disk", () => {
    const at = new Place();
    const env = keyed(at, KEY);
    expect(at.run(["sync"], env)).toMatchObject({ status: 0 });
    expect(at.readable()).toEqual([]);
    expect(at.run(["import", at.transcript], env)).toMatchObject({ status: 0 });
    expect(at.run(["search", SECRET], env)).toEqual(done(SECRET));
    expect(at.run(["verify"], env)).toEqual(done("No integrity violations"));
    expect(at.run(["pack"], env)).toEqual(done("packed"));
    const backup = join(at.stores, "backup.db");
    expect(at.run(["backup", backup], env)).toEqual(done("copied"));
    expect(at.run(["restore", backup, "--yes"], env)).toEqual(done("replaced"));
    expect(at.run(["log"], env)).toEqual(done(SECRET));
    expect(at.readable()).toEqual([]);
    expect(at.run(["sessions"])).toEqual(failed(9, "STORE_LOCKED"));
    expect(at.run(["sessions", "--store", backup])).toEqual(failed(9, "STORE_LOCKED"));
  });

  test("a store is locked, gets another key, and is unlocked", () => {
    const at = new Place();
    at.run(["sync"]);
    const content = at.run(["export", "--format", "bough", "--with-secrets"]).stdout;
    expect(at.readable()).toEqual(["sessions.db"]);
    const [first, second] = [keyed(at, KEY), keyed(at, OTHER)];
    expect(at.run(["lock"], first)).toEqual(done("is locked."));
    expect(at.readable()).toEqual([]);
    expect(at.run(["rekey"], { ...first, BOUGH_NEW_KEY: OTHER })).toEqual(done("is locked with the new key."));
    expect(at.run(["sessions"], first)).toEqual(failed(9, "WRONG_KEY"));
    expect(at.run(["export", "--format", "bough", "--with-secrets"], second).stdout).toBe(content);
    expect(at.run(["unlock"], second)).toEqual(done("is unlocked."));
    expect(at.run(["export", "--format", "bough", "--with-secrets"]).stdout).toBe(content);
    expect(readdirSync(at.stores)).toEqual(["sessions.db"]);
  });

  test("sessions are copied from a locked store to one without a lock and back, with a key for each", () => {
    const at = new Place();
    const env = keyed(at, KEY);
    at.run(["sync"], env);
    const [plain, locked] = [join(at.stores, "plain.db"), join(at.stores, "locked.db")];
    expect(at.run(["copy", "--to", plain], { ...env, BOUGH_TO_KEY: "" })).toEqual(done("1 session, 1 entry copied"));
    expect(at.run(["copy", "--from", plain, "--to", locked], { BOUGH_TO_KEY: OTHER })).toEqual(done("1 session, 1 entry copied"));
    expect(at.readable()).toEqual(["plain.db"]);
    expect(at.run(["search", SECRET, "--store", locked], keyed(at, OTHER))).toEqual(done(SECRET));
    const same = join(at.stores, "same.db");
    expect(at.run(["copy", "--to", same], env)).toEqual(done("1 session, 1 entry copied"));
    expect(at.run(["sessions", "--store", same])).toEqual(failed(9, "STORE_LOCKED"));
    expect(at.run(["copy", "--to", plain], env)).toEqual(failed(5, "STORE_NOT_LOCKED"));
  });

  test("the hook and the MCP server answer from the store", () => {
    const at = new Place();
    const env = keyed(at, KEY);
    at.run(["sync"], env);
    const request = (id: number, method: string, params: object) => JSON.stringify({ jsonrpc: "2.0", id, method, params });
    const search = request(2, "tools/call", { name: "search_sessions", arguments: { query: SECRET } });
    const start = request(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } });
    expect(at.run(["mcp"], env, `${start}\n${search}\n`).stdout).toContain(SECRET);
    expect(at.run(["mcp"], {}, `${start}\n${search}\n`).stdout).toMatch(/is locked, and no key was given/);
    const call = JSON.stringify({ hook_event_name: "UserPromptSubmit", prompt: SECRET, cwd: "/p", session_id: "other" });
    expect(at.run(["hook", "run", "claude", "--debug"], env, call)).toMatchObject({
      status: 0,
      stderr: expect.not.stringMatching(/locked|key/i),
    });
    expect(at.run(["hook", "run", "claude", "--debug"], {}, call)).toMatchObject({ status: 0, stderr: expect.stringMatching(/is locked/) });
  });

  test("a watching sync imports what is written, and a page is served", async () => {
    const at = new Place();
    const env = { env: at.env(keyed(at, KEY)), cwd: at.home };
    const watch = spawn(process.execPath, [BOUGH, "sync", "--watch"], env);
    onTestFinished(() => void watch.kill("SIGKILL"));
    await said(watch.stdout, /\S/);
    writeFileSync(at.transcript, `${line("b", "a", "the second prompt")}\n`, { flag: "a" });
    await said(watch.stdout, /1 entry|\+1/);
    watch.kill("SIGTERM");
    await new Promise((closed) => watch.once("close", closed));
    const view = spawn(process.execPath, [BOUGH, "view", "--port", "0"], { ...env, env: { ...env.env, BROWSER: "true" } });
    onTestFinished(() => void view.kill("SIGKILL"));
    const address = (await said(view.stdout, /http:\S+/)).match(/http:\S+/)?.[0] ?? "";
    expect(await (await fetch(address)).text()).toContain("<html");
    expect(at.readable()).toEqual([]);
  });
});

/** Waits until a stream has said something new. */
function said(stream: NodeJS.ReadableStream, what: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const listen = (chunk: unknown) => {
      text += String(chunk);
      if (!what.test(text)) return;
      stream.off("data", listen);
      resolve(text);
    };
    stream.on("data", listen);
    stream.once("end", () => reject(new Error(`It ended and said: ${text}`)));
  });
}

describe("a key", () => {
  test("for a store that is not locked, or on a server, is refused in one line", () => {
    const at = new Place();
    at.run(["sync"]);
    const before = readFileSync(at.store);
    expect(at.run(["sessions"], { BOUGH_KEY: KEY })).toEqual(failed(5, "STORE_NOT_LOCKED"));
    expect(at.run(["unlock"], { BOUGH_KEY: KEY })).toEqual(failed(5, "STORE_NOT_LOCKED"));
    expect(readFileSync(at.store).equals(before)).toBe(true);
    expect(at.run(["sessions", "--store", "postgres://u@localhost:1/d"], { BOUGH_KEY: KEY })).toEqual(failed(2, "USAGE"));
    expect(at.run(["sessions"], { BOUGH_KEY: "", BOUGH_KEY_COMMAND: "false" })).toEqual(done(SECRET));
  });

  test("is not needed twice: a locked store is not locked again", () => {
    const at = new Place();
    at.run(["sync"], { BOUGH_KEY: KEY });
    expect(at.run(["lock"], { BOUGH_KEY: KEY })).toEqual(failed(2, "USAGE"));
    expect(at.run(["lock"])).toEqual(failed(2, "USAGE"));
    expect(at.run(["rekey"], { BOUGH_KEY: KEY, BOUGH_NEW_KEY: "short" })).toEqual(failed(2, "USAGE"));
    expect(at.run(["rekey"], { BOUGH_KEY: OTHER, BOUGH_NEW_KEY: OTHER })).toEqual(failed(9, "WRONG_KEY"));
    expect(at.run(["sessions"], { BOUGH_KEY: KEY })).toEqual(done(SECRET));
  });

  test.each([
    ["false", "failed with exit code 1"],
    ["true", "printed nothing"],
    ["echo leaked-secret >&2; exit 3", "failed with exit code 3"],
    ["no-such-program-anywhere", "failed with exit code 127"],
  ])("from the command %s is one clear error", (command, why) => {
    const at = new Place();
    at.run(["sync"], { BOUGH_KEY: KEY });
    const ran = at.run(["sessions"], { BOUGH_KEY_COMMAND: command });
    expect(ran).toEqual(failed(7, "KEY_COMMAND"));
    expect(ran.stderr).toContain(why);
    expect(ran.stderr).not.toContain("leaked-secret");
  });

  test("is not in the environment of the programs that bough starts", () => {
    const at = new Place();
    at.run(["sync"], { BOUGH_KEY: KEY });
    const file = join(at.folder, "environment");
    at.run(["edit", "a"], { BOUGH_KEY: KEY, EDITOR: `sh -c 'env > ${file}'`, VISUAL: "" });
    if (existsSync(file)) expect(readFileSync(file, "utf8")).not.toContain("BOUGH_KEY=");
    writeFileSync(join(at.folder, "k"), KEY);
    const command = `env > ${file}; cat ${join(at.folder, "k")}`;
    expect(at.run(["sessions"], { BOUGH_KEY_COMMAND: command, BOUGH_NEW_KEY: OTHER })).toEqual(done(SECRET));
    expect(readFileSync(file, "utf8")).not.toContain(OTHER);
  });

  test("is needed by a service, a client and an agent, which get the command and never the key", () => {
    const at = new Place();
    const env = { BOUGH_KEY: KEY };
    at.run(["sync"], env);
    for (const args of [
      ["sync", "--install"],
      ["mcp", "--install", "claude"],
      ["hook", "install", "claude"],
    ])
      expect(at.run([...args, "--dry-run"], env).stdout).toContain("The key of the store is not written there.");
    expect(at.run(["sync", "--install", "--dry-run"], { BOUGH_KEY_COMMAND: "pass show bough" }).stdout).toContain(
      "BOUGH_KEY_COMMAND=pass show bough",
    );
  });
});
