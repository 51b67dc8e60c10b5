import { rm } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";
import { isDeepStrictEqual, stripVTControlCharacters } from "node:util";
import { resolveConfigPath } from "../config/config-path.js";
import type { Config } from "../config/schema.js";
import { CommandError, UsageError } from "../errors.js";
import { expandHome } from "../format/path.js";
import { createFolder, inTemporaryFolder, PASSABLE, PRIVATE, writeNewFile } from "../session/write-file.js";
import type { Io } from "../terminal/io.js";
import { findProgram, isProgram, outputOf } from "../terminal/run-program.js";

/** The way to take a page back: a file that is deleted, or a program that is run; null: nobody knows. */
type PageRemoval = { readonly file: string } | { readonly command: string[] } | null;

/** A page that was published. */
interface PublishedPage {
  readonly link: string;
  readonly remove: PageRemoval;
}

/** A place where pages are published. */
export interface ShareTarget {
  /** The place, as it follows "Share it". */
  readonly place: string;
  /** Printed behind the link. */
  readonly note?: string;
  readonly publish: (name: string, pieces: AsyncIterable<string>) => Promise<PublishedPage>;
}

const TARGETS = '"share": { "folder": "~/Public/pages" }, { "command": ["upload", "{file}"] } or { "gist": true }';

/** The target that the config names. @throws {UsageError} it names none @throws {CommandError} its program is missing */
export function shareTarget(io: Io, share: Config["share"]): ShareTarget {
  if (share?.folder !== undefined) return folderTarget(io, resolve(io.cwd, inHome(io, share.folder)), share.link);
  if (share?.command !== undefined) return commandTarget(io, share.command, share.revoke);
  if (share?.gist === true) return gistTarget(io);
  throw new UsageError(`There is no target for shared pages. Name one in the config file ${resolveConfigPath(io)}: ${TARGETS}.`);
}

/** A path of the config, in which `~/` is the home directory. */
function inHome(io: Io, path: string): string {
  return expandHome(path, io.home || homedir());
}

function folderTarget(io: Io, folder: string, link: string | undefined): ShareTarget {
  return {
    place: `in ${folder}`,
    publish: async (name, pieces) => {
      const file = join(folder, name);
      await createFolder(folder, PASSABLE);
      await writeNewFile(io, file, pieces, false, 0o644);
      return { link: link === undefined ? file : `${link.replace(/\/*$/, "")}/${name}`, remove: { file } };
    },
  };
}

function commandTarget(io: Io, command: readonly string[], revoke: readonly string[] | undefined): ShareTarget {
  programOf(io, command);
  return {
    place: `with ${command[0]}`,
    publish: async (name, pieces) => {
      const printed = await inTemporaryFile(io, name, pieces, (file) =>
        runShareProgram(
          io,
          command.map((part) => part.replaceAll("{file}", file)),
        ),
      );
      const link = linkIn(printed);
      if (link === "")
        throw new CommandError("SHARE_FAILED", `${command[0]} printed no link. It must print the link of the page as its last line.`);
      return { link, remove: revoke === undefined ? null : { command: withLink(revoke, link) } };
    },
  };
}

