import { takeStart } from "../text/cut.js";

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
  if (last === undefined || last.given !== given) last = { given, place: makePlace(given?.replace(/[\\/]+$/, "") || undefined) };
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
export function relativeCommand(command: string, place: Place): string {
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
