import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { BOUGH, done, failed, KEY, line, OTHER, Place, SECRET, said } from "./locked-place.js";

/** The environment with a command that prints the key. */
function printing(at: Place, key: string): Record<string, string> {
  const file = join(at.folder, `${key.length}.key`);
  writeFileSync(file, `${key}\n`);
  return { BOUGH_KEY_COMMAND: `cat '${file}'` };
}

/** The ways in which a key is given. */
const WAYS = [
  ["BOUGH_KEY", (_at: Place, key: string) => ({ BOUGH_KEY: key })],
  ["BOUGH_KEY_COMMAND", printing],
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
});

// With BOUGH_KEY a sync that watches, a page and an MCP server run in locked-store-in-use.slow.test.ts.
describe("with the key that a command prints", () => {
  test("sessions are copied from a locked store to one without a lock and back, with a key for each", () => {
    const at = new Place();
    const env = printing(at, KEY);
    at.run(["sync"], env);
    const [plain, locked] = [join(at.stores, "plain.db"), join(at.stores, "locked.db")];
    expect(at.run(["copy", "--to", plain], { ...env, BOUGH_TO_KEY: "" })).toEqual(done("1 session, 1 entry copied"));
    expect(at.run(["copy", "--from", plain, "--to", locked], { BOUGH_TO_KEY: OTHER })).toEqual(done("1 session, 1 entry copied"));
    expect(at.readable()).toEqual(["plain.db"]);
    expect(at.run(["search", SECRET, "--store", locked], printing(at, OTHER))).toEqual(done(SECRET));
    const same = join(at.stores, "same.db");
    expect(at.run(["copy", "--to", same], env)).toEqual(done("1 session, 1 entry copied"));
    expect(at.run(["sessions", "--store", same])).toEqual(failed(9, "STORE_LOCKED"));
    expect(at.run(["copy", "--to", plain], env)).toEqual(failed(5, "STORE_NOT_LOCKED"));
  });

  test("the hook and the MCP server answer from the store", () => {
    const at = new Place();
    const env = printing(at, KEY);
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
    const env = { env: at.env(printing(at, KEY)), cwd: at.home };
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

let made: Buffer | undefined;

/** The bytes of a store that `bough sync` made with KEY, once for all tests. */
function lockedStore(): Buffer {
  if (made !== undefined) return made;
  const at = new Place();
  expect(at.run(["sync"], { BOUGH_KEY: KEY })).toMatchObject({ status: 0 });
  made = readFileSync(at.store);
  return made;
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
    const at = new Place(lockedStore());
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
    ["kill -9 $$", "was ended by SIGKILL"],
    ["printf 'leaked-secret\\nuser: ada\\n'", "printed more than one line"],
    ["printf '\\377\\376'", "printed bytes that are no UTF-8 text"],
    ["yes leaked-secret", "printed more than 64 kB"],
  ])("from the command %s is one clear error, and no byte of the store changes", (command, why) => {
    const at = new Place(lockedStore());
    const before = readFileSync(at.store);
    const ran = at.run(["sessions"], { BOUGH_KEY_COMMAND: command });
    expect(ran).toEqual(failed(7, "KEY_COMMAND"));
    expect(ran.stderr).toContain(why);
    expect(ran.stderr).not.toContain("leaked-secret");
    expect(at.run(["rekey"], { BOUGH_KEY: KEY, BOUGH_NEW_KEY_COMMAND: command })).toEqual(failed(7, "KEY_COMMAND"));
    expect(readFileSync(at.store).equals(before)).toBe(true);
  });

  test.each([
    ["ends never", "sleep 1000"],
    ["has started a program that goes on", "sleep 20; echo leaked-secret"],
  ])("from a command that %s is one clear error after two minutes, which are short here", (_what, command) => {
    const at = new Place(lockedStore());
    const before = readFileSync(at.store);
    const hurry = "const later = setTimeout; globalThis.setTimeout = (run, ms, ...args) => later(run, ms === 120000 ? 10 : ms, ...args)";
    const flags = ["--import", `data:text/javascript,${encodeURIComponent(hurry)}`];
    const ran = at.run(["sessions"], { BOUGH_KEY_COMMAND: command }, "", flags);
    expect(ran).toEqual(failed(7, "KEY_COMMAND"));
    expect(ran.stderr).toContain("printed no key within 120 s");
    expect(readFileSync(at.store).equals(before)).toBe(true);
  });

  test("that its command prints after the first one did not fit is taken by the next call of a server", async () => {
    const at = new Place(lockedStore());
    const file = join(at.folder, "key");
    writeFileSync(file, OTHER);
    const server = spawn(process.execPath, [BOUGH, "mcp"], { env: at.env({ BOUGH_KEY_COMMAND: `cat '${file}'` }), cwd: at.home });
    onTestFinished(() => void server.kill("SIGKILL"));
    const call = async (id: number) => {
      const params = { name: "search_sessions", arguments: { query: SECRET } };
      server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })}\n`);
      return said(server.stdout, new RegExp(`"id":${id}\\b`));
    };
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
    expect(await call(2)).toMatch(/does not fit/);
    writeFileSync(file, KEY);
    expect(await call(3)).toContain(SECRET);
  });

  test("is not in the environment of the programs that bough starts", () => {
    const at = new Place(lockedStore());
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
