import { execFile } from "node:child_process";
import { readFile, realpath, stat } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import type { BlamedLine, BlameRequest } from "@bough/compaction";
import { errorCode } from "@bough/session-core/engine";
import { BlameSourceError, MissingFileError } from "../errors.js";
import { errorLine } from "../format/error-text.js";
import { withoutKeys } from "../terminal/child-environment.js";
import type { Io } from "../terminal/io.js";
import { findPlace } from "./place.js";

/** A file whose lines are asked about: what `blameFile` needs, and how it is named. */
export interface BlamedSource {
  readonly request: BlameRequest;
  /** The path as the user wrote it; of a file of a commit, its path in the repository. */
  readonly shown: string;
}

/** Lines in a row with one answer. */
export interface LineGroup extends BlamedLine {
  readonly last: number;
}

/** Joins lines in a row that have the same answer. */
export function groupLines(lines: readonly BlamedLine[]): readonly LineGroup[] {
  const groups: LineGroup[] = [];
  for (const line of lines) {
    const before = groups.at(-1);
    const isSame =
      before?.last === line.line - 1 && before.entry === line.entry && before.verdict === line.verdict && before.reason === line.reason;
    if (isSame) groups[groups.length - 1] = { ...before, last: line.line };
    else groups.push({ ...line, last: line.line });
  }
  return groups;
}

/** The working directory, the environment and the home folder of a command. */
type Here = Pick<Io, "cwd" | "env" | "home">;

/** The largest file that is read, in bytes. */
const MAX_BYTES = 50_000_000;
const GIT_TIMEOUT_MS = 20_000;

/** The output of a git command; undefined: git is not there, or the command failed. */
export async function runGit({ env }: Pick<Io, "env">, cwd: string, args: readonly string[]): Promise<string | undefined> {
  const options = {
    cwd,
    env: { ...withoutKeys(env), LC_ALL: "C", GIT_OPTIONAL_LOCKS: "0" },
    timeout: GIT_TIMEOUT_MS,
    maxBuffer: 4 * MAX_BYTES,
  };
  return new Promise((done) => {
    execFile("git", ["-c", "core.quotePath=false", ...args], options, (error, stdout) => done(error === null ? stdout : undefined));
  });
}

/**
 * Reads a file of the disk, with its other names.
 *
 * @param knownAs The path under which sessions know it, if that is another one: recorded on another machine, or before a folder was moved.
 * @throws {BlameSourceError} it is missing, no text, or too large.
 */
export async function readWorkingFile(io: Here, given: string, knownAs: string | undefined): Promise<BlamedSource> {
  const path = resolve(io.cwd, given);
  const text = toText(given, await readBytes(given, path));
  const real = await realpath(path);
  const elsewhere = otherTrees(io, real);
  const paths = [...new Set([knownAs === undefined ? path : resolve(io.cwd, knownAs), path, real])];
  return { request: { paths, text, elsewhere, renames: await readRenames(io, real), home: io.home }, shown: given };
}

async function readBytes(name: string, path: string): Promise<Buffer> {
  try {
    const found = await stat(path);
    // A pipe and a device have no size, and perhaps no end.
    if (!found.isFile() && !found.isDirectory()) throw new BlameSourceError(`${name} is a pipe, a socket or a device: it has no lines.`);
    const { size } = found;
    if (size > MAX_BYTES)
      throw new BlameSourceError(`${name} has ${size} bytes; files of more than ${MAX_BYTES / 1_000_000} MB are not read.`);
    return await readFile(path);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") throw new MissingFileError(`There is no file ${name}.`, { cause: error });
    if (code === "EISDIR") throw new BlameSourceError(`${name} is a directory. Name a file in it.`, { cause: error });
    if (error instanceof BlameSourceError) throw error;
    throw new BlameSourceError(`Cannot read ${name}: ${errorLine(error)}`, { cause: error });
  }
}

function toText(given: string, bytes: Buffer): string {
  if (bytes.subarray(0, 8_000).includes(0)) throw new BlameSourceError(`${given} is a binary file: it has no lines.`);
  return bytes.toString("utf8");
}

/** The same file in the other working trees of its repository. */
function otherTrees(io: Here, path: string): readonly string[] {
  const place = findPlace({ ...io, cwd: dirname(path), env: {} });
  const [root, ...others] = place.directories;
  if (place.kind !== "repository" || root === undefined || !path.startsWith(root + sep)) return [];
  return others.map((tree) => join(tree, relative(root, path)));
}

