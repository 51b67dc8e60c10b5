import { isObject } from "../entry/json.js";
import { oneLine, takeStart, withoutEscapes } from "../text/one-line.js";
import { type Arguments, classifyCall, findCommand, MOVE_ARGUMENTS, type NamedCall, parseTodos } from "./arguments.js";
import { listCallTouches } from "./file-operations.js";
import { classifyTool } from "./known-tools.js";

/** A tool call in one line. */
export interface CallDescription {
  /** The name of the tool, as the model called it. */
  readonly name: string;
  /** The object of the call, at most 400 UTF-16 code units: a command, files, a pattern, a question; "" if no argument names one. */
  readonly detail: string;
}

/** Options of `describeCall`. */
export interface DescribeOptions {
  /** The session's directory: paths below it are shown relative to it, and a `cd` to it is left out. */
  readonly directory?: string | undefined;
}

const MAX_NAME = 80;
const MAX_DETAIL = 400;

/**
 * Describes a tool call in one line without control characters. `shortenDetail` fits the detail to a width.
 *
 * Cost: linear in the first 4,000 characters of the argument that is shown, and in the names of the arguments.
 *
 * @example
 * const call = { name: "bash", arguments: { command: "cd /home/ann/app && npm test" } };
 * describeCall(call, { directory: "/home/ann/app" }); // { name: "bash", detail: "npm test" }
 */
export function describeCall(call: NamedCall, { directory }: DescribeOptions = {}): CallDescription {
  const place = placeOf(directory);
  const detail = toolDetail(call, place) || firstTelling(call.arguments, place);
  return { name: line(call.name, MAX_NAME), detail: line(detail, MAX_DETAIL) };
}

function line(text: string, maxChars: number): string {
  return oneLine(withoutEscapes(takeStart(text, maxChars * 8)), maxChars);
}

/** Returns the detail of a call of a known kind of tool; "" if its arguments have another form. */
function toolDetail(call: NamedCall, place: Place): string {
  switch (classifyCall(call, classifyTool)) {
    case "command": {
      const command = findCommand(call)?.script;
      return command === undefined ? "" : relativeCommand(command, place);
    }
    case "search":
      return searchDetail(call.arguments, place);
    case "plan":
      return planDetail(call);
    case "read":
      return fileNames(call, place) + lineRange(call.arguments);
    case "move":
      return fileNames(call, place, " → ");
    case "write":
    case "edit":
    case "delete":
    case "patch":
      return fileNames(call, place);
    case undefined:
      return "";
  }
}

function fileNames(call: NamedCall, place: Place, separator = ", "): string {
  const paths = listCallTouches(call, {}, classifyTool).map(({ path }) => relativePath(path, place));
  return [...new Set(paths)].join(separator);
}

/** Returns the requested lines of a read: `:120-179`. */
function lineRange({ offset, limit, view_range: range }: Arguments): string {
  if (Array.isArray(range) && isCount(range[0]) && isCount(range[1])) return `:${range[0]}-${range[1]}`;
  if (isCount(offset)) return isCount(limit) ? `:${offset}-${offset + limit - 1}` : `:${offset}-`;
  return isCount(limit) ? `:1-${limit}` : "";
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}

const PATTERNS = ["pattern", "query", "regex", "q", "search", "search_term", "searchTerm", "glob_pattern", "url"];
const FOLDERS = ["path", "directory", "dir", "dir_path", "target_directory", "folder", "cwd"];
const FILTERS = ["glob", "include", "include_pattern", "file_pattern", "type"];

/** Returns the detail of a search: its pattern, and its place. */
function searchDetail(args: Arguments, place: Place): string {
  const pattern = textAt(args, PATTERNS);
  const folder = textAt(args, FOLDERS);
  const where = [folder === undefined ? undefined : relativePath(folder, place), textAt(args, FILTERS)];
  const places = where.filter((part) => part !== undefined && part !== "" && part !== ".").join(" ");
  if (pattern === undefined) return places || (folder === undefined ? "" : ".");
  return places === "" ? pattern : `${pattern} in ${places}`;
}

/** A plan: how far it is, and the step that is being done, or else the next one. */
function planDetail(call: NamedCall): string {
  const todos = parseTodos(call) ?? [];
  if (todos.length === 0) return "";
  const done = todos.filter(({ state }) => state === "done").length;
  const current = todos.find(({ state }) => state === "doing") ?? todos.find(({ state }) => state === "open");
  return `${done} of ${todos.length} done${current === undefined ? "" : `: ${current.text}`}`;
}

// The first of these that is a text describes a call of an unknown tool best.
const COMMANDS = ["command", "cmd", "script", "code"];
const WORDS = ["pattern", "query", "url", "description", "question", "title", "subject", "name", "skill", "prompt", "message", "text"];

/** The arguments from which `describeCall` makes a detail; if none of them has a text, it takes the first text of any name. */
export const TELLING_ARGUMENTS: ReadonlySet<string> = new Set([
  ...MOVE_ARGUMENTS,
  ...PATTERNS,
  ...FOLDERS,
  ...FILTERS,
  ...COMMANDS,
  ...WORDS,
]);

/** Returns the most specific argument of an unknown tool: files, a command, words, a text of any name, or else numbers and the like. */
function firstTelling(args: Arguments, place: Place): string {
  const files = fileNames({ name: "read", arguments: args }, place);
  if (files !== "") return files;
  const command = textAt(args, COMMANDS);
  if (command !== undefined) return relativeCommand(command, place);
  return textAt(args, WORDS) ?? firstText(args, 0) ?? scalars(args);
}

