import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

// Every framework is an optional peer: the packages as they are published, in a project without any framework.
const root = join(import.meta.dirname, "../..");
const packages = join(root, "packages");

interface Manifest {
  readonly exports: Readonly<Record<string, { readonly default?: string } | string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}
const manifest = (name: string): Manifest => JSON.parse(readFileSync(join(packages, name, "package.json"), "utf8")) as Manifest;
const adapters = manifest("adapters");
const subpaths = Object.keys(adapters.exports).filter((name) => name !== "./package.json");
const libraries = ["session-core", "formats", "compaction", "adapters"];
const peers = [...new Set(libraries.flatMap((name) => Object.keys(manifest(name).peerDependencies ?? {})))];

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "bough-frameworks-"));
  for (const name of libraries)
    for (const file of ["dist", "package.json"])
      cpSync(join(packages, name, file), join(folder, "node_modules/@bough", name, file), { recursive: true });
  for (const name of ["better-sqlite3", "zod"]) {
    mkdirSync(join(folder, "node_modules"), { recursive: true });
    symlinkSync(realpathSync(join(packages, "session-core/node_modules", name)), join(folder, "node_modules", name), "junction");
  }
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What importing a module gives: the code and the message of its error, or the names that it exports. */
function load(specifier: string): { code?: string; message?: string; hint?: string; names?: string[] } {
  const code = `import(${JSON.stringify(specifier)}).then((module) => ({ names: Object.keys(module) }), ({ code, message, hint }) => ({ code, message, hint })).then((what) => console.log(JSON.stringify(what)))`;
  return JSON.parse(execFileSync(process.execPath, ["--input-type=module", "-e", code], { cwd: folder, encoding: "utf8" })) as never;
}

test("every peer is optional", () => {
  for (const name of libraries) {
    const { peerDependencies = {}, peerDependenciesMeta = {} } = manifest(name);
    for (const peer of Object.keys(peerDependencies)) expect([peer, peerDependenciesMeta[peer]?.optional]).toEqual([peer, true]);
  }
});

describe("without its framework", () => {
  test.each(["@bough/session-core", "@bough/compaction"])("%s loads", (name) => {
    expect(load(name).names?.length).toBeGreaterThan(10);
  });

  test.each(subpaths)("the adapter %s loads, or says in one line what to install", (subpath) => {
    const { names, code, message, hint } = load(`@bough/adapters/${subpath.slice(2)}`);
    if (names !== undefined) return expect(names.length).toBeGreaterThan(0);
    expect(code).toBe("FRAMEWORK_MISSING");
    expect(message).toMatch(/^The package \S+ is not installed; this adapter needs it\.$/);
    const [, peer = "", range] = /^npm install "(.+)@([^@]+)"$/.exec(hint ?? "") ?? [];
    expect(adapters.peerDependencies?.[peer]?.split(" || ")).toContain(range);
  });

  test("a framework of another version is named with the version that fits", () => {
    const home = join(folder, "node_modules/@openai/agents-core");
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "package.json"), JSON.stringify({ name: "@openai/agents-core", type: "module", exports: "./index.js" }));
    writeFileSync(join(home, "index.js"), "export class MemorySession {}");
    const { code, message, hint } = load("@bough/adapters/openai-agents");
    rmSync(dirname(home), { recursive: true });
    expect(code).toBe("FRAMEWORK_VERSION");
    expect(message).toBe("The installed version of @openai/agents-core does not fit this adapter: it has no UserError.");
    expect(hint).toBe(`npm install "@openai/agents-core@${adapters.peerDependencies?.["@openai/agents-core"]}"`);
  });

  test("a framework that does not have a module of another version is named too", () => {
    const home = join(folder, "node_modules/@earendil-works/pi-agent-core");
    mkdirSync(home, { recursive: true });
    writeFileSync(
      join(home, "package.json"),
      JSON.stringify({ name: "@earendil-works/pi-agent-core", type: "module", exports: "./index.js" }),
    );
    writeFileSync(join(home, "index.js"), "");
    const { code, message } = load("@bough/adapters/pi");
    rmSync(dirname(home), { recursive: true });
    expect(code).toBe("FRAMEWORK_VERSION");
    expect(message).toBe("The installed version of @earendil-works/pi-agent-core does not fit this adapter: it has no harness/session.");
  });

  test("a fault inside a framework is not reported as its absence", () => {
    const home = join(folder, "node_modules/@openai/agents-core");
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "package.json"), JSON.stringify({ name: "@openai/agents-core", type: "module", exports: "./index.js" }));
    writeFileSync(join(home, "index.js"), 'import "something-it-needs";');
    const { code, message } = load("@bough/adapters/openai-agents");
    rmSync(dirname(home), { recursive: true });
    expect(code).toBe("ERR_MODULE_NOT_FOUND");
    expect(message).toContain("something-it-needs");
  });
});

