import { stat } from "node:fs/promises";
import { relative, resolve } from "node:path";
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
  const paths = [
    ...new Set(
      files.map((file) =>
        resolve(
          cwd,
          file.replace(/^~(?=\/)/, () => io.home),
        ),
      ),
    ),
  ];
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

/** Of files with a later time, those that git knows to be changed; all of them outside of a repository. */
async function countInGit(io: Pick<Io, "env">, paths: readonly string[], cwd: string, sinceMs: number): Promise<number> {
  const root = (await runGit(io, cwd, ["rev-parse", "--show-toplevel"]))?.trimEnd();
  if (root === undefined || root === "") return paths.length;
  const since = `--since=@${Math.floor(sinceMs / 1000)}`;
  const [committed, dirty] = await Promise.all([
    runGit(io, root, ["log", since, "--format=", "--name-only", "--", ...paths]),
    runGit(io, root, ["status", "--porcelain", "--untracked-files=all", "--", ...paths]),
  ]);
  if (committed === undefined || dirty === undefined) return paths.length;
  const names = new Set([...committed.split("\n"), ...dirty.split("\n").map((line) => line.slice(3))]);
  return paths.filter((path) => names.has(relative(root, path))).length;
}
