// In which runs a test file has its place: its path decides. vitest.config.ts makes a project of each run.
//
// `npm test` is the run `memory`: everything that is quick. `npm run test:all` is all the others: what is slow, the properties with
// all their runs, and the contract where another engine can give another answer.
import { readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";

const root = join(import.meta.dirname, "..");

/** The seed of every property: one by default, so that a run judges the change and gives the same answer twice. */
export const SEED = Number(process.env["BOUGH_PROPERTY_SEED"] ?? 20_261_123);

export const RUNS = ["memory", "slow", "properties", "file", "postgres", "partitions"] as const;

export type Run = (typeof RUNS)[number];

/** Terminals, browsers, processes that are killed or wait, frameworks that take seconds to load. */
const SLOW_FOLDERS = ["concurrency", "crash", "embedding", "eval", "page", "ssh", "streaming", "sync", "terminal"];

/** A slow file in another folder, by its measured time, ends in `.slow.test.ts`. */
const SLOW = new RegExp(`\\.slow\\.test\\.ts$|^test/(${SLOW_FOLDERS.join("|")})/`);

/** Files whose properties cost seconds: `npm test` tries them with few runs (.ci/test-runs.ts). */
const PROPERTY = /\.property\.test\.ts$/;

/** A store on a server, and nothing else. */
const SERVER = /^(packages\/[^/]+\/)?test\/postgres\/|^packages\/postgres\/test\/(?!.*\bcontract\/)/;

/** What a store does, whatever its engine: the tests in folders of this name. */
const CONTRACT = /\/contract\/(.+?)(\.slow|\.property)?\.test\.ts$/;

/** Of the contract, what a file does otherwise than memory: other connections write, lock and are noticed. The rest is the same code. */
const ON_A_FILE = [
  "session/appending",
  "session/first-write",
  "session/queued-writes",
  "session/stale-handles",
  "sessions/open-or-create",
  "sessions/sessions",
  "storage",
  "transfer/sync",
];

/** Of the contract, what reads or writes across the rows of a session, which partitions spread. */
const ON_PARTITIONS = [
  "context/any-context",
  "import/import",
  "import/round-trip",
  "search/any-search",
  "search/search",
  "sessions/copies",
  "sessions/fork-tree",
  "sessions/sessions",
  "statistics/statistics",
  "storage",
  "copies/copy",
  "tree/any-tree",
  "tree/reading",
];

/** The files of the run `slow` that take more than 25 seconds, the longest first: they start first (.ci/test-order.ts). */
export const LONGEST = [
  "test/strict-server/every-preset.slow.test.ts",
  "test/page/live.test.ts",
  "test/ssh/copy.test.ts",
  "test/page/page.test.ts",
  "packages/cli/test/locked-store.slow.test.ts",
  "test/streaming/streaming.test.ts",
  "test/concurrency/concurrency.test.ts",
  "test/page/hostile.test.ts",
  "test/ai-sdk.slow.test.ts",
  "test/page/list.test.ts",
  "test/crash/maintenance.test.ts",
  "test/crash/crash.test.ts",
  "test/terminal/shell.test.ts",
  "packages/cli/test/locked-store-in-use.slow.test.ts",
  "packages/cli/test/process.slow.test.ts",
  "test/sync/hostile.test.ts",
  "packages/session-core/test/contract/session/too-large.slow.test.ts",
];

/** The path of a file from the root of the repository, with slashes. */
export function pathOf(file: string): string {
  return relative(root, file).split(sep).join("/");
}

/** The runs of a test file; the path from the root of the repository, with slashes. */
export function runsOf(file: string): readonly Run[] {
  if (SERVER.test(file)) return ["postgres"];
  const subject = CONTRACT.exec(file)?.[1];
  const runs: Run[] = [SLOW.test(file) ? "slow" : "memory"];
  if (PROPERTY.test(file)) runs.push("properties");
  if (subject === undefined) return runs;
  if (ON_A_FILE.includes(subject)) runs.push("file");
  runs.push("postgres");
  if (ON_PARTITIONS.includes(subject)) runs.push("partitions");
  return runs;
}

/** Every test file of the repository. Throws at one that no run would find, and at a subject that no file has. */
export function testFiles(): readonly string[] {
  const files = below("").sort();
  const lost = files.filter((file) => !/^(packages\/[^/]+\/)?test\//.test(file));
  const subjects = new Set(files.map((file) => CONTRACT.exec(file)?.[1]));
  const missing = [
    ...[...ON_A_FILE, ...ON_PARTITIONS].filter((subject) => !subjects.has(subject)),
    ...LONGEST.filter((file) => !files.includes(file)),
  ];
  if (lost.length > 0) throw new Error(`No run has these tests; they belong into a folder named test: ${lost.join(", ")}.`);
  if (missing.length > 0) throw new Error(`.ci/test-projects.ts names tests that are not there: ${missing.join(", ")}.`);
  return files;
}

/** Folders of the repository that hold no tests of its own. */
const LEFT_OUT = new Set(["node_modules", "dist", "dist.next", ".git"]);

function below(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return LEFT_OUT.has(entry.name) ? [] : below(path);
    return entry.name.endsWith(".test.ts") ? [path.split(sep).join("/")] : [];
  });
}
