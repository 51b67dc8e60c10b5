import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { openBare } from "./baseline.mjs";
import { alternate, median } from "./measure.mjs";

export const title = "navigator";

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = join(HERE, "../..");
const CHILD = join(HERE, "child/navigator.mjs");

/** A usual terminal, and the size that the issue names as the largest. */
const SIZES = [
  [120, 40],
  [300, 100],
];

/** Opening the navigator, and its keys, each in a separate process; compared with only reading all rows of the tree. */
export async function run({ report, stores, sizes, rounds }) {
  const folder = mkdtempSync(join(tmpdir(), "bough-bench-navigator-"));
  try {
    const bundle = await bundled(folder);
    for (const size of sizes.filter((one) => one >= 10_000)) {
      const { path, sessionId } = await stores.ofSize(size);
      for (const [columns, rows] of SIZES) {
        const runs = Array.from({ length: rounds(5) }, () => child(bundle, path, sessionId, columns, rows));
        tell(report, size, runs, `${columns}×${rows}`, await bareRows(path, rounds));
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function tell(report, size, runs, screen, baseline) {
  // The issue sets its limits for the usual terminal.
  const limit = screen === "120×40" ? ({ 10000: 80, 100000: 120, 1000000: 200 }[size] ?? null) : null;
  const openMs = median(runs.map(({ openMs }) => openMs));
  report.absolute(`navigator, first frame, ${screen}`, size, openMs, limit, { baseline, note: "in a process that has loaded it" });
  const wholeMs = median(runs.map(({ wholeMs }) => wholeMs));
  report.absolute(`navigator, all rows and keys, ${screen}`, size, wholeMs, null, { note: "read behind the first frame" });
  for (const key of Object.keys(runs[0].keys)) {
    const [decided, drawn] = ["decidedMs", "drawnMs"].map((name) => median(runs.map(({ keys }) => keys[key][name])));
    report.absolute(`navigator, ${key}, ${screen}`, size, decided, 16);
    report.absolute(`the same until it is written, ${screen}`, size, drawn, 16);
  }
  const peak = Math.max(...runs.map(({ peakMegabytes }) => peakMegabytes));
  const mapped = Math.max(...runs.map(({ mappedMegabytes }) => mappedMegabytes ?? 0));
  const note = mapped === 0 ? undefined : `${mapped.toFixed(0)} MB of it are pages of files, of Node's program above all, mapped into it`;
  report.absolute(`navigator, peak memory, ${screen}`, size, peak, size === 100_000 ? 150 : null, { unit: "MB", note });
}

/** The rows of the tree, read by hand: what nothing can be faster than. */
async function bareRows(path, rounds) {
  const file = openBare(path);
  try {
    const rows = file.prepare(
      "SELECT id, seq, parent_seq, type, role, depth, created_at_ms, preview FROM entry WHERE session_seq = 1 ORDER BY seq",
    );
    const { bare } = await alternate({ bare: { run: () => rows.all() } }, { rounds: rounds(5) });
    return median(bare);
  } finally {
    file.close();
  }
}

async function bundled(folder) {
  const outfile = join(folder, "navigator.mjs");
  await build({
    absWorkingDir: ROOT,
    entryPoints: [join(ROOT, "packages/cli/test/navigator/timed-navigator.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
    plugins: [{ name: "packages-as-built", setup: packagesAsBuilt }],
    banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" },
  });
  return outfile;
}

/** Bough's own packages are measured as they are published. */
function packagesAsBuilt({ onResolve }) {
  onResolve({ filter: /^@bough\// }, ({ path }) => {
    const [, name, entry = "index"] = path.split("/");
    return { path: join(ROOT, "packages", name, "dist", `${entry}.js`), external: true };
  });
}

function child(bundle, path, sessionId, columns, rows) {
  const args = [CHILD, bundle, path, sessionId, String(columns), String(rows)];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`the navigator ended with ${status}: ${stderr}`);
  return JSON.parse(stdout);
}
