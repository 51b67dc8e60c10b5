import { realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { expandHome } from "../format/path.js";
import { runGit } from "../session/blamed-file.js";
import type { Io } from "../terminal/io.js";

/** The number of files of a passage that have changed since. */
export interface ChangedFiles {
  readonly changed: number;
  readonly of: number;
}

/**
 * Counts the files that have changed since a time: those that are gone, and those with a later time of change. In a git repository a checkout
 * gives files new times, so there a file has changed if a later commit names it or if it differs from the last commit.
 */
export async function countChanged(
  io: Pick<Io, "env" | "home">,
  files: readonly string[],
  cwd: string,
  sinceMs: number,
): Promise<ChangedFiles> {
  const paths = [...new Set(files.map((file) => resolve(cwd, expandHome(file, io.home))))];
  if (paths.length === 0) return { changed: 0, of: 0 };
  const late: string[] = [];
  const found = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
  let changed = 0;
  for (const [at, path] of paths.entries()) {
    const file = found[at];
    if (file === undefined) changed += 1;
    else if (file.mtimeMs > sinceMs) late.push(path);
  }
  return { changed: changed + (late.length === 0 ? 0 : await countInGit(io, late, cwd, sinceMs)), of: paths.length };
}

/** Of files with a later time, those that git knows to be changed, and those outside of the repository. */
async function countInGit(io: Pick<Io, "env">, paths: readonly string[], cwd: string, sinceMs: number): Promise<number> {
  const root = (await runGit(io, cwd, ["rev-parse", "--show-toplevel"]))?.trimEnd();
  if (root === undefined || root === "") return paths.length;
  // Git names its files from the real folder of the repository, and refuses a path outside of it.
  const folderOf = (path: string): Promise<string> => realpath(dirname(path)).catch(() => dirname(path));
  const names = await Promise.all(paths.map(async (path) => relative(root, join(await folderOf(path), basename(path)))));
  const inside = names.filter((name) => !isAbsolute(name) && !/^\.\.(?:[\\/]|$)/.test(name)).map((name) => name.replaceAll(sep, "/"));
  if (inside.length === 0) return paths.length;
  const since = `--since=@${Math.floor(sinceMs / 1000)}`;
  const [committed, dirty] = await Promise.all([
    runGit(io, root, ["--literal-pathspecs", "log", "-z", since, "--format=", "--name-only", "--", ...inside]),
    runGit(io, root, ["--literal-pathspecs", "status", "-z", "--porcelain", "--no-renames", "--untracked-files=all", "--", ...inside]),
  ]);
  if (committed === undefined || dirty === undefined) return paths.length;
  const changed = new Set([...committed.split("\0"), ...dirty.split("\0").map((line) => line.slice(3))]);
  return paths.length - inside.length + inside.filter((name) => changed.has(name)).length;
}
