import { mkdirSync, statSync, writeSync } from "node:fs";
import module from "node:module";
import { isAbsolute, join } from "node:path";
import { holdInput, startsShell } from "./terminal/early-input.js";
import { shownCommandLine } from "./terminal/process-title.js";
import { VERSION } from "./version.js";

// The entry of the command. Before any other code is loaded it turns on the compile cache of Node (22.1 and later), keeps what is typed
// while the shell is loading, and takes passwords out of the list of processes. Without the cache a third of the start is compiling. Node
// checks that a cached file belongs to its version and code, and heeds NODE_DISABLE_COMPILE_CACHE and NODE_COMPILE_CACHE.

interface CompileCache {
  readonly enableCompileCache?: (folder: string) => unknown;
}

/**
 * The folder of the cache: `bough/compiled` in `XDG_CACHE_HOME` or `~/.cache`; undefined: there is none, and none can be made in
 * an existing home. Node's own default is in the folder for temporary files, where other users can write.
 */
function cacheFolder({ XDG_CACHE_HOME: cacheHome = "", HOME: home = "" }: NodeJS.ProcessEnv): string | undefined {
  try {
    if (isAbsolute(cacheHome)) return folderIn(cacheHome, ["bough", "compiled"]);
    return isAbsolute(home) ? folderIn(home, [".cache", "bough", "compiled"]) : undefined;
  } catch {
    // Not writable, a file in its place, or made by another process at this moment: this time without a cache.
    return undefined;
  }
}

// Made here, level by level: Node makes it in a way that never ends where the system returns ENOENT for a new folder, as in `/proc`.
function folderIn(home: string, levels: readonly string[]): string | undefined {
  if (!isFolder(home)) return undefined;
  let folder = home;
  for (const level of levels) {
    folder = join(folder, level);
    if (!isFolder(folder)) mkdirSync(folder, { mode: 0o700 });
  }
  return folder;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

// Node makes the streams of a process when they are first asked for: 4 ms, which the version does not need.
function isDrawable({ stdin, stdout, env }: NodeJS.Process): boolean {
  return stdin.isTTY === true && stdout.isTTY === true && env["TERM"] !== "dumb";
}

/** Prints the version without the code of the commands. Returns false if it cannot be written: they report why. */
function printVersion(): boolean {
  try {
    return writeSync(1, `${VERSION}\n`) > 0;
  } catch {
    return false;
  }
}

const args = process.argv.slice(2);
const title = shownCommandLine(args);
if (title !== undefined) process.title = title;

if (startsShell(args) && isDrawable(process)) holdInput(process.stdin, () => process.exit(130));

const { enableCompileCache }: typeof module & CompileCache = module;
if (typeof enableCompileCache === "function") {
  const folder = cacheFolder(process.env);
  if (folder !== undefined) enableCompileCache(folder);
}

const asksVersion = args.length === 1 && (args[0] === "--version" || args[0] === "-V");
if (!asksVersion || !printVersion()) await import("./main.js");
