// `npm run test:mutants`: breaks the rules of the code one at a time and demands that a test fails each time.
//
// Works in copies below the system's temporary folder, so that the checkout stays as it is. A mutant goes through the tests of its
// own folder first, and through those of the whole package only if they pass. All mutants are some thousands: the run takes a
// sample whose seed is printed (--seed, --sample N for each folder, --only FOLDER[,FOLDER], --jobs N), and `--write` puts the result into
// docs/mutation.md.
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { mutationsOf } from "./mutations.mjs";
import { report } from "./report.mjs";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");

/** What is mutated, and the tests that judge it: those nearest first. */
const FOLDERS = {
  rules: { package: "compaction", tests: [["rules", "plan"], ["run"]] },
  plan: { package: "compaction", tests: [["plan"], ["run"]] },
  fit: { package: "compaction", tests: [["fit"], ["run"]] },
  prune: { package: "compaction", tests: [["prune"], ["run"]] },
  branch: { package: "compaction", tests: [["run/navigating"], ["run"]] },
  path: {
    package: "compaction",
    tests: [
      ["run/compacting", "plan"],
      ["run", "recall"],
    ],
  },
  context: { package: "session-core", tests: [["context"], ["session", "tree", "import"]] },
  tree: {
    package: "session-core",
    tests: [
      ["tree", "session"],
      ["context", "sessions", "storage", "verify", "import", "search"],
    ],
  },
};

/** A mutant that neither passes nor fails within this time loops for ever, and counts as noticed. */
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

/** Numbers from 0 to 1 that a seed decides (mulberry32). */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function sourcesOf(folder) {
  const below = join(ROOT, "packages", FOLDERS[folder].package, "src", folder);
  return readdirSync(below, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

function sampled(folder, size, next) {
  const all = sourcesOf(folder).flatMap((file) => {
    const source = readFileSync(file, "utf8");
    return mutationsOf(source).map((mutation) => ({ folder, file: relative(ROOT, file), source, ...mutation }));
  });
  const order = all.map((mutant) => [next(), mutant]).sort((a, b) => a[0] - b[0]);
  return { all: all.length, chosen: order.slice(0, size).map(([, mutant]) => mutant) };
}

/** A copy in which files may be broken: sources and tests copied, everything else linked. */
function copyOfCheckout() {
  const copy = mkdtempSync(join(tmpdir(), "bough-mutants-"));
  const link = (path) => existsSync(join(ROOT, path)) && symlinkSync(join(ROOT, path), join(copy, path));
  for (const path of ["node_modules", "vitest.config.ts", "package.json", "docs", "README.md", "tsconfig.base.json", ".ci"]) link(path);
  for (const name of ["session-core", "compaction", "cli"]) {
    mkdirSync(join(copy, "packages", name), { recursive: true });
    for (const path of readdirSync(join(ROOT, "packages", name)).filter((path) => path !== "src" && path !== "test"))
      link(join("packages", name, path));
    for (const path of ["src", "test"]) cpSync(join(ROOT, "packages", name, path), join(copy, "packages", name, path), { recursive: true });
  }
  return copy;
}

function testsPass(copy, filters) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [VITEST, "run", "--bail=1", "--maxWorkers=1", "--reporter=dot", ...filters], {
      cwd: copy,
      stdio: "ignore",
      timeout: LONGEST_MS,
      killSignal: "SIGKILL",
    });
    child.on("close", (code) => resolve(code === 0));
  });
}

/** A test that fails by itself would count every mutant as noticed. */
async function demandGreen(folders) {
  const copy = copyOfCheckout();
  const filters = folders.flatMap((folder) =>
    FOLDERS[folder].tests.flat().map((filter) => `packages/${FOLDERS[folder].package}/test/${filter}`),
  );
  const pass = await testsPass(copy, [...new Set(filters)]);
  rmSync(copy, { recursive: true, force: true });
  if (pass) return;
  process.stderr.write("The tests fail without any mutation: repair them first (npm test).\n");
  process.exit(1);
}

async function survives(copy, mutant) {
  const { file, source, start, end, text, folder } = mutant;
  const { package: name, tests } = FOLDERS[folder];
  writeFileSync(join(copy, file), source.slice(0, start) + text + source.slice(end));
  try {
    for (const stage of tests) {
      const filters = stage.map((filter) => `packages/${name}/test/${filter}`);
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
  const samples = folders.map((folder) => ({ folder, ...sampled(folder, Number(values.sample), next) }));
  const queue = samples.flatMap(({ chosen }) => chosen);
  process.stdout.write(`seed ${seed}: ${queue.length} mutants of ${samples.reduce((sum, { all }) => sum + all, 0)}\n`);
  await demandGreen(folders);
  const survivors = [];
  let done = 0;
  const work = async () => {
    const copy = copyOfCheckout();
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
