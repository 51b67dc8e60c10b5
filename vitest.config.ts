import { defineConfig } from "vitest/config";
import { commandTests, contractTests } from "./.ci/contract.js";

/** Tests of a store on a server that are not of the contract. */
const SERVER_ONLY = "{packages/*/test,test}/postgres/**/*.test.ts";

const CONTRACT = contractTests();

const SERVER = { globalSetup: [".ci/test-server.ts"] };

/** BOUGH_TEST_ENGINE=postgres: on this engine only. */
const wanted = process.env["BOUGH_TEST_ENGINE"];

/** What runs on each engine: all tests, with their stores in memory; and those of the contract again on every other engine. */
const PROJECTS = {
  memory: { include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"], exclude: [SERVER_ONLY, "**/node_modules/**"] },
  file: { include: CONTRACT },
  postgres: { include: [...CONTRACT, ...commandTests(), SERVER_ONLY], ...SERVER },
  "postgres-partitioned": { include: CONTRACT, ...SERVER },
};

export default defineConfig({
  test: {
    projects: Object.entries(PROJECTS)
      .filter(([name]) => wanted === undefined || name === wanted)
      .map(([name, project]) => ({
        extends: true,
        // Screens show times where the person is; snapshots are of one place.
        test: { name, env: { TZ: "UTC", BOUGH_TEST_ENGINE: name }, ...project },
      })),
    // Real files and real processes on cores that may be busy with other work: no test asserts a time. This limit ends what
    // hangs, and what grows with the square of a megabyte.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    pool: "forks",
    // Vitest keeps one core for itself by default: one worker of two cores. Its own process has little to do here.
    maxWorkers: "100%",
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
