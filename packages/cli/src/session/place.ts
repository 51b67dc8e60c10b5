import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { SessionFilter } from "@bough/session-core";
import { isSystemError } from "@bough/session-core/engine";
import type { Io } from "../terminal/io.js";

/** The directories whose sessions are "here". */
export interface Place {
  /** `repository`: sessions count that were recorded in one of the directories or below. `directory`: only those recorded in one. */
  readonly kind: "repository" | "directory";
  readonly directories: readonly string[];
}

/**
 * The place of the current directory. A git repository is one place from every folder in it, with its linked worktrees; without a
 * repository it is the directory alone. Cost: a file look-up for each folder above.
 */
export function findPlace({ cwd, env, home }: Pick<Io, "cwd" | "env" | "home">): Place {
  // $PWD may contain a symbolic link; sessions are recorded under either path.
  const names = [...new Set([cwd, env["PWD"] || cwd])];
  const roots = names.map((name) => findRepositoryRoot(name)).filter((root) => root !== undefined && root !== home);
  const known = roots.flatMap((root) => (root === undefined ? [] : [root, ...worktreesOf(root)]));
  return known.length === 0 ? { kind: "directory", directories: names } : { kind: "repository", directories: [...new Set(known)] };
}

/** Filters that together list the sessions of a place. */
export function placeFilters({ kind, directories }: Place): readonly Pick<SessionFilter, "cwd" | "under">[] {
  return kind === "repository" ? [{ under: directories }] : directories.map((cwd) => ({ cwd }));
}

/** The nearest folder at or above `directory` with `.git`: a folder, or the file of a worktree or submodule. */
function findRepositoryRoot(directory: string): string | undefined {
  for (let folder = directory; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

/** The other working trees of the repository: the main one, and those that `git worktree add` made. */
function worktreesOf(root: string): readonly string[] {
  const common = commonFolder(root);
  if (common === undefined) return [];
  const main = common.endsWith(".git") ? [dirname(common)] : [];
  return [...main, ...linkedWorktrees(join(common, "worktrees"))].filter((folder) => folder !== root);
}

/** The folder `.git` of the main working tree. The file `.git` of a worktree names `.git/worktrees/NAME` in it. */
function commonFolder(root: string): string | undefined {
  const git = join(root, ".git");
  if (statSync(git, { throwIfNoEntry: false })?.isDirectory() === true) return git;
  const [, target] = /^gitdir: (.*[/\\]worktrees[/\\][^/\\]+)\s*$/.exec(readOrNothing(git)) ?? [];
  return target === undefined ? undefined : dirname(dirname(resolve(root, target)));
}

function linkedWorktrees(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return namesIn(folder).flatMap((name) => {
    const path = readOrNothing(join(folder, name, "gitdir")).trim();
    return path === "" ? [] : [dirname(resolve(folder, name, path))];
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    return nothingIfUnreadable(error, []);
  }
}

function readOrNothing(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    return nothingIfUnreadable(error, "");
  }
}

/** A file of another user, or one that git removes at this moment. */
function nothingIfUnreadable<T>(error: unknown, nothing: T): T {
  if (isSystemError(error)) return nothing;
  throw error;
}