/** The earlier paths of a file, from git. */
async function readRenames(
  io: Here,
  path: string,
  revision = "HEAD",
): Promise<readonly { readonly from: string; readonly untilMs: number }[]> {
  const folder = dirname(path);
  const root = (await runGit(io, folder, ["rev-parse", "--show-toplevel"]))?.trimEnd();
  if (root === undefined || root === "") return [];
  const args = ["log", "--follow", "--diff-filter=R", "--format=%x00%ct", "--name-status", revision, "--", path];
  const log = (await runGit(io, root, args)) ?? "";
  return log.split("\0").flatMap((commit) => {
    const [time = "", ...rest] = commit.split("\n");
    const [, from] = /^R\d*\t([^\t]+)\t/.exec(rest.find((line) => line.startsWith("R")) ?? "") ?? [];
    return from === undefined ? [] : [{ from: join(root, from), untilMs: Number(time) * 1000 }];
  });
}

/**
 * Reads a file as a commit has it. Only calls before the commit can have written it.
 *
 * @throws {BlameSourceError} there is no repository, commit or such file in it.
 */
export async function readCommittedFile(io: Here, revision: string, name: string, knownAs: string | undefined): Promise<BlamedSource> {
  const { root, atMs, id } = await findCommit(io, revision);
  const path = resolve(io.cwd, name);
  // The folder may be named by a symbolic link.
  const real = await realpath(dirname(path)).then(
    (folder) => join(folder, path.slice(dirname(path).length)),
    () => path,
  );
  const inside = relative(root, real).split(sep).join("/");
  const text = await runGit(io, root, ["show", `${id}:${inside}`]);
  if (text === undefined) throw new BlameSourceError(`${name} is not in the commit ${revision}.`);
  if (text.slice(0, 8_000).includes("\0")) throw new BlameSourceError(`${name} is a binary file: it has no lines.`);
  const paths = [...new Set([knownAs === undefined ? path : resolve(io.cwd, knownAs), path, real])];
  const request = { paths, text, elsewhere: otherTrees(io, real), renames: await readRenames(io, real, id), untilMs: atMs, home: io.home };
  return { request, shown: inside };
}

/** The root of the repository, and the id and the time of one of its commits. */
async function findCommit(io: Here, revision: string) {
  const root = (await runGit(io, io.cwd, ["rev-parse", "--show-toplevel"]))?.trimEnd();
  if (root === undefined || root === "")
    throw new BlameSourceError(`${io.cwd} is in no git repository, so there is no commit ${revision}.`);
  const shown = revision.startsWith("-")
    ? undefined
    : await runGit(io, root, ["show", "-s", "--format=%H%x00%ct%x00%s", `${revision}^{commit}`]);
  const [id, time, subject = ""] = shown?.trimEnd().split("\0") ?? [];
  if (id === undefined || time === undefined) throw new BlameSourceError(`The repository ${root} has no commit ${revision}.`);
  // Git counts whole seconds: what was written in the second of the commit may be in it.
  return { root, id, subject, atMs: (Number(time) + 1) * 1000 };
}

/** A commit, and the lines that it added, compared with its first parent. @throws {BlameSourceError} there is no such commit. */
export async function readCommit(io: Here, revision: string) {
  const { root, id, subject } = await findCommit(io, revision);
  const args = [
    "show",
    "--first-parent",
    "-m",
    "--format=",
    "--unified=0",
    "--no-color",
    "--no-ext-diff",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    id,
  ];
  const diff = (await runGit(io, root, args)) ?? "";
  const files: { path: string; lines: number[] }[] = [];
  let lines: number[] | undefined;
  for (const line of diff.split("\n")) {
    // Git quotes a name with a tab or a quotation mark. Such a file is left out; its lines are not those of the file before it.
    if (line.startsWith("diff --git ")) lines = undefined;
    const [, path] = lines === undefined ? (/^\+\+\+ b\/(.+?)\t?$/.exec(line) ?? []) : [];
    if (path !== undefined) {
      lines = [];
      files.push({ path: relative(io.cwd, join(root, path)), lines });
    }
    const [, start, count = "1"] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
    for (let step = 0; start !== undefined && step < Number(count); step += 1) lines?.push(Number(start) + step);
  }
  return { id, subject, files: files.filter((file) => file.lines.length > 0) };
}
