// The tests of the contract: what a store does, whatever its engine. vitest.config.ts runs them once on each engine.
import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";

const root = join(import.meta.dirname, "..");

/** Test files that open stores on the engine of the run, and are about one engine all the same. */
const ONE_ENGINE: Readonly<Record<string, string>> = {
  "packages/session-core/test/storage/**": "the file of a store: its format, blocks, locks, damage and old versions",
  "packages/session-core/test/postgres/**": "a server: its connections, errors, roles and plans",
  "packages/session-core/test/formats/**": "readers of files; tests of imports store what they read on each engine",
  "packages/session-core/test/search/rank.test.ts": "the ranking of SQLite's index",
  "packages/session-core/test/search/parts-of-words.test.ts": "the table of words of the file",
  "packages/session-core/test/session/unknown-blocks.test.ts": "payloads that others changed in the file",
  "packages/session-core/test/verify/verify.test.ts": "damage of the file",
  "packages/session-core/test/arguments/**": "arguments, which are checked before any engine sees them",
};

/** A test file of the contract opens its stores with one of these. */
const OPENS_A_STORE = /\b(openedStore|newPlace|lastingPlace|grow|importedFile|importedPath)\(/;

const FOLDERS = ["packages/session-core/test", "test/storage", "test/embedding"];

/** Paths from the root of the repository. */
export function contractTests(): readonly string[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => `${folder}/${file.split(sep).join("/")}`),
  )
    .filter((file) => file.endsWith(".test.ts") && !file.includes("/node_modules/"))
    .filter((file) => !Object.keys(ONE_ENGINE).some((pattern) => matches(file, pattern)))
    .filter((file) => OPENS_A_STORE.test(readFileSync(join(root, file), "utf8")))
    .sort();
}

/** Tests of commands that name the file of the store, or look into it. */
const FILE_ONLY = ["dry-run", "files", "import", "pack", "sync", "sync-service"].map(
  (name) => `packages/cli/test/commands/${name}.test.ts`,
);

/** Tests of the command that run on a server as well: they open the store of their `World`. */
export function commandTests(): readonly string[] {
  return readdirSync(join(root, "packages/cli/test/commands"))
    .map((name) => `packages/cli/test/commands/${name}`)
    .filter((file) => file.endsWith(".test.ts") && !FILE_ONLY.includes(file) && /\bworld\(/.test(readFileSync(join(root, file), "utf8")))
    .sort();
}

function matches(file: string, pattern: string): boolean {
  return pattern.endsWith("**") ? file.startsWith(pattern.slice(0, -2)) : file === pattern;
}
