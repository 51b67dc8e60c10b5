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
import { PACKAGES } from "../../.ci/packages.mjs";
import { readOptions, refuse } from "../../.ci/program-options.mjs";
import { mutationsOf } from "./mutations.mjs";
import { report } from "./report.mjs";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");
const TESTS = PACKAGES.flatMap((name) =>
  readdirSync(join(ROOT, "packages", name, "test"), { recursive: true })
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => `packages/${name}/test/${file}`),
);

/**
 * The source folders to mutate, and the stages of tests to run for each: the tests of the folder come first. `files` restricts it to
 * some files below `src`, in any folder; `projects` are those of vitest.config.ts, by default the quick ones.
 */
const FOLDERS = {
  plan: { package: "compaction", tests: [["plan"], ["run"]] },
  fit: { package: "compaction", tests: [["fit"], ["run"]] },
  prune: { package: "compaction", tests: [["prune"], ["run"]] },
  run: { package: "compaction", tests: [["run"], ["checkpoints", "recall"]] },
  blame: { package: "compaction", tests: [["blame"], ["recall"]] },
  context: { package: "session-core", tests: [["context"], ["session", "tree"]] },
  rules: {
    package: "session-core",
    tests: [
      ["tree", "session", "sessions", "search"],
      ["context", "storage", "verify", "copies", "statistics"],
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
    files: ["sqlite/file/block.ts", "sqlite/payloads/payloads.ts", "sqlite/payloads/pack.ts", "sqlite/verify/row-rules.ts"],
    projects: ["memory-*", "slow*"],
    tests: [
      ["storage/pack", "storage/damaged-blocks", "storage/forged-blocks", "storage/opened-blocks", "storage/block"],
      ["storage/any-packing", "verify"],
    ],
  },
  transfer: { package: "formats", tests: [["transfer"], ["import", "claude", "codex", "pi"]] },
};

/** Time limit of a test run. A mutant that exceeds it contains an endless loop and counts as noticed. */
const LONGEST_MS = 900_000;

const values = readOptions(import.meta.url, {
  seed: { type: "string" },
  sample: { type: "string", default: "30" },
  only: { type: "string" },
  jobs: { type: "string", default: String(availableParallelism()) },
  write: { type: "boolean", default: false },
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

/** The tests of a subject, and those of the contract of the store. Throws if there are none: each mutant would count as noticed. */
function testsOf(folder, subject) {
  const places = [`packages/${FOLDERS[folder].package}/test/`, `packages/${FOLDERS[folder].package}/test/contract/`];
  const filters = places.map((place) => place + subject).filter((filter) => TESTS.some((file) => file.startsWith(filter)));
  if (filters.length === 0) throw new Error(`${folder}: there are no tests of ${subject}.`);
  return filters;
}

function testsPass(copy, folder, filters) {
  const { projects = ["memory-*"] } = FOLDERS[folder];
  return new Promise((resolve) => {
    const child = spawn(
      process.execPath,
      [VITEST, "run", ...projects.map((project) => `--project=${project}`), "--bail=1", "--maxWorkers=1", "--reporter=dot", ...filters],
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
  for (const folder of folders) {
    const filters = FOLDERS[folder].tests.flat().flatMap((subject) => testsOf(folder, subject));
    if (await testsPass(copy, folder, filters)) continue;
    process.stderr.write(`The tests of ${folder} fail without any mutation: mend them first.\n`);
    process.exit(1);
  }
  rmSync(copy, { recursive: true, force: true });
}

async function survives(copy, mutant) {
  const { file, source, start, end, text, folder } = mutant;
  writeFileSync(join(copy, file), source.slice(0, start) + text + source.slice(end));
  try {
    for (const stage of FOLDERS[folder].tests) {
      const filters = stage.flatMap((subject) => testsOf(folder, subject));
      if (!(await testsPass(copy, folder, filters))) return false;
    }
    return true;
  } finally {
    writeFileSync(join(copy, file), source);
  }
}

async function main() {
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  const next = random(seed);
  const names = Object.keys(FOLDERS);
  const folders = values.only?.split(",") ?? names;
  if (folders.some((folder) => !names.includes(folder))) refuse(`--only takes names of: ${names.join(", ")}.`);
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
