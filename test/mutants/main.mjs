// `npm run test:mutants`: changes one operator or condition at a time (a mutant) and checks that a test fails.
//
// Works in copies below the system's temporary folder, so that the checkout is not changed. For each mutant the tests of its
// folder run first, and the tests of the folders that use it only if those pass. There are thousands of mutants, so each run
// takes a sample and prints its seed. Options: --seed N, --sample N (mutants per folder), --only FOLDER[,FOLDER], --jobs N, and
// --write, which writes the result to docs/mutation.md.
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { PACKAGES } from "../../.ci/packages.mjs";
import { mutationsOf } from "./mutations.mjs";
import { report } from "./report.mjs";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");

/**
 * The source folders to mutate, and the stages of tests to run for each: the tests of the folder come first. `files` restricts it to
 * some files below `src`, in any folder.
 */
const FOLDERS = {
  plan: { package: "compaction", tests: [["plan"], ["run"]] },
  fit: { package: "compaction", tests: [["fit"], ["run"]] },
  prune: { package: "compaction", tests: [["prune"], ["run"]] },
  run: { package: "compaction", tests: [["run"], ["checkpoints", "recall"]] },
  context: { package: "session-core", tests: [["context"], ["session", "tree"]] },
  rules: {
    package: "session-core",
    tests: [
      ["tree", "session", "sessions", "search"],
      ["context", "storage", "verify", "copies"],
    ],
  },
  tree: {
    package: "session-core",
    folder: "sqlite/tree",
    tests: [
      ["tree", "session"],
      ["context", "sessions", "storage", "verify", "search"],
    ],
  },
  payloads: {
    package: "session-core",
    files: ["sqlite/file/block.ts", "sqlite/payloads/payloads.ts", "sqlite/payloads/pack.ts", "sqlite/verify/block-rules.ts"],
    tests: [
      ["storage/pack", "storage/damaged-blocks", "storage/forged-blocks", "storage/opened-blocks", "storage/block"],
      ["storage/any-packing"],
    ],
  },
};

/** Time limit of a test run. A mutant that exceeds it contains an endless loop and counts as noticed. */
const LONGEST_MS = 900_000;

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    sample: { type: "string", default: "30" },
    only: { type: "string" },
    jobs: { type: "string", default: String(availableParallelism()) },
    write: { type: "boolean", default: false },
  },
});

/** A seeded generator of pseudorandom numbers from 0 to 1 (mulberry32). */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function listSources(folder) {
  const { files, folder: below = folder } = FOLDERS[folder];
  if (files !== undefined) return files.map((file) => join(ROOT, "packages", FOLDERS[folder].package, "src", file));
  return readdirSync(join(ROOT, "packages", FOLDERS[folder].package, "src", below), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

function sampleMutants(folder, size, next) {
  const all = listSources(folder).flatMap((file) => {
    const source = readFileSync(file, "utf8");
    return mutationsOf(source).map((mutation) => ({ folder, file: relative(ROOT, file), source, ...mutation }));
  });
  const order = all.map((mutant) => [next(), mutant]).sort((a, b) => a[0] - b[0]);
  return { all: all.length, chosen: order.slice(0, size).map(([, mutant]) => mutant) };
}

/** A copy of the checkout for mutants: sources and tests are copied, everything else is linked. */
function copyCheckout() {
  const copy = mkdtempSync(join(tmpdir(), "bough-mutants-"));
  const link = (path) => existsSync(join(ROOT, path)) && symlinkSync(join(ROOT, path), join(copy, path));
  for (const path of ["node_modules", "vitest.config.ts", "package.json", "docs", "README.md", "tsconfig.base.json", ".ci"]) link(path);
  for (const name of PACKAGES) {
    mkdirSync(join(copy, "packages", name), { recursive: true });
    for (const path of readdirSync(join(ROOT, "packages", name)).filter((path) => path !== "src" && path !== "test"))
      link(join("packages", name, path));
    for (const path of ["src", "test"]) cpSync(join(ROOT, "packages", name, path), join(copy, "packages", name, path), { recursive: true });
  }
  return copy;
}

/** The tests of a subject, and those of the contract of the store. */
function testsOf(name, subject) {
  return [`packages/${name}/test/${subject}`, `packages/${name}/test/contract/${subject}`];
}

/** No server: a mutant of what both engines share is noticed in memory. */
function testsPass(copy, filters) {
  return new Promise((resolve) => {
    const child = spawn(
      process.execPath,
      [VITEST, "run", "--project=memory-*", "--bail=1", "--maxWorkers=1", "--reporter=dot", ...filters],
      {
        cwd: copy,
        stdio: "ignore",
        timeout: LONGEST_MS,
        killSignal: "SIGKILL",
      },
    );
    child.on("close", (code) => resolve(code === 0));
  });
}

/** Exits if a test fails without a mutation, because every mutant would then count as noticed. */
async function requirePassingTests(folders) {
  const copy = copyCheckout();
  const filters = folders.flatMap((folder) => FOLDERS[folder].tests.flat().flatMap((subject) => testsOf(FOLDERS[folder].package, subject)));
  const isPassing = await testsPass(copy, [...new Set(filters)]);
  rmSync(copy, { recursive: true, force: true });
  if (isPassing) return;
  process.stderr.write("The tests fail without any mutation: fix them first (npm test).\n");
  process.exit(1);
}

async function survives(copy, mutant) {
  const { file, source, start, end, text, folder } = mutant;
  const { package: name, tests } = FOLDERS[folder];
  writeFileSync(join(copy, file), source.slice(0, start) + text + source.slice(end));
  try {
    for (const stage of tests) {
      const filters = stage.flatMap((subject) => testsOf(name, subject));
      if (!(await testsPass(copy, filters))) return false;
    }
    return true;
  } finally {
    writeFileSync(join(copy, file), source);
  }
}

async function main() {
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  const next = random(seed);
  const folders = values.only?.split(",") ?? Object.keys(FOLDERS);
  const samples = folders.map((folder) => ({ folder, ...sampleMutants(folder, Number(values.sample), next) }));
  const queue = samples.flatMap(({ chosen }) => chosen);
  process.stdout.write(`seed ${seed}: ${queue.length} mutants of ${samples.reduce((sum, { all }) => sum + all, 0)}\n`);
  await requirePassingTests(folders);
  const survivors = [];
  let done = 0;
  const work = async () => {
    const copy = copyCheckout();
    try {
      for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
        const survived = await survives(copy, mutant);
        if (survived) survivors.push(mutant);
        done += 1;
        process.stdout.write(`${String(done).padStart(4)} ${survived ? "SURVIVED" : "noticed "} ${placeOf(mutant)}: ${mutant.what}\n`);
      }
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, work));
  const text = report({ seed, samples, survivors, placeOf });
  process.stdout.write(`\n${text}`);
  if (values.write) writeFileSync(join(ROOT, "docs/mutation.md"), text);
}

function placeOf({ file, source, start }) {
  return `${file}:${source.slice(0, start).split("\n").length}`;
}

await main();
