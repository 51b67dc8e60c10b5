import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const real = realpathSync(join(import.meta.dirname, "node_modules/better-sqlite3"));

let folder = "";
const driver = (): string => join(folder, "node_modules/better-sqlite3");

/** A project that has the command and the library as they are published, and no driver yet. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "bough-driver-"));
  for (const name of ["session-core", "cli"]) {
    const home = join(folder, "node_modules/@bough", name);
    for (const file of ["dist", "package.json"]) cpSync(join(root, "packages", name, file), join(home, file), { recursive: true });
  }
  symlinkSync(realpathSync(join(root, "packages/session-core/node_modules/zod")), join(folder, "node_modules/zod"), "junction");
});

afterEach(() => {
  for (const name of ["better-sqlite3", "bindings", "file-uri-to-path"])
    rmSync(join(folder, "node_modules", name), { recursive: true, force: true });
  rmSync(join(folder, "s.db"), { force: true });
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A driver of this version that runs `code` where the real one loads its binary. */
function fakeDriver(version: string, code: string): void {
  mkdirSync(driver());
  writeFileSync(join(driver(), "package.json"), JSON.stringify({ name: "better-sqlite3", version, main: "index.js" }));
  writeFileSync(join(driver(), "index.js"), `module.exports = function Database() { ${code} };`);
}

/** The real driver, copied with everything that it needs, so that it can be changed. */
function realDriver(): void {
  cpSync(real, driver(), { recursive: true, filter: (path) => !/[/\\](deps|src|obj)$/.test(path) });
  for (const name of ["bindings", "file-uri-to-path"]) {
    const beside = join(real, "..", name);
    const at = existsSync(beside) ? beside : join(real, "../../../node_modules", name);
    if (existsSync(at)) cpSync(realpathSync(at), join(folder, "node_modules", name), { recursive: true });
  }
}

/** Lets a program believe that it runs on this version of Node. */
function onNode(version: string): readonly string[] {
  const code = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } })`;
  return ["--import", `data:text/javascript,${encodeURIComponent(code)}`];
}

interface Opened {
  readonly code?: string;
  readonly fault?: string;
  readonly message?: string;
  readonly hint?: string;
}

/** What the library says of opening a store; empty: it was opened. */
function opened(flags: readonly string[] = []): Opened {
  const script = join(folder, "open.mjs");
  writeFileSync(
    script,
    `import { openStore } from "@bough/session-core";
     const said = await openStore({ path: "s.db" }).then((store) => store.close(), ({ code, fault, message, hint }) => ({ code, fault, message, hint }));
     console.log(JSON.stringify(said ?? {}));`,
  );
  return JSON.parse(execFileSync(process.execPath, [...flags, script], { cwd: folder, encoding: "utf8" }));
}

function command(flags: readonly string[] = []): { readonly status: number | null; readonly stderr: string } {
  const sample = join(root, "packages/cli/demo/sample.jsonl");
  const args = [...flags, join(folder, "node_modules/@bough/cli/dist/bough.js"), "import", sample, "--store", "s.db"];
  // The shims of pnpm let programs find packages of this workspace there.
  const { NODE_PATH: _, ...env } = process.env;
  return spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8", env });
}

const CRASH = "process.abort()";

describe("the package for locked stores", () => {
  test("is not needed without a key; with one its absence is one error with the command that installs it, and no file is made", () => {
    realDriver();
    expect(opened()).toEqual({});
    rmSync(join(folder, "s.db"));
    const key = ["--import", "data:text/javascript,process.env.BOUGH_KEY='a key'"];
    const { status, stderr } = command(key);
    expect(status).toBe(7);
    expect(stderr).toMatch(/^bough: A locked store needs .* npm install better-sqlite3-multiple-ciphers@1[23], .* \(CIPHERS_MISSING\)\n$/);
    expect(existsSync(join(folder, "s.db"))).toBe(false);
  });
});

describe("a version of the driver that would crash this Node", () => {
  test.each([
    ["13.2.0", "20.20.2", "better-sqlite3@12"],
    ["12.11.1", "24.19.0", "better-sqlite3@13"],
    ["12.11.1", "24.21.0", "better-sqlite3@13"],
    ["12.11.1", "25.3.0", "better-sqlite3@13"],
  ])("is refused before it is loaded: %s on Node %s", (version, node, remedy) => {
    fakeDriver(version, CRASH);
    const said = opened(onNode(node));
    expect(said).toMatchObject({ code: "DRIVER_UNUSABLE", fault: "wrong-version" });
    for (const part of [version, node, remedy, "npm install", "pnpm add", "yarn"]) expect(`${said.message} ${said.hint}`).toContain(part);
  });

  test.each([
    ["12.11.1", "20.19.0"],
    ["12.11.1", "22.23.3"],
    ["12.11.1", "24.18.1"],
    ["12.11.1", "26.10.0"],
    ["13.2.0", "22.0.0"],
    ["13.2.0", "24.21.0"],
    ["13.2.0", "26.10.0"],
  ])("is no other: %s on Node %s", (version, node) => {
    fakeDriver(version, 'throw new Error("loaded")');
    expect(opened(onNode(node))).toMatchObject({ message: "loaded" });
  });
});

const LOADING = [
  [
    "a missing binary, as version 12 says it",
    "binary-missing",
    'throw new Error("Could not locate the bindings file. Tried:\\n → one\\n → two")',
  ],
  ["a missing binary, as version 13 says it", "binary-missing", 'require("./build/Release/better_sqlite3.node")'],
  [
    "a binary of another Node",
    "binary-foreign",
    'throw Object.assign(new Error("The module was compiled against a different Node.js version using\\nNODE_MODULE_VERSION 115."), { code: "ERR_DLOPEN_FAILED" })',
  ],
] as const;

describe("a driver that does not load", () => {
  test.each(LOADING)("is one typed error: %s", (_what, fault, code) => {
    fakeDriver("12.11.1", code);
    const said = opened(onNode("20.20.2"));
    expect(said).toMatchObject({ code: "DRIVER_UNUSABLE", fault });
    for (const part of ["npm rebuild", "pnpm rebuild", "yarn rebuild", "Node 22"]) expect(`${said.message} ${said.hint}`).toContain(part);
  });

  test.each(LOADING)("ends the command with one line and its own code: %s", (_what, _fault, code) => {
    fakeDriver("12.11.1", code);
    const { status, stderr } = command(onNode("22.23.3"));
    expect(stderr).toMatch(/^bough: .*better-sqlite3@13.*troubleshooting\.md \(DRIVER_UNUSABLE\)\n$/);
    expect(status).toBe(7);
  });

  test("is told from the real one: without its binaries, and with one that is none", () => {
    realDriver();
    expect(opened()).toEqual({});
    const binaries = ["build/Release/better_sqlite3.node", `prebuilds/${process.platform}-${process.arch}.node`].map((file) =>
      join(driver(), file),
    );
    for (const file of binaries.filter(existsSync)) writeFileSync(file, readFileSync(join(driver(), "package.json")));
    expect(opened()).toMatchObject({ code: "DRIVER_UNUSABLE", fault: "binary-foreign" });
    for (const file of ["build", "prebuilds"]) rmSync(join(driver(), file), { recursive: true, force: true });
    expect(opened()).toMatchObject({ code: "DRIVER_UNUSABLE", fault: "binary-missing" });
  });

  test("leaves every other error as it is", () => {
    fakeDriver("13.2.0", 'throw new RangeError("something else")');
    expect(opened(onNode("22.23.3"))).toMatchObject({ message: "something else" });
  });
});
