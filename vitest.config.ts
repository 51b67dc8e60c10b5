import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
    // Real files and real processes on cores that may be busy with other work: no test asserts a time. This limit ends what
    // hangs, and what grows with the square of a megabyte.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    pool: "forks",
    // Screens show times where the person is; snapshots are of one place.
    env: { TZ: "UTC" },
    setupFiles: [".ci/test-environment.ts"],
  },
});