function gistTarget(io: Io): ShareTarget {
  programOf(io, DELETE_GIST);
  return {
    place: "as a secret gist of GitHub",
    note: "GitHub shows the source of the page; a reader downloads the file and opens it.",
    publish: async (name, pieces) => {
      const printed = await inTemporaryFile(io, name, pieces, (file) =>
        runShareProgram(io, ["gh", "gist", "create", "--desc", "A session of an agent", file]),
      );
      const link = linkIn(printed);
      if (!/^https:\/\//.test(link)) throw new CommandError("SHARE_FAILED", `gh printed no link, but ${link === "" ? "nothing" : link}.`);
      return { link, remove: { command: withLink(DELETE_GIST, link) } };
    },
  };
}

const DELETE_GIST = ["gh", "gist", "delete", "{link}", "--yes"];

function withLink(command: readonly string[], link: string): string[] {
  return command.map((part) => part.replaceAll("{link}", link));
}

async function inTemporaryFile<T>(io: Io, name: string, pieces: AsyncIterable<string>, work: (file: string) => Promise<T>): Promise<T> {
  return inTemporaryFolder("share", async (folder) => {
    const file = join(folder, name);
    await writeNewFile(io, file, pieces, false, PRIVATE);
    return work(file);
  });
}

/** The file of the program of a command: one of PATH, or a path. @throws {CommandError} there is none */
function programOf(io: Io, [program = ""]: readonly string[]): string {
  const file = /[\\/]/.test(program) ? resolve(io.cwd, inHome(io, program)) : findProgram(io, program);
  if (file !== undefined && isProgram(file)) return file;
  const where = file === undefined ? "is not in PATH" : "is no file that can be run";
  throw new CommandError("SHARE_FAILED", `${program} ${where}. Nothing was shared or taken back.`);
}

/** Runs a command to its end. `more`: variables of its environment. @throws {CommandError} its program is missing */
async function endOf(io: Io, command: readonly string[], more: Record<string, string> = {}): ReturnType<typeof outputOf> {
  return outputOf({ env: { ...io.env, ...more } }, { command: programOf(io, command), args: command.slice(1) });
}

/** Runs a command, and returns what it printed. @throws {CommandError} it is missing or failed */
async function runShareProgram(io: Io, command: readonly string[]): Promise<string> {
  return printedBy(command, await endOf(io, command));
}

function printedBy([program = ""]: readonly string[], { exit, stdout, stderr }: Awaited<ReturnType<typeof endOf>>): string {
  if (exit === 0) return stdout;
  throw new CommandError("SHARE_FAILED", `${program} ended with ${exit}: ${reasonIn(stderr) || "it gave no reason"}.`);
}

/** Lines of a reason that are printed. */
const MOST_LINES = 3;

/** gh says first what it does, on a line of its own. */
const PROGRESS_OF_GH = /^- Creating gist/;

/** The output of a program that failed: the reason stands first (gh) or last (curl). */
function reasonIn(stderr: string): string {
  const lines = linesOf(stderr).filter((line) => !PROGRESS_OF_GH.test(line));
  const told = lines.length > MOST_LINES ? [lines[0], "…", lines.at(-1)] : lines;
  return told.join(" ").replace(/\.$/, "");
}

/** The link that a program printed as its last line, which may be colored. */
function linkIn(printed: string): string {
  return linesOf(printed).at(-1) ?? "";
}

function linesOf(text: string): readonly string[] {
  return stripVTControlCharacters(text)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** The name that `runPublish` gives to a page. */
const PAGE_NAME = /^bough-[\w-]{22}\.html$/;

/**
 * Removes a page; returns true if it was gone already. Values of a session may come from an imported file, so a stored path or program is
 * used only if Bough stores such: a file with the name of a page, the program `revoke` of the config, the one that deletes a gist.
 *
 * @throws {CommandError}
 */
export async function takeBack(io: Io, { link, remove }: PublishedPage, revoke: readonly string[] | undefined): Promise<boolean> {
  if (remove === null)
    throw new CommandError(
      "SHARE_FAILED",
      `No command for taking back ${link} is known. Delete it where it is, and set share.revoke in the config for later pages.`,
    );
  if ("file" in remove) {
    if (!PAGE_NAME.test(basename(remove.file)))
      throw new CommandError("SHARE_FAILED", `${remove.file} does not have the name of a page. It was not deleted.`);
    await rm(remove.file, { force: true });
    return false;
  }
  const allowed = [...(/^https:\/\//.test(link) ? [DELETE_GIST] : []), ...(revoke === undefined ? [] : [revoke])];
  if (!allowed.some((command) => isDeepStrictEqual(withLink(command, link), remove.command)))
    throw new CommandError(
      "SHARE_FAILED",
      `The config does not name the program that takes ${link} back, ${remove.command[0]}. Delete the page where it is, or set share.revoke.`,
    );
  if (isDeepStrictEqual(remove.command, withLink(DELETE_GIST, link))) return deleteGist(io, link);
  await runShareProgram(io, remove.command);
  return false;
}

/** Deletes a gist; returns true if it was gone already. @throws {CommandError} */
async function deleteGist(io: Io, link: string): Promise<boolean> {
  const { id, host } = gistOf(link);
  const run = (command: readonly string[]) => endOf(io, command, { GH_HOST: host });
  const command = withLink(DELETE_GIST, id);
  const output = await run(command);
  // A gh of 2023 has no such flag, and asks nothing.
  const hasNoFlag = output.exit !== 0 && output.stderr.includes("unknown flag: --yes");
  const deleted = hasNoFlag ? await run(command.filter((part) => part !== "--yes")) : output;
  // It says so of a gist of somebody else too, which can still be read.
  if (deleted.exit !== 0 && GONE.test(deleted.stderr)) {
    const read = await run(["gh", "gist", "view", id, "--files"]);
    if (read.exit !== 0 && GONE.test(read.stderr)) return true;
  }
  printedBy(command, deleted);
  return false;
}

/**
 * The id and the server of a gist: `https://gist.github.com/ada/1f`, or `https://github.example.com/gist/ada/1f` of a GitHub Enterprise
 * Server. Given a link, gh takes the second part of its path for the id, and asks the server of its settings: of the latter it would look for
 * a gist `ada`, and say that there is none.
 */
function gistOf(link: string): { readonly id: string; readonly host: string } {
  const { host, pathname } = new URL(link);
  return { id: pathname.split("/").at(-1) ?? "", host: host.replace(/^gist\./, "") };
}

const GONE = /not found/i;