describe("a program of CommonJS", () => {
  test.each(subpaths)("requires the adapter %s, and gets what import gives", (subpath) => {
    const name = JSON.stringify(`@bough/adapters/${subpath.slice(2)}`);
    const code = `const required = require(${name}); import(${name}).then((imported) => console.log(JSON.stringify([Object.keys(required), Object.keys(imported), Object.keys(required).every((key) => required[key] === imported[key])])))`;
    const printed = execFileSync(process.execPath, ["--no-warnings", "-e", code], { cwd: join(root, "test"), encoding: "utf8" });
    const [required, imported, areSame] = JSON.parse(printed) as readonly [string[], string[], boolean];
    expect(required.filter((key) => key !== "__esModule" && key !== "module.exports").sort()).toEqual(imported.sort());
    expect(areSame).toBe(true);
  });

  test.each(subpaths)("can be bundled with the adapter %s", async (subpath) => {
    const { outputFiles } = await build({
      stdin: {
        contents: `module.exports = require(${JSON.stringify(`@bough/adapters/${subpath.slice(2)}`)})`,
        resolveDir: join(root, "test"),
      },
      bundle: true,
      write: false,
      platform: "node",
      format: "cjs",
      external: [...peers.flatMap((peer) => [peer, `${peer}/*`]), "better-sqlite3"],
      logOverride: { "empty-import-meta": "silent" },
    });
    expect(outputFiles[0]?.text).toContain("module.exports");
  });
});

describe("importing a package loads no framework", () => {
  test.each(["@bough/session-core", "@bough/compaction", ...subpaths.map((subpath) => `@bough/adapters/${subpath.slice(2)}`)])(
    "%s",
    async (name) => {
      const { metafile } = await build({
        stdin: { contents: `import ${JSON.stringify(name)}`, resolveDir: join(root, "test") },
        bundle: true,
        write: false,
        metafile: true,
        platform: "node",
        format: "esm",
        external: [...peers.flatMap((peer) => [peer, `${peer}/*`]), "better-sqlite3"],
        ignoreAnnotations: true,
      });
      const imported = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
      const loaded = imported.filter((path) => peers.some((peer) => path === peer || path.startsWith(`${peer}/`)));
      const own = name.startsWith("@bough/adapters/") ? FRAMEWORK_OF[name.slice("@bough/adapters/".length)] : undefined;
      expect(loaded.filter((path) => own === undefined || !path.startsWith(own))).toEqual([]);
    },
  );
});

/** The scope of the framework that each adapter may load. */
const FRAMEWORK_OF: Readonly<Record<string, string>> = {
  langgraph: "@langchain/",
  "openai-agents": "@openai/",
  "claude-agent-sdk": "@anthropic-ai/",
  pi: "@earendil-works/",
};

test("the command bundles no framework but the AI SDK and the MCP SDK", () => {
  // The engine for PostgreSQL and the driver for locked stores are peers, too, and no frameworks.
  const frameworks = peers.filter((peer) => peer !== "ai" && !peer.startsWith("@bough/") && !peer.startsWith("better-sqlite3"));
  const { status, stdout } = spawnSync("grep", ["-rlE", frameworks.join("|"), join(packages, "cli/dist")], { encoding: "utf8" });
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
});
