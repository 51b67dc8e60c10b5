import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
    // Real files, real processes: two cores run them side by side, and none is timed.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: "forks",
    // Screens show times where the person is; snapshots are of one place.
    env: { TZ: "UTC" },
  },
});
