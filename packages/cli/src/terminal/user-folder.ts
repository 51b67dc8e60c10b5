import { isAbsolute, join } from "node:path";
import { CommandError } from "../errors.js";
import type { Io } from "./io.js";

const DEFAULTS = { XDG_CONFIG_HOME: ".config", XDG_DATA_HOME: ".local/share", XDG_STATE_HOME: ".local/state" } as const;

/** The folder of a user for files of a kind, by the XDG specification, which ignores relative paths; "": there is no home directory. */
export function userFolder({ env, home }: Pick<Io, "env" | "home">, kind: keyof typeof DEFAULTS): string {
  return namedFolder(env, kind, home === "" ? "" : join(home, DEFAULTS[kind]));
}

/** The folder that a variable names; `usual` if it is empty or relative, which would lead into the working directory. */
export function namedFolder(env: Io["env"], variable: string, usual: string): string {
  const set = env[variable];
  return set !== undefined && isAbsolute(set) ? set : usual;
}

/**
 * Returns the path of a file of another program, unless it is relative because there is no home directory: it would lead into the working directory.
 *
 * @throws {CommandError} NO_HOME.
 */
export function requirePlace({ home }: Pick<Io, "home">, file: string): string {
  if (home !== "" || isAbsolute(file)) return file;
  throw new CommandError("NO_HOME", `There is no home directory for ${file}. Set HOME.`);
}
