import { defineConfig } from "vitest/config";

// The engine of the stores that tests of the contract open: memory, file, postgres or postgres-partitioned.
const engine = process.env["BOUGH_TEST_ENGINE"] ?? "memory";

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
    // Real files and real processes on cores that may be busy with other work: no test asserts a time. This limit ends what
    // hangs, and what grows with the square of a megabyte.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    pool: "forks",
    // Vitest keeps one core for itself by default: one worker of two cores. Its own process has little to do here.
    maxWorkers: "100%",
    // Screens show times where the person is; snapshots are of one place.
    env: { TZ: "UTC", BOUGH_TEST_ENGINE: engine },
    ...(engine.startsWith("postgres") ? { globalSetup: [".ci/test-server.ts"] } : {}),
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
