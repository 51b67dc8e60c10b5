// Runs the crash test a thousand times, or BOUGH_CRASH_RUNS times; `npm test` runs it fifty times.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const runs = process.env.BOUGH_CRASH_RUNS ?? "1000";
process.stderr.write(`[crash] Killing a writing process ${runs} times; about ${Math.ceil((Number(runs) * 0.4) / 60)} minutes.\n`);
const { status } = spawnSync(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), "run", "test/crash"], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, BOUGH_CRASH_RUNS: runs },
});
process.exit(status ?? 1);
