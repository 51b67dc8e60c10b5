import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { alternate, median } from "./measure.mjs";

export const title = "process";

const HERE = dirname(fileURLToPath(import.meta.url));
const CONTEXT = join(HERE, "child/context.mjs");
const PEAK_MEMORY = join(HERE, "child/peak-memory.cjs");
const BOUGH = join(HERE, "../../packages/cli/dist/bough.js");
const TREE_ENTRIES = 10_000;

/** Whole processes, from the start of Node to its end. */
export async function run(bench) {
  const { report, stores, sizes } = bench;
  const figures = [];
  for (const size of sizes) {
    const { path, sessionId } = await stores.ofSize(size);
    const value = await compare(bench, "open + context, fresh process", size, [CONTEXT, path, sessionId], { ms: 80, megabytes: 100 });
    figures.push({ size, value });
  }
  report.flat("the same beyond node -e 0, growing with the session", figures, 1.3);
  await tree(bench);
}

async function tree(bench) {
  const work = "bough tree, whole process";
  if (!existsSync(BOUGH)) return bench.report.skipped(work, "command not built");
  const { path, sessionId } = await bench.stores.ofSize(TREE_ENTRIES);
  await compare(bench, work, TREE_ENTRIES, [BOUGH, "tree", sessionId, "--store", path], { ms: 200, megabytes: 120 });
}

async function compare({ report, rounds }, work, size, program, limits) {
  const { ours, baseline } = await alternate(
    { ours: { run: () => runNode(program) }, baseline: { run: () => runNode(["-e", "0"]) } },
    { rounds: rounds(15), warmUp: 2 },
  );
  report.extra(work, size, median(ours), median(baseline), limits.ms);
  const megabytes = [program, ["-e", "0"]].map((one) => median([1, 2, 3].map(() => peakMegabytes(one))));
  report.absolute(`${work}, resident memory`, size, megabytes[0], limits.megabytes, { unit: "MB", baseline: megabytes[1] });
  return median(ours) - median(baseline);
}

function runNode(args, stdio = ["ignore", "ignore", "pipe"]) {
  const child = spawnSync(process.execPath, args, { stdio, env: { ...process.env, NO_COLOR: "1" }, maxBuffer: 1 << 26 });
  if (child.status !== 0) throw new Error(`${args.join(" ")} ended with ${child.status}: ${child.stderr}`);
  return child;
}

/** The most that a program ever had resident, told by itself at its end. */
function peakMegabytes(args) {
  const { output } = runNode(["--require", PEAK_MEMORY, ...args], ["ignore", "ignore", "pipe", "pipe"]);
  return Number(output[3]) / 1e6;
}