function textAt(args: Arguments, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    if (typeof value === "string" && value.trim() !== "") return value;
    if (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string")) return value.join(" ");
  }
  return undefined;
}

/** The maximum depth to which lists and objects in arguments are searched for a text. */
const MAX_DEPTH = 3;

function firstText(value: unknown, depth: number): string | undefined {
  if (typeof value === "string") return value.trim() === "" ? undefined : value;
  if (depth >= MAX_DEPTH || typeof value !== "object" || value === null) return undefined;
  if (isObject(value) && depth > 0) {
    const known = textAt(value, WORDS);
    if (known !== undefined) return known;
  }
  for (const one of Object.values(value).slice(0, 50)) {
    const text = firstText(one, depth + 1);
    if (text !== undefined) return text;
  }
  return undefined;
}

function scalars(args: Arguments): string {
  const shown = Object.entries(args).filter(([, value]) => typeof value === "number" || typeof value === "boolean");
  return shown
    .slice(0, 5)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(" ");
}

/** The folders by which the paths of a call are shortened. */
export interface Place {
  /** The directory of the session, without a separator at its end; undefined: not known, or the root. */
  readonly directory: string | undefined;
  /** The home folder that the directory is in; undefined: in none. */
  readonly home: string | undefined;
  /** Both in the text of a shell command, with the separator after them as the first group. */
  readonly inCommand: { readonly directory: RegExp; readonly home: RegExp | undefined } | undefined;
}

const HOME = /^(?:\/(?:Users|home)\/[^/]+|\/root|[A-Za-z]:[\\/]Users[\\/][^\\/]+)(?=[\\/]|$)/;

// Calls are described session by session, so one place is remembered.
let last: { readonly given: string | undefined; readonly place: Place } | undefined;

/** Returns the working directory of a session and its home folder, with their patterns in commands. */
export function placeOf(given: string | undefined): Place {
  if (last === undefined || last.given !== given) last = { given, place: makePlace(given?.replace(/(?<![\\/])[\\/]+$/, "") || undefined) };
  return last.place;
}

function makePlace(directory: string | undefined): Place {
  if (directory === undefined) return { directory, home: undefined, inCommand: undefined };
  const home = HOME.exec(directory)?.[0];
  return { directory, home, inCommand: { directory: folderPattern(directory), home: home === undefined ? home : folderPattern(home) } };
}

/** A folder as a word of its own, or with the separator before the rest of a path. */
function folderPattern(folder: string): RegExp {
  const literal = folder.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<![\\w.~/\\\\-])${literal}(?:([\\\\/])(?=[\\w.@~+*{$-])|[\\\\/]?(?![\\w.\\\\/-]))`, "g");
}

/**
 * A path as a person in the session's directory writes it: without the directory, or with `~` for the home folder that the directory
 * is in. Other paths stay as they are.
 *
 * @example
 * relativePath("/home/ann/app/src/a.ts", placeOf("/home/ann/app")); // "src/a.ts"
 * relativePath("/home/ann/notes.md", placeOf("/home/ann/app")); // "~/notes.md"
 */
export function relativePath(path: string, { directory, home }: Place): string {
  const inDirectory = directory === undefined ? undefined : pathBelow(path, directory);
  if (inDirectory !== undefined) return inDirectory || ".";
  const inHome = home === undefined ? undefined : pathBelow(path, home);
  if (inHome !== undefined) return inHome === "" ? "~" : `~/${inHome}`;
  return path.replace(/^(?:\.\/)+(?=.)/, "");
}

/** The rest of a path below a folder, "" for the folder itself; undefined: it is elsewhere. */
function pathBelow(path: string, folder: string): string | undefined {
  if (!path.startsWith(folder)) return undefined;
  const rest = path.slice(folder.length);
  return rest === "" || /^[\\/]/.test(rest) ? rest.replace(/^[\\/]+/, "") : undefined;
}

/** The most that is read of a command, in UTF-16 code units. A longer one is a script. */
const MAX_READ = 4_000;

const CHANGE_FOLDER = /^\s*cd\s+(?:"([^"\n]+)"|'([^'\n]+)'|([^\s;&|"']+))\s*(?:&&|;|\n)\s*/;

/**
 * The start of a shell command, without changes to the session's directory before it and with paths as `relativePath` writes them.
 *
 * @example
 * relativeCommand("cd /home/ann/app && npm test", placeOf("/home/ann/app")); // "npm test"
 */
function relativeCommand(command: string, place: Place): string {
  let rest = takeStart(command, MAX_READ).trim();
  for (let after = stepHome(rest, place); after !== undefined; after = stepHome(rest, place)) rest = after;
  if (place.inCommand === undefined) return rest;
  const { directory, home } = place.inCommand;
  rest = rest.replace(directory, (_, separator) => (separator === undefined ? "." : ""));
  return home === undefined ? rest : rest.replace(home, (_, separator) => `~${separator ?? ""}`);
}

/** The command after a `cd` to the session's directory; undefined: it does not start with one, or nothing follows. */
function stepHome(command: string, place: Place): string | undefined {
  const step = CHANGE_FOLDER.exec(command);
  if (step === null) return undefined;
  const folder = step[1] ?? step[2] ?? step[3] ?? "";
  const rest = command.slice(step[0].length);
  return rest !== "" && relativePath(folder.replace(/(?<=.)[\\/]+$/, ""), place) === "." ? rest : undefined;
}
