// Runs the crash test with a thousand kills of a writing process, or BOUGH_CRASH_RUNS, and an eighth as many of one that packs, closes
// or upgrades; `npm run test:all` runs it with fifty.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const runs = process.env.BOUGH_CRASH_RUNS ?? "1000";
process.stderr.write(
  `[crash] Killing a writing process ${runs} times, others an eighth as often; about ${Math.ceil((Number(runs) * 0.6) / 60)} minutes.\n`,
);
const { status } = spawnSync(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), "run", "test/crash"], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, BOUGH_CRASH_RUNS: runs },
});
process.exit(status ?? 1);
