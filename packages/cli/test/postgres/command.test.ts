import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { secretsOfStore, withoutStorePassword } from "../../src/session/store-location.js";
import { parserSession, type World, world } from "../world.js";

const SAMPLE = fileURLToPath(new URL("../../demo/sample.jsonl", import.meta.url));
const BOUGH = fileURLToPath(new URL("../../dist/bough.js", import.meta.url));

/** The address of a store, with other members. */
function changed(at: World, members: Partial<Pick<URL, "username" | "password" | "pathname" | "port">>): string {
  return Object.assign(new URL(at.store), members).href;
}

const passwordOf = (at: World) => new URL(at.store).password;
const nameOf = (at: World) => at.store.replace(`:${passwordOf(at)}@`, "@");

/** A port at which nobody listens. */
async function freePort(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return String(typeof address === "object" ? address?.port : "");
}

/** Everything below a folder, as text. */
function textsIn(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
    .join("\n");
}

describe("a store on a server", () => {
  test("takes imports, and prints its address without the password", async () => {
    const here = world();
    const first = await here.run(["import", SAMPLE]);
    expect(first).toMatchObject({ exit: 0, out: expect.stringContaining(`1 session, 28 new entries in ${nameOf(here)}.`) });
    expect(await here.json("import", SAMPLE)).toMatchObject({ store: nameOf(here), sessions: [{ outcome: "unchanged" }] });
    const ran = [
      await here.run(["search", "form feed", "--store", here.store]),
      await here.run(["sync", "--dry-run"]),
      await here.run(["verify"]),
      await here.run(["demo", "--store", here.store]),
    ];
    const printed = ran.map(({ out, err }) => out + err).join("\n");
    expect(printed).toContain(`--store '${nameOf(here)}'`);
    expect(printed).toContain(`No integrity violations in ${nameOf(here)}.`);
    expect(first.out + printed).not.toContain(passwordOf(here));
  });

  test("is named by the config file as well, which may not have a password", async () => {
    const here = world();
    await here.run(["import", SAMPLE]);
    const config = here.path(".config/bough/config.json");
    mkdirSync(join(config, ".."), { recursive: true });
    writeFileSync(config, JSON.stringify({ store: here.store }));
    const refused = await here.run(["sessions"], { env: { BOUGH_STORE: "" } });
    expect(refused).toMatchObject({
      exit: 2,
      code: "CONFIG_INVALID",
      err: expect.stringContaining("store must not contain a password; put it into ~/.pgpass"),
    });
    expect(refused.err).not.toContain(passwordOf(here));
    writeFileSync(config, JSON.stringify({ store: "sessions.db" }));
    expect(await here.run(["sessions"], { env: { BOUGH_STORE: "" } })).toMatchObject({ exit: 2, code: "CONFIG_INVALID" });
    writeFileSync(config, JSON.stringify({ store: "~/other.db" }));
    expect(await here.run(["sessions"], { env: { BOUGH_STORE: "" } })).toMatchObject({
      exit: 4,
      code: "STORE_NOT_FOUND",
      err: expect.stringContaining(here.path("other.db")),
    });
    writeFileSync(config, JSON.stringify({ store: nameOf(here) }));
    const { PGPASSWORD: before } = process.env;
    process.env["PGPASSWORD"] = passwordOf(here);
    const listed = await here.run(["sessions"], { env: { BOUGH_STORE: "" } });
    process.env["PGPASSWORD"] = before ?? "";
    expect(listed).toMatchObject({ exit: 0, out: expect.stringContaining("Tabs in the lexer") });
  });

  test("takes the sessions of a file and gives them back, with the same digests", async () => {
    const here = world();
    const [local, again] = [here.path("sessions.db"), here.path("again.db")];
    await here.run(["import", SAMPLE, "--store", local]);
    const digests = async (from: string, to: string) => {
      const { sessions } = (await here.json("copy", "--from", from, "--to", to)) as { sessions: { outcome: string; digest: string }[] };
      expect(sessions.map(({ outcome }) => outcome)).toEqual(["copied"]);
      return sessions.map(({ digest }) => digest);
    };
    expect(await digests(local, here.store)).toEqual(await digests(here.store, again));
    const trees = [local, here.store, again].map(async (store) => (await here.run(["tree", "@1", "--store", store])).out);
    const [first, ...others] = await Promise.all(trees);
    expect(others).toEqual([first, first]);
    expect((await here.run(["copy", "--from", local, "--to", here.store])).out).toMatch(/^0 sessions, 0 entries copied to .*; 1 unchanged/);
    expect((await here.run(["copy", "--from", local, "--to", here.store, "--check"])).exit).toBe(0);
  });

  test("has its sessions shared, written for an agent, and fitted into a window", async () => {
    const here = world();
    await parserSession(here);
    mkdirSync(here.path("config/bough"), { recursive: true });
    writeFileSync(here.path("config/bough/config.json"), JSON.stringify({ share: { folder: here.path("pages") } }));
    const shared = await here.run(["share", "parser", "--yes"], { env: { XDG_CONFIG_HOME: here.path("config") } });
    expect(shared.exit).toBe(0);
    expect(readdirSync(here.path("pages"))).toHaveLength(1);
    expect(await here.json("share", "--list")).toMatchObject({ shares: [{ sessionId: "parser-session-1" }] });
    expect(await here.json("resume", "parser", "--prompt")).toEqual({ prompt: expect.stringContaining("replied in asst3") });
    expect(await here.json("context", "parser", "--window", "9000")).toMatchObject({ request: { fits: true } });
  });

  test("does not exist until something is imported", async () => {
    const here = world();
    const elsewhere = here.store.replace(/schema=\w+/, "schema=nobody_made_this");
    const { exit, err } = await here.run(["sessions", "--store", elsewhere]);
    expect({ exit, err }).toEqual({
      exit: 4,
      err: `bough: There is no store at ${elsewhere.replace(`:${passwordOf(here)}@`, "@")}. Check its name, or import sessions to create it: bough import.\n`,
    });
  });

  test.each([
    ["backup", "pg_dump --format=custom"],
    ["restore", "pg_restore --clean"],
    ["pack", "vacuumdb --full"],
  ])("leaves bough %s to the server, and says what to run", async (command, line) => {
    const here = world();
    const { exit, err } = await here.run([command, ...(command === "pack" ? [] : ["sessions.dump"])]);
    expect({ exit, isNamed: err.includes(line) }, err).toEqual({ exit: 5, isNamed: true });
    expect(err).not.toContain(passwordOf(here));
    expect(err.trimEnd().split("\n")).toHaveLength(1);
  });

  test("that cannot be used is one line with an exit code, without the password", async () => {
    const here = world();
    const wrong: readonly (readonly [exit: number, url: string])[] = [
      [7, changed(here, { port: await freePort(), password: "s3cr3t" })],
      [9, changed(here, { password: "s3cr3t" })],
      [4, changed(here, { pathname: "/nobody_made_this", password: passwordOf(here) })],
      [2, "postgres://ada:s3cr3t@localhost:port/agents"],
      [2, "postgres:/ada:s3cr3t@localhost/agents"],
      [2, "mysql://ada:s3cr3t@localhost/agents"],
      [2, "postgres://ada:s3cr3t?@localhost/agents"],
    ];
    for (const [exit, url] of wrong) {
      const ran = await here.run(["sessions", "--store", url]);
      expect({ exit: ran.exit, lines: ran.err.trimEnd().split("\n").length }, ran.err).toEqual({ exit, lines: 1 });
      for (const secret of ["s3cr3t", passwordOf(here)]) expect(ran.out + ran.err).not.toContain(secret);
    }
  });

  test("whose address stands where a command should is not repeated with its password", async () => {
    const { exit, err } = await world().run(["postgres://ada:s3cr3t@localhost/agents", "sessions"]);
    expect({ exit, err }).toMatchObject({ exit: 2, err: expect.stringContaining("postgres://ada@localhost/agents") });
    expect(err).not.toContain("s3cr3t");
  });
});

