import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig, type Plugin } from "vitest/config";
import { leftOut } from "./.ci/left-out.js";
import { LongestFirst } from "./.ci/test-order.js";
import { RUNS, type Run, runsOf, SEED, testFiles } from "./.ci/test-projects.js";

const FILES = testFiles();

/** The engine of the stores that a run opens. */
const ENGINES: Readonly<Record<Run, string>> = {
  memory: "memory",
  slow: "memory",
  properties: "memory",
  file: "file",
  postgres: "postgres",
  partitions: "postgres-partitioned",
};

/** Where properties have a tenth of their runs: all of them are in the run `properties`, once. */
const FEW: readonly Run[] = ["memory", "file", "postgres", "partitions"];

/**
 * The files of a package share a process, so that each module is loaded once; one for all would grow until V8 stops compiling regular expressions. Slow
 * files start programs and frameworks, and have one each.
 */
const projects = RUNS.flatMap((run) => {
  const files = FILES.filter((file) => runsOf(file).includes(run));
  if (run === "slow") return [project(run, run, files)];
  const packages = new Set(files.map(packageOf));
  return [...packages].map((name) =>
    project(
      run,
      `${run}-${name}`,
      files.filter((file) => packageOf(file) === name),
    ),
  );
});

function packageOf(file: string): string {
  const [first, second] = file.split("/");
  return first === "packages" && second !== undefined ? second : "root";
}

function project(run: Run, name: string, include: readonly string[]) {
  return {
    extends: true as const,
    test: {
      name,
      include: [...include],
      isolate: run === "slow",
      // Screens show times where the person is; snapshots are of one place.
      env: { TZ: "UTC", BOUGH_TEST_ENGINE: ENGINES[run], BOUGH_TEST_FEW: FEW.includes(run) ? "0.1" : "1" },
      ...(ENGINES[run].startsWith("postgres") ? { globalSetup: [".ci/test-server.ts"] } : {}),
    },
  };
}

// Each project evaluates this file again, in the same process.
if (process.env["BOUGH_TEST_SEED_PRINTED"] === undefined) {
  process.env["BOUGH_TEST_SEED_PRINTED"] = "1";
  process.stderr.write(`[tests] Properties have the seed ${SEED} (BOUGH_PROPERTY_SEED sets another).\n`);
}

/**
 * Where the projects of this run share the modules that one of them has transformed: several runs load the sources of a package. The folder goes
 * with the process, because Vitest would not notice that an import of an unchanged file leads elsewhere since the last run.
 */
function transformedModules(): string {
  const known = process.env["BOUGH_TEST_MODULES"];
  if (known !== undefined) return known;
  const folder = mkdtempSync(join(tmpdir(), "bough-modules-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  process.env["BOUGH_TEST_MODULES"] = folder;
  return folder;
}

/**
 * Tests of a library load the other libraries from their sources too, so that a class is one class in the test and below it. Everything
 * else uses what was built, as a user does.
 */
const librariesFromSource: Plugin = {
  name: "libraries-from-source",
  enforce: "pre",
  resolveId(id, importer = "") {
    const [, name, subpath = "index"] = /^@bough\/(session-core|formats|postgres)(?:\/(\w+))?$/.exec(id) ?? [];
    const [, packages] =
      /^(.*\/packages\/)(?:session-core|formats|postgres|adapters)\/(?:src|test)\//.exec(importer.replaceAll("\\", "/")) ?? [];
    return name !== undefined && packages !== undefined ? `${packages}${name}/src/${subpath}.ts` : null;
  },
};

export default defineConfig({
  plugins: [librariesFromSource],
  test: {
    projects,
    // Real files and real processes on cores that may be busy with other work: no test asserts a time. This limit ends what
    // hangs, and what grows with the square of a megabyte.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    pool: "forks",
    // Node loads what was built, as it does for a user. Vitest would transform these bundles for each project, and run them in each process.
    server: { deps: { external: [/\/packages\/[^/]+\/dist\//] } },
    experimental: { fsModuleCache: true, fsModuleCachePath: transformedModules() },
    // Vitest keeps one core for itself by default, and has little to do here. Many tests wait for a process, a server or the disk: with as many
    // workers as cores, a fifth of the time of two cores was idle. A flag of the command line does not reach the projects.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    reporters: ["default", leftOut],
    setupFiles: [".ci/test-environment.ts"],
    // `npm run coverage`. What runs in processes of its own (the command, kills) is not counted.
    coverage: {
      provider: "v8",
      include: ["packages/*/src/**/*.ts"],
      reporter: ["text-summary"],
      reportsDirectory: "node_modules/.coverage",
    },
  },
});
