import { isAbsolute, join } from "node:path";

/** The facts that determine where programs keep files: environment variables, home folder and system (`process.platform`). */
export interface SourceEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly platform: NodeJS.Platform;
}

/**
 * The folders `parts` below the folder that an environment variable names (several may be separated by commas), or else below each of
 * `usual`, which are below the home folder.
 *
 * @example
 * foldersBelow(environment, "CODEX_HOME", ["sessions"], ".codex"); // ["/home/ada/.codex/sessions"]
 */
export function foldersBelow(
  { env, home }: SourceEnvironment,
  variable: string,
  parts: readonly string[],
  ...usual: readonly string[]
): readonly string[] {
  const chosen = (env[variable] ?? "").split(",").filter((folder) => isAbsolute(folder));
  if (chosen.length > 0) return chosen.map((folder) => join(folder, ...parts));
  return usual.map((folder) => join(home, folder, ...parts));
}

/** Returns the folder for the user's data of programs with windows: `~/.config`, `~/Library/Application Support`, `%APPDATA%`. */
export function applicationFolder({ env, home, platform }: SourceEnvironment): string {
  if (platform === "darwin") return join(home, "Library", "Application Support");
  if (platform === "win32") return env["APPDATA"] || join(home, "AppData", "Roaming");
  const { XDG_CONFIG_HOME: set = "" } = env;
  return isAbsolute(set) ? set : join(home, ".config");
}