describe("a password", () => {
  test("is not written into a service or the config of an MCP client", async () => {
    const here = world();
    const bin = here.path("bin");
    mkdirSync(bin);
    for (const name of ["systemctl", "launchctl"]) {
      writeFileSync(join(bin, name), "#!/bin/sh\n");
      chmodSync(join(bin, name), 0o755);
    }
    const PATH = `${bin}:/usr/bin:/bin`;
    const service = await here.run(["sync", "--install", "--yes"], { env: { PATH } });
    const client = await here.run(["mcp", "--install", "cursor", "--yes"], { env: { PATH } });
    expect([service.exit, client.exit]).toEqual([0, 0]);
    expect(service.out).toContain("The password is not written there. The service reads it from the file ~/.pgpass");
    expect(client.out).toContain("The password is not written there. Cursor reads it from the file ~/.pgpass");
    const written = textsIn(here.folder);
    expect(written).toContain(nameOf(here).split("?")[0]);
    expect(written + service.out + client.out).not.toContain(passwordOf(here));
  });

  test("does not reach commands that a model runs", () => {
    const at = { isServer: true, address: "", name: "", isDefault: false };
    const env = { BOUGH_STORE: "postgres://ada:s3cr3t@db/agents", PGPASSWORD: "s3cr3t", PATH: "/bin" };
    expect(withoutStorePassword(env, { ...at, passwords: ["s3cr3t"] })).toEqual({ PATH: "/bin" });
    const named = { ...env, BOUGH_STORE: "postgres://ada@db/agents" };
    expect(withoutStorePassword(named, { ...at, passwords: [] })).toEqual({ BOUGH_STORE: named.BOUGH_STORE, PATH: "/bin" });
    const file = { ...at, isServer: false, passwords: [] };
    expect(withoutStorePassword(env, file)).toEqual({ PGPASSWORD: "s3cr3t", PATH: "/bin" });
    expect(secretsOfStore(env, file)).toEqual([env.BOUGH_STORE, "s3cr3t"]);
    expect(secretsOfStore(named, { ...at, passwords: [] })).toEqual(["s3cr3t"]);
  });

  test("is not in the list of processes", async () => {
    const here = world();
    await parserSession(here);
    const args = [BOUGH, "--store", here.store, "view", "parser", "--no-open"];
    const child = spawn(process.execPath, args, { env: { ...process.env, HOME: here.folder }, stdio: ["ignore", "pipe", "pipe"] });
    try {
      await firstOutput(child);
      const listed = execFileSync("ps", ["-ww", "-o", "args=", "-p", String(child.pid)], { encoding: "utf8" });
      expect(listed.trim()).toMatch(/^bough --store postgres:\/\/\.\.\. view parser/);
      expect(execFileSync("ps", ["axww", "-o", "args"], { encoding: "utf8" })).not.toContain(`:${passwordOf(here)}@`);
    } finally {
      child.kill();
    }
  });

  test("is read from the file of libpq", async () => {
    const here = world();
    await parserSession(here);
    const { hostname, port, username } = new URL(here.store);
    const file = here.path("passwords");
    writeFileSync(file, `${hostname}:${port}:*:${username}:${passwordOf(here)}\n`, { mode: 0o600 });
    const env = { PATH: process.env["PATH"] ?? "", HOME: here.folder, PGPASSFILE: file, BOUGH_STORE: nameOf(here) };
    const { status, stdout } = spawnSync(process.execPath, [BOUGH, "sessions"], { env, encoding: "utf8" });
    expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining("Parser") });
  });
});

async function firstOutput(child: ChildProcess): Promise<void> {
  await new Promise((resolve, reject) => {
    child.stdout?.once("data", resolve);
    child.once("exit", (code) => reject(new Error(`It ended with ${code}.`)));
  });
}
